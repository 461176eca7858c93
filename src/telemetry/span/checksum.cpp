#include "telemetry/span/checksum.h"

#include <array>
#include <cstring>

namespace hone::telemetry {

namespace {

constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value & 1 ? value >> 1 ^ 0x82f63b78u : value >> 1;
        table[i] = value;
    }
    return table;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_instruction(std::string_view bytes, uint32_t seed) {
    uint64_t sum = ~seed;
    while (bytes.size() >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        sum = __builtin_ia32_crc32di(sum, word);
        bytes.remove_prefix(8);
    }
    auto rest = static_cast<uint32_t>(sum);
    for (const char byte : bytes) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(byte));
    return ~rest;
}
#endif

} // namespace

uint32_t crc32c_portable(std::string_view bytes, uint32_t seed) {
    static constexpr auto table = make_table();
    uint32_t sum = ~seed;
    for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xff] ^ sum >> 8;
    return ~sum;
}

uint32_t crc32c(std::string_view bytes, uint32_t seed) {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2");
    if (has_instruction) return crc32c_instruction(bytes, seed);
#endif
    return crc32c_portable(bytes, seed);
}

} // namespace hone::telemetry
