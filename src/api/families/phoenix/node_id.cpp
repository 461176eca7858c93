#include "api/families/phoenix/node_id.h"

#include "base/text.h"

namespace hone::api {

std::optional<std::string> from_any_base64(std::string_view text) {
    std::string letters(text);
    while (!letters.empty() && letters.back() == '=' && text.size() - letters.size() < 2) letters.pop_back();
    for (char& letter : letters) {
        if (letter == '+') letter = '-';
        if (letter == '/') letter = '_';
    }
    auto plain = from_base64url(letters);
    if (!plain.ok() || !is_valid_utf8(plain.value())) return std::nullopt;
    return std::move(plain).value();
}

std::string make_node_id(std::string_view type, std::string_view id) {
    return to_base64(std::string(type) + ":" + std::string(id));
}

std::string plain_id(std::string_view type, std::string_view text) {
    const auto plain = from_any_base64(text);
    if (!plain || plain->size() <= type.size() || !plain->starts_with(type) || (*plain)[type.size()] != ':')
        return std::string(text);
    return plain->substr(type.size() + 1);
}

std::string phoenix_time(Time time) {
    const std::string text = to_text(time); // nine digits and Z
    return text.substr(0, text.size() - 4) + "+00:00";
}

Result<Time> read_phoenix_time(std::string_view field, const std::string& text) {
    const size_t clock = text.find_first_of("Tt ");
    const bool has_offset = clock != std::string::npos && text.find_first_of("Zz+-", clock) != std::string::npos;
    auto time = parse_time(has_offset ? text : text + "Z");
    if (!time.ok()) return invalid(std::string(field) + " must be a time like 2026-01-31T12:00:00+00:00");
    return time;
}

} // namespace hone::api
