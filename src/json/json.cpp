#include "json/json.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <charconv>
#include <cmath>

namespace hone::json {

namespace {

// The line and column of a byte, for messages about text that a person wrote.
std::string place(std::string_view text, size_t offset) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < std::min(offset, text.size()); ++i) {
        column = text[i] == '\n' ? 1 : column + 1;
        if (text[i] == '\n') ++line;
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// Boost.JSON keeps the last of two equal keys; duplicate keys are an error here. It works on the raw text,
// since the tree no longer shows it: a stack of the key sets of the open objects.
class DuplicateFinder {
public:
    // Returns the first repeated key of well-formed JSON, or nothing.
    static std::optional<std::string> find(std::string_view text) {
        std::vector<std::vector<std::string_view>> open;
        std::vector<bool> is_object;
        for (size_t at = 0; at < text.size(); ++at) {
            const char c = text[at];
            if (c == '{' || c == '[') {
                open.emplace_back();
                is_object.push_back(c == '{');
            } else if (c == '}' || c == ']') {
                if (c == '}')
                    if (auto twice = repeated(open.back())) return std::string(*twice);
                open.pop_back();
                is_object.pop_back();
            } else if (c == '"') {
                const size_t start = at + 1;
                for (++at; text[at] != '"'; ++at)
                    if (text[at] == '\\') ++at;
                size_t next = at + 1;
                while (next < text.size() &&
                       (text[next] == ' ' || text[next] == '\t' || text[next] == '\n' || text[next] == '\r'))
                    ++next;
                if (next < text.size() && text[next] == ':' && !is_object.empty() && is_object.back())
                    open.back().push_back(text.substr(start, at - start));
            }
        }
        return std::nullopt;
    }

private:
    static std::optional<std::string_view> repeated(std::vector<std::string_view>& keys) {
        std::sort(keys.begin(), keys.end());
        const auto twice = std::adjacent_find(keys.begin(), keys.end());
        if (twice == keys.end()) return std::nullopt;
        return *twice;
    }
};

// Boost.JSON reads 1e1001 as infinity, which it then prints as no JSON.
bool has_odd_number(const Value& value) {
    if (value.is_double()) return !std::isfinite(value.get_double());
    if (value.is_array()) return std::any_of(value.get_array().begin(), value.get_array().end(), has_odd_number);
    if (!value.is_object()) return false;
    for (const auto& entry : value.get_object())
        if (has_odd_number(entry.value())) return true;
    return false;
}

// The numbers of well-formed JSON, one after the other, as they are written.
class NumberTexts {
public:
    explicit NumberTexts(std::string_view text) : m_text(text) {}

    std::string_view next() {
        for (; m_at < m_text.size(); ++m_at) {
            const char c = m_text[m_at];
            if (c == '"') {
                for (++m_at; m_text[m_at] != '"'; ++m_at)
                    if (m_text[m_at] == '\\') ++m_at;
            } else if (c == '-' || (c >= '0' && c <= '9')) {
                const size_t start = m_at;
                m_at = std::min(m_text.find_first_not_of("+-.0123456789eE", start), m_text.size());
                return m_text.substr(start, m_at - start);
            }
        }
        return {};
    }

private:
    std::string_view m_text;
    size_t m_at = 0;
};

// Boost.JSON may miss the last place of a fraction, so that what was printed would not read back the same. The tree has
// its numbers in the order of the text: each fraction is read again, to the nearest double.
void read_fractions(Value& value, NumberTexts& numbers) {
    if (value.is_number()) {
        const std::string_view text = numbers.next();
        double exact = 0;
        if (value.is_double() && std::from_chars(text.data(), text.data() + text.size(), exact).ec == std::errc())
            value = exact;
    } else if (value.is_array()) {
        for (auto& item : value.get_array()) read_fractions(item, numbers);
    } else if (value.is_object()) {
        for (auto& entry : value.get_object()) read_fractions(entry.value(), numbers);
    }
}

// As people write it, and never as a whole number: what was a fraction reads back as one.
std::string fraction_text(double number) {
    char digits[400];
    const double size = std::abs(number);
    const bool is_plain = size == 0 || (size >= 1e-6 && size < 1e16);
    const auto end = std::to_chars(digits, digits + sizeof digits, number,
                                   is_plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string text(digits, end);
    if (is_plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

// Boost.JSON writes 0.2 as 2E-1: correct, but hard to read.
std::string with_plain_fractions(std::string text) {
    if (text.find('E') == std::string::npos) return text;
    std::string out;
    size_t copied = 0;
    NumberTexts numbers(text);
    for (std::string_view number; !(number = numbers.next()).empty();) {
        double value = 0;
        if (number.find('E') == std::string_view::npos) continue;
        if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) continue;
        const auto begin = static_cast<size_t>(number.data() - text.data());
        out.append(text, copied, begin - copied);
        out += fraction_text(value);
        copied = begin + number.size();
    }
    return out.append(text, copied);
}

void print_pretty_to(const Value& value, std::string& out, size_t indent) {
    const std::string inner(indent + 2, ' '), outer(indent, ' ');
    if (value.is_object() && !value.get_object().empty()) {
        out += "{\n";
        bool first = true;
        for (const auto& entry : value.get_object()) {
            if (!first) out += ",\n";
            first = false;
            out += inner + quote_json(std::string_view(entry.key())) + ": ";
            print_pretty_to(entry.value(), out, indent + 2);
        }
        out += "\n" + outer + "}";
    } else if (value.is_array() && !value.get_array().empty()) {
        out += "[\n";
        bool first = true;
        for (const auto& item : value.get_array()) {
            if (!first) out += ",\n";
            first = false;
            out += inner;
            print_pretty_to(item, out, indent + 2);
        }
        out += "\n" + outer + "]";
    } else {
        out += print(value);
    }
}

} // namespace

Result<Value> parse(std::string_view text) {
    if (!is_valid_utf8(text)) return invalid("the JSON text is not valid UTF-8");
    boost::json::parse_options options;
    options.max_depth = max_depth;
    boost::json::stream_parser parser(boost::json::storage_ptr(), options);
    boost::system::error_code failed;
    const size_t used = parser.write_some(text.data(), text.size(), failed);
    if (!failed && used == text.size()) parser.finish(failed);
    if (failed == boost::json::error::too_deep)
        return invalid("the JSON is nested deeper than " + std::to_string(max_depth) + " levels");
    if (failed == boost::json::error::incomplete || text.empty()) return invalid("the JSON text ends too early");
    if (failed || used != text.size())
        return invalid("not valid JSON at " + place(text, used) +
                       (failed ? ": " + failed.message() : ": text after the value"));
    if (auto twice = DuplicateFinder::find(text))
        return invalid("the key \"" + *twice + "\" appears twice in one JSON object");
    Value value = parser.release();
    NumberTexts numbers(text);
    read_fractions(value, numbers);
    if (has_odd_number(value)) return invalid("a number in the JSON text is out of range");
    return value;
}

std::string print(const Value& value) {
    return with_plain_fractions(boost::json::serialize(value));
}

std::string print_pretty(const Value& value) {
    std::string out;
    print_pretty_to(value, out, 0);
    return out + "\n";
}

namespace detail {

namespace {
std::string subject(const std::string& path) {
    return path.empty() ? "the body" : path;
}
} // namespace

Error mistyped(const std::string& path, std::string_view expected) {
    return invalid(subject(path) + " must be " + std::string(expected));
}

Error out_of_range(const std::string& path) {
    return invalid(subject(path) + " is out of range");
}

Error unknown_field(const std::string& path, std::string_view name) {
    return invalid("unknown field " + join(path, repair_utf8(truncate_utf8(name, 100))));
}

Result<> read_fields(const Object& object, const std::string& path, std::span<const FieldReader> fields) {
    for (const auto& entry : object)
        if (std::ranges::find(fields, std::string_view(entry.key()), &FieldReader::name) == fields.end())
            return unknown_field(path, std::string_view(entry.key()));
    for (const FieldReader& field : fields) TRY(field.read(object, path, field.name, field.into));
    return {};
}

Object write_fields(std::span<const FieldWriter> fields) {
    Object object;
    object.reserve(fields.size());
    for (const FieldWriter& field : fields) object[field.name] = field.write(field.from);
    return object;
}

Error missing_field(const std::string& path) {
    return invalid(path + " is missing");
}

std::string join(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

Result<int64_t> integer(const Value& value, const std::string& path) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return out_of_range(path);
    return mistyped(path, "a whole number");
}

Result<double> number(const Value& value, const std::string& path) {
    if (value.is_double()) return value.get_double();
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_uint64()) return static_cast<double>(value.get_uint64());
    return mistyped(path, "a number");
}

Result<std::string> text(const Value& value, const std::string& path) {
    if (!value.is_string()) return mistyped(path, "a string");
    const auto& found = value.get_string();
    if (found.find('\0') != boost::json::string::npos)
        return invalid(subject(path) + " must not contain a NUL character");
    return std::string(found.data(), found.size());
}

Result<Time> time(const Value& value, const std::string& path) {
    const std::string form = TRY(text(value, path));
    auto parsed = parse_time(form);
    if (!parsed.ok()) return invalid(path + " is " + parsed.error().message);
    return std::move(parsed).value();
}

} // namespace detail

} // namespace hone::json
