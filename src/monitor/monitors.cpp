// Evaluates what is due and reports transitions.
#include "monitor/monitors.h"

#include "base/log.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::monitor {

namespace {

constexpr int64_t most_per_step = 100;
constexpr Duration claim_time = std::chrono::minutes(3); // longer than any evaluation
constexpr Duration failure_pause = std::chrono::minutes(1);
constexpr int64_t hour_ns = 3'600'000'000'000;
// Monitors made or changed on another server are found within this time.

std::string number_text(telemetry::Metric metric, double value) {
    using enum telemetry::Metric;
    switch (metric) {
    case error_rate:
    case eval_rate:
        return fmt::format("{:.4g} %", value * 100);
    case latency_p50:
    case latency_p95:
    case latency_p99:
    case latency_mean:
    case first_token_p50:
    case first_token_p95:
        return value >= 1000 ? fmt::format("{:.3g} s", value / 1000) : fmt::format("{:.3g} ms", value);
    case cost:
        return fmt::format("{:.4g} USD", value);
    default:
        return fmt::format("{:.6g}", value);
    }
}

std::string window_text(int64_t seconds) {
    if (seconds % 3600 == 0) return fmt::format("{} h", seconds / 3600);
    return seconds % 60 == 0 ? fmt::format("{} min", seconds / 60) : fmt::format("{} s", seconds);
}

// "error rate over 24 h is 12.5 %, above 5 %"
std::string sentence(const MonitorSettings& settings, const Reading& reading) {
    std::string text(settings.sql ? "SQL value" : name_of(metric_of(settings)));
    std::replace(text.begin(), text.end(), '_', ' ');
    text += " over " + window_text(settings.window_seconds);
    if (settings.condition.type == ConditionType::absence)
        return fmt::format("{} spans in {}, at least {} expected", reading.samples,
                           window_text(settings.window_seconds), settings.minimum_samples.value);
    if (!reading.group.empty()) text += " of " + std::string(truncate_utf8(reading.group, 100));
    if (!reading.value) return text + " has no data";
    text += " is " + number_text(metric_of(settings), *reading.value);
    if (reading.upper && *reading.value > *reading.upper)
        text += ", above " + number_text(metric_of(settings), *reading.upper);
    else if (reading.lower && *reading.value < *reading.lower)
        text += ", below " + number_text(metric_of(settings), *reading.lower);
    else if (reading.upper)
        text += ", limit " + number_text(metric_of(settings), *reading.upper);
    else if (reading.lower)
        text += ", limit " + number_text(metric_of(settings), *reading.lower);
    return text;
}

} // namespace

// Aligned to its frequency, so that points of a chart lie at the same minutes each hour.
Time Monitors::next_after(const MonitorSettings& settings, Time now) const {
    const int64_t frequency = settings.frequency_seconds * 1'000'000'000;
    return from_ns((to_ns(now) / frequency + 1) * frequency);
}

Result<bool> Monitors::claim(const std::string& id, const std::string& token, bool only_if_due) {
    const Time now = m_clock.now();
    const std::string due = only_if_due ? " AND enabled = 1 AND next_at <= ?" : " AND ? > 0";
    return TRY(m_database.execute(
               "UPDATE monitors SET claimed_by = ?, claimed_until = ? WHERE id = ? AND claimed_until "
               "<= ?" +
                   due,
               token, now + claim_time, id, now, now)) > 0;
}

Result<int64_t> Monitors::step() {
    const Time now = m_clock.now();
    const auto untold = TRY(m_database.query("SELECT id FROM monitors WHERE state = 'triggered' AND announced = 0 AND "
                                             "transition_id <> '' ORDER BY id LIMIT ?",
                                             most_per_step));
    for (const auto& row : untold) TRY(announce(row.text(0)));
    const auto rows =
        TRY(m_database.query("SELECT id FROM monitors WHERE enabled = 1 AND next_at <= ? AND claimed_until "
                             "<= ? ORDER BY next_at, id LIMIT ?",
                             now, now, most_per_step));
    int64_t evaluated = 0;
    for (const auto& row : rows) {
        const std::string token = crypto::random_token(12);
        if (!TRY(claim(row.text(0), token, true))) continue; // another server has it
        TRY(evaluate_claimed(row.text(0), token));
        ++evaluated;
    }
    return evaluated;
}

Result<Monitor> Monitors::evaluate(const access::Caller& caller, const MonitorId& id) {
    TRY(find(caller, id, access::Permission::monitor_write));
    const std::string token = crypto::random_token(12);
    if (!TRY(claim(id.text(), token, false))) return busy("this monitor is being evaluated; try again");
    TRY(evaluate_claimed(id.text(), token));
    return find(caller, id);
}

Result<> Monitors::evaluate_claimed(const std::string& id, const std::string& token) {
    const Row row = TRY(row_of(id));
    const Time now = m_clock.now();
    auto reading = m_evaluator.read(row.monitor.project_id, row.monitor.settings, now);
    if (!reading.ok()) return note_failure(row, reading.error(), token);
    TRY(take_in(row, reading.value(), token));
    return announce(id);
}

// A monitor that cannot be evaluated shows the problem; its state is unchanged.
Result<> Monitors::note_failure(const Row& row, const Error& error, const std::string& token) {
    const Time now = m_clock.now();
    const Duration pause =
        std::min<Duration>(failure_pause, std::chrono::seconds(row.monitor.settings.frequency_seconds));
    const std::string problem(truncate_utf8(repair_utf8(error.message), 500));
    log(Level::warning, "monitor cannot be evaluated", {{"monitor", row.monitor.id.text()}, {"why", problem}});
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t mine = TRY(transaction.execute(
            "UPDATE monitors SET problem = ?, next_at = ?, claimed_by = '', claimed_until = 0 WHERE id = ? AND "
            "claimed_by = ?",
            problem, now + pause, row.monitor.id, token));
        if (mine == 0 || problem == row.monitor.problem) return {};
        return add_event(transaction, make_id<MonitorEventTag>(m_clock), row.monitor.id, MonitorEventKind::failed,
                         nullptr, problem, "");
    });
}

// The new state, its line in the history, its point in the chart and the notice of a recovery: all or nothing.
Result<> Monitors::take_in(const Row& row, const Reading& reading, const std::string& token) {
    const Monitor& monitor = row.monitor;
    const ConditionState before{monitor.state, monitor.bad_since};
    const ConditionState after = advance(before, check_condition(monitor.settings, reading), reading.at,
                                         std::chrono::seconds(monitor.settings.for_seconds));
    const bool changed = after.state != before.state;
    const auto event = make_id<MonitorEventTag>(m_clock);
    std::string transition = row.transition_id;
    bool announced = row.announced;
    const bool recovered = after.state == MonitorState::healthy && !transition.empty();
    if (after.state == MonitorState::triggered && transition.empty()) {
        transition = event.text();
        announced = false;
    }
    if (after.state == MonitorState::healthy) transition.clear();
    const bool first_of_hour =
        !monitor.last_reading || to_ns(monitor.last_reading->at) / hour_ns != to_ns(reading.at) / hour_ns;
    const bool told = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
        const int64_t mine = TRY(transaction.execute(
            "UPDATE monitors SET state = ?, state_since = ?, bad_since = ?, transition_id = ?, announced = ?, next_at "
            "= "
            "?, claimed_by = '', claimed_until = 0, last_at = ?, last_reading = ?, problem = '' WHERE id = ? AND "
            "claimed_by = ?",
            name_of(after.state), changed ? reading.at : monitor.state_since, after.bad_since, transition,
            announced && !transition.empty(), next_after(monitor.settings, reading.at), reading.at,
            json::write(reading), monitor.id, token));
        if (mine == 0) return false; // it took too long, another server did it
        TRY(transaction.execute("INSERT INTO monitor_values (monitor_id, at, value, samples, lower_bound, upper_bound, "
                                "state, stays) VALUES "
                                "(?,?,?,?,?,?,?,?) ON CONFLICT (monitor_id, at) DO NOTHING",
                                monitor.id, reading.at, reading.value, reading.samples, reading.lower, reading.upper,
                                name_of(after.state), first_of_hour));
        if (!changed) return false;
        const MonitorEventKind kind = after.state == MonitorState::triggered ? MonitorEventKind::triggered
                                      : after.state == MonitorState::no_data ? MonitorEventKind::no_data
                                      : recovered                            ? MonitorEventKind::recovered
                                                                             : MonitorEventKind::healthy;
        TRY(add_event(transaction, event, monitor.id, kind, &reading,
                      sentence(monitor.settings, reading) + (monitor.muted ? "; muted" : ""), ""));
        if (!recovered || !row.announced) return false;
        TRY(add_notice(transaction, row, reading, notice::Kind::monitor_recovered, row.transition_id));
        return true;
    }));
    if (told) m_notices.wake();
    return {};
}

// Reports a transition to people and automations once, unless the monitor is muted: then when the mute ends, if it is
// still triggered. A crash in between reports it again with the same id.
Result<> Monitors::announce(const std::string& id) {
    const Row row = TRY(row_of(id));
    if (row.monitor.state != MonitorState::triggered || row.announced || row.transition_id.empty() || row.monitor.muted)
        return {};
    const Reading reading = row.monitor.last_reading.value_or(Reading{});
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        return add_notice(transaction, row, reading, notice::Kind::monitor_triggered, row.transition_id);
    }));
    m_notices.wake();
    if (m_listener != nullptr) {
        const Transition transition{MonitorEventId(row.transition_id),
                                    row.monitor.space_id,
                                    row.monitor.project_id,
                                    row.monitor.id,
                                    row.monitor.name,
                                    reading,
                                    row.monitor.settings.window_seconds,
                                    row.monitor.settings.filter};
        if (auto reported = m_listener->monitor_triggered(transition); !reported.ok()) {
            log(Level::warning, "could not report a monitor's transition",
                {{"monitor", id}, {"why", reported.error().message}});
            return {}; // the next step retries
        }
    }
    TRY(m_database.execute("UPDATE monitors SET announced = 1 WHERE id = ? AND transition_id = ?", id,
                           row.transition_id));
    return {};
}

Result<> Monitors::add_notice(sql::Transaction& transaction, const Row& row, const Reading& reading, notice::Kind kind,
                              const std::string& key) const {
    const auto name = TRY(m_access.projects.name(transaction, row.monitor.project_id));
    notice::Notice notice;
    notice.space = row.monitor.space_id;
    notice.project = row.monitor.project_id;
    notice.kind = kind;
    notice.title = (kind == notice::Kind::monitor_triggered ? "Triggered: " : "Recovered: ") + row.monitor.name;
    notice.body = sentence(row.monitor.settings, reading) + ".";
    if (!row.monitor.description.empty()) notice.body += "\n" + row.monitor.description;
    notice.link = "/projects/" + percent_encode(name.value_or(row.monitor.project_id.text())) + "/monitors/" +
                  row.monitor.id.text();
    notice.key = key;
    TRY(m_notices.notify(transaction, notice));
    return {};
}

} // namespace hone::monitor
