// What random and conditional tests share: seeds that are printed and can be given back, and skips by name. For tests
// only, from the thread that runs the test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <optional>
#include <random>

namespace hone {

// The seed of a test whose random numbers decide what is tested: HONE_TEST_SEED when it is set, else `usual`, else a
// new one. It is printed, and a failing run is repeated with the same seed. `usual` is for tests of statistics, which
// must not fail by chance.
inline uint32_t test_seed(std::optional<uint32_t> usual = std::nullopt) {
    const char* wanted = std::getenv("HONE_TEST_SEED");
    const uint32_t seed = wanted != nullptr && *wanted != 0 ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10))
                                                            : usual.value_or(std::random_device{}());
    std::printf("HONE_TEST_SEED=%u: %s\n", seed, doctest::getContextOptions()->currentTest->m_name);
    std::fflush(stdout); // also when the test crashes
    return seed;
}

// `if (!can_x()) return skip_test("needs x");`: the suite names the test and counts it as skipped.
inline void skip_test(const char* reason) {
    std::printf("skipped: %s: %s\n", doctest::getContextOptions()->currentTest->m_name, reason);
}

} // namespace hone
