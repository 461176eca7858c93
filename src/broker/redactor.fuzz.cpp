// A stream cut anywhere never shows a secret, keeps its length, and changes nothing else.
#include "broker/redactor.h"

#include <algorithm>
#include <cstdint>

using namespace hone::broker;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // A small alphabet makes near misses likely.
    static constexpr std::string_view secrets[] = {"abacabadabacaba", "bacabx", "aaaaaaab"};
    static const Redactor redactor(secrets);
    std::string text;
    for (size_t i = 0; i < size; ++i) text += "abcdx "[data[i] % 6];
    RedactedStream stream(redactor);
    std::string out;
    for (size_t at = 0; at < size;) {
        const size_t piece = std::min<size_t>(size - at, 1 + data[at] / 16);
        stream.feed(std::string_view(text).substr(at, piece), out);
        at += piece;
    }
    stream.finish(out);
    if (out.size() != text.size()) __builtin_trap();
    for (const std::string_view secret : secrets)
        if (out.find(secret) != std::string::npos) __builtin_trap();
    for (size_t i = 0; i < out.size(); ++i)
        if (out[i] != text[i] && out[i] != '*') __builtin_trap();
    return 0;
}
