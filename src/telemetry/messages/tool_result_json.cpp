// Results of tools and arguments of functions as frameworks wrap them (declared in message_json.h and json_parts.h).
#include "telemetry/messages/json_parts.h"
#include "telemetry/messages/message_json.h"

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

// The texts of a list of parts; nothing when an entry is no part.
std::optional<std::string> joined_parts(const dom::array& parts, int depth) {
    std::string text;
    for (const dom::element& entry : parts) {
        dom::object part;
        if (entry.get(part) != simdjson::SUCCESS) return std::nullopt;
        const std::string_view type = text_member(part, "type");
        if (is_one_of(type, {"text", "output_text", "input_text", "json"}) || (type.empty() && member(part, "text")))
            add_line(text, first_text(part, {"text", "value"}));
        else if (is_one_of(type, {"image", "audio", "file", "resource", "image_url", "document"}))
            add_line(text, "[" + std::string(type) + "]");
        else
            return std::nullopt;
    }
    return depth >= 0 && text.empty() ? std::nullopt : std::optional(text);
}

// What a framework wrapped around a tool's result.
std::optional<std::string> unwrapped(const dom::element& value, int depth) {
    if (depth > deepest_value) return std::nullopt;
    dom::array list;
    if (value.get(list) == simdjson::SUCCESS) return joined_parts(list, depth);
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return std::nullopt;
    const std::string_view type = text_member(object, "type");
    if (is_one_of(type, {"text", "json", "error-text", "error-json", "content"}))
        if (const auto inner = member(object, "value")) return result_text(*inner, depth + 1);
    if (type == "text" && member(object, "text")) return first_text(object, {"text"});
    for (const char* name : {"data", "kwargs"}) // LangChain's ToolMessage
        if (const auto inner = object_member(object, name); inner && (type == "tool" || type == "constructor"))
            if (const auto content = member(*inner, "content")) return result_text(*content, depth + 1);
    if (type.empty() && object.size() == 1) // {"output": the message}
        for (const char* name : {"output", "outputs", "result"})
            if (const auto inner = member(object, name); inner && inner->is_object())
                return unwrapped(*inner, depth + 1);
    if (const auto content = member(object, "content"))
        if (type == "tool" || object.at_key("tool_call_id").error() == simdjson::SUCCESS ||
            object.at_key("isError").error() == simdjson::SUCCESS ||
            object.at_key("structuredContent").error() == simdjson::SUCCESS)
            return result_text(*content, depth + 1);
    return std::nullopt;
}

// The name of LangChain's ToolMessage, also inside {"output":…}.
std::string tool_of_message(const dom::object& object, int depth) {
    for (const char* name : {"output", "outputs", "result"})
        if (const auto inner = object_member(object, name); inner && depth < 3)
            if (std::string found = tool_of_message(*inner, depth + 1); !found.empty()) return found;
    const std::string_view type = text_member(object, "type");
    if (type == "tool" || object.at_key("tool_call_id").error() == simdjson::SUCCESS)
        if (const auto name = text_member(object, "name"); !name.empty()) return std::string(name);
    for (const char* inner : {"kwargs", "data"})
        if (const auto fields = object_member(object, inner); fields && (type == "constructor" || type == "tool"))
            return std::string(text_member(*fields, "name"));
    return {};
}

} // namespace

std::string result_text(const dom::element& value, int depth) {
    if (auto text = unwrapped(value, depth)) return *std::move(text);
    return text_or_json(value);
}

std::optional<std::string> unwrap_tool_result(std::string_view json) {
    ParsedText parsed;
    if (!parsed.parse(json)) return std::nullopt;
    return unwrapped(parsed.root, 0);
}

std::optional<std::string> unwrap_arguments(std::string_view json) {
    ParsedText parsed;
    dom::object call, named;
    dom::array unnamed;
    if (!parsed.parse(json) || parsed.root.get(call) != simdjson::SUCCESS || call.size() != 2) return std::nullopt;
    if (call.at_key("args").get(unnamed) != simdjson::SUCCESS || call.at_key("kwargs").get(named) != simdjson::SUCCESS)
        return std::nullopt;
    if (unnamed.size() == 1 && named.size() == 0) return text_or_json(*unnamed.begin());
    if (unnamed.size() > 0 || named.size() == 0) return std::nullopt;
    return simdjson::minify(named);
}

std::string read_tool_of_result(std::string_view json) {
    ParsedText parsed;
    dom::object object;
    if (!json.starts_with('{') || !parsed.parse(json) || parsed.root.get(object) != simdjson::SUCCESS) return {};
    return tool_of_message(object, 0);
}

} // namespace hone::telemetry
