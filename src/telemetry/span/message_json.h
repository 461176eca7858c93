// Reads chat messages from JSON texts in the shapes that SDKs log: a list of messages, {"messages":[…]}, a single
// message; content as text or parts; tool calls in OpenAI's, GenAI's and Vercel's forms. Internal to telemetry/.
#pragma once

#include "telemetry/span/conversation.h"

#include <string_view>
#include <vector>

namespace hone::telemetry {

// Empty when the text is not JSON of such a shape.
std::vector<Message> read_messages(std::string_view json, std::string_view default_role);
// Vercel's list of {"toolCallId","toolName","args"|"input"}, or OpenAI's tool_calls.
std::vector<ToolCall> read_tool_calls(std::string_view json);

} // namespace hone::telemetry
