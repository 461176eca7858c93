#include "automation/metric.h"

#include "automation/cron.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace hone::automation {

using telemetry::Metric, telemetry::Series, telemetry::SpanStore;

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr auto week = std::chrono::hours(24 * 7);
constexpr size_t most_points = 2016; // every five minutes of a week
// Where windows cannot be combined from parts, each is a query of its own.
constexpr size_t most_questions = 168;
constexpr int64_t most_parts = 40'000; // a series has at most 100,000 points
constexpr Duration measure_deadline = std::chrono::seconds(5);

// Whether nothing at all means zero, rather than that there is no value.
bool is_sum(Metric metric) {
    return metric == Metric::count || metric == Metric::errors || metric == Metric::tokens || metric == Metric::cost ||
           metric == Metric::traces;
}

// The parts from which any window's value can be added up; empty: there are none.
std::vector<Metric> parts_of(Metric metric) {
    switch (metric) {
    case Metric::count:
    case Metric::errors:
    case Metric::tokens:
    case Metric::cost:
        return {Metric::count, metric};
    case Metric::error_rate:
        return {Metric::count, Metric::errors};
    case Metric::latency_mean:
        return {Metric::count, Metric::latency_mean};
    default:
        return {};
    }
}

Series series_of(const access::ProjectId& project, const Trigger& trigger, Time from, Time to) {
    Series series;
    series.scope.project = project.text();
    series.scope.from_ns = to_ns(from);
    series.scope.to_ns = to_ns(to);
    series.scope.filter = trigger.filter.value_or("");
    series.scope.deadline = measure_deadline;
    series.eval_name = trigger.eval_name.value_or("");
    series.eval_label = trigger.eval_label.value_or("");
    return series;
}

struct Part {
    double count = 0;
    double sum = 0; // of the metric; for a mean: mean times count
};

double value_from(Metric metric, const Part& part) {
    if (metric == Metric::error_rate || metric == Metric::latency_mean)
        return part.count > 0 ? part.sum / part.count : std::nan("");
    return part.sum;
}

// Every window combined from parts: one query for the whole week.
Result<std::vector<PreviewPoint>> points_from_parts(SpanStore& spans, const access::ProjectId& project,
                                                    const Trigger& trigger, Time now, int64_t step) {
    // A part fits a whole number of times into a step and into a window, unless those would be too many parts.
    int64_t part_length = std::gcd(step, *trigger.window_seconds * second);
    while (Duration(week).count() / part_length > most_parts) part_length *= 2;
    step = std::max(step / part_length * part_length, part_length);
    const int64_t window = (*trigger.window_seconds * second + part_length - 1) / part_length * part_length;
    const int64_t end = to_ns(now) / step * step;
    const int64_t begin = end - Duration(week).count() / step * step;
    Series series = series_of(project, trigger, from_ns(begin - window), from_ns(end));
    series.scope.deadline = std::chrono::seconds(30);
    series.bucket = Duration(part_length);
    series.metrics = parts_of(*trigger.metric);
    std::map<int64_t, Part> parts;
    for (const auto& point : TRY(spans.series(series))) {
        Part part{point.values[0], point.values[1]};
        if (*trigger.metric == Metric::latency_mean) part.sum = point.values[1] * point.values[0] / 1e6;
        if (std::isfinite(part.sum)) parts[point.bucket_ns] = part;
    }
    std::vector<PreviewPoint> points;
    for (int64_t at = begin + step; at <= end; at += step) {
        Part sum;
        for (auto part = parts.lower_bound(at - window); part != parts.end() && part->first < at; ++part)
            sum.count += part->second.count, sum.sum += part->second.sum;
        const double value = value_from(*trigger.metric, sum);
        points.push_back(
            {from_ns(at), std::isfinite(value) ? std::optional(value) : std::nullopt, static_cast<int64_t>(sum.count)});
    }
    return points;
}

Result<PreviewPoint> point_at(SpanStore& spans, const access::ProjectId& project, const Trigger& trigger, Time at) {
    const Measured measured =
        TRY(measure(spans, project, trigger, at - std::chrono::seconds(*trigger.window_seconds), at));
    return PreviewPoint{at, std::isfinite(measured.value) ? std::optional(measured.value) : std::nullopt,
                        measured.samples};
}

Result<std::vector<PreviewPoint>> points_one_by_one(SpanStore& spans, const access::ProjectId& project,
                                                    const Trigger& trigger, Time now, int64_t step) {
    const int64_t end = to_ns(now) / step * step;
    std::vector<PreviewPoint> points;
    for (int64_t at = end - Duration(week).count() / step * step + step; at <= end; at += step)
        points.push_back(TRY(point_at(spans, project, trigger, from_ns(at))));
    return points;
}

// Evaluations would be further apart than a window is long and would miss most spans: adjacent windows, in one query.
Result<std::vector<PreviewPoint>> points_by_window(SpanStore& spans, const access::ProjectId& project,
                                                   const Trigger& trigger, Time now) {
    const int64_t window = *trigger.window_seconds * second;
    const int64_t end = to_ns(now) / window * window;
    const int64_t begin = end - Duration(week).count() / window * window;
    Series series = series_of(project, trigger, from_ns(begin), from_ns(end));
    series.scope.deadline = std::chrono::seconds(30);
    series.bucket = Duration(window);
    series.metrics = {Metric::count, *trigger.metric};
    std::map<int64_t, PreviewPoint> measured;
    for (const auto& point : TRY(spans.series(series))) {
        const double value = point.values[1] / (is_duration(*trigger.metric) ? 1e6 : 1);
        measured[point.bucket_ns + window] = {from_ns(point.bucket_ns + window),
                                              std::isfinite(value) ? std::optional(value) : std::nullopt,
                                              static_cast<int64_t>(point.values[0])};
    }
    const auto nothing = is_sum(*trigger.metric) ? std::optional(0.0) : std::nullopt;
    std::vector<PreviewPoint> points;
    for (int64_t at = begin + window; at <= end; at += window) {
        const auto found = measured.find(at);
        points.push_back(found != measured.end() ? found->second : PreviewPoint{from_ns(at), nothing, 0});
    }
    return points;
}

} // namespace

Result<Measured> measure(SpanStore& spans, const access::ProjectId& project, const Trigger& trigger, Time from,
                         Time to) {
    const Metric metric = trigger.metric.value_or(Metric::count);
    Series series = series_of(project, trigger, from, to);
    series.bucket = Duration(0);
    series.metrics = {Metric::count, metric};
    const auto points = TRY(spans.series(series));
    Measured measured{is_sum(metric) ? 0 : std::nan(""), 0};
    if (points.empty()) return measured;
    measured.samples = static_cast<int64_t>(points.front().values[0]);
    measured.value = points.front().values[1] / (is_duration(metric) ? 1e6 : 1);
    return measured;
}

bool update_watch(Watch& watch, const Trigger& trigger, const Measured& measured, Time now) {
    watch.looked_at = now;
    watch.value = std::isfinite(measured.value) ? std::optional(measured.value) : std::nullopt;
    watch.samples = measured.samples;
    const bool holds =
        watch.value && measured.samples >= trigger.minimum_samples.value_or(1) &&
        compares(trigger.comparator.value_or(Comparator::above), *watch.value, trigger.threshold.value_or(0));
    if (!holds) {
        watch.since.reset();
        watch.fired = false;
        return false;
    }
    if (!watch.since) watch.since = now;
    if (*watch.fired || now - *watch.since < std::chrono::seconds(trigger.for_seconds.value_or(0))) return false;
    watch.fired = true;
    return true;
}

std::vector<Time> next_firings(const Trigger& trigger, Time after, size_t count) {
    if (trigger.type != TriggerType::cron) return {};
    const auto cron = Cron::parse(trigger.schedule.value_or(""));
    const auto zone = calendar::TimeZone::find(trigger.time_zone.value_or(""));
    if (!cron.ok() || !zone.ok()) return {};
    return cron.value().next(after, zone.value(), count);
}

Result<TriggerPreview> dry_run(SpanStore& spans, const access::ProjectId& project, const Trigger& trigger,
                               int64_t cool_off_seconds, Time now) {
    TriggerPreview preview;
    const bool in_parts = !parts_of(*trigger.metric).empty();
    const int64_t finest = Duration(week).count() / static_cast<int64_t>(in_parts ? most_points : most_questions);
    int64_t step = *trigger.every_seconds * second;
    while (step < finest) step *= 2;
    preview.step_seconds = step / second;
    preview.threshold = trigger.threshold;
    if (in_parts)
        preview.points = TRY(points_from_parts(spans, project, trigger, now, step));
    else if (const int64_t window = *trigger.window_seconds; window * second < step) {
        preview.step_seconds = window;
        preview.points = TRY(points_by_window(spans, project, trigger, now));
    } else
        preview.points = TRY(points_one_by_one(spans, project, trigger, now, step));
    // Steps are coarse; what happened since the last of them is what people ask about first.
    if (preview.points.empty() || preview.points.back().time < now)
        preview.points.push_back(TRY(point_at(spans, project, trigger, now)));
    Watch watch;
    std::optional<Time> fired_at;
    for (const PreviewPoint& point : preview.points) {
        const Measured measured{point.value.value_or(std::nan("")), point.samples};
        if (!update_watch(watch, trigger, measured, point.time)) continue;
        const bool too_soon = fired_at && point.time - *fired_at < std::chrono::seconds(cool_off_seconds);
        preview.past.push_back({point.time, too_soon ? SlotOutcome::skipped : SlotOutcome::fired,
                                too_soon ? SlotReason::cool_off : SlotReason::none, point.value});
        if (!too_soon) fired_at = point.time;
    }
    return preview;
}

} // namespace hone::automation
