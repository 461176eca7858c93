// How findings write numbers, and what a share means. Pure; any thread.
#pragma once

#include "signal/analysis/candidate.h"

#include <fmt/format.h>

namespace hone::signal {

inline std::string percent(double share) {
    const double value = share * 100;
    return value >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.1f} %", value);
}

// "340 ms", "1.45 s"
inline std::string seconds(double ns) {
    return ns < 1e9 ? fmt::format("{:.0f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

inline std::string times(double ratio) {
    return ratio >= 10 ? fmt::format("{:.0f} times", ratio) : fmt::format("{:.1f} times", ratio);
}

inline Severity severity_of_share(double share) {
    return share >= 0.25   ? Severity::critical
           : share >= 0.05 ? Severity::high
           : share >= 0.01 ? Severity::medium
                           : Severity::low;
}

} // namespace hone::signal
