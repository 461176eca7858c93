#include "monitor/evaluate.h"

#include "monitor/sql_value.h"

#include <algorithm>
#include <cmath>

namespace hone::monitor {

namespace {

constexpr int64_t second_ns = 1'000'000'000;
constexpr int64_t history_ns = 56 * 86'400 * second_ns; // eight weeks, as far as spans are kept
constexpr int64_t week_ns = 7 * 86'400 * second_ns;
constexpr size_t most_groups = 20;

// The store has durations in nanoseconds.
double in_own_unit(telemetry::Metric metric, double value) {
    return telemetry::is_duration(metric) ? value / 1e6 : value;
}

telemetry::Series series_query(const access::ProjectId& project, const MonitorSettings& settings, int64_t from_ns,
                               int64_t to_ns) {
    telemetry::Series series;
    series.scope.project = project.text();
    series.scope.from_ns = from_ns;
    series.scope.to_ns = to_ns;
    series.scope.filter = settings.filter;
    series.scope.deadline = std::chrono::seconds(10); // also what stopping the server may have to wait
    series.metrics = {metric_of(settings), telemetry::Metric::count};
    series.bucket = Duration(0);
    series.eval_name = settings.eval_name.value_or("");
    series.eval_label = settings.eval_label.value_or("");
    return series;
}

// The project's spans begin within the window before: next to a piece of a window, a usual one looks like growth.
Reading without_comparison(const Reading& reading) {
    Reading alone;
    alone.at = reading.at;
    alone.value = reading.value;
    alone.samples = reading.samples;
    alone.group = reading.group;
    alone.note = "not enough history: the window before is compared once spans reach back to its beginning";
    return alone;
}

constexpr size_t most_sql_points = 12;

} // namespace

Result<std::vector<Evaluator::Value>>
Evaluator::values(const access::ProjectId& project, const MonitorSettings& settings, int64_t from_ns, int64_t to_ns) {
    if (settings.sql) {
        const std::string sql = sql_for_window(*settings.sql, hone::from_ns(from_ns), hone::from_ns(to_ns));
        const auto number = TRY(m_source.number(project, sql));
        return number ? std::vector<Value>{{"", *number, 1}} : std::vector<Value>();
    }
    telemetry::Series series = series_query(project, settings, from_ns, to_ns);
    series.group_by = settings.group_by.value_or("");
    series.groups = most_groups;
    std::vector<Value> values;
    for (const telemetry::SeriesPoint& point : TRY(m_source.series(series)))
        if (std::isfinite(point.values[0]))
            values.push_back({point.group, in_own_unit(metric_of(settings), point.values[0]),
                              static_cast<int64_t>(point.values[1])});
    return values;
}

Result<std::vector<PastValue>> Evaluator::history(const access::ProjectId& project, const MonitorSettings& settings,
                                                  int64_t before_ns) {
    const int64_t window = settings.window_seconds * second_ns;
    telemetry::Series series = series_query(project, settings, std::max<int64_t>(0, before_ns - history_ns), before_ns);
    series.bucket = Duration(window);
    std::vector<PastValue> past;
    for (const telemetry::SeriesPoint& point : TRY(m_source.series(series))) {
        if (!std::isfinite(point.values[0])) continue;
        if (!is_additive(metric_of(settings)) && point.values[1] < static_cast<double>(settings.minimum_samples.value))
            continue;
        // A quiet hour between busy ones is a zero, not a gap.
        if (is_additive(metric_of(settings)) && !past.empty())
            for (int64_t at = past.back().begin_ns + window; at < point.bucket_ns; at += window)
                past.push_back({at, 0});
        past.push_back({point.bucket_ns, in_own_unit(metric_of(settings), point.values[0])});
    }
    return past;
}

Reading Evaluator::worst_of(const MonitorSettings& settings, Time at, const std::vector<Value>& now,
                            const std::vector<Value>& before) {
    Reading worst;
    worst.at = at;
    for (const Value& each : now) {
        Reading reading;
        reading.at = at;
        reading.value = each.value;
        reading.samples = each.samples;
        reading.group = each.group;
        const auto same = std::find_if(before.begin(), before.end(), [&](const Value& other) {
            return other.group == each.group && other.samples >= settings.minimum_samples;
        });
        set_bounds(settings, reading, same == before.end() ? std::nullopt : std::optional(same->value), {}, 0);
        // A group with too few spans has no value while another has one.
        const auto rank = [&](const Reading& one) {
            return std::pair(check_condition(settings, one) != Verdict::no_data, badness(one));
        };
        if (!worst.value || rank(reading) > rank(worst)) worst = std::move(reading);
    }
    return worst;
}

Result<Reading> Evaluator::read(const access::ProjectId& project, const MonitorSettings& settings, Time at) {
    const int64_t window = settings.window_seconds * second_ns;
    const bool automatic = settings.condition.type == ConditionType::automatic;
    const int64_t to = automatic ? to_ns(at) / window * window : to_ns(at);
    const int64_t from = std::max<int64_t>(0, to - window);
    std::vector<Value> now = TRY(values(project, settings, from, to));
    // No span at all is 0 of everything that is counted, once there has been something to count.
    if (now.empty() && is_additive(metric_of(settings)) && settings.group_by.value_or("").empty())
        now.push_back({"", 0, 0});
    if (settings.condition.type == ConditionType::change) {
        const int64_t before = std::max<int64_t>(0, from - window);
        Reading reading = worst_of(settings, at, now, TRY(values(project, settings, before, from)));
        if (!reading.usual || settings.sql) return reading;
        MonitorSettings any;
        any.metric = telemetry::Metric::count;
        const int64_t long_before = std::max<int64_t>(0, before - std::max(window, week_ns));
        const auto earlier = TRY(values(project, any, long_before, before));
        return earlier.empty() || earlier.front().samples == 0 ? without_comparison(reading) : reading;
    }
    if (!automatic) return worst_of(settings, at, now, {});
    Reading reading;
    reading.at = at;
    if (!now.empty()) {
        reading.value = now.front().value;
        reading.samples = now.front().samples;
    }
    const std::vector<PastValue> past = TRY(history(project, settings, from));
    set_bounds(settings, reading, std::nullopt, past, from);
    return reading;
}

Result<Chart> Evaluator::replay(const access::ProjectId& project, const MonitorSettings& settings, Time from, Time to,
                                size_t most_points) {
    TRY(check_settings(settings));
    if (from >= to) return invalid("from must be before to");
    if (settings.sql) most_points = std::min(most_points, most_sql_points);
    const int64_t frequency = settings.frequency_seconds * second_ns;
    const int64_t whole = (to - from).count();
    int64_t step = frequency;
    if (whole / frequency >= static_cast<int64_t>(most_points))
        step = (whole / static_cast<int64_t>(most_points) / frequency + 1) * frequency;
    Chart chart;
    ConditionState state_now;
    for (int64_t at = to_ns(to) - whole / step * step; at <= to_ns(to); at += step) {
        const Reading reading = TRY(read(project, settings, from_ns(at)));
        const ConditionState next = advance(state_now, check_condition(settings, reading), from_ns(at),
                                            std::chrono::seconds(settings.for_seconds));
        if (next.state == MonitorState::triggered && state_now.state != MonitorState::triggered) ++chart.triggered;
        state_now = next;
        chart.points.push_back(
            {reading.at, reading.value, reading.samples, reading.lower, reading.upper, state_now.state, reading.note});
    }
    chart.is_cut = step != frequency;
    return chart;
}

} // namespace hone::monitor
