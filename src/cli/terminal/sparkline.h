// A row of small bars for numbers over time: "▁▃█ ▂". Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone::cli {

// One column each; a blank where there is no number. The largest is a full bar, zero and less the lowest.
std::string sparkline(const std::vector<std::optional<double>>& values);

} // namespace hone::cli
