#include "signal/text/prompt_text.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace hone::signal {

namespace {

bool is_identifier(std::string_view word) {
    return word.size() >= 3 && word.size() <= 64 && std::isalpha(static_cast<unsigned char>(word.front())) != 0 &&
           std::all_of(word.begin(), word.end(), is_identifier_letter);
}

std::optional<Schema> read_schema(const json::Value& value) {
    const json::Object* object = value.if_object();
    if (object == nullptr) return std::nullopt;
    if (const json::Value* function = object->if_contains("function"); function != nullptr && function->is_object())
        object = &function->get_object();
    const json::Value* name = object->if_contains("name");
    if (name == nullptr || !name->is_string()) return std::nullopt;
    Schema schema;
    schema.name = std::string(name->get_string());
    for (const char* key : {"parameters", "input_schema", "inputSchema"}) {
        const json::Value* parameters = object->if_contains(key);
        if (parameters == nullptr || !parameters->is_object()) continue;
        const json::Object& fields = parameters->get_object();
        if (const json::Value* properties = fields.if_contains("properties"); properties && properties->is_object()) {
            schema.is_closed = true;
            for (const auto& property : properties->get_object()) schema.properties.emplace(property.key());
        }
        if (const json::Value* more = fields.if_contains("additionalProperties"))
            if (more->is_object() || (more->is_bool() && more->get_bool())) schema.is_closed = false;
        if (const json::Value* required = fields.if_contains("required"); required != nullptr && required->is_array())
            for (const json::Value& one : required->get_array())
                if (one.is_string()) schema.required.emplace_back(one.get_string());
    }
    return schema;
}

} // namespace

bool is_identifier_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool returns_result(std::string_view tool) {
    std::string name = lowercase_ascii(tool);
    std::erase_if(name, [](char letter) { return !std::isalnum(static_cast<unsigned char>(letter)); });
    for (const std::string_view word : {"finalanswer", "finalresult", "finalresponse", "submitanswer", "submitresult",
                                        "returnresult", "attemptcompletion"})
        if (name.find(word) != std::string::npos) return true;
    return name == "finish" || name == "submit" || name == "done" || name == "respond";
}

size_t find_word(std::string_view text, std::string_view word, size_t from) {
    for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool begins = at == 0 || !is_identifier_letter(text[at - 1]);
        const size_t end = at + word.size();
        if (begins && (end >= text.size() || !is_identifier_letter(text[end]))) return at;
    }
    return std::string_view::npos;
}

bool is_called_in_code(std::string_view text, std::string_view tool) {
    for (size_t at = find_word(text, tool); at != std::string_view::npos; at = find_word(text, tool, at + 1)) {
        size_t end = at + tool.size();
        while (end < text.size() && text[end] == ' ') ++end;
        if (end < text.size() && text[end] == '(') return true;
    }
    return false;
}

void add_listed_tools(std::string_view prompt, std::set<std::string>& tools) {
    bool in_list = false;
    for (const std::string_view raw : split(truncate_utf8(prompt, 60'000), '\n')) {
        const std::string_view line = trim(raw);
        if (line.ends_with(':') && !line.starts_with('-')) {
            const std::string lowered = lowercase_ascii(line);
            in_list = lowered.find("tools") != std::string::npos || lowered.find("team members") != std::string::npos ||
                      lowered.find("functions") != std::string::npos || lowered.find("agents") != std::string::npos;
            continue;
        }
        if (!in_list || !(line.starts_with("- ") || line.starts_with("* "))) continue;
        std::string_view name = trim(line.substr(2));
        name = name.substr(0, std::min(name.find_first_of(":( "), name.size()));
        while (!name.empty() && (name.front() == '`' || name.front() == '*')) name.remove_prefix(1);
        while (!name.empty() && (name.back() == '`' || name.back() == '*')) name.remove_suffix(1);
        if (is_identifier(name)) tools.emplace(name);
    }
}

std::map<std::string, Schema> schemas_of(const std::vector<std::string>& tools) {
    std::map<std::string, Schema> made;
    for (const std::string& text : tools) {
        const auto parsed = json::parse(text);
        if (!parsed.ok()) continue;
        // One definition, or a list of them.
        if (const json::Array* list = parsed.value().if_array()) {
            for (const json::Value& one : *list)
                if (auto schema = read_schema(one)) made.emplace(schema->name, *schema);
        } else if (auto schema = read_schema(parsed.value())) {
            made.emplace(schema->name, *schema);
        }
    }
    return made;
}

std::string_view sentence_at(std::string_view text, size_t at) {
    const size_t before = text.find_last_of(".!?\n", at);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    size_t end = at;
    while (end < text.size() && text[end] != '\n' &&
           !((text[end] == '.' || text[end] == '!' || text[end] == '?') &&
             (end + 1 >= text.size() || std::isspace(static_cast<unsigned char>(text[end + 1])) != 0)))
        ++end;
    return trim(text.substr(begin, end - begin));
}

bool is_intention(std::string_view sentence) {
    const std::string text = lowercase_ascii(sentence);
    for (const std::string_view word : {"will", "let me", "let's", "now", "need to", "going to", "ask", "use", "using",
                                        "send", "call", "calling", "request", "i'll"})
        if (find_word(text, word) != std::string_view::npos) return true;
    return false;
}

int64_t characters_allowed(std::string_view text) {
    int64_t allowed = 0;
    constexpr std::string_view unit = " characters";
    for (size_t at = text.find(unit); at != std::string_view::npos; at = text.find(unit, at + 1)) {
        size_t begin = at;
        while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
        if (begin == at || at - begin > 7) continue;
        const std::string_view before = text.substr(begin > 60 ? begin - 60 : 0, std::min<size_t>(begin, 60));
        const std::string around = lowercase_ascii(before) + "|" + lowercase_ascii(text.substr(at + unit.size(), 16));
        for (const std::string_view word : {"first", "most", "up to", "upto", "only", "maximum", "no more than",
                                            "limit", "at a time", "make sure", "than"})
            if (around.find(word) != std::string::npos) {
                const auto number = parse_integer(text.substr(begin, at - begin));
                if (number.ok()) allowed = std::max(allowed, number.value());
                break;
            }
    }
    return allowed;
}

int64_t longest_printed(std::string_view code) {
    if (code.find("print") == std::string_view::npos && code.find("console.log") == std::string_view::npos) return 0;
    int64_t longest = 0;
    for (size_t at = code.find(']'); at != std::string_view::npos; at = code.find(']', at + 1)) {
        size_t begin = at;
        while (begin > 0 && std::isdigit(static_cast<unsigned char>(code[begin - 1])) != 0) --begin;
        if (begin == at || at - begin > 8) continue;
        // Between the colon and the number there is nothing, or a variable and a plus.
        size_t before = begin;
        while (before > 0 &&
               (is_identifier_letter(code[before - 1]) || code[before - 1] == ' ' || code[before - 1] == '+'))
            --before;
        if (before == 0 || code[before - 1] != ':') continue;
        const auto number = parse_integer(code.substr(begin, at - begin));
        if (number.ok()) longest = std::max(longest, number.value());
    }
    return longest;
}

std::vector<std::string> required_tags(std::string_view text) {
    std::vector<std::string> tags;
    for (size_t at = text.find('<'); at != std::string_view::npos && tags.size() < 4; at = text.find('<', at + 1)) {
        const size_t end = text.find('>', at);
        if (end == std::string_view::npos) break;
        const std::string_view name = text.substr(at + 1, end - at - 1);
        if (!is_identifier(name)) continue;
        const std::string before = lowercase_ascii(text.substr(at > 40 ? at - 40 : 0, std::min<size_t>(at, 40)));
        const std::string after = lowercase_ascii(text.substr(end + 1, 24));
        const bool is_required =
            before.find("end with") != std::string::npos || before.find("start with") != std::string::npos ||
            before.find("must contain") != std::string::npos ||
            (before.find("write the") != std::string::npos && after.find("tag") != std::string::npos);
        if (is_required) tags.emplace_back(text.substr(at, end + 1 - at));
    }
    return tags;
}

bool requires_json(std::string_view text) {
    const std::string lowered = lowercase_ascii(truncate_utf8(text, 20'000));
    for (const std::string_view phrase :
         {"respond only with json", "respond with json only", "return only json", "return only valid json",
          "output only json", "only output json", "only return json", "respond only in json",
          "respond with valid json only", "respond only with a json", "respond only with valid json",
          "return only a json"})
        if (lowered.find(phrase) != std::string::npos) return true;
    return false;
}

bool has_json(std::string_view text) {
    text = trim(text);
    if (text.starts_with("```")) {
        const size_t line = text.find('\n'), end = text.rfind("```");
        if (line != std::string_view::npos && end > line) text = trim(text.substr(line, end - line));
    }
    return json::parse(text).ok();
}

} // namespace hone::signal
