// JSON content of examples: a form in which equal content has equal text, its hash, and the same content without
// credentials. Pure functions; any thread.
#pragma once

#include "json/json.h"

#include <string>
#include <string_view>

namespace hone::evaluate {

// The text with the keys of every object sorted.
std::string canonical_text(const json::Value& value);

// Equal for equal content, whatever the order of the keys. 64 hexadecimal digits.
std::string content_hash(const json::Value& input, const json::Value& output, const json::Value& metadata);

// A text of a span as an object: a JSON object as it is, {name: …} for everything else, {} for nothing.
json::Value span_part(const std::string& text, std::string_view name);

// Whether a list of messages in it has one of the application: the conversation before the last turn is in the input.
bool holds_conversation(const json::Value& input);

// Replaces API keys, tokens and other credentials in texts by "[redacted]". Returns how many texts were changed.
int64_t remove_credentials(json::Value& value);

} // namespace hone::evaluate
