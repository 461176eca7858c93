// A prompt version as the request that a model gets, in the words of its provider: messages with their variables filled
// in, tools, response format, invocation parameters. Pure: any thread.
#pragma once

#include "json/json.h"

namespace hone::evaluate {

struct PromptTarget {
    std::string provider{};    // OPENAI, ANTHROPIC, …; empty: of the version
    std::string model{};       // empty: of the version
    json::Object parameters{}; // replace invocation parameters of the version with the same name; null removes one
    bool stream = false;
};

struct PromptRequest {
    std::string protocol; // of the model skill: anthropic, openai, gemini
    std::string model;
    std::string path; // of the gateway
    std::string body; // JSON
};

// The provider's protocol; invalid for one that the gateway cannot call.
Result<std::string> protocol_of_provider(std::string_view provider);

// `content`: of a PromptVersion. `variables`: the input of an example. Errors: malformed templates, missing variables,
// parts of messages that the provider has no form for.
Result<PromptRequest> make_prompt_request(const json::Value& content, const PromptTarget& target,
                                          const json::Object& variables);
// Everything but the variables: whether a request can be made at all.
Result<PromptRequest> check_prompt_request(const json::Value& content, const PromptTarget& target);

} // namespace hone::evaluate
