#include "access/names.h"

#include "base/text.h"

namespace hone::access {

namespace {

bool has_control_character(std::string_view text, std::string_view allowed) {
    for (const char c : text)
        if ((static_cast<unsigned char>(c) < 0x20 || c == 0x7f) && allowed.find(c) == std::string_view::npos)
            return true;
    return false;
}

} // namespace

Result<std::string> checked_name(std::string_view what, std::string_view name) {
    const std::string_view trimmed = trim(name);
    if (trimmed.empty()) return invalid(std::string(what) + " must not be empty");
    if (trimmed.size() > 100) return invalid(std::string(what) + " must be at most 100 bytes long");
    if (!is_valid_utf8(trimmed) || has_control_character(trimmed, ""))
        return invalid(std::string(what) + " must be one line of plain text");
    return std::string(trimmed);
}

Result<std::string> checked_description(std::string_view text) {
    if (text.size() > 2000) return invalid("description must be at most 2000 bytes long");
    if (!is_valid_utf8(text) || has_control_character(text, "\n\t")) return invalid("description must be plain text");
    return std::string(text);
}

Result<std::string> checked_email(std::string_view email) {
    const std::string lower = lowercase_ascii(trim(email));
    const size_t at = lower.find('@');
    if (lower.size() > 254 || at == 0 || at == std::string::npos || at + 1 == lower.size() ||
        lower.find('@', at + 1) != std::string::npos || !is_valid_utf8(lower) || has_control_character(lower, "") ||
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
