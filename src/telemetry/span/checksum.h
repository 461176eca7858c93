// CRC-32C (Castagnoli), by the processor's instruction where there is one. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone::telemetry {

// Continues from `seed`, so that pieces can be summed one after the other.
uint32_t crc32c(std::string_view bytes, uint32_t seed = 0);
// The table-driven form, for machines without the instruction; the tests compare both.
uint32_t crc32c_portable(std::string_view bytes, uint32_t seed = 0);

} // namespace hone::telemetry
