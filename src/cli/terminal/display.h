// Text from a server before it is printed to a terminal: how wide it is, and what must not reach the terminal as it is.
// Names and messages come from other people, so escape sequences and bidi overrides are made visible. Pure functions,
// any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::cli {

// Columns a terminal gives the character: 0 (combining), 1 or 2 (East Asian wide, emoji).
size_t character_width(char32_t character);
size_t display_width(std::string_view text);
// At most `width` columns; text that was cut ends in "…".
std::string cut_to_width(std::string_view text, size_t width);

// One line: line breaks and tabs become spaces, other control and direction characters become \x1b or \u202e.
std::string safe_line(std::string_view text);
// The same, but line breaks stay.
std::string safe_block(std::string_view text);

// JSON that means the same and is safe to show: such characters become \u escapes. Takes text piece by piece, also when
// a piece ends inside a character.
class JsonGuard {
public:
    std::string feed(std::string_view piece);
    // What is left of an unfinished character.
    std::string finish();

private:
    std::string m_rest;
};
std::string safe_json(std::string_view json);

} // namespace hone::cli
