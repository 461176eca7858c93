// What the gateway reads from a model request, and the two edits it makes: requesting token counts in a stream, and
// adding a notice that the budget is nearly used up. Everything else of the body stays as it is, byte for byte.
// Pure: any thread.
#pragma once

#include "base/result.h"
#include "broker/spending/usage.h"

#include <optional>
#include <string>
#include <string_view>

namespace hone::broker {

struct ModelRequest {
    std::string model; // empty for Gemini, whose path has it
    bool stream = false;
    bool asks_for_usage = false;              // chat: stream_options.include_usage
    std::optional<int64_t> max_output_tokens; // the largest that it names
    int64_t completions = 1;                  // responses that it requests together
};

// Refuses what two readers could take for two different requests: a second `model` or `stream` in any letter case, more
// than one value.
Result<ModelRequest> read_model_request(ModelApi api, std::string_view body);

// What the models of a family write at most when the request has no limit.
int64_t most_output_of(std::string_view model);

// The responses request with store set to false, which it does not name.
std::string with_no_storage(std::string_view body);

// The chat request with stream_options.include_usage set.
std::string with_usage_in_stream(std::string_view body);

// The request with the text put where the model reads it next: the last message of the user or of a tool, a message at
// the end, or for Gemini the system instruction. Nothing when the body leaves no place for it.
std::optional<std::string> with_notice(ModelApi api, std::string_view body, std::string_view notice);

} // namespace hone::broker
