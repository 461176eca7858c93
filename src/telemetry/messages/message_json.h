// Reads chat messages from JSON texts in the shapes that SDKs log: requests and responses of OpenAI (chat and
// responses), Anthropic and Gemini; LangChain's and LangGraph's messages; GenAI's, Genkit's and Vercel's parts; lists,
// single messages and objects around them. Internal to telemetry/; bounded, pure.
#pragma once

#include "telemetry/messages/message.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct Chat {
    std::vector<Message> messages;
    std::vector<std::string> tools; // definitions that a request holds
};

// Empty when the text is not JSON of such a shape.
Chat read_chat(std::string_view json, std::string_view default_role);
std::vector<Message> read_messages(std::string_view json, std::string_view default_role);
// Vercel's list of {"toolCallId","toolName","args"|"input"}, or OpenAI's tool_calls.
std::vector<ToolCall> read_tool_calls(std::string_view json);
// A list of tool definitions, a list of their names, or an object that holds one.
std::vector<std::string> read_tool_definitions(std::string_view json);
// The text inside a tool's result that a framework wrapped: a LangChain message, MCP's list of parts, Vercel's
// {"type","value"}. Nothing for any other JSON.
std::optional<std::string> unwrap_tool_result(std::string_view json);
// What a decorator recorded of a call, without what is around it: {"args":["text"],"kwargs":{}} is the text, named
// arguments alone are their object. Nothing for any other JSON.
std::optional<std::string> unwrap_arguments(std::string_view json);
// The tool that a wrapped result names; empty: none.
std::string read_tool_of_result(std::string_view json);
// Documents that a retriever returned: LangChain's, LlamaIndex', Genkit's, OpenTelemetry's, alone or in lists.
std::vector<Document> read_documents(std::string_view json);
// System text of a request: {"system":…}, {"instructions":…}, {"config":{"system_instruction":…}}.
std::string read_system_text(std::string_view json);

inline bool is_blank(const Message& message) {
    return message.content.empty() && message.tool_calls.empty();
}

} // namespace hone::telemetry
