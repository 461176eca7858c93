#include "cli/terminal/sparkline.h"

#include <algorithm>
#include <cmath>

namespace hone::cli {

std::string sparkline(const std::vector<std::optional<double>>& values) {
    constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double largest = 0;
    for (const auto& value : values)
        if (value && std::isfinite(*value)) largest = std::max(largest, *value);
    std::string line;
    for (const auto& value : values) {
        if (!value || !std::isfinite(*value)) {
            line += ' ';
            continue;
        }
        const double share = largest > 0 ? std::max(0.0, *value) / largest : 0;
        line += bars[std::min<size_t>(7, static_cast<size_t>(share * 8))];
    }
    return line;
}

} // namespace hone::cli
