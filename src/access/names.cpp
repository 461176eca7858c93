#include "access/names.h"

#include "base/text.h"

namespace hone::access {

namespace {

// Control characters, and characters beyond ASCII that cannot be seen or turn the text around them: with those, one
// name could look like another. Joiners stay, emoji and some scripts need them. `text` is valid UTF-8.
bool has_hidden_character(std::string_view text, std::string_view allowed) {
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = [&](size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0; };
        if ((byte(0) < 0x20 || byte(0) == 0x7f) && allowed.find(text[i]) == std::string_view::npos) return true;
        if (byte(0) == 0xc2 && byte(1) < 0xa0) return true; // U+0080…9F
        if (byte(0) == 0xe2 && byte(1) == 0x80 && (byte(2) == 0x8b || byte(2) == 0x8e || byte(2) == 0x8f)) return true;
        if (byte(0) == 0xe2 && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return true; // U+2028…2E
        if (byte(0) == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa0 && byte(2) <= 0xaf) return true; // U+2060…6F
        if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return true;                    // U+FEFF
    }
    return false;
}

} // namespace

Result<std::string> checked_name(std::string_view what, std::string_view name) {
    const std::string_view trimmed = trim(name);
    if (trimmed.empty()) return invalid(std::string(what) + " must not be empty");
    if (trimmed.size() > 100) return invalid(std::string(what) + " must be at most 100 bytes long");
    if (!is_valid_utf8(trimmed) || has_hidden_character(trimmed, ""))
        return invalid(std::string(what) + " must be one line of plain text");
    return std::string(trimmed);
}

Result<std::string> checked_description(std::string_view text) {
    if (text.size() > 2000) return invalid("description must be at most 2000 bytes long");
    if (!is_valid_utf8(text) || has_hidden_character(text, "\n\t")) return invalid("description must be plain text");
    return std::string(text);
}

Result<std::string> checked_email(std::string_view email) {
    const std::string lower = lowercase_ascii(trim(email));
    const size_t at = lower.find('@');
    if (lower.size() > 254 || at == 0 || at == std::string::npos || at + 1 == lower.size() ||
        lower.find('@', at + 1) != std::string::npos || !is_valid_utf8(lower) || has_hidden_character(lower, "") ||
        lower.find_first_of(" <>\"(),;:\\") != std::string::npos)
        return invalid("email must be an e-mail address, like ada@example.com");
    return lower;
}

Result<> check_password(std::string_view password) {
    if (password.size() < 10) return invalid("the password must be at least 10 characters long");
    if (password.size() > 1000) return invalid("the password must be at most 1000 bytes long");
    return {};
}

} // namespace hone::access
