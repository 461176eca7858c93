// The rows of monitors: create, find, change, mute, history and chart.
#include "access/names.h"
#include "access/project_list.h"
#include "base/log.h"
#include "monitor/monitors.h"
#include "monitor/mute.h"
#include "sql/columns.h"

namespace hone::monitor {

namespace {

constexpr int64_t most_points = 5000;
constexpr int64_t longest_mute_seconds = 365 * 86'400;

template <class T>
constexpr auto field(T Monitor::*member) {
    return [member](auto& row) -> auto& {
        return row.monitor.*member;
    };
}

} // namespace

// The columns of a row; what depends on the time is completed by parse().
struct Monitors::Columns {
    static constexpr Pack list{
        sql::Column{"id", field(&Monitor::id)},
        sql::Column{"space_id", field(&Monitor::space_id)},
        sql::Column{"project_id", field(&Monitor::project_id)},
        sql::Column{"name", field(&Monitor::name)},
        sql::Column{"description", field(&Monitor::description)},
        sql::Column{"settings", sql::Converted{[](Row& made, const sql::Row& row, size_t at) {
                        auto settings = json::read<MonitorSettings>(row.text(at));
                        if (settings.ok())
                            made.monitor.settings = std::move(settings).value();
                        else
                            made.monitor.problem = "its settings cannot be read: " + settings.error().message;
                    }}},
        sql::Column{"enabled", field(&Monitor::enabled)},
        sql::Column{"state", field(&Monitor::state), MonitorState::no_data},
        sql::Column{"state_since", field(&Monitor::state_since)},
        sql::Column{"bad_since", field(&Monitor::bad_since)},
        sql::Column{"transition_id", &Row::transition_id},
        sql::Column{"announced", &Row::announced},
        sql::Column{"muted_until", field(&Monitor::muted_until)},
        sql::Column{"mute_reason", field(&Monitor::mute_reason)},
        sql::Column{"next_at", field(&Monitor::next_at)},
        sql::Column{"last_reading", sql::Converted{[](Row& made, const sql::Row& row, size_t at) {
                        if (row.text(at).empty()) return;
                        auto reading = json::read<Reading>(row.text(at));
                        if (reading.ok()) made.monitor.last_reading = std::move(reading).value();
                    }}},
        sql::Column{"problem", sql::Converted{[](Row& made, const sql::Row& row, size_t at) {
                        if (made.monitor.problem.empty()) made.monitor.problem = row.text(at);
                    }}},
        sql::Column{"created_by_name", field(&Monitor::created_by)},
        sql::Column{"created_at", field(&Monitor::created_at)},
        sql::Column{"updated_at", field(&Monitor::updated_at)},
    };
};

std::string Monitors::select() {
    return "SELECT " + sql::names(Columns::list) + " FROM monitors";
}

Monitors::Row Monitors::parse(const sql::Row& row, Time now) {
    Row made = sql::read<Row>(Columns::list, row);
    Monitor& monitor = made.monitor;
    if (monitor.muted_until && *monitor.muted_until <= now) monitor.muted_until.reset();
    if (!monitor.muted_until) monitor.mute_reason.clear();
    monitor.muted = monitor.muted_until || is_muted_by(monitor.settings.mute_windows, now);
    if (!monitor.enabled) monitor.next_at.reset();
    return made;
}

Result<Monitors::Counts> Monitors::counts() const {
    const auto rows =
        TRY(m_database.query("SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = 'triggered' THEN 1 ELSE 0 END), 0) FROM "
                             "monitors WHERE enabled = 1"));
    return Counts{rows.front().integer(0), rows.front().integer(1)};
}

Result<Monitors::Row> Monitors::row_of(const std::string& id) const {
    const auto rows = TRY(m_database.query(select() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("monitor " + id);
    return parse(rows.front(), m_clock.now());
}

Result<access::Page<Monitor>> Monitors::list(const access::Caller& caller, const access::SpaceId& space,
                                             const MonitorFilter& filter, const access::PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, std::nullopt,
                                                access::Permission::monitor_read, select(), "monitors."));
    if (filter.project) list.where("monitors.project_id = ?", *filter.project);
    if (filter.state) list.where("monitors.state = ?", name_of(*filter.state));
    std::vector<Monitor> all;
    for (const auto& row : TRY(list.oldest_first(m_database, page))) all.push_back(parse(row, m_clock.now()).monitor);
    return access::make_page(std::move(all), page, [](const Monitor& each) { return each.id.text(); });
}

Result<Monitor> Monitors::find(const access::Caller& caller, const MonitorId& id, access::Permission permission) const {
    Row row = TRY(row_of(id.text()));
    TRY(access::require_in_project(m_access.projects, caller, row.monitor.space_id, row.monitor.project_id, permission,
                                   "monitor " + id.text()));
    return std::move(row.monitor);
}

Result<> Monitors::add_event(sql::Transaction& transaction, const MonitorEventId& event, const MonitorId& id,
                             MonitorEventKind kind, const Reading* reading, const std::string& note,
                             const std::string& by) const {
    std::optional<double> value, bound;
    if (reading != nullptr) {
        value = reading->value;
        const bool is_low = reading->lower && reading->value && *reading->value < *reading->lower;
        bound = is_low || !reading->upper ? reading->lower : reading->upper;
    }
    TRY(transaction.execute("INSERT INTO monitor_events (id, monitor_id, at, kind, value, bound, note, by_name) VALUES "
                            "(?,?,?,?,?,?,?,?)",
                            event, id, m_clock.now(), name_of(kind), value, bound, note, by));
    return {};
}

// A caller who has SQL evaluated may run it, and it runs. A store that is away is no fault of the query.
Result<> Monitors::try_sql(const access::Caller& caller, const access::ProjectId& project,
                           const MonitorSettings& settings) {
    if (!settings.sql) return {};
    TRY(m_access.projects.find(caller, {}, project.text(), access::Permission::project_read));
    TRY(m_evaluator.read(project, settings, m_clock.now()));
    return {};
}

Result<Monitor> Monitors::create(const access::Caller& caller, const access::SpaceId& space, const NewMonitor& wanted) {
    const access::Project project =
        TRY(m_access.projects.find(caller, space, wanted.project, access::Permission::monitor_write));
    const std::string name = TRY(access::checked_name("the monitor's name", wanted.name));
    const std::string description = TRY(access::checked_description(wanted.description.value_or("")));
    TRY(check_settings(wanted.settings));
    TRY(try_sql(caller, project.id, wanted.settings));
    const auto id = make_id<MonitorTag>(m_clock);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM monitors WHERE project_id = ?", project.id));
        if (count.front().integer(0) >= most_per_project)
            return conflict("a project has at most " + std::to_string(most_per_project) + " monitors");
        const Time now = m_clock.now();
        const int64_t added = TRY(transaction.execute(
            "INSERT INTO monitors (id, space_id, project_id, name, description, settings, enabled, state, state_since, "
            "transition_id, announced, mute_reason, next_at, claimed_by, claimed_until, last_reading, problem, "
            "created_by, created_by_name, created_at, updated_at) VALUES "
            "(?,?,?,?,?,?,?,'no_data',?,'',0,'',?,'',0,'','',"
            "?,?,?,?) ON CONFLICT (project_id, name) DO NOTHING",
            id, project.space_id, project.id, name, description, json::write(wanted.settings),
            wanted.enabled.value_or(true), now, now, caller.principal(), caller.name, now, now));
        if (added == 0) return conflict("there is a monitor named " + name + " in this project already");
        TRY(add_event(transaction, make_id<MonitorEventTag>(m_clock), id, MonitorEventKind::created, nullptr, "",
                      caller.name));
        return m_access.audit.record(
            transaction, caller,
            {"monitor_create", project.space_id, id.text(), {{"name", name}, {"project", project.id.text()}}});
    }));
    wake();
    return find(caller, id);
}

Result<Monitor> Monitors::update(const access::Caller& caller, const MonitorId& id, const MonitorChange& change) {
    const Monitor before = TRY(find(caller, id, access::Permission::monitor_write));
    const std::string name = TRY(access::checked_name("the monitor's name", change.name.value_or(before.name)));
    const std::string description = TRY(access::checked_description(change.description.value_or(before.description)));
    const MonitorSettings settings = change.settings.value_or(before.settings);
    TRY(check_settings(settings));
    if (!(settings == before.settings)) TRY(try_sql(caller, before.project_id, settings));
    const bool enabled = change.enabled.value_or(before.enabled);
    const bool evaluate_now = !(settings == before.settings) || (enabled && !before.enabled);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const Time now = m_clock.now();
        TRY(transaction.execute(
            "UPDATE monitors SET name = ?, description = ?, settings = ?, enabled = ?, updated_at = "
            "? WHERE id = ?",
            name, description, json::write(settings), enabled, now, id));
        // With other settings the time since it is bad starts again.
        if (evaluate_now)
            TRY(transaction.execute("UPDATE monitors SET next_at = ?, bad_since = NULL, problem = '' WHERE id = ?", now,
                                    id));
        std::string note = !(settings == before.settings) ? "settings" : "";
        if (enabled != before.enabled)
            note += std::string(note.empty() ? "" : ", ") + (enabled ? "switched on" : "switched off");
        TRY(add_event(transaction, make_id<MonitorEventTag>(m_clock), id, MonitorEventKind::changed, nullptr, note,
                      caller.name));
        return m_access.audit.record(
            transaction, caller,
            {"monitor_update", before.space_id, id.text(), {{"name", name}, {"enabled", enabled}}});
    }));
    wake();
    return find(caller, id);
}

Result<> Monitors::remove(const access::Caller& caller, const MonitorId& id) {
    const Monitor before = TRY(find(caller, id, access::Permission::monitor_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM monitors WHERE id = ?", id));
        return m_access.audit.record(transaction, caller,
                                     {"monitor_delete", before.space_id, id.text(), {{"name", before.name}}});
    });
}

Result<Monitor> Monitors::mute(const access::Caller& caller, const MonitorId& id, const MuteRequest& wanted) {
    const Monitor before = TRY(find(caller, id, access::Permission::monitor_write));
    const Time now = m_clock.now();
    if (wanted.until && wanted.seconds) return invalid("until or seconds, not both");
    if (wanted.seconds && (*wanted.seconds < 1 || *wanted.seconds > longest_mute_seconds))
        return invalid("seconds must be between 1 and " + std::to_string(longest_mute_seconds));
    const Time until = wanted.until ? *wanted.until : now + std::chrono::seconds(wanted.seconds.value_or(3600));
    if (until <= now || until > now + std::chrono::seconds(longest_mute_seconds))
        return invalid("until must be in the future, at most a year");
    const std::string reason = TRY(access::checked_description(wanted.reason.value_or("")));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE monitors SET muted_until = ?, mute_reason = ? WHERE id = ?", until, reason,
                                id));
        TRY(add_event(transaction, make_id<MonitorEventTag>(m_clock), id, MonitorEventKind::muted, nullptr,
                      "until " + to_text(until).substr(0, 19) + "Z" + (reason.empty() ? "" : ": " + reason),
                      caller.name));
        return m_access.audit.record(transaction, caller,
                                     {"monitor_mute", before.space_id, id.text(), {{"until", to_text(until)}}});
    }));
    return find(caller, id);
}

Result<Monitor> Monitors::unmute(const access::Caller& caller, const MonitorId& id) {
    const Monitor before = TRY(find(caller, id, access::Permission::monitor_write));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t changed = TRY(transaction.execute(
            "UPDATE monitors SET muted_until = NULL, mute_reason = '' WHERE id = ? AND muted_until IS NOT NULL", id));
        if (changed == 0) return {};
        TRY(add_event(transaction, make_id<MonitorEventTag>(m_clock), id, MonitorEventKind::unmuted, nullptr, "",
                      caller.name));
        return m_access.audit.record(transaction, caller, {"monitor_unmute", before.space_id, id.text(), {}});
    }));
    wake();
    return find(caller, id);
}

Result<access::Page<MonitorEvent>> Monitors::history(const access::Caller& caller, const MonitorId& id,
                                                     const access::PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query("SELECT id, at, kind, value, bound, note, by_name FROM monitor_events WHERE "
                                           "monitor_id = ? AND (CAST(? AS TEXT) "
                                           "= '' OR id < ?) ORDER BY id DESC LIMIT ?",
                                           id, after, after, page.limit + 1));
    std::vector<MonitorEvent> events;
    for (const auto& row : rows)
        events.push_back({row.id<MonitorEventTag>(0), row.time(1),
                          parse_enum<MonitorEventKind>(row.text(2)).value_or(MonitorEventKind::changed),
                          row.optional_real(3), row.optional_real(4), row.text(5), row.text(6)});
    return access::make_page(std::move(events), page, [](const MonitorEvent& each) { return each.id.text(); });
}

Result<Chart> Monitors::chart(const access::Caller& caller, const MonitorId& id, Time from, Time to) const {
    TRY(find(caller, id));
    if (from >= to) return invalid("from must be before to");
    const auto rows = TRY(m_database.query("SELECT at, value, samples, lower_bound, upper_bound, state FROM "
                                           "monitor_values WHERE monitor_id = ? AND at >= ? "
                                           "AND at <= ? ORDER BY at DESC LIMIT ?",
                                           id, from, to, most_points + 1));
    Chart chart;
    chart.is_cut = static_cast<int64_t>(rows.size()) > most_points;
    for (const auto& row : rows)
        chart.points.push_back({row.time(0), row.optional_real(1), row.integer(2), row.optional_real(3),
                                row.optional_real(4),
                                parse_enum<MonitorState>(row.text(5)).value_or(MonitorState::no_data), ""});
    if (chart.is_cut) chart.points.pop_back();
    std::reverse(chart.points.begin(), chart.points.end());
    MonitorState before = MonitorState::healthy;
    for (const ChartPoint& point : chart.points) {
        if (point.state == MonitorState::triggered && before != MonitorState::triggered) ++chart.triggered;
        before = point.state;
    }
    return chart;
}

Result<Chart> Monitors::preview(const access::Caller& caller, const access::SpaceId& space, const std::string& project,
                                const MonitorSettings& settings, Time from, Time to) {
    const access::Project found = TRY(m_access.projects.find(caller, space, project, access::Permission::monitor_read));
    if (settings.sql) TRY(m_access.projects.find(caller, space, project, access::Permission::project_read));
    return m_evaluator.replay(found.id, settings, from, to);
}

Result<> Monitors::sweep() {
    const Time now = m_clock.now();
    TRY(m_database.execute("DELETE FROM monitor_values WHERE (at < ? AND stays = 0) OR at < ?",
                           now - std::chrono::hours(7 * 24), now - std::chrono::hours(90 * 24)));
    TRY(m_database.execute("DELETE FROM monitor_events WHERE at < ?", now - std::chrono::hours(365 * 24)));
    return {};
}

} // namespace hone::monitor
