#include "skill/dotenv.h"
#include "crypto/crypto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const bool started = (hone::crypto::start(), true);
    (void)started;
    // Each value takes pages of its own: small texts try just as much.
    if (size > 4096) return 0;
    const auto parsed = hone::skill::parse_dotenv({reinterpret_cast<const char*>(data), size});
    if (parsed.ok())
        for (const auto& entry : parsed.value().entries)
            if (entry.name.empty() || entry.value.size() > size) __builtin_trap();
    return 0;
}
