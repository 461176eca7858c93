#include "signal/text/message_template.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace hone::signal {

namespace {

constexpr size_t longest_message = 600; // bytes that are read
constexpr size_t most_words = 30;
constexpr size_t longest_word = 40; // longer ones are ids or data

bool is_space(char letter) {
    return static_cast<unsigned char>(letter) <= 0x20 || letter == 0x7f;
}

bool is_edge(char letter) {
    return std::string_view(".,;:!?()[]{}<>=\"'`").find(letter) != std::string_view::npos;
}

std::string_view without_edges(std::string_view word) {
    while (!word.empty() && is_edge(word.front())) word.remove_prefix(1);
    while (!word.empty() && is_edge(word.back())) word.remove_suffix(1);
    return word;
}

// What the word stands for when it is not always the same; empty when it is.
std::string_view mask_of(std::string_view word) {
    if (word.find("://") != std::string_view::npos) return "URL";
    if (word.find('@') != std::string_view::npos) return "*";
    if (std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; })) return "#";
    if (word.size() > longest_word) return "*";
    if (std::count(word.begin(), word.end(), '/') >= 2) return "PATH";
    return {};
}

struct Piece {
    std::string_view text; // word for word
    std::string_view mask; // not empty: differs
};

// Where a quoted text that opens at `at` ends, just behind its closing quote; `at` when it does not end nearby.
size_t end_of_quote(std::string_view text, size_t at) {
    const char quote = text[at];
    // An apostrophe inside a word is not a quote.
    if (quote == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]))) return at;
    const size_t end = text.find(quote, at + 1);
    return end == std::string_view::npos ? at : end + 1;
}

std::vector<Piece> pieces_of(std::string_view message) {
    message = truncate_utf8(message, longest_message);
    std::vector<Piece> pieces;
    for (size_t at = 0; at < message.size() && pieces.size() < most_words;) {
        if (is_space(message[at])) {
            ++at;
            continue;
        }
        if (message[at] == '"' || message[at] == '\'' || message[at] == '`') {
            if (const size_t end = end_of_quote(message, at); end > at) {
                pieces.push_back({message.substr(at, end - at), "*"});
                at = end;
                continue;
            }
        }
        // Data in braces differs from case to case.
        if (message[at] == '{') {
            if (const size_t end = message.rfind('}'); end != std::string_view::npos && end > at) {
                pieces.push_back({message.substr(at, end + 1 - at), "*"});
                at = end + 1;
                continue;
            }
        }
        size_t end = at + 1;
        while (end < message.size() && !is_space(message[end]) && message[end] != '"' && message[end] != '`') ++end;
        const std::string_view whole = message.substr(at, end - at);
        const std::string_view word = without_edges(whole);
        if (!word.empty()) pieces.push_back({word, mask_of(word)});
        at = end;
    }
    return pieces;
}

// Characters that markup, terminals or browsers could take for more than text.
bool is_markup(char letter) {
    return std::string_view("[]<>`\\|").find(letter) != std::string_view::npos;
}

// Marks that turn the direction of text, join or hide characters: U+200B–200F, U+202A–202E, U+2060–206F, U+FEFF, and
// the C1 controls. Returns how many bytes at the start of `text` are one, or 0.
size_t invisible_bytes(std::string_view text) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;
    if (byte(0) == 0xE2 && byte(1) == 0x80 &&
        ((byte(2) >= 0x8B && byte(2) <= 0x8F) || byte(2) == 0xA8 || byte(2) == 0xA9 ||
         (byte(2) >= 0xAA && byte(2) <= 0xAE)))
        return 3;
    if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA0 && byte(2) <= 0xAF) return 3;
    if (byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) return 3;
    return 0;
}

} // namespace

std::vector<std::string> template_words(std::string_view message) {
    std::vector<std::string> words;
    for (const Piece& piece : pieces_of(message)) {
        std::string word = piece.mask.empty() ? std::string(piece.text) : std::string(piece.mask);
        if (!piece.mask.empty() && !words.empty() && words.back() == word) continue;
        words.push_back(std::move(word));
    }
    return words;
}

std::string join_words(const std::vector<std::string>& words) {
    std::string joined;
    for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
    return joined;
}

std::string fixed_part(std::string_view message) {
    const auto pieces = pieces_of(message);
    std::string_view best;
    for (size_t first = 0; first < pieces.size(); ++first) {
        if (!pieces[first].mask.empty()) continue;
        size_t last = first;
        while (last + 1 < pieces.size() && pieces[last + 1].mask.empty()) ++last;
        const char* begin = pieces[first].text.data();
        const std::string_view run(begin,
                                   static_cast<size_t>(pieces[last].text.data() + pieces[last].text.size() - begin));
        if (run.size() > best.size()) best = run;
        first = last;
    }
    return std::string(truncate_utf8(best, 120));
}

std::string plain_line(std::string_view text, size_t bytes) {
    const std::string whole = repair_utf8(truncate_utf8(text, bytes * 4 + 64));
    std::string line;
    for (size_t at = 0; at < whole.size();) {
        const std::string_view rest = std::string_view(whole).substr(at);
        if (const size_t hidden = invisible_bytes(rest); hidden > 0) {
            at += hidden;
        } else if (rest.starts_with("://")) {
            line += ' '; // an address that cannot be clicked
            at += 3;
        } else if (is_space(rest.front()) || is_markup(rest.front())) {
            if (!line.empty() && line.back() != ' ') line += ' ';
            ++at;
        } else {
            line += rest.front();
            ++at;
        }
    }
    const std::string_view trimmed = trim(line);
    const std::string_view cut = truncate_utf8(trimmed, bytes);
    if (cut.size() == trimmed.size()) return std::string(trimmed);
    return std::string(trim(truncate_utf8(trimmed, bytes > 3 ? bytes - 3 : 0))) + "…";
}

std::string quote_filter(std::string_view text) {
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') quoted += '\\';
        if (letter == '\n')
            quoted += "\\n";
        else if (letter == '\t')
            quoted += "\\t";
        else
            quoted += letter;
    }
    return quoted + "\"";
}

} // namespace hone::signal
