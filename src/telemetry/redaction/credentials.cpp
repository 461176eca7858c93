#include "telemetry/redaction/credentials.h"

#include "base/text.h"
#include "telemetry/redaction/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace hone::telemetry {

namespace {

// Each shape and each name of a header has one of these, and texts have few of them.
constexpr std::array hints{'-', '_', 'z', 'J', 'A', 'B', 'K'};

bool is_hint(char letter) {
    return std::find(hints.begin(), hints.end(), letter) != hints.end();
}

bool is_letter_or_digit(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

bool is_token_letter(char letter) {
    return is_letter_or_digit(letter) || std::string_view("._~+/=-").find(letter) != std::string_view::npos;
}

size_t token_end(std::string_view text, size_t at) {
    while (at < text.size() && is_token_letter(text[at])) ++at;
    return at;
}

size_t word_end(std::string_view text, size_t at) { // letters of keys that vendors make
    while (at < text.size() && (is_letter_or_digit(text[at]) || text[at] == '_' || text[at] == '-')) ++at;
    return at;
}

bool has_digit(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char letter) { return letter >= '0' && letter <= '9'; });
}

struct Range {
    size_t begin = 0, end = 0;
    bool is_empty() const { return end <= begin; }
};

// A key that begins with letters of its vendor, not inside a longer word.
struct Shape {
    std::string_view start;
    size_t hint;  // which letter of `start` next_hint stops at
    size_t least; // letters after it
};
constexpr Shape shapes[] = {
    {"sk-", 2, 20},   {"ghp_", 3, 30},        {"gho_", 3, 30},   {"ghu_", 3, 30},   {"ghs_", 3, 30},
    {"ghr_", 3, 30},  {"github_pat_", 6, 30}, {"glpat-", 5, 20}, {"xoxa-", 4, 10},  {"xoxb-", 4, 10},
    {"xoxp-", 4, 10}, {"xoxr-", 4, 10},       {"xoxs-", 4, 10},  {"AIza", 0, 35},   {"AKIA", 0, 16},
    {"ASIA", 0, 16},  {"hone_", 4, 30},       {"lsv2_", 4, 30},  {"pk-lf-", 2, 20}, {"gsk_", 3, 30},
};

Range shaped_key(std::string_view text, size_t at) {
    for (const Shape& shape : shapes) {
        if (text[at] != shape.start[shape.hint] || at < shape.hint) continue;
        const size_t begin = at - shape.hint;
        if (!text.substr(begin).starts_with(shape.start)) continue;
        if (begin > 0 && (is_letter_or_digit(text[begin - 1]) || text[begin - 1] == '_')) continue;
        const size_t end = word_end(text, begin + shape.start.size());
        const std::string_view rest = text.substr(begin + shape.start.size(), end - begin - shape.start.size());
        if (rest.size() >= shape.least && has_digit(rest)) return {begin, end};
    }
    return {};
}

// Three pieces between points, the first two of which begin like encoded JSON: eyJ….eyJ….…
Range web_token(std::string_view text, size_t at) {
    if (text[at] != 'J' || at < 2 || text[at - 1] != 'y' || text[at - 2] != 'e') return {};
    if (at > 2 && is_letter_or_digit(text[at - 3])) return {};
    const size_t first = word_end(text, at);
    if (first >= text.size() || !text.substr(first).starts_with(".eyJ")) return {};
    const size_t second = word_end(text, first + 1);
    if (second >= text.size() || text[second] != '.') return {};
    const size_t end = word_end(text, second + 1);
    return end - second > 10 ? Range{at - 2, end} : Range{};
}

Range private_key(std::string_view text, size_t at) {
    constexpr std::string_view begin = "-----BEGIN ", end = "-----END ", tail = "-----";
    if (!text.substr(at).starts_with(begin)) return {};
    const size_t name_end = text.find(tail, at + begin.size());
    if (name_end == std::string_view::npos || name_end - at > 64) return {};
    if (text.substr(at, name_end - at).find("PRIVATE KEY") == std::string_view::npos) return {};
    const size_t last = text.find(end, name_end);
    if (last == std::string_view::npos) return {at, text.size()};
    const size_t close = text.find(tail, last + end.size());
    return {at, close == std::string_view::npos ? text.size() : close + tail.size()};
}

// "Bearer TOKEN", "Basic TOKEN": the token.
Range after_scheme(std::string_view text, size_t at) {
    for (const std::string_view scheme : {"bearer ", "basic ", "token "}) {
        if (text.size() - at < scheme.size() || !equals_ignoring_case(text.substr(at, scheme.size()), scheme)) continue;
        const size_t begin = at + scheme.size();
        const size_t end = token_end(text, begin);
        const bool is_long = end - begin >= 16 && has_digit(text.substr(begin, end - begin));
        return is_long ? Range{begin, end} : Range{};
    }
    return {};
}

// What follows the name of a header or setting: quotes, escapes, a colon or an equals sign, then the value.
Range value_after(std::string_view text, size_t at) {
    const size_t limit = std::min(text.size(), at + 12);
    bool has_sign = false;
    while (at < limit && std::string_view("\"'\\ :=>[{").find(text[at]) != std::string_view::npos) {
        has_sign = has_sign || text[at] == ':' || text[at] == '=';
        if (text[at] == '{') return {};
        ++at;
    }
    if (!has_sign || at >= text.size()) return {};
    if (const Range token = after_scheme(text, at); !token.is_empty()) return {at, token.end};
    const size_t end = token_end(text, at);
    return end - at >= 16 && has_digit(text.substr(at, end - at)) ? Range{at, end} : Range{};
}

Range named_value(std::string_view text, size_t at) {
    struct Name {
        std::string_view name;
        size_t hint;
    };
    constexpr Name names[] = {{"authorization", 7}, {"api_key", 3},       {"api-key", 3},   {"apiKey", 3},
                              {"access_token", 6},  {"client_secret", 6}, {"secret_key", 6}};
    for (const auto& [name, hint] : names) {
        if (text[at] != name[hint] || at < hint || text.size() - (at - hint) < name.size()) continue;
        if (!equals_ignoring_case(text.substr(at - hint, name.size()), name)) continue;
        return value_after(text, at - hint + name.size());
    }
    return {};
}

bool is_before(std::string_view text, size_t at, std::string_view word) {
    return at >= word.size() && text.substr(at - word.size(), word.size()) == word;
}

bool may_begin_at_underscore(std::string_view text, size_t at, char before, char after) {
    switch (before) {
    case 'i':
    case 'I':
        return after == 'k' || after == 'K';
    case 't':
    case 'T':
        return after == 's' || after == 'S' || after == 'k' || after == 'K';
    case 'S':
        return after == 'T';
    case 's':
        return after == 't' || is_before(text, at, "ghs");
    case 'p':
    case 'o':
    case 'u':
    case 'r':
        return at >= 3 && text[at - 2] == 'h' && text[at - 3] == 'g';
    case 'b':
        return is_before(text, at, "github");
    case 'e':
        return is_before(text, at, "hone");
    case '2':
        return is_before(text, at, "lsv2");
    case 'k':
        return is_before(text, at, "gsk");
    default:
        return false;
    }
}

// Cheap, because most hints are none: the letters beside one decide whether it is read further.
bool may_begin(std::string_view text, size_t at) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    switch (text[at]) {
    case 'z':
        return before == 'i' && after == 'a' && is_before(text, at, "uthori");
    case 'J':
        return before == 'y' && is_before(text, at, "ey");
    case 'A':
        return after == 'K' || after == 'S' || (after == 'I' && text.substr(at).starts_with("AIza"));
    case 'B':
        return text.substr(at).starts_with("Bearer ") || text.substr(at).starts_with("Basic ");
    case 'K':
        return before == 'i' && is_before(text, at, "api");
    case '-':
        return (before == 'k' && at >= 2) || is_before(text, at, "glpat") ||
               (at >= 4 && text.substr(at - 4, 3) == "xox") || ((before == 'i' || before == 'I') && at >= 3) ||
               (after == '-' && before != '-');
    default:
        return may_begin_at_underscore(text, at, before, after);
    }
}

// The next hint from `at` on whose neighbours fit.
size_t next_hint(std::string_view text, size_t at) {
#ifdef __SSE2__
    const auto is = [](__m128i block, char letter) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(letter)); };
    for (; at + 16 <= text.size(); at += 16) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
        const __m128i first = _mm_or_si128(_mm_or_si128(is(block, hints[0]), is(block, hints[1])),
                                           _mm_or_si128(is(block, hints[2]), is(block, hints[3])));
        const __m128i second =
            _mm_or_si128(_mm_or_si128(is(block, hints[4]), is(block, hints[5])), is(block, hints[6]));
        for (auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(first, second))); mask != 0;
             mask &= mask - 1) {
            const size_t place = at + static_cast<size_t>(__builtin_ctz(mask));
            if (may_begin(text, place)) return place;
        }
    }
#endif
    while (at < text.size() && !(is_hint(text[at]) && may_begin(text, at))) ++at;
    return at;
}

Range credential_at(std::string_view text, size_t at) {
    switch (text[at]) {
    case 'z':
    case 'K':
        return named_value(text, at);
    case 'J':
        return web_token(text, at);
    case 'B':
        return after_scheme(text, at);
    case 'A':
        return shaped_key(text, at);
    case '-':
        if (const Range found = private_key(text, at); !found.is_empty()) return found;
        [[fallthrough]];
    default:
        if (const Range found = shaped_key(text, at); !found.is_empty()) return found;
        return named_value(text, at);
    }
}

} // namespace

bool names_credential(std::string_view key) {
    if (key.size() < 6) return false;
    struct Ending {
        std::string_view letters; // the last two, lower case
        std::array<std::string_view, 5> names;
    };
    static constexpr Ending endings[] = {
        {"on", {"authorization"}}, {"ey", {"api_key", "api-key", "apikey", "secret_key", "private_key"}},
        {"ie", {"set-cookie"}},    {"rd", {"password"}},
        {"et", {"client_secret"}}, {"en", {"access_token", "refresh_token"}},
    };
    const char last = static_cast<char>(key.back() | 0x20), second = static_cast<char>(key[key.size() - 2] | 0x20);
    for (const Ending& ending : endings) {
        if (last != ending.letters[1] || second != ending.letters[0]) continue;
        for (const std::string_view name : ending.names) {
            if (name.empty() || key.size() < name.size()) continue;
            if (!equals_ignoring_case(key.substr(key.size() - name.size()), name)) continue;
            if (key.size() == name.size() || !is_letter_or_digit(key[key.size() - name.size() - 1])) return true;
        }
    }
    return false;
}

std::optional<std::string> without_credentials(std::string_view text) {
    std::optional<std::string> made;
    size_t copied = 0;
    for (size_t at = next_hint(text, 0); at < text.size();) {
        const Range found = credential_at(text, at);
        if (found.is_empty() || found.begin < copied || text.substr(found.begin).starts_with(redacted_text)) {
            at = next_hint(text, at + 1);
            continue;
        }
        if (!made) made.emplace();
        made->append(text.substr(copied, found.begin - copied)).append(redacted_text);
        copied = found.end;
        at = next_hint(text, std::max(found.end, at + 1));
    }
    if (made) made->append(text.substr(copied));
    return made;
}

} // namespace hone::telemetry
