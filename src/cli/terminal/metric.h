// The metrics of series and comparisons as people read them: 1.2 s, $0.03, 4 %, +12 %. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone::cli {

// "-" for what is no number.
std::string metric_text(std::string_view metric, double value);

enum class Verdict { better, worse, same, other };

// More errors, latency and cost are worse; more of anything else is neither. Differences below 5 % are noise.
Verdict change_verdict(std::string_view metric, std::optional<double> baseline, std::optional<double> current);
// "+12 %", "×3.4", "new", "gone", "same"; empty without a value to compare. The same words as in the web UI.
std::string change_text(std::optional<double> baseline, std::optional<double> current);

} // namespace hone::cli
