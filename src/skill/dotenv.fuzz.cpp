#include "skill/dotenv.h"
#include "crypto/crypto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const bool started = (hone::crypto::start(), true);
    (void)started;
    // Each value takes pages of its own: small texts try just as much.
    if (size > 4096) return 0;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto parsed = hone::skill::parse_dotenv(text);
    if (!parsed.ok()) return 0;
    std::string written;
    for (const auto& entry : parsed.value().entries) {
        if (entry.name.empty() || entry.value.size() > size) __builtin_trap();
        if (entry.line < 1 || entry.line > static_cast<int64_t>(size) + 1) __builtin_trap();
        // Written in double quotes with everything escaped, each value must be read as it was.
        written += "export " + entry.name + " = \"";
        for (const char c : entry.value.reveal()) {
            if (c == '"' || c == '\\' || c == '$' || c == '`') written += '\\';
            written += c == '\r' ? std::string("\\r") : std::string(1, c);
        }
        written += "\" # comment\r\n";
    }
    const auto again = hone::skill::parse_dotenv(written);
    if (!again.ok() || !again.value().problems.empty()) __builtin_trap();
    if (again.value().entries.size() != parsed.value().entries.size()) __builtin_trap();
    for (size_t i = 0; i < again.value().entries.size(); ++i) {
        const auto& one = parsed.value().entries[i];
        const auto& other = again.value().entries[i];
        if (one.name != other.name || one.value.reveal() != other.value.reveal()) __builtin_trap();
    }
    return 0;
}
