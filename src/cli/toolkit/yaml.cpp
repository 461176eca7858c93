#include "cli/toolkit/yaml.h"

#include "base/text.h"
#include "cli/terminal/display.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <yaml.h>

namespace hone::cli {

namespace {

// --- reading -------------------------------------------------------------------------------------------------------

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

// true, True and TRUE, but not tRUE.
bool is_word(std::string_view text, std::string_view word) {
    if (lower(text) != word) return false;
    const bool rest_is_lower = text.substr(1) == word.substr(1);
    return rest_is_lower || std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

struct Event {
    yaml_event_t event{};
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { yaml_event_delete(&event); }
};

class Reader {
public:
    explicit Reader(std::string_view text) {
        if (yaml_parser_initialize(&m_parser) == 0) return;
        m_ready = true;
        yaml_parser_set_encoding(&m_parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&m_parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~Reader() { yaml_parser_delete(&m_parser); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Result<json::Value> document() {
        if (!m_ready) return internal("out of memory in the YAML parser");
        Event start, opening, first, closing, last;
        TRY(next(start));
        TRY(next(opening));
        if (opening.event.type != YAML_DOCUMENT_START_EVENT) return invalid("the file is empty");
        TRY(next(first));
        json::Value value = TRY(node(first.event, 1));
        TRY(next(closing));
        TRY(next(last));
        if (last.event.type != YAML_STREAM_END_EVENT)
            return wrong(last.event, "the file contains more than one document");
        return value;
    }

private:
    static Error wrong(const yaml_event_t& event, std::string_view why) {
        return invalid(fmt::format("line {}: {}", event.start_mark.line + 1, why));
    }

    Result<> next(Event& event) {
        if (yaml_parser_parse(&m_parser, &event.event) != 0) return {};
        const char* problem = m_parser.problem != nullptr ? m_parser.problem : "invalid YAML";
        const size_t line =
            std::max(m_parser.problem_mark.line, m_parser.context != nullptr ? m_parser.context_mark.line : 0);
        return invalid(fmt::format("line {}: {}", line + 1, problem));
    }

    Result<json::Value> node(const yaml_event_t& event, size_t depth) {
        if (depth > json::max_depth) return wrong(event, fmt::format("nested deeper than {} levels", json::max_depth));
        switch (event.type) {
        case YAML_SCALAR_EVENT:
            return scalar(event);
        case YAML_SEQUENCE_START_EVENT:
            TRY(refuse_marks(event, event.data.sequence_start.anchor, event.data.sequence_start.tag));
            return list(depth);
        case YAML_MAPPING_START_EVENT:
            TRY(refuse_marks(event, event.data.mapping_start.anchor, event.data.mapping_start.tag));
            return object(depth);
        case YAML_ALIAS_EVENT:
            return wrong(event, "aliases (*name) are not supported: write the value");
        default:
            return wrong(event, "a value is missing");
        }
    }

    // An anchor without an alias does nothing; a tag would change what a value means.
    static Result<> refuse_marks(const yaml_event_t& event, const yaml_char_t* anchor, const yaml_char_t* tag) {
        if (anchor != nullptr) return wrong(event, "anchors (&name) are not supported: write the value");
        if (tag != nullptr) return wrong(event, "tags (!name) are not supported");
        return {};
    }

    static Result<json::Value> scalar(const yaml_event_t& event) {
        const auto& found = event.data.scalar;
        TRY(refuse_marks(event, found.anchor, found.tag));
        const std::string_view text(reinterpret_cast<const char*>(found.value), found.length);
        if (found.style != YAML_PLAIN_SCALAR_STYLE) return json::Value(text);
        if (text.empty() || text == "~" || is_word(text, "null")) return json::Value(nullptr);
        if (is_word(text, "true")) return json::Value(true);
        if (is_word(text, "false")) return json::Value(false);
        if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return json::Value(text);
        auto number = json::parse(text);
        return number.ok() && number.value().is_number() ? std::move(number).value() : json::Value(text);
    }

    Result<json::Value> list(size_t depth) {
        json::Array array;
        for (;;) {
            Event event;
            TRY(next(event));
            if (event.event.type == YAML_SEQUENCE_END_EVENT) return json::Value(std::move(array));
            array.push_back(TRY(node(event.event, depth + 1)));
        }
    }

    Result<json::Value> object(size_t depth) {
        json::Object object;
        for (;;) {
            Event key, value;
            TRY(next(key));
            if (key.event.type == YAML_MAPPING_END_EVENT) return json::Value(std::move(object));
            if (key.event.type != YAML_SCALAR_EVENT) return wrong(key.event, "a key must be a string");
            const auto& found = key.event.data.scalar;
            TRY(refuse_marks(key.event, found.anchor, found.tag));
            const std::string name(reinterpret_cast<const char*>(found.value), found.length);
            if (object.contains(name)) return wrong(key.event, "the key \"" + safe_line(name) + "\" appears twice");
            TRY(next(value));
            object[name] = TRY(node(value.event, depth + 1));
        }
    }

    yaml_parser_t m_parser{};
    bool m_ready = false;
};

// --- writing -------------------------------------------------------------------------------------------------------

// Stands without quotes: starts with a letter, holds nothing that means something, and is no word that YAML 1.1 knows.
bool is_plain(std::string_view text) {
    constexpr std::string_view known[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"};
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto fine = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') ||
               std::string_view(" _-./@,()'+;").find(c) != std::string_view::npos;
    };
    if (text.empty() || text.size() > 200 || !letter(text.front()) || text.back() == ' ') return false;
    if (!std::all_of(text.begin(), text.end(), fine)) return false;
    return std::find(std::begin(known), std::end(known), lower(text)) == std::end(known);
}

// What YAML wants escaped where JSON does not: DEL, separators that break lines there, a byte order mark, which readers
// leave out, and the last two of the plane, which they refuse.
struct Escaped {
    std::string_view raw;
    std::string_view escape;
};
constexpr Escaped escaped[] = {{"\x7f", "\\x7F"},           {"\xC2\x85", "\\x85"},       {"\xE2\x80\xA8", "\\u2028"},
                               {"\xE2\x80\xA9", "\\u2029"}, {"\xEF\xBB\xBF", "\\uFEFF"}, {"\xEF\xBF\xBE", "\\uFFFE"},
                               {"\xEF\xBF\xBF", "\\uFFFF"}};

// As a block of lines: what a terminal may see, and whose first character does not decide about the indentation.
bool is_block(std::string_view text) {
    if (text.find('\n') == std::string_view::npos || text.front() == '\n' || text.front() == ' ') return false;
    if (text.find_first_of("\t\r") != std::string_view::npos) return false;
    for (const Escaped& odd : escaped)
        if (text.find(odd.raw) != std::string_view::npos) return false;
    return safe_block(text) == text;
}

// JSON's quotes are YAML's, but for a few characters.
std::string yaml_quoted(std::string_view text) {
    std::string made = safe_json(json::print(json::Value(text)));
    for (const Escaped& odd : escaped)
        for (size_t at = made.find(odd.raw); at != std::string::npos; at = made.find(odd.raw, at))
            made.replace(at, odd.raw.size(), odd.escape);
    return made;
}

std::string number_text(double number) {
    std::string text = fmt::format("{}", number);
    if (text.find('.') != std::string::npos) return text;
    const size_t exponent = text.find('e');
    return exponent == std::string::npos ? text + ".0" : text.insert(exponent, ".0");
}

void print_text(std::string_view text, std::string& out, size_t indent) {
    if (is_plain(text)) {
        out += text;
    } else if (!is_block(text)) {
        out += yaml_quoted(text);
    } else {
        const bool ends = text.back() == '\n';
        out += !ends ? "|-" : text.size() > 1 && text[text.size() - 2] == '\n' ? "|+" : "|";
        if (ends) text.remove_suffix(1);
        for (const std::string_view line : split(text, '\n')) {
            out += '\n';
            if (!line.empty()) out += std::string(std::max<size_t>(indent, 2), ' ') + std::string(line);
        }
    }
}

void print_value(const json::Value& value, std::string& out, size_t indent);

bool is_nested(const json::Value& value) {
    return (value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty());
}

void print_object(const json::Object& object, std::string& out, size_t indent) {
    bool first = true;
    for (const auto& entry : object) {
        if (!std::exchange(first, false)) out += "\n" + std::string(indent, ' ');
        const std::string_view key = entry.key();
        const std::string shown = is_plain(key) ? std::string(key) : yaml_quoted(key);
        // Readers look for the colon in the next 1,024 characters only, unless it is marked.
        if (shown.size() > 1000)
            out += "? " + shown + "\n" + std::string(indent, ' ') + ":";
        else
            out += shown + ":";
        out += is_nested(entry.value()) ? "\n" + std::string(indent + 2, ' ') : " ";
        print_value(entry.value(), out, indent + 2);
    }
}

void print_value(const json::Value& value, std::string& out, size_t indent) {
    if (value.is_object() && !value.get_object().empty()) {
        print_object(value.get_object(), out, indent);
    } else if (value.is_array() && !value.get_array().empty()) {
        bool first = true;
        for (const json::Value& item : value.get_array()) {
            if (!std::exchange(first, false)) out += "\n" + std::string(indent, ' ');
            out += "- ";
            print_value(item, out, indent + 2);
        }
    } else if (value.is_string()) {
        print_text(value.get_string(), out, indent);
    } else if (value.is_double()) {
        out += number_text(value.get_double());
    } else {
        out += json::print(value);
    }
}

} // namespace

Result<json::Value> parse_yaml(std::string_view text) {
    if (!is_valid_utf8(text)) return invalid("the file is not valid UTF-8");
    return Reader(text).document();
}

std::string print_yaml(const json::Value& value) {
    std::string out;
    print_value(value, out, 0);
    return out + "\n";
}

} // namespace hone::cli
