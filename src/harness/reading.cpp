#include "harness/reading.h"

#include <array>

namespace hone::harness {

namespace {

std::string part_text(const json::Object& part) {
    const std::string type = text_at(part, "type");
    // ACP wraps a part once more: {type: "content", content: {type: "text", text}}.
    if (type == "content") return part_text(object_at(part, "content"));
    if (type.empty() || type == "text") return text_at(part, "text");
    if (type == "diff") return "[change to " + text_at(part, "path") + "]";
    return "[" + type + "]";
}

} // namespace

std::string joined_text(const json::Value& content) {
    if (content.is_string()) return std::string(content.get_string());
    if (!content.is_array()) return content.is_null() ? std::string() : json::print(content);
    std::string joined;
    for (const json::Value& part : content.get_array()) {
        const std::string text = part.is_object() ? part_text(part.get_object()) : json::print(part);
        if (text.empty()) continue;
        if (!joined.empty()) joined += '\n';
        joined += text;
    }
    return joined;
}

std::string tool_name(std::string_view name) {
    static constexpr std::array prefixes{std::string_view("mcp__hone__"), std::string_view("mcp_hone_"),
                                         std::string_view("hone_"), std::string_view("hone-")};
    for (const std::string_view prefix : prefixes)
        if (name.starts_with(prefix)) return "hone." + std::string(name.substr(prefix.size()));
    // As Gemini CLI and Qwen Code say it, with or without the arguments behind.
    if (const size_t server = name.find(" (hone MCP Server)"); server != std::string_view::npos)
        return "hone." + std::string(name.substr(0, server));
    return std::string(name);
}

} // namespace hone::harness
