// A stream cut anywhere is blanked exactly as the obvious way does it: every place where a spelling of a secret stands,
// and an end that could be the beginning of one.
#include "broker/egress/redactor.h"

#include <algorithm>
#include <cstdint>

using namespace hone::broker;

namespace {

constexpr size_t telling = 8;

std::string blanked_plainly(const std::vector<std::string>& spellings, const std::string& text) {
    std::string blanked = text;
    for (const std::string& spelling : spellings) {
        for (size_t at = 0; (at = text.find(spelling, at)) != std::string::npos; ++at)
            std::fill_n(blanked.begin() + static_cast<std::ptrdiff_t>(at), spelling.size(), '*');
        for (size_t length = std::min(spelling.size(), text.size()); length >= telling; --length)
            if (text.ends_with(std::string_view(spelling).substr(0, length))) {
                std::fill(blanked.end() - static_cast<std::ptrdiff_t>(length), blanked.end(), '*');
                break;
            }
    }
    return blanked;
}

struct Case {
    explicit Case(std::vector<std::string_view> secrets, std::string_view letters)
        : redactor(secrets),
          alphabet(letters) {
        for (const std::string_view secret : secrets)
            for (std::string& spelling : spellings_of(secret)) spellings.push_back(std::move(spelling));
    }
    const Redactor redactor;
    std::vector<std::string> spellings;
    const std::string_view alphabet; // a small one makes near misses likely
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const Case cases[] = {
        Case({"abacabadabacaba", "bacabx", "aaaaaaab"}, "abcdx "),
        Case({"sk-a/b+c=\"d<e>&f'g", "sk-a/b+c", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, ""),
    };
    if (size == 0) return 0;
    const Case& used = cases[data[0] % 2];
    std::string text;
    for (size_t i = 1; i < size; ++i) {
        if (data[i] >= 0xe0 && !used.spellings.empty()) { // a spelling, or a piece of one
            const std::string& spelling = used.spellings[data[i] % used.spellings.size()];
            text += i + 1 < size && data[i + 1] % 3 == 0 ? spelling.substr(0, data[i + 1] % spelling.size()) : spelling;
        } else {
            text += used.alphabet.empty() ? static_cast<char>(data[i]) : used.alphabet[data[i] % used.alphabet.size()];
        }
    }
    RedactedStream stream(used.redactor);
    std::string out;
    for (size_t at = 0, turn = 0; at < text.size(); ++turn) {
        std::string piece = text.substr(at, 1 + static_cast<size_t>(data[turn % size]) % 61);
        at += piece.size();
        stream.feed(piece);
        out += piece;
    }
    stream.finish(out);
    if (out != blanked_plainly(used.spellings, text)) __builtin_trap();
    return 0;
}
