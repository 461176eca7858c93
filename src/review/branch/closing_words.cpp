#include "review/branch/closing_words.h"

#include "base/text.h"

#include <algorithm>

namespace hone::review {

namespace {

// As GitHub, GitLab and Gitea read them.
constexpr std::string_view closing_words[] = {
    "close",   "closes",   "closed",   "closing",   "fix",       "fixes",      "fixed",       "fixing",
    "resolve", "resolves", "resolved", "resolving", "implement", "implements", "implemented", "implementing",
};

bool is_word_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool has_closing_word(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_word_letter(text[end])) ++end;
        const std::string word = lowercase_ascii(text.substr(at, end - at));
        if (std::ranges::find(closing_words, word) != std::end(closing_words)) return true;
        at = end + 1;
    }
    return false;
}

// The length of what comes before the number of an issue that is named here; 0: none is.
size_t reference_at(std::string_view text, size_t at) {
    for (const std::string_view before : {"#", "GH-", "gh-", "/issues/", "/work_items/"}) {
        const size_t number = at + before.size();
        if (text.substr(at).starts_with(before) && number < text.size() && text[number] >= '0' && text[number] <= '9')
            return before.size();
    }
    return 0;
}

} // namespace

bool closes_issue(std::string_view text) {
    if (!has_closing_word(text)) return false;
    for (size_t at = 0; at < text.size(); ++at)
        if (reference_at(text, at) > 0) return true;
    return false;
}

std::string without_closing(std::string_view text) {
    if (!closes_issue(text)) return std::string(text);
    std::string kept;
    for (size_t at = 0; at < text.size();) {
        const size_t length = reference_at(text, at);
        if (length == 0)
            kept += text[at];
        else
            kept += text[at] == '/' ? "/issues no. " : kept.empty() || kept.back() == ' ' ? "no. " : " no. ";
        at += std::max<size_t>(length, 1);
    }
    return kept;
}

} // namespace hone::review
