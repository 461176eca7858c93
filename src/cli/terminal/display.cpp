#include "cli/terminal/display.h"

#include "base/text.h"

#include <cstdint>
#include <cstdio>

namespace hone::cli {

namespace {

struct Character {
    char32_t value = 0;
    size_t bytes = 1;
};

// Decodes the character at `at` of valid UTF-8.
Character decode(std::string_view text, size_t at) {
    const auto byte = [&](size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
    const unsigned char first = byte(0);
    const size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (bytes == 1 || at + bytes > text.size()) return {first, 1};
    char32_t value = first & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; ++i) value = (value << 6) | (byte(i) & 0x3fU);
    return {value, bytes};
}

// Moves the cursor, changes colours, reorders or hides text. The joiners U+200C and U+200D stay: scripts need them.
bool is_unsafe(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200b || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

std::string escape(char32_t c) {
    char text[16];
    std::snprintf(text, sizeof text,
                  c < 0x100     ? "\\x%02x"
                  : c < 0x10000 ? "\\u%04x"
                                : "\\U%08x",
                  static_cast<unsigned>(c));
    return text;
}

std::string escape_for_json(char32_t c) {
    char text[16];
    if (c < 0x10000) {
        std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(c));
    } else {
        const unsigned rest = static_cast<unsigned>(c) - 0x10000;
        std::snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
    }
    return text;
}

std::string make_safe(std::string_view raw, bool keep_lines) {
    const std::string text = repair_utf8(raw);
    std::string safe;
    for (size_t at = 0; at < text.size();) {
        const Character c = decode(text, at);
        if (c.value == '\n' && keep_lines)
            safe += '\n';
        else if (c.value == '\n' || c.value == '\t')
            safe += ' ';
        else if (is_unsafe(c.value))
            safe += escape(c.value);
        else
            safe += text.substr(at, c.bytes);
        at += c.bytes;
    }
    return safe;
}

// Bytes at the end that begin a character without completing it.
size_t unfinished(std::string_view text) {
    for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if (byte < 0x80) return 0;
        if (byte < 0xc0) continue;
        const size_t needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        return needed > back ? back : 0;
    }
    return 0;
}

std::string guard(std::string_view raw) {
    const std::string text = repair_utf8(raw);
    std::string safe;
    for (size_t at = 0; at < text.size();) {
        const Character c = decode(text, at);
        // Between values JSON has line breaks and tabs; inside strings they are escaped already.
        const bool is_layout = c.value == '\n' || c.value == '\r' || c.value == '\t';
        if (is_unsafe(c.value) && !is_layout)
            safe += escape_for_json(c.value);
        else if (c.value != '\r')
            safe += text.substr(at, c.bytes);
        at += c.bytes;
    }
    return safe;
}

} // namespace

size_t display_width(std::string_view text) {
    size_t width = 0;
    for (size_t at = 0; at < text.size();) {
        const Character c = decode(text, at);
        width += character_width(c.value);
        at += c.bytes;
    }
    return width;
}

std::string cut_to_width(std::string_view text, size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return "";
    size_t used = 0, at = 0;
    while (at < text.size()) {
        const Character c = decode(text, at);
        if (used + character_width(c.value) > width - 1) break;
        used += character_width(c.value);
        at += c.bytes;
    }
    return std::string(text.substr(0, at)) + "…";
}

std::string safe_line(std::string_view text) {
    return make_safe(text, false);
}

std::string safe_block(std::string_view text) {
    return make_safe(text, true);
}

std::string JsonGuard::feed(std::string_view piece) {
    m_rest += piece;
    const size_t whole = m_rest.size() - unfinished(m_rest);
    std::string safe = guard(std::string_view(m_rest).substr(0, whole));
    m_rest.erase(0, whole);
    return safe;
}

std::string JsonGuard::finish() {
    return guard(std::exchange(m_rest, {}));
}

std::string safe_json(std::string_view json) {
    return guard(json);
}

} // namespace hone::cli
