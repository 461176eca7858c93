#include "json/yaml.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <yaml.h>

namespace hone::json {

namespace {

// true, True and TRUE, but not tRUE.
bool is_word(std::string_view text, std::string_view word) {
    if (lowercase_ascii(text) != word) return false;
    const bool rest_is_lower = text.substr(1) == word.substr(1);
    return rest_is_lower || std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

struct YamlEvent {
    yaml_event_t event{};
    YamlEvent() = default;
    YamlEvent(const YamlEvent&) = delete;
    YamlEvent& operator=(const YamlEvent&) = delete;
    ~YamlEvent() { yaml_event_delete(&event); }
};

class YamlReader {
public:
    explicit YamlReader(std::string_view text) {
        if (yaml_parser_initialize(&m_parser) == 0) return;
        m_ready = true;
        yaml_parser_set_encoding(&m_parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&m_parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~YamlReader() { yaml_parser_delete(&m_parser); }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;

    Result<Value> document() {
        if (!m_ready) return internal("out of memory in the YAML parser");
        YamlEvent start, opening, first, closing, last;
        TRY(next(start));
        TRY(next(opening));
        if (opening.event.type != YAML_DOCUMENT_START_EVENT) return invalid("the file is empty");
        TRY(next(first));
        Value value = TRY(node(first.event, 1));
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

    Result<> next(YamlEvent& event) {
        if (yaml_parser_parse(&m_parser, &event.event) != 0) return {};
        const char* problem = m_parser.problem != nullptr ? m_parser.problem : "invalid YAML";
        const size_t line =
            std::max(m_parser.problem_mark.line, m_parser.context != nullptr ? m_parser.context_mark.line : 0);
        return invalid(fmt::format("line {}: {}", line + 1, problem));
    }

    Result<Value> node(const yaml_event_t& event, size_t depth) {
        if (depth > max_depth) return wrong(event, fmt::format("nested deeper than {} levels", max_depth));
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

    static Result<Value> scalar(const yaml_event_t& event) {
        const auto& found = event.data.scalar;
        TRY(refuse_marks(event, found.anchor, found.tag));
        const std::string_view text(reinterpret_cast<const char*>(found.value), found.length);
        if (found.style != YAML_PLAIN_SCALAR_STYLE) return Value(text);
        if (text.empty() || text == "~" || is_word(text, "null")) return Value(nullptr);
        if (is_word(text, "true")) return Value(true);
        if (is_word(text, "false")) return Value(false);
        if (text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return Value(text);
        auto number = parse(text);
        return number.ok() && number.value().is_number() ? std::move(number).value() : Value(text);
    }

    Result<Value> list(size_t depth) {
        Array array;
        for (;;) {
            YamlEvent event;
            TRY(next(event));
            if (event.event.type == YAML_SEQUENCE_END_EVENT) return Value(std::move(array));
            array.push_back(TRY(node(event.event, depth + 1)));
        }
    }

    Result<Value> object(size_t depth) {
        Object made;
        for (;;) {
            YamlEvent key, value;
            TRY(next(key));
            if (key.event.type == YAML_MAPPING_END_EVENT) return Value(std::move(made));
            if (key.event.type != YAML_SCALAR_EVENT) return wrong(key.event, "a key must be a string");
            const auto& found = key.event.data.scalar;
            TRY(refuse_marks(key.event, found.anchor, found.tag));
            const std::string name(reinterpret_cast<const char*>(found.value), found.length);
            if (made.contains(name))
                return wrong(key.event, "the key " + quote_json(truncate_utf8(name, 200)) + " appears twice");
            TRY(next(value));
            made[name] = TRY(node(value.event, depth + 1));
        }
    }

    yaml_parser_t m_parser{};
    bool m_ready = false;
};

} // namespace

Result<Value> parse_yaml(std::string_view text) {
    if (!is_valid_utf8(text)) return invalid("the file is not valid UTF-8");
    return YamlReader(text).document();
}

} // namespace hone::json
