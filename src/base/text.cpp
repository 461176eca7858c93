#include "base/text.h"

#include <charconv>

namespace hone {

namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if malformed.
size_t utf8_sequence(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0; // overlong
    if (first == 0xed && byte(1) > 0x9f) return 0; // surrogates
    if (first == 0xf0 && byte(1) < 0x90) return 0; // overlong
    if (first == 0xf4 && byte(1) > 0x8f) return 0; // above U+10FFFF
    return length;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr std::string_view base64_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view base64url_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode_base64(std::string_view bytes, std::string_view letters, bool padding) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t count = std::min<size_t>(3, bytes.size() - i);
        uint32_t group = 0;
        for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (size_t k = 0; k < 4; ++k) {
            if (k <= count)
                text += letters[group >> (18 - 6 * k) & 63u];
            else if (padding)
                text += '=';
        }
    }
    return text;
}

} // namespace

bool is_valid_utf8(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const size_t length = utf8_sequence(text.substr(at));
        if (length == 0) return false;
        at += length;
    }
    return true;
}

bool is_printable_ascii(std::string_view text) {
    for (const char c : text)
        if (c < 0x20 || c > 0x7e) return false;
    return true;
}

std::string repair_utf8(std::string_view text) {
    std::string repaired;
    repaired.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const size_t length = utf8_sequence(text.substr(at));
        if (length == 0) {
            repaired += "\xef\xbf\xbd";
            ++at;
        } else {
            repaired += text.substr(at, length);
            at += length;
        }
    }
    return repaired;
}

std::string_view truncate_utf8(std::string_view text, size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

std::string quote_json(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string quoted = "\"";
    quoted.reserve(text.size() + 2);
    for (size_t at = 0; at < text.size();) {
        const auto c = static_cast<unsigned char>(text[at]);
        const size_t length = utf8_sequence(text.substr(at));
        if (length == 0) {
            quoted += "\\ufffd";
            ++at;
            continue;
        }
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += text[at];
        } else if (c == '\n') {
            quoted += "\\n";
        } else if (c < 0x20 || c == 0x7f) {
            quoted += "\\u00";
            quoted += hex[c >> 4];
            quoted += hex[c & 15];
        } else {
            quoted += text.substr(at, length);
        }
        at += length;
    }
    return quoted + "\"";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const size_t start = text.find_first_not_of(blank);
    if (start == std::string_view::npos) return {};
    return text.substr(start, text.find_last_not_of(blank) - start + 1);
}

std::string lowercase_ascii(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() && lowercase_ascii(a) == lowercase_ascii(b);
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        text += hex[static_cast<unsigned char>(c) >> 4];
        text += hex[static_cast<unsigned char>(c) & 15];
    }
    return text;
}

Result<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return invalid("hexadecimal text has an odd number of digits");
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return invalid("not hexadecimal text");
        bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
}

std::string to_base64(std::string_view bytes) {
    return encode_base64(bytes, base64_letters, true);
}

std::string to_base64url(std::string_view bytes) {
    return encode_base64(bytes, base64url_letters, false);
}

Result<std::string> from_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return invalid("not base64url text");
    std::string bytes;
    uint32_t group = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const size_t value = base64url_letters.find(c);
        if (value == std::string_view::npos) return invalid("not base64url text");
        group = group << 6 | static_cast<uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(group >> bits & 255u);
        }
    }
    if ((group & ((1u << bits) - 1)) != 0) return invalid("not base64url text");
    return bytes;
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string decoded;
    decoded.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            decoded += ' ';
        } else if (text[i] != '%') {
            decoded += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return invalid("broken %-escape in the address");
            decoded += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (unreserved.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            encoded += '%';
            encoded += hex[static_cast<unsigned char>(c) >> 4];
            encoded += hex[static_cast<unsigned char>(c) & 15];
        }
    }
    return encoded;
}

Result<int64_t> parse_integer(std::string_view text) {
    int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size())
        return invalid("not a whole number: \"" + std::string(text.substr(0, 40)) + "\"");
    return value;
}

namespace {

// Splits "12.5m" into 12.5 and "m"; the number is non-negative.
bool take_number(std::string_view& text, double& number, std::string_view& unit) {
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (failed != std::errc() || number < 0) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    unit = text.substr(0, letters);
    text.remove_prefix(letters);
    return true;
}

} // namespace

Result<int64_t> parse_bytes(std::string_view text) {
    const std::string whole(text);
    const auto wrong = [&] {
        return invalid("not a size: \"" + whole.substr(0, 40) + "\" (expected a number with k, m, g or t, like 512m)");
    };
    double number = 0;
    std::string_view unit;
    if (!take_number(text, number, unit) || !text.empty()) return wrong();
    std::string letters = lowercase_ascii(trim(unit));
    if (letters.ends_with("ib"))
        letters.resize(letters.size() - 2);
    else if (letters.ends_with("b"))
        letters.resize(letters.size() - 1);
    static constexpr std::string_view powers = "kmgt";
    double factor = 1;
    if (letters.size() > 1 || (letters.size() == 1 && powers.find(letters[0]) == std::string_view::npos))
        return wrong();
    if (letters.size() == 1)
        for (size_t i = 0; i <= powers.find(letters[0]); ++i) factor *= 1024;
    if (number * factor > 9e18) return wrong();
    return static_cast<int64_t>(number * factor);
}

Result<int64_t> parse_duration_ns(std::string_view text) {
    const std::string whole(text);
    const auto wrong = [&] {
        return invalid("not a duration: \"" + whole.substr(0, 40) +
                       "\" (expected a number with ms, s, m, h or d, like 90s or 1h30m)");
    };
    if (text.empty()) return wrong();
    double total = 0;
    while (!text.empty()) {
        double number = 0;
        std::string_view unit;
        if (!take_number(text, number, unit)) return wrong();
        if (unit == "ns")
            total += number;
        else if (unit == "us")
            total += number * 1e3;
        else if (unit == "ms")
            total += number * 1e6;
        else if (unit == "s")
            total += number * 1e9;
        else if (unit == "m")
            total += number * 60e9;
        else if (unit == "h")
            total += number * 3600e9;
        else if (unit == "d")
            total += number * 86400e9;
        else
            return wrong();
    }
    if (total > 9e18) return wrong();
    return static_cast<int64_t>(total);
}

} // namespace hone
