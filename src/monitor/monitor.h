// A monitor: a metric of a project's spans over a window, evaluated on a schedule, with a condition that defines when
// it is bad. Plain data that the API shows as it is. Latencies are in milliseconds, cost in USD, rates a share of one.
#pragma once

#include "access/access.h"
#include "telemetry/query/span_store.h"

namespace hone::monitor {

struct MonitorTag {
    static constexpr std::string_view kind = "mon";
};
using MonitorId = Id<MonitorTag>;
struct MonitorEventTag {
    static constexpr std::string_view kind = "monevent";
};
using MonitorEventId = Id<MonitorEventTag>;

enum class MonitorState { healthy, no_data, triggered };
constexpr auto enum_names(MonitorState) {
    return std::array{EnumName{MonitorState::healthy, "healthy"}, EnumName{MonitorState::no_data, "no_data"},
                      EnumName{MonitorState::triggered, "triggered"}};
}

enum class ConditionType {
    threshold, // beyond a fixed number
    automatic, // outside what is usual at this hour of the week
    change,    // compared with the window before
    absence,   // fewer spans than minimum_samples
};
constexpr auto enum_names(ConditionType) {
    return std::array{EnumName{ConditionType::threshold, "threshold"}, EnumName{ConditionType::automatic, "automatic"},
                      EnumName{ConditionType::change, "change"}, EnumName{ConditionType::absence, "absence"}};
}

enum class Direction { above, below, outside };
constexpr auto enum_names(Direction) {
    return std::array{EnumName{Direction::above, "above"}, EnumName{Direction::below, "below"},
                      EnumName{Direction::outside, "outside"}};
}

enum class ChangeBy { ratio, difference };
constexpr auto enum_names(ChangeBy) {
    return std::array{EnumName{ChangeBy::ratio, "ratio"}, EnumName{ChangeBy::difference, "difference"}};
}

struct Condition {
    ConditionType type = ConditionType::threshold;
    std::optional<Direction> direction;
    std::optional<double> threshold;
    std::optional<double> recover_threshold;
    std::optional<ChangeBy> change_by;
    std::optional<double> sensitivity;
    friend bool operator==(const Condition&, const Condition&) = default;
    static constexpr Pack fields{
        Field{"type", &Condition::type, "threshold, automatic, change or absence."},
        Field{"direction", &Condition::direction,
              "Direction: above (if not given) or below the limit triggers; outside, for automatic: both."},
        Field{"threshold", &Condition::threshold,
              "threshold: the limit; change: the ratio (1.5 is 50 % more) or difference to the previous window; "
              "automatic: the limit while there is too little history."},
        Field{"recover_threshold", &Condition::recover_threshold,
              "It stays triggered until the value is back beyond this limit, so that it does not flap; the threshold "
              "if not given."},
        Field{"change_by", &Condition::change_by, "change: ratio (if not given) or difference."},
        Field{"sensitivity", &Condition::sensitivity,
              "automatic: width of the usual range in robust standard deviations, 1 to 20; 4 if not given."},
    };
};

// No notices in it: between two moments, or every week between two times of day.
struct MuteWindow {
    std::optional<Time> from;
    std::optional<Time> to;
    std::optional<std::vector<std::string>> days;
    std::optional<std::string> start;
    std::optional<std::string> end;
    std::optional<std::string> time_zone;
    friend bool operator==(const MuteWindow&, const MuteWindow&) = default;
    static constexpr Pack fields{
        Field{"from", &MuteWindow::from, "Start of a one-time window."},
        Field{"to", &MuteWindow::to, "End of a one-time window."},
        Field{"days", &MuteWindow::days, "Weekly: mon, tue, wed, thu, fri, sat, sun; every day if not given."},
        Field{"start", &MuteWindow::start, "Weekly: time of day like 22:00."},
        Field{"end", &MuteWindow::end, "Weekly: time of day like 06:00; if it is before start, on the next day."},
        Field{"time_zone", &MuteWindow::time_zone, "Weekly: a name like Europe/Berlin; UTC if not given."},
    };
};

struct MonitorSettings {
    std::optional<telemetry::Metric> metric;
    std::optional<std::string> sql;
    json::Defaulted<std::string> filter;
    std::optional<std::string> group_by;
    std::optional<std::string> eval_name;
    std::optional<std::string> eval_label;
    Condition condition;
    json::Defaulted<int64_t> window_seconds = 86'400;
    json::Defaulted<int64_t> frequency_seconds = 3'600;
    json::Defaulted<int64_t> for_seconds = 0;
    json::Defaulted<int64_t> minimum_samples = 1;
    json::Defaulted<std::vector<MuteWindow>> mute_windows;
    friend bool operator==(const MonitorSettings&, const MonitorSettings&) = default;
    static constexpr Pack fields{
        Field{"metric", &MonitorSettings::metric,
              "As in GET …/series. Latency in milliseconds, cost in USD, rates 0 to 1. Null with sql."},
        Field{"sql", &MonitorSettings::sql,
              "Instead of metric: a SELECT over the project's tables that returns one number. {{window.from}} and "
              "{{window.to}} stand for the window, in nanoseconds since 1970; for threshold and change."},
        Field{"filter", &MonitorSettings::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"group_by", &MonitorSettings::group_by,
              "threshold and change: the 20 largest groups are evaluated; the worst one decides."},
        Field{"eval_name", &MonitorSettings::eval_name, "For eval_rate and eval_score."},
        Field{"eval_label", &MonitorSettings::eval_label, "eval_rate: the share of this label."},
        Field{"condition", &MonitorSettings::condition, "Condition that triggers it."},
        Field{"window_seconds", &MonitorSettings::window_seconds, "60 to 2,592,000; 86,400 if not given."},
        Field{"frequency_seconds", &MonitorSettings::frequency_seconds, "60 to 604,800; 3,600 if not given."},
        Field{"for_seconds", &MonitorSettings::for_seconds,
              "Triggers only after the condition was true for this many seconds, up to 604,800."},
        Field{"minimum_samples", &MonitorSettings::minimum_samples,
              "A window with fewer spans has no data; for absence, it triggers. 1 if not given."},
        Field{"mute_windows", &MonitorSettings::mute_windows, "Times without notices, at most 20."},
    };
};

// What one evaluation saw.
struct Reading {
    Time at{};
    std::optional<double> value;
    int64_t samples = 0;
    std::string group;
    std::optional<double> lower;
    std::optional<double> upper;
    std::optional<double> recover_lower;
    std::optional<double> recover_upper;
    std::optional<double> usual;
    std::string note;
    static constexpr Pack fields{
        Field{"at", &Reading::at, "End of the window."},
        Field{"value", &Reading::value, "Value of the metric; null: none."},
        Field{"samples", &Reading::samples, "Spans in the window."},
        Field{"group", &Reading::group, "The worst group, with group_by."},
        Field{"lower", &Reading::lower, "Lower limit."},
        Field{"upper", &Reading::upper, "Upper limit."},
        Field{"recover_lower", &Reading::recover_lower, "It recovers above this value."},
        Field{"recover_upper", &Reading::recover_upper, "It recovers below this value."},
        Field{"usual", &Reading::usual,
              "automatic: the median of the history; change: the value of the previous window."},
        Field{"note", &Reading::note, "Note: basis of the usual range, or why there is none."},
    };
};

struct Monitor {
    MonitorId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string name;
    std::string description;
    MonitorSettings settings;
    bool enabled = true;
    MonitorState state = MonitorState::no_data;
    Time state_since{};
    std::optional<Time> bad_since;
    bool muted = false;
    std::optional<Time> muted_until;
    std::string mute_reason;
    std::optional<Time> next_at;
    std::optional<Reading> last_reading;
    std::string problem;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Monitor::id, ""},
        Field{"space_id", &Monitor::space_id, ""},
        Field{"project_id", &Monitor::project_id, ""},
        Field{"name", &Monitor::name, "Unique in the project."},
        Field{"description", &Monitor::description, ""},
        Field{"settings", &Monitor::settings, "Metric and condition."},
        Field{"enabled", &Monitor::enabled, ""},
        Field{"state", &Monitor::state, "healthy, no_data or triggered."},
        Field{"state_since", &Monitor::state_since, ""},
        Field{"bad_since", &Monitor::bad_since,
              "Time since which the condition is true, while it is shorter than for_seconds."},
        Field{"muted", &Monitor::muted, "No notices now, because a member muted it or a mute window is active."},
        Field{"muted_until", &Monitor::muted_until, "End of the mute that a member set."},
        Field{"mute_reason", &Monitor::mute_reason, ""},
        Field{"next_at", &Monitor::next_at, "Time of the next evaluation; null when it is disabled."},
        Field{"last_reading", &Monitor::last_reading, "Result of the last evaluation."},
        Field{"problem", &Monitor::problem, "Error of the last evaluation; empty: none."},
        Field{"created_by", &Monitor::created_by, ""},
        Field{"created_at", &Monitor::created_at, ""},
        Field{"updated_at", &Monitor::updated_at, ""},
    };
};

struct NewMonitor {
    std::string project;
    std::string name;
    std::optional<std::string> description;
    MonitorSettings settings;
    std::optional<bool> enabled;
    static constexpr Pack fields{
        Field{"project", &NewMonitor::project, "Id or name of the project."},
        Field{"name", &NewMonitor::name, "Unique in the project."},
        Field{"description", &NewMonitor::description, "Text for people, for example what to do when it triggers."},
        Field{"settings", &NewMonitor::settings, "Metric and condition."},
        Field{"enabled", &NewMonitor::enabled, "True if not given."},
    };
};

struct MonitorChange {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<MonitorSettings> settings;
    std::optional<bool> enabled;
    static constexpr Pack fields{
        Field{"name", &MonitorChange::name, "Unique in the project."},
        Field{"description", &MonitorChange::description, ""},
        Field{"settings", &MonitorChange::settings, "Replaces all settings."},
        Field{"enabled", &MonitorChange::enabled, ""},
    };
};

enum class MonitorEventKind { created, changed, triggered, recovered, no_data, healthy, muted, unmuted, failed };
constexpr auto enum_names(MonitorEventKind) {
    return std::array{
        EnumName{MonitorEventKind::created, "created"},     EnumName{MonitorEventKind::changed, "changed"},
        EnumName{MonitorEventKind::triggered, "triggered"}, EnumName{MonitorEventKind::recovered, "recovered"},
        EnumName{MonitorEventKind::no_data, "no_data"},     EnumName{MonitorEventKind::healthy, "healthy"},
        EnumName{MonitorEventKind::muted, "muted"},         EnumName{MonitorEventKind::unmuted, "unmuted"},
        EnumName{MonitorEventKind::failed, "failed"}};
}

// One line of a monitor's history.
struct MonitorEvent {
    MonitorEventId id;
    Time at{};
    MonitorEventKind kind = MonitorEventKind::created;
    std::optional<double> value;
    std::optional<double> bound;
    std::string note;
    std::string by;
    static constexpr Pack fields{
        Field{"id", &MonitorEvent::id, ""},
        Field{"at", &MonitorEvent::at, ""},
        Field{"kind", &MonitorEvent::kind, ""},
        Field{"value", &MonitorEvent::value, ""},
        Field{"bound", &MonitorEvent::bound, "Limit that the value crossed."},
        Field{"note", &MonitorEvent::note, ""},
        Field{"by", &MonitorEvent::by, "Name of the user or key; empty: an evaluation."},
    };
};

// One evaluation in the chart.
struct ChartPoint {
    Time at{};
    std::optional<double> value;
    int64_t samples = 0;
    std::optional<double> lower;
    std::optional<double> upper;
    MonitorState state = MonitorState::no_data;
    std::string note;
    static constexpr Pack fields{
        Field{"at", &ChartPoint::at, ""},
        Field{"value", &ChartPoint::value, ""},
        Field{"samples", &ChartPoint::samples, ""},
        Field{"lower", &ChartPoint::lower, "Lower limit."},
        Field{"upper", &ChartPoint::upper, "Upper limit."},
        Field{"state", &ChartPoint::state, "State after this evaluation."},
        Field{"note", &ChartPoint::note, ""},
    };
};

struct Chart {
    std::vector<ChartPoint> points;
    int64_t triggered = 0;
    bool is_cut = false;
    static constexpr Pack fields{
        Field{"points", &Chart::points, "Oldest first."},
        Field{"triggered", &Chart::triggered, "How often it changed to triggered."},
        Field{"is_cut", &Chart::is_cut, "There are more points than one response holds."},
    };
};

} // namespace hone::monitor
