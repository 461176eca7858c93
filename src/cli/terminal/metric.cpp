#include "cli/terminal/metric.h"

#include "cli/terminal/amount.h"
#include "json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::cli {

namespace {

constexpr double notable = 0.05; // smaller differences are noise to a reader

bool is_duration(std::string_view metric) {
    return metric.starts_with("latency") || metric.starts_with("first_token");
}

bool is_worse_when_more(std::string_view metric) {
    return metric.starts_with("error") || is_duration(metric) || metric == "cost";
}

} // namespace

std::string metric_text(std::string_view metric, double value) {
    if (!std::isfinite(value)) return "-";
    if (is_duration(metric)) return duration_text(static_cast<int64_t>(std::clamp(value, -9e18, 9e18)));
    if (metric == "cost") return money_text(static_cast<int64_t>(std::clamp(value * 1e6, -9e18, 9e18)));
    if (metric == "error_rate" || metric == "eval_rate") return share_text(value);
    if (metric == "eval_score") return json::print(json::Value(std::round(value * 1000) / 1000));
    return count_text(static_cast<int64_t>(std::clamp(value, -9e18, 9e18)));
}

Verdict change_verdict(std::string_view metric, std::optional<double> baseline, std::optional<double> current) {
    if (!baseline || !current) return Verdict::other;
    const double scale = std::max(std::abs(*baseline), std::abs(*current));
    if (scale == 0 || std::abs(*current - *baseline) / scale < notable) return Verdict::same;
    if (!is_worse_when_more(metric)) return Verdict::other;
    // What was not there before has nothing to be compared with; only errors out of nowhere are bad by themselves.
    if (*baseline == 0 && !metric.starts_with("error")) return Verdict::other;
    return *current > *baseline ? Verdict::worse : Verdict::better;
}

std::string change_text(std::optional<double> baseline, std::optional<double> current) {
    if (!baseline && !current) return {};
    if (baseline == 0.0 && current == 0.0) return "same";
    if (!baseline || *baseline == 0) return "new";
    if (!current || *current == 0) return "gone";
    const double ratio = *current / *baseline;
    if (ratio >= 10) return fmt::format("×{:.0f}", ratio);
    if (ratio >= 2) return fmt::format("×{:.1f}", ratio);
    const double percent = std::round((ratio - 1) * 100);
    if (percent == 0) return "same";
    return fmt::format("{}{:.0f} %", percent > 0 ? "+" : "−", std::abs(percent));
}

} // namespace hone::cli
