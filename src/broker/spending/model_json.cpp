#include "broker/spending/model_json.h"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cstring>

namespace hone::broker {

namespace {

constexpr size_t npos = std::string_view::npos;

// The place after the closing quote of the string that opens at `at`.
size_t end_of_string(std::string_view text, size_t at) {
    for (++at; at < text.size();) {
        const void* quote = std::memchr(text.data() + at, '"', text.size() - at);
        if (quote == nullptr) return npos;
        const size_t end = static_cast<size_t>(static_cast<const char*>(quote) - text.data());
        size_t slashes = 0;
        while (end > at + slashes && text[end - 1 - slashes] == '\\') ++slashes;
        // Only slashes since `at` are counted: what is before it belongs to an escaped quote that was passed already.
        if (slashes % 2 == 0) return end + 1;
        at = end + 1;
    }
    return npos;
}

bool ends_scalar(char c) {
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':' ||
           c == '"' || c == '{' || c == '[';
}

// Numbers and words are taken unchanged; the reader checks their form.
size_t end_of_scalar(std::string_view text, size_t at) {
    const size_t start = at;
    while (at < text.size() && !ends_scalar(text[at])) ++at;
    return at == start || at == text.size() ? npos : at;
}

size_t end_of_scalar_at_end(std::string_view text, size_t at) {
    const size_t start = at;
    while (at < text.size() && !ends_scalar(text[at])) ++at;
    return at == start ? npos : at;
}

void append_utf8(std::string& out, uint32_t point) {
    const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) return add(0xc0 | point >> 6), add(0x80 | (point & 0x3f));
    if (point < 0x10000) return add(0xe0 | point >> 12), add(0x80 | (point >> 6 & 0x3f)), add(0x80 | (point & 0x3f));
    add(0xf0 | point >> 18), add(0x80 | (point >> 12 & 0x3f)), add(0x80 | (point >> 6 & 0x3f)),
        add(0x80 | (point & 0x3f));
}

std::optional<uint32_t> hex4(std::string_view text, size_t at) {
    uint32_t value = 0;
    if (text.size() < at + 4) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
    if (error != std::errc() || end != text.data() + at + 4) return std::nullopt;
    return value;
}

// The content of a string between its quotes, without escapes.
std::optional<std::string> unescape(std::string_view inside) {
    std::string out;
    out.reserve(inside.size());
    for (size_t at = 0; at < inside.size(); ++at) {
        if (inside[at] != '\\') {
            out += inside[at];
            continue;
        }
        if (++at >= inside.size()) return std::nullopt;
        static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        if (const size_t known = letters.find(inside[at]); known != npos) {
            out += meanings[known];
            continue;
        }
        auto point = inside[at] == 'u' ? hex4(inside, at + 1) : std::nullopt;
        if (!point) return std::nullopt;
        at += 4;
        if (*point >= 0xd800 && *point < 0xdc00 && inside.substr(at + 1, 2) == "\\u") {
            const auto low = hex4(inside, at + 3);
            if (low && *low >= 0xdc00 && *low < 0xe000) {
                point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
                at += 6;
            }
        }
        append_utf8(out, *point >= 0xd800 && *point < 0xe000 ? 0xfffd : *point);
    }
    return out;
}

// The end of an object or list that opens at `at`. Brackets must match; the text between them is not checked.
size_t end_of_nest(std::string_view text, size_t at) {
    std::bitset<max_json_depth> is_object;
    size_t depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            at = end_of_string(text, at);
            if (at == npos) return npos;
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == max_json_depth) return npos;
            is_object[depth++] = c == '{';
        } else if (c == '}' || c == ']') {
            if (is_object[--depth] != (c == '}')) return npos;
            if (depth == 0) return at + 1;
        }
        ++at;
    }
    return npos;
}

} // namespace

size_t skip_json_space(std::string_view text, size_t at) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
    return at;
}

size_t end_of_json_value(std::string_view text, size_t at) {
    if (at >= text.size()) return npos;
    if (text[at] == '"') return end_of_string(text, at);
    if (text[at] == '{' || text[at] == '[') return end_of_nest(text, at);
    return end_of_scalar(text, at);
}

bool for_each_member(std::string_view text,
                     const std::function<bool(std::string_view key, std::string_view value)>& call) {
    size_t at = skip_json_space(text, 0);
    if (at >= text.size() || text[at] != '{') return false;
    at = skip_json_space(text, at + 1);
    if (at < text.size() && text[at] == '}') return true;
    for (;;) {
        if (at >= text.size() || text[at] != '"') return false;
        const size_t key_end = end_of_string(text, at);
        if (key_end == npos) return false;
        const std::string_view raw_key = text.substr(at + 1, key_end - at - 2);
        at = skip_json_space(text, key_end);
        if (at >= text.size() || text[at] != ':') return false;
        at = skip_json_space(text, at + 1);
        const size_t end = end_of_json_value(text, at);
        if (end == npos) return false;
        const std::string_view value = text.substr(at, end - at);
        if (raw_key.find('\\') == npos) {
            if (!call(raw_key, value)) return true;
        } else {
            const auto key = unescape(raw_key);
            if (!key) return false;
            if (!call(*key, value)) return true;
        }
        at = skip_json_space(text, end);
        if (at >= text.size()) return false;
        if (text[at] == '}') return true;
        if (text[at] != ',') return false;
        at = skip_json_space(text, at + 1);
    }
}

bool for_each_item(std::string_view text, const std::function<bool(std::string_view value)>& call) {
    size_t at = skip_json_space(text, 0);
    if (at >= text.size() || text[at] != '[') return false;
    at = skip_json_space(text, at + 1);
    if (at < text.size() && text[at] == ']') return true;
    for (;;) {
        const size_t end = end_of_json_value(text, at);
        if (end == npos) return false;
        if (!call(text.substr(at, end - at))) return true;
        at = skip_json_space(text, end);
        if (at >= text.size()) return false;
        if (text[at] == ']') return true;
        if (text[at] != ',') return false;
        at = skip_json_space(text, at + 1);
    }
}

std::optional<std::string_view> member(std::string_view object, std::string_view key) {
    std::optional<std::string_view> found;
    for_each_member(object, [&](std::string_view name, std::string_view value) {
        if (name == key) found = value;
        return true;
    });
    return found;
}

std::optional<std::string_view> member_at(std::string_view object, std::initializer_list<std::string_view> path) {
    std::optional<std::string_view> found = object;
    for (const std::string_view key : path) {
        found = member(*found, key);
        if (!found) return std::nullopt;
    }
    return found;
}

std::optional<int64_t> count_of(std::optional<std::string_view> value) {
    constexpr int64_t most = 1'000'000'000'000;
    if (!value || value->empty() || end_of_scalar_at_end(*value, 0) != value->size()) return std::nullopt;
    double number = 0; // some say 12.0
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc() || end != value->data() + value->size() || !(number >= 0)) return std::nullopt;
    return number > static_cast<double>(most) ? most : static_cast<int64_t>(number);
}

std::optional<std::string> text_of(std::optional<std::string_view> value) {
    if (!value || value->size() < 2 || value->front() != '"') return std::nullopt;
    return unescape(value->substr(1, value->size() - 2));
}

bool is_true(std::optional<std::string_view> value) {
    return value && *value == "true";
}

bool is_text(std::optional<std::string_view> value) {
    return value && value->starts_with('"');
}

bool is_list(std::optional<std::string_view> value) {
    return value && value->starts_with('[');
}

bool is_null(std::string_view value) {
    return value == "null";
}

} // namespace hone::broker
