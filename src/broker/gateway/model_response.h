// The messages of a model call, parsed from the bytes of its request and response for a span: roles, texts, tool
// calls. Not on the way of the call: it runs afterwards, on copies. Malformed input gives less, never an error.
// Pure: any thread.
#pragma once

#include "broker/spending/usage.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

struct ModelToolCall {
    std::string id;
    std::string name;
    std::string arguments; // JSON
};

struct ModelMessage {
    std::string role; // system, user, assistant, tool
    std::string text;
    std::string thought;
    std::string call_id; // of a tool's result
    std::vector<ModelToolCall> calls;
};

struct ModelInput {
    std::vector<ModelMessage> messages;
    std::vector<std::string> tools; // JSON schema of each
    std::string parameters;         // JSON: numbers and flags only, no message text
    size_t left_out = 0;            // messages in the middle of a long history
};

ModelInput read_request_messages(ModelApi api, std::string_view body);
ModelMessage read_response_message(ModelApi api, ResponseFormat form, std::string_view body);
// Only the parameters, for spans without text.
std::string read_parameters(std::string_view body);

} // namespace hone::broker
