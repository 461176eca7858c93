// Reading what harnesses print: any field may be absent, of another type, or new. Nothing here fails; what is missing
// reads as empty. Any thread.
#pragma once

#include "json/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::harness {

// The object a line holds; nothing when it is not one.
inline std::optional<json::Object> read_object(std::string_view line) {
    auto value = json::parse(line);
    if (!value.ok() || !value.value().is_object()) return std::nullopt;
    return std::move(value.value().get_object());
}

inline const json::Value* member(const json::Object& object, std::string_view key) {
    return object.if_contains(key);
}

inline const json::Object& object_at(const json::Object& object, std::string_view key) {
    static const json::Object empty;
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : empty;
}

inline const json::Array& array_at(const json::Object& object, std::string_view key) {
    static const json::Array empty;
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_array() ? found->get_array() : empty;
}

inline std::string text_at(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// The text of a string, the JSON of anything else, nothing for null.
inline std::string shown_at(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    if (found == nullptr || found->is_null()) return {};
    return found->is_string() ? std::string(found->get_string()) : json::print(*found);
}

inline int64_t integer_at(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    if (found == nullptr) return 0;
    if (found->is_int64()) return found->get_int64();
    if (found->is_double() && found->get_double() >= 0 && found->get_double() < 9e15)
        return static_cast<int64_t>(found->get_double());
    return 0;
}

inline bool true_at(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_bool() && found->get_bool();
}

// The text parts of a message: a string, or a list of {type: "text", text}. Other parts are named in brackets.
std::string joined_text(const json::Value& content);

// `mcp__hone__search_spans`, `mcp_hone_search_spans`, `hone_search_spans` → `hone.search_spans`; others unchanged.
std::string tool_name(std::string_view name);

} // namespace hone::harness
