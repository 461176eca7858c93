#include "base/id.h"

#include <array>
#include <cstring>
#include <mutex>
#include <sys/random.h>

namespace hone {

namespace {

constexpr std::string_view alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

// The last id handed out, so that the next is greater.
struct Last {
    std::mutex mutex;
    uint64_t milliseconds = 0;
    std::array<uint8_t, 10> random{};
};
Last& last() {
    static Last instance;
    return instance;
}

void fill_random(std::array<uint8_t, 10>& bytes) {
    CHECK_OR_ABORT(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    bytes[0] &= 0x7f; // room to count up
}

} // namespace

std::string make_ulid(Time now) {
    const uint64_t wall = static_cast<uint64_t>(to_ns(now) < 0 ? 0 : to_ns(now) / 1'000'000);
    std::array<uint8_t, 16> bytes{};
    {
        Last& state = last();
        const std::scoped_lock lock(state.mutex);
        if (wall > state.milliseconds) {
            state.milliseconds = wall;
            fill_random(state.random);
        } else {
            for (size_t i = state.random.size(); i-- > 0 && ++state.random[i] == 0;) {
            }
        }
        for (size_t i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(state.milliseconds >> (40 - 8 * i));
        std::memcpy(bytes.data() + 6, state.random.data(), 10);
    }
    // 128 bits as 26 groups of five, the first one of three bits.
    std::string text(26, '0');
    for (size_t i = 0; i < 26; ++i) {
        unsigned group = 0;
        for (size_t bit = 0; bit < 5; ++bit) {
            const size_t position = i * 5 + bit;
            group <<= 1;
            if (position >= 2) group |= (bytes[(position - 2) / 8] >> (7 - (position - 2) % 8)) & 1u;
        }
        text[i] = alphabet[group];
    }
    return text;
}

bool is_ulid(std::string_view text) {
    return text.size() == 26 && text[0] <= '7' && text.find_first_not_of(alphabet) == std::string_view::npos;
}

} // namespace hone
