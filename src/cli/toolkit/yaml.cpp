#include "cli/toolkit/yaml.h"

#include "base/text.h"
#include "cli/terminal/display.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hone::cli {

namespace {

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
    return std::find(std::begin(known), std::end(known), lowercase_ascii(text)) == std::end(known);
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

std::string print_yaml(const json::Value& value) {
    std::string out;
    print_value(value, out, 0);
    return out + "\n";
}

} // namespace hone::cli
