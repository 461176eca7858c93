#include "telemetry/span/message_json.h"

#include <initializer_list>
#include <simdjson.h>

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

constexpr size_t most_messages = 4096;

std::string text_or_json(const dom::element& value) {
    if (std::string_view text; value.get(text) == simdjson::SUCCESS) return std::string(text);
    return value.is_null() ? std::string() : simdjson::minify(value);
}

// The first of the fields that is there and not null.
std::string first_text(const dom::object& object, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (dom::element value; object.at_key(name).get(value) == simdjson::SUCCESS && !value.is_null())
            return text_or_json(value);
    return {};
}

void add_line(std::string& content, std::string_view line) {
    if (!content.empty() && !line.empty()) content += '\n';
    content += line;
}

ToolCall read_tool_call(const dom::object& call) {
    ToolCall result;
    dom::object function;
    const bool nested = call.at_key("function").get(function) == simdjson::SUCCESS;
    const dom::object& body = nested ? function : call;
    result.id = first_text(call, {"id", "toolCallId", "tool_call_id"});
    result.name = first_text(body, {"name", "toolName"});
    result.arguments = first_text(body, {"arguments", "args", "input"});
    return result;
}

void read_part(const dom::element& part, Message& message) {
    dom::object object;
    if (part.get(object) != simdjson::SUCCESS) return add_line(message.content, text_or_json(part));
    const std::string type = first_text(object, {"type"});
    if (type == "tool_call" || type == "tool-call" || type == "tool_use") {
        message.tool_calls.push_back(read_tool_call(object));
    } else if (type == "tool_call_response" || type == "tool-result" || type == "tool_result") {
        message.tool_call_id = first_text(object, {"id", "toolCallId", "tool_use_id"});
        add_line(message.content, first_text(object, {"response", "result", "output", "content"}));
    } else if (const std::string text = first_text(object, {"text", "content"}); !text.empty()) {
        add_line(message.content, text);
    } else if (!type.empty()) {
        add_line(message.content, "[" + type + "]");
    }
}

void read_content(const dom::element& content, Message& message) {
    dom::array parts;
    if (content.get(parts) != simdjson::SUCCESS) return add_line(message.content, text_or_json(content));
    for (const dom::element& part : parts) read_part(part, message);
}

Message read_message(const dom::object& object, std::string_view default_role) {
    Message message;
    message.role = first_text(object, {"role", "type"});
    if (message.role.empty()) message.role = default_role;
    if (message.role == "human") message.role = "user";
    if (message.role == "ai") message.role = "assistant";
    message.tool_call_id = first_text(object, {"tool_call_id"});
    for (const char* name : {"content", "parts", "text"})
        if (dom::element content; object.at_key(name).get(content) == simdjson::SUCCESS && !content.is_null())
            read_content(content, message);
    dom::array calls;
    for (const char* name : {"tool_calls", "toolCalls"})
        if (object.at_key(name).get(calls) == simdjson::SUCCESS)
            for (const dom::element& entry : calls)
                if (dom::object call; entry.get(call) == simdjson::SUCCESS)
                    message.tool_calls.push_back(read_tool_call(call));
    return message;
}

bool looks_like_message(const dom::object& object) {
    dom::element ignored;
    for (const char* name : {"role", "content", "parts", "tool_calls"})
        if (object.at_key(name).get(ignored) == simdjson::SUCCESS) return true;
    return false;
}

void read_any(const dom::element& value, std::string_view default_role, std::vector<Message>& messages, int depth) {
    if (depth > 4 || messages.size() >= most_messages) return;
    dom::array list;
    if (value.get(list) == simdjson::SUCCESS) {
        for (const dom::element& entry : list) read_any(entry, default_role, messages, depth + 1);
        return;
    }
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return;
    for (const char* name : {"messages", "generations", "choices", "message"}) {
        dom::element inner;
        if (object.at_key(name).get(inner) == simdjson::SUCCESS)
            return read_any(inner, default_role, messages, depth + 1);
    }
    if (looks_like_message(object)) messages.push_back(read_message(object, default_role));
}

} // namespace

std::vector<Message> read_messages(std::string_view json, std::string_view default_role) {
    std::vector<Message> messages;
    dom::parser parser;
    dom::element root;
    if (parser.allocate(std::max<size_t>(json.size(), 64), 128) != simdjson::SUCCESS) return messages;
    if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return messages;
    read_any(root, default_role, messages, 0);
    return messages;
}

std::vector<ToolCall> read_tool_calls(std::string_view json) {
    std::vector<ToolCall> calls;
    dom::parser parser;
    dom::array list;
    if (parser.allocate(std::max<size_t>(json.size(), 64), 128) != simdjson::SUCCESS) return calls;
    if (parser.parse(json.data(), json.size()).get(list) != simdjson::SUCCESS) return calls;
    for (const dom::element& entry : list)
        if (dom::object call; entry.get(call) == simdjson::SUCCESS && calls.size() < most_messages)
            calls.push_back(read_tool_call(call));
    return calls;
}

} // namespace hone::telemetry
