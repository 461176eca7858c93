// Ids are types: a RunId is not a ProjectId. Text form: kind, underscore, 26 sortable characters (run_01J…).
// The tag names the kind: struct RunTag { static constexpr std::string_view kind = "run"; }.
#pragma once

#include "base/time.h"

#include <compare>
#include <string>
#include <string_view>

namespace hone {

template <class Tag>
class Id {
public:
    using tag = Tag;
    Id() = default;
    explicit Id(std::string text) : m_text(std::move(text)) {}
    const std::string& text() const { return m_text; }
    bool empty() const { return m_text.empty(); }
    friend auto operator<=>(const Id&, const Id&) = default;

private:
    std::string m_text;
};

// 26 characters of Crockford base 32: 48 bits of milliseconds, 80 random bits. Within one process each is greater
// than the one before, also when the clock stands still or goes back. Thread-safe.
std::string make_ulid(Time now);

// True for 26 Crockford characters that fit 128 bits.
bool is_ulid(std::string_view text);

template <class Tag>
Id<Tag> make_id(const Clock& clock) {
    return Id<Tag>(std::string(Tag::kind) + "_" + make_ulid(clock.now()));
}

// Checks the kind and the form; does not look anything up.
template <class Tag>
Result<Id<Tag>> parse_id(std::string_view text) {
    const std::string_view kind = Tag::kind;
    if (text.size() == kind.size() + 27 && text.starts_with(kind) && text[kind.size()] == '_' &&
        is_ulid(text.substr(kind.size() + 1)))
        return Id<Tag>(std::string(text));
    return invalid("not an id of kind " + std::string(kind) + ": \"" + std::string(text.substr(0, 60)) + "\"");
}

} // namespace hone
