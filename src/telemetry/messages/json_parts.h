// What the readers of JSON texts here share: members of objects, the words of a message's content, results of
// tools. Internal to telemetry/messages; bounded, pure.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>

namespace hone::telemetry {

constexpr size_t most_messages = 4096;
constexpr int deepest_value = 12;

struct ParsedText {
    simdjson::dom::parser parser;
    simdjson::dom::element root;

    bool parse(std::string_view json) {
        return !json.empty() && parser.allocate(std::max<size_t>(json.size(), 64), 128) == simdjson::SUCCESS &&
               parser.parse(json.data(), json.size()).get(root) == simdjson::SUCCESS;
    }
};

inline std::string text_or_json(const simdjson::dom::element& value) {
    if (std::string_view text; value.get(text) == simdjson::SUCCESS) return std::string(text);
    return value.is_null() ? std::string() : simdjson::minify(value);
}

inline std::optional<simdjson::dom::element> member(const simdjson::dom::object& object, const char* name) {
    simdjson::dom::element value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    return value;
}

inline std::optional<simdjson::dom::object> object_member(const simdjson::dom::object& object, const char* name) {
    simdjson::dom::object value;
    if (object.at_key(name).get(value) != simdjson::SUCCESS) return std::nullopt;
    return value;
}

inline std::string_view text_member(const simdjson::dom::object& object, const char* name) {
    std::string_view text;
    return object.at_key(name).get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// The first of the fields that is there and not null.
inline std::string first_text(const simdjson::dom::object& object, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto value = member(object, name)) return text_or_json(*value);
    return {};
}

inline void add_line(std::string& content, std::string_view line) {
    if (!content.empty() && !line.empty()) content += '\n';
    content += line;
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// The words of a message's content: a text, a list of parts, or an object that holds one.
std::string words_of_content(const simdjson::dom::element& content);
// The text of a tool's result without what a framework wrapped around it.
std::string result_text(const simdjson::dom::element& value, int depth);

} // namespace hone::telemetry
