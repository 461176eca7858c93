// One spelling for what instrumentations spell differently: providers, reasons to stop, types of errors, roles. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hone::telemetry {

// A text without the quotes of a JSON string that needs no decoding.
std::string_view without_quotes(std::string_view text);

// "openai.responses", "OpenAI" -> "openai"; "gcp.vertex.agent" -> "google"; a framework is no provider: "".
std::string provider_name(std::string_view provider);
// Who serves a model of this name, for the best known ones; else "".
std::string_view provider_of_model(std::string_view model);

// stop, length, tool_calls, content_filter, error; other words as they are.
std::string_view finish_reason_name(std::string_view reason);

// system, user, assistant, tool; other words as they are.
std::string role_name(std::string_view role);

// The type that a message of an error begins with or quotes: "RateLimitError: 429 …" -> "RateLimitError"; else the HTTP
// status it names: "429 …" -> "429"; else "".
std::string error_type_of(std::string_view message);
// The model that a provider's message names: "Rate limit reached for gpt-4o in organization …" -> "gpt-4o"; else "".
std::string_view model_in_error(std::string_view message);
// Whether a type shows only that something failed: "Error", "Exception".
bool is_vague_error(std::string_view type);
// The message without the stack that JavaScript appends.
std::string_view without_stack(std::string_view message);

} // namespace hone::telemetry
