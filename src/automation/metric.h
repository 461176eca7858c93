// Metric triggers: a value over a window that crosses a threshold. The same rule is used live and for the dry run over
// past data. Thread-safe; measuring queries the span engine and blocks.
#pragma once

#include "automation/automation.h"

#include <functional>

namespace hone::automation {

// Latencies in milliseconds, cost in USD, rates between 0 and 1, everything else a count. Not a number: there is none.
struct Measured {
    double value = 0;
    int64_t samples = 0;
};
// Over [from, to).
using Measure = std::function<Result<Measured>(const access::ProjectId&, const Trigger&, Time from, Time to)>;
Result<Measured> measure(telemetry::SpanStore& spans, const access::ProjectId& project, const Trigger& trigger,
                         Time from, Time to);

// What a trigger remembers between two evaluations.
struct Watch {
    std::optional<Time> since; // the condition holds since
    Defaulted<bool> fired = false;
    std::optional<double> value;
    Defaulted<int64_t> samples = int64_t{0};
    std::optional<Time> looked_at;
    static constexpr Pack fields{
        Field{"since", &Watch::since, "Time since which the condition is true."},
        Field{"fired", &Watch::fired, "It has fired for this crossing."},
        Field{"value", &Watch::value, "Value at the last evaluation."},
        Field{"samples", &Watch::samples, "Spans in the last evaluation."},
        Field{"looked_at", &Watch::looked_at, "Time of the last evaluation."},
    };
};
// One look: true when the trigger fires. It fires once for each crossing, after the condition has held long enough.
bool update_watch(Watch& watch, const Trigger& trigger, const Measured& measured, Time now);

struct PreviewPoint {
    Time time{};
    std::optional<double> value;
    int64_t samples = 0;
    static constexpr Pack fields{
        Field{"time", &PreviewPoint::time, "End of the window."},
        Field{"value", &PreviewPoint::value, "Value of the metric in the window that ends then; null: no data."},
        Field{"samples", &PreviewPoint::samples, "Spans in that window."},
    };
};
struct PreviewFiring {
    Time due_at{};
    SlotOutcome outcome = SlotOutcome::fired;
    SlotReason reason = SlotReason::none;
    std::optional<double> value;
    static constexpr Pack fields{
        Field{"due_at", &PreviewFiring::due_at, "Time at which it would have fired."},
        Field{"outcome", &PreviewFiring::outcome, "fired, or skipped."},
        Field{"reason", &PreviewFiring::reason, "Why it would have been skipped."},
        Field{"value", &PreviewFiring::value, "Value of the metric."},
    };
};
struct TriggerPreview {
    std::vector<Time> next;
    std::vector<PreviewFiring> past;
    std::vector<PreviewPoint> points;
    std::optional<double> threshold;
    int64_t step_seconds = 0;
    static constexpr Pack fields{
        Field{"next", &TriggerPreview::next, "cron: the next firings."},
        Field{"past", &TriggerPreview::past, "metric: firings that the last seven days would have had."},
        Field{"points", &TriggerPreview::points, "metric: values over these days, for a chart."},
        Field{"threshold", &TriggerPreview::threshold, "metric: the threshold, for the chart."},
        Field{"step_seconds", &TriggerPreview::step_seconds,
              "metric: seconds between two evaluations of this preview; may be longer than every_seconds."},
    };
};

// The next `count` moments of a schedule; empty for other triggers.
std::vector<Time> next_firings(const Trigger& trigger, Time after, size_t count);
// What a metric trigger would have done in the seven days before `now`.
Result<TriggerPreview> dry_run(telemetry::SpanStore& spans, const access::ProjectId& project, const Trigger& trigger,
                               int64_t cool_off_seconds, Time now);

} // namespace hone::automation
