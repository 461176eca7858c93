// From numbers to a state: bounds of each condition, the usual band from history, hysteresis and for-duration. Pure
// functions over plain data; no clock, no store.
#pragma once

#include "monitor/monitor.h"

namespace hone::monitor {

Result<> check_settings(const MonitorSettings& settings);

// Robust middle of values: the median, and 1.4826 times the median distance from it (a standard deviation, if normal).
struct Distribution {
    double median = 0;
    double deviation = 0;
};
Distribution distribution_of(std::vector<double> values);

// A value of the metric over one window of history.
struct PastValue {
    int64_t begin_ns = 0;
    double value = 0;
};
struct Band {
    double usual = 0;
    double deviation = 0;
    std::string made_from; // "12 values of this hour of the week"
};
// What is usual for a window that begins at `begin_ns`: from the same hour of the week (an hour around), else the same
// hour of the day, else everything. Nothing when there is too little history; `why_not` is then set to how much there
// is.
std::optional<Band> usual_band(telemetry::Metric metric, const std::vector<PastValue>& history, int64_t begin_ns,
                               std::string& why_not);
// The metric whose unit and rules count; of SQL a number without a unit.
telemetry::Metric metric_of(const MonitorSettings& settings);
// Counts and sums: a window without spans is 0, not unknown.
bool is_additive(telemetry::Metric metric);

// Fills the reading's bounds. `before` is the value of the window before, for `change`; `history` for `automatic`.
void set_bounds(const MonitorSettings& settings, Reading& reading, std::optional<double> before,
                const std::vector<PastValue>& history, int64_t begin_ns);

enum class Verdict {
    good,
    bad,
    lingering, // good again, but not yet beyond the recover bound
    no_data,
};
Verdict check_condition(const MonitorSettings& settings, const Reading& reading);
// How far beyond its bounds; more is worse. For the choice of the worst group.
double badness(const Reading& reading);

// The state that a monitor is in, as far as evaluations change it.
struct ConditionState {
    MonitorState state = MonitorState::no_data;
    std::optional<Time> bad_since;
};
ConditionState advance(const ConditionState& before, Verdict verdict, Time at, Duration at_least);

} // namespace hone::monitor
