#include "monitor/condition.h"

#include "monitor/mute.h"
#include "monitor/sql_value.h"
#include "telemetry/query/filter.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace hone::monitor {

namespace {

constexpr int64_t hour_length_ns = 3'600'000'000'000;
constexpr int64_t day_ns = 24 * hour_length_ns;
constexpr int64_t week_length_ns = 7 * day_ns;
constexpr double usual_sensitivity = 4;
// Back well inside the band, so that a value at its edge does not flap.
constexpr double recover_share = 0.8;

Result<> in_range(std::string_view name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return {};
    return invalid(fmt::format("{} must be between {} and {}", name, least, most));
}

Result<> check_condition(const MonitorSettings& settings) {
    const Condition& condition = settings.condition;
    const auto type = condition.type;
    for (const auto& number : {condition.threshold, condition.recover_threshold, condition.sensitivity})
        if (number && !std::isfinite(*number)) return invalid("condition: numbers must be finite");
    if ((type == ConditionType::threshold || type == ConditionType::change) && !condition.threshold)
        return invalid("condition.threshold is missing");
    if (condition.direction == Direction::outside && type != ConditionType::automatic)
        return invalid("condition.direction outside belongs to automatic conditions");
    if (condition.recover_threshold && (type == ConditionType::automatic || type == ConditionType::absence))
        return invalid("condition.recover_threshold belongs to threshold and change conditions");
    if (condition.recover_threshold) {
        const bool below = condition.direction == Direction::below;
        if (below ? *condition.recover_threshold < *condition.threshold
                  : *condition.recover_threshold > *condition.threshold)
            return invalid(below ? "condition.recover_threshold must not be below the threshold"
                                 : "condition.recover_threshold must not be above the threshold");
    }
    if (condition.sensitivity && (*condition.sensitivity < 1 || *condition.sensitivity > 20))
        return invalid("condition.sensitivity must be between 1 and 20");
    if (type == ConditionType::change && condition.change_by != ChangeBy::difference && *condition.threshold < 0)
        return invalid("condition.threshold of a ratio must not be negative");
    return {};
}

// What began within an hour of the same place in the circle (week or day). Between two neighbouring hours the usual
// value may climb steeply: the middle is that of the same place alone, the distribution is around the middle of each
// place.
struct Pool {
    size_t values = 0;
    size_t rounds = 0; // of the same place
    Distribution distribution;
};
Pool pool_of(const std::vector<PastValue>& history, int64_t begin_ns, int64_t circle) {
    std::map<int64_t, std::vector<double>> places; // by distance from the same place
    for (const PastValue& past : history) {
        int64_t apart = (past.begin_ns - begin_ns) % circle;
        if (apart > circle / 2) apart -= circle;
        if (apart < -circle / 2) apart += circle;
        if (std::abs(apart) <= hour_length_ns) places[apart].push_back(past.value);
    }
    Pool pool;
    std::vector<double> distances;
    for (const auto& [apart, values] : places) {
        const double middle = distribution_of(values).median;
        for (const double value : values) distances.push_back(std::abs(value - middle));
        pool.values += values.size();
        if (apart != 0) continue;
        pool.rounds = values.size();
        pool.distribution.median = middle;
    }
    // Few rounds lie closer to their own middle than to the true one.
    const double few = 1 + 1 / static_cast<double>(std::max<size_t>(1, pool.rounds));
    pool.distribution.deviation = 1.4826 * distribution_of(std::move(distances)).median * few;
    return pool;
}

// Chance alone moves a number by about this much, however calm its history was.
double least_deviation(telemetry::Metric metric, double median) {
    switch (metric) {
    case telemetry::Metric::count:
    case telemetry::Metric::errors:
    case telemetry::Metric::traces:
        return std::max(1.0, std::sqrt(std::abs(median)));
    case telemetry::Metric::error_rate:
    case telemetry::Metric::eval_rate:
    case telemetry::Metric::eval_score:
        return 0.01;
    default:
        return 0.05 * std::abs(median);
    }
}

void set_side(Reading& reading, Direction direction, double bound, double recover) {
    if (direction == Direction::below) {
        reading.lower = bound;
        reading.recover_lower = recover;
    } else {
        reading.upper = bound;
        reading.recover_upper = recover;
    }
}

void set_automatic(const MonitorSettings& settings, Reading& reading, const std::vector<PastValue>& history,
                   int64_t begin_ns) {
    const Direction direction = settings.condition.direction.value_or(Direction::above);
    std::string why_not;
    const auto band = usual_band(metric_of(settings), history, begin_ns, why_not);
    if (!band) {
        reading.note = why_not;
        if (settings.condition.threshold && direction != Direction::outside) {
            reading.note += "; the fixed threshold counts until then";
            set_side(reading, direction, *settings.condition.threshold, *settings.condition.threshold);
        }
        return;
    }
    const double width = settings.condition.sensitivity.value_or(usual_sensitivity) * band->deviation;
    reading.usual = band->usual;
    reading.note = "band from " + band->made_from;
    if (direction != Direction::below)
        set_side(reading, Direction::above, band->usual + width, band->usual + recover_share * width);
    if (direction != Direction::above)
        set_side(reading, Direction::below, band->usual - width, band->usual - recover_share * width);
}

// SQL chooses its own spans, and has no history that is cheap to compute.
Result<> check_sql_settings(const MonitorSettings& settings) {
    TRY(check_sql(*settings.sql));
    if (settings.metric) return invalid("metric and sql exclude each other");
    if (!settings.filter.value.empty() || settings.group_by || settings.eval_name || settings.eval_label)
        return invalid("filter, group_by, eval_name and eval_label belong to metric, not to sql");
    const auto type = settings.condition.type;
    if (type != ConditionType::threshold && type != ConditionType::change)
        return invalid("sql belongs to threshold and change conditions");
    return {};
}

} // namespace

telemetry::Metric metric_of(const MonitorSettings& settings) {
    return settings.metric.value_or(telemetry::Metric::eval_score);
}

Result<> check_settings(const MonitorSettings& settings) {
    TRY(check_condition(settings));
    if (settings.sql) TRY(check_sql_settings(settings));
    if (!settings.sql && !settings.metric) return invalid("metric is missing");
    const auto type = settings.condition.type;
    if (settings.filter.value.size() > 4000) return invalid("filter must be at most 4000 bytes long");
    if (auto filter = telemetry::parse_filter(settings.filter.value); !filter.ok())
        return invalid("filter: " + filter.error().message);
    const bool wants_eval =
        settings.metric == telemetry::Metric::eval_rate || settings.metric == telemetry::Metric::eval_score;
    if (wants_eval && settings.eval_name.value_or("").empty()) return invalid("eval_name is missing");
    if (settings.metric == telemetry::Metric::eval_rate && settings.eval_label.value_or("").empty())
        return invalid("eval_label is missing");
    if (!settings.group_by.value_or("").empty() && type != ConditionType::threshold && type != ConditionType::change)
        return invalid("group_by belongs to threshold and change conditions");
    if (settings.group_by.value_or("").size() > 300) return invalid("group_by is too long");
    TRY(in_range("window_seconds", settings.window_seconds, 60, 30 * 86'400));
    TRY(in_range("frequency_seconds", settings.frequency_seconds, 60, 7 * 86'400));
    TRY(in_range("for_seconds", settings.for_seconds, 0, 7 * 86'400));
    TRY(in_range("minimum_samples", settings.minimum_samples, 1, 1'000'000'000));
    if (type == ConditionType::automatic)
        TRY(in_range("window_seconds of an automatic condition", settings.window_seconds, 300, 86'400));
    if (settings.mute_windows.value.size() > 20) return invalid("mute_windows must be at most 20");
    for (const MuteWindow& window : settings.mute_windows.value) TRY(check_mute_window(window));
    return {};
}

bool is_additive(telemetry::Metric metric) {
    using enum telemetry::Metric;
    return metric == count || metric == errors || metric == tokens || metric == cost || metric == traces;
}

Distribution distribution_of(std::vector<double> values) {
    const auto median = [](std::vector<double>& list) {
        const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
        std::nth_element(list.begin(), middle, list.end());
        if (list.size() % 2 == 1) return *middle;
        return (*middle + *std::max_element(list.begin(), middle)) / 2;
    };
    if (values.empty()) return {};
    Distribution distribution;
    distribution.median = median(values);
    for (double& value : values) value = std::abs(value - distribution.median);
    distribution.deviation = 1.4826 * median(values);
    return distribution;
}

std::optional<Band> usual_band(telemetry::Metric metric, const std::vector<PastValue>& history, int64_t begin_ns,
                               std::string& why_not) {
    const auto made = [&](const Distribution& distribution, size_t values, std::string_view what) {
        return Band{distribution.median, std::max(distribution.deviation, least_deviation(metric, distribution.median)),
                    fmt::format("{} values of {}", values, what)};
    };
    const Pool week = pool_of(history, begin_ns, week_length_ns);
    if (week.values >= 8 && week.rounds >= 3) return made(week.distribution, week.values, "this hour of the week");
    const Pool day = pool_of(history, begin_ns, day_ns);
    if (day.values >= 12 && day.rounds >= 5) return made(day.distribution, day.values, "this hour of the day");
    if (history.size() >= 24) {
        std::vector<double> all;
        for (const PastValue& past : history) all.push_back(past.value);
        return made(distribution_of(std::move(all)), history.size(), "all hours");
    }
    why_not = fmt::format("too little history: {} of 24 windows", history.size());
    return std::nullopt;
}

void set_bounds(const MonitorSettings& settings, Reading& reading, std::optional<double> before,
                const std::vector<PastValue>& history, int64_t begin_ns) {
    const Condition& condition = settings.condition;
    const Direction direction = condition.direction.value_or(Direction::above);
    const double recover = condition.recover_threshold.value_or(condition.threshold.value_or(0));
    switch (condition.type) {
    case ConditionType::threshold:
        return set_side(reading, direction, condition.threshold.value_or(0), recover);
    case ConditionType::automatic:
        return set_automatic(settings, reading, history, begin_ns);
    case ConditionType::change: {
        reading.usual = before;
        if (!before) {
            reading.note = "the window before has too few spans to compare with";
            return;
        }
        const bool ratio = condition.change_by.value_or(ChangeBy::ratio) == ChangeBy::ratio;
        const auto bound = [&](double by) { return ratio ? *before * by : *before + by; };
        return set_side(reading, direction, bound(condition.threshold.value_or(0)), bound(recover));
    }
    case ConditionType::absence:
        return;
    }
}

Verdict check_condition(const MonitorSettings& settings, const Reading& reading) {
    if (settings.condition.type == ConditionType::absence)
        return reading.samples < settings.minimum_samples ? Verdict::bad : Verdict::good;
    // Nothing at all is few: a count that must not be low does not need a first span to be low.
    const bool zero_counts = is_additive(metric_of(settings)) && settings.minimum_samples <= 1 &&
                             settings.condition.direction.value_or(Direction::above) != Direction::above;
    if (!reading.value || (reading.samples < settings.minimum_samples && !zero_counts)) return Verdict::no_data;
    if (settings.condition.type == ConditionType::change && !reading.usual) return Verdict::no_data;
    const double value = *reading.value;
    if ((reading.upper && value > *reading.upper) || (reading.lower && value < *reading.lower)) return Verdict::bad;
    if ((reading.recover_upper && value > *reading.recover_upper) ||
        (reading.recover_lower && value < *reading.recover_lower))
        return Verdict::lingering;
    return Verdict::good;
}

double badness(const Reading& reading) {
    if (!reading.value) return -std::numeric_limits<double>::infinity();
    double worst = -std::numeric_limits<double>::infinity();
    if (reading.upper) worst = std::max(worst, *reading.value - *reading.upper);
    if (reading.lower) worst = std::max(worst, *reading.lower - *reading.value);
    return worst;
}

ConditionState advance(const ConditionState& before, Verdict verdict, Time at, Duration at_least) {
    switch (verdict) {
    case Verdict::no_data:
        return {MonitorState::no_data, std::nullopt};
    case Verdict::good:
        return {MonitorState::healthy, std::nullopt};
    case Verdict::lingering:
        return {before.state == MonitorState::triggered ? MonitorState::triggered : MonitorState::healthy,
                std::nullopt};
    case Verdict::bad:
        break;
    }
    if (before.state == MonitorState::triggered) return {MonitorState::triggered, std::nullopt};
    const Time since = before.bad_since.value_or(at);
    if (at - since >= at_least) return {MonitorState::triggered, std::nullopt};
    return {MonitorState::healthy, since};
}

} // namespace hone::monitor
