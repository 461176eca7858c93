// Scans and settings (declared in signal.h). Workers are in workers.cpp.
#include "signal/signal.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "signal/detect/evidence.h"
#include "signal/peak_memory.h"
#include "signal/signal_row.h"
#include "sql/columns.h"

#include <fmt/format.h>

namespace hone::signal {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::ProjectId, access::SpaceId;

namespace {

constexpr auto scans_kept = std::chrono::hours(24 * 30);
constexpr auto readings_kept = std::chrono::hours(24 * 90);

constexpr Pack scan_columns{
    sql::Column{"id", &Scan::id},
    sql::Column{"project_id", &Scan::project_id},
    sql::Column{"asked_by", &Scan::asked_by},
    sql::Column{"started_at", &Scan::started_at},
    sql::Column{"took_ms", &Scan::took_ms},
    sql::Column{"baseline_from", &Scan::baseline_from},
    sql::Column{"window_from", &Scan::window_from},
    sql::Column{"window_to", &Scan::window_to},
    sql::Column{"spans", &Scan::spans},
    sql::Column{"traces", &Scan::traces},
    sql::Column{"questions", &Scan::questions},
    sql::Column{"rows_read", &Scan::rows_read},
    sql::Column{"bytes_read", &Scan::bytes_read},
    sql::Column{"found", &Scan::found},
    sql::Column{"new_issues", &Scan::new_issues},
    sql::Column{"reopened", &Scan::reopened},
    sql::Column{"quiet", &Scan::quiet},
    sql::Column{"investigations", &Scan::investigations},
    sql::Column{"detectors", sql::Converted{[](Scan& scan, const sql::Row& row, size_t at) {
                                                auto costs = json::read<std::vector<DetectorCost>>(row.text(at));
                                                if (costs.ok()) scan.detectors = std::move(costs).value();
                                            },
                                            [](const Scan& scan) { return json::write(scan.detectors); }}},
    sql::Column{"failed", &Scan::failed},
    sql::Column{"memory_bytes", &Scan::memory_bytes},
};
const std::string select_scans = "SELECT " + sql::names(scan_columns) + " FROM signal_scans";

constexpr Pack settings_columns{
    sql::Column{"enabled", &Signal::Row::enabled},
    sql::Column{"settings", sql::Converted{[](Signal::Row& made, const sql::Row& row, size_t at) {
                    auto settings = json::read<SignalSettings>(row.text(at));
                    if (settings.ok()) made.settings = std::move(settings).value();
                }}},
    sql::Column{"consent_by_name", &Signal::Row::consent_by},
    sql::Column{"consent_at", &Signal::Row::consent_at},
    sql::Column{"consent_note", sql::Converted{[](Signal::Row& made, const sql::Row& row, size_t at) {
                    made.consent_note = row.optional_text(at).value_or("");
                }}},
    sql::Column{"last_scan_at", &Signal::Row::last_scan_at},
    sql::Column{"next_scan_at", &Signal::Row::next_scan_at},
};

} // namespace

Result<> check_settings(const SignalSettings& settings) {
    const auto range = [](std::string_view name, int64_t value, int64_t least, int64_t most) -> Result<> {
        if (value >= least && value <= most) return {};
        return invalid(fmt::format("settings.{} must be between {} and {}", name, least, most));
    };
    TRY(range("cadence_minutes", settings.cadence_minutes, 1, 1440));
    TRY(range("window_hours", settings.window_hours, 1, 168));
    TRY(range("baseline_days", settings.baseline_days, 1, 30));
    TRY(range("max_investigations", settings.max_investigations, 0, 20));
    TRY(range("sampled_traces", settings.sampled_traces, 0, 50));
    TRY(range("sampling_hours", settings.sampling_hours, 1, 168));
    TRY(range("sampled_tokens", settings.sampled_tokens, 1000, 10'000'000));
    if (*settings.sampled_traces > 0 && !settings.preset)
        return invalid("settings.sampled_traces needs settings.preset: a preset with a model");
    if (settings.context.value.size() > 20'000) return too_large("settings.context has at most 20,000 bytes");
    TRY(run::check_prompt("settings.context", *settings.context));
    if (settings.tokens_per_day && *settings.tokens_per_day < 0) return invalid("settings.tokens_per_day is negative");
    if (settings.cost_micro_usd_per_day && *settings.cost_micro_usd_per_day < 0)
        return invalid("settings.cost_micro_usd_per_day is negative");
    return {};
}

Signal::Signal(Parts parts)
    : issues(parts.database, parts.clock, parts.access),
      evaluators(parts.database, parts.clock, parts.access, parts.telemetry),
      m_parts(parts),
      m_duty({"signal", std::chrono::seconds(10)}, [this] { return step_now(); }) {
    if (m_parts.automations != nullptr) m_parts.automations->set_manager(std::string(manager), *this);
}

Signal::~Signal() {
    if (m_parts.automations != nullptr) m_parts.automations->remove_manager(std::string(manager));
}

Result<std::optional<Signal::Row>> Signal::row_of(const ProjectId& id) const {
    const auto project = m_parts.access.projects.find(Caller::system(), {}, id.text());
    if (!project.ok() && project.error().code == Code::not_found) return std::optional<Row>();
    if (!project.ok()) return project.error();
    const auto rows = TRY(m_parts.database.query(
        "SELECT " + sql::names(settings_columns) + " FROM signal_settings WHERE project_id = ?", id));
    Row made;
    if (!rows.empty()) made = sql::read<Row>(settings_columns, rows.front());
    made.project = id;
    made.space = project.value().space_id;
    made.project_name = project.value().name;
    if (m_parts.automations == nullptr) return std::optional<Row>(std::move(made));
    if (const auto managed = TRY(m_parts.automations->find_managed(id, std::string(manager)))) {
        made.automation = managed->id;
        made.is_paused = managed->paused;
        made.pause_reason = managed->pause_reason;
    }
    return std::optional<Row>(std::move(made));
}

// automation::ManagerSchedule
Result<std::map<ProjectId, Time>> Signal::next_at(std::span<const ProjectId> projects) const {
    std::map<ProjectId, Time> times;
    if (projects.empty()) return times;
    const auto rows = TRY(m_parts.database.run_query(
        "SELECT project_id, next_scan_at FROM signal_settings WHERE next_scan_at IS NOT NULL AND project_id IN (" +
            sql::marks(projects.size()) + ")",
        sql::to_values(projects)));
    for (const auto& row : rows) times.emplace(row.id<access::ProjectTag>(0), row.time(1));
    return times;
}

// Adds what the workers that the scans started have spent by now.
Result<> Signal::add_spending(std::span<Scan> scans) const {
    if (scans.empty()) return {};
    std::vector<ScanId> ids;
    for (const Scan& scan : scans) ids.push_back(scan.id);
    std::vector<sql::Value> both = sql::to_values(ids);
    both.reserve(2 * both.size());
    std::copy_n(both.begin(), ids.size(), std::back_inserter(both));
    const std::string listed = sql::marks(ids.size());
    const auto rows = TRY(m_parts.database.run_query(
        "SELECT scan_id, run_id FROM issue_runs WHERE scan_id IN (" + listed +
            ") UNION ALL SELECT scan_id, run_id FROM signal_readings WHERE scan_id IN (" + listed + ")",
        both));
    std::vector<run::RunId> run_ids;
    for (const auto& row : rows) run_ids.push_back(row.id<run::RunTag>(1));
    const auto runs = TRY(m_parts.runs.find_all(run_ids));
    for (const auto& row : rows) {
        const auto run = runs.find(row.id<run::RunTag>(1));
        if (run == runs.end()) continue;
        for (Scan& scan : scans) {
            if (scan.id.text() != row.text(0)) continue;
            const harness::Usage& usage = run->second.usage;
            scan.tokens += usage.input + usage.cache_read + usage.cache_write + usage.output + usage.reasoning;
            scan.cost_micro_usd += run->second.cost_micro_usd.value_or(0);
        }
    }
    return {};
}

Result<SignalView> Signal::view(const Caller& caller, const SpaceId& space, const std::string& wanted) {
    const auto project = TRY(m_parts.access.projects.find(caller, space, wanted, Permission::issue_read));
    const auto row = TRY(row_of(project.id));
    if (!row) return not_found("project " + wanted);
    SignalView view;
    view.project_id = project.id;
    view.enabled = row->enabled;
    view.settings = row->settings;
    view.consent_note = row->consent_note.empty() ? std::string(consent_note) : row->consent_note;
    view.consent_by = row->consent_by;
    view.consent_at = row->consent_at;
    view.next_scan_at = row->next_scan_at;
    if (row->automation) view.automation_id = row->automation->text();
    const auto last =
        TRY(m_parts.database.query(select_scans + " WHERE project_id = ? ORDER BY id DESC LIMIT 1", project.id));
    if (!last.empty()) {
        view.last_scan = sql::read<Scan>(scan_columns, last.front());
        TRY(add_spending(std::span(&*view.last_scan, 1)));
    }
    const auto open = TRY(m_parts.database.query("SELECT COUNT(*) FROM issues WHERE project_id = ? AND merged_into IS "
                                                 "NULL AND status IN ('open', 'investigating', 'fix_proposed')",
                                                 project.id));
    view.open_issues = open.front().integer(0);
    view.readings = TRY(reading_totals(project.id));
    return view;
}

Result<SignalView> Signal::configure(const Caller& caller, const SpaceId& space, const std::string& wanted_project,
                                     const ConfigureSignal& wanted) {
    const auto project = TRY(m_parts.access.projects.find(caller, space, wanted_project, Permission::automation_write));
    const auto before = TRY(row_of(project.id));
    if (!before) return not_found("project " + wanted_project);
    const SignalSettings settings = wanted.settings.value_or(before->settings);
    TRY(check_settings(settings));
    if (settings.preset) {
        const run::Preset preset = TRY(m_parts.presets.find(caller, project.space_id, *settings.preset));
        TRY(run::require_capability(*preset.settings.provider, run::capability::automations));
    }
    const bool enabled = wanted.enabled.value_or(before->enabled);
    const bool is_switched_on = enabled && !before->enabled;
    if (is_switched_on && !wanted.consent.value_or(false))
        return invalid("consent must be true to enable Signal: read consent_note first");
    const Time now = m_parts.clock.now();
    std::optional<Time> next;
    if (enabled) next = is_switched_on || !before->next_scan_at ? now : *before->next_scan_at;
    TRY(m_parts.database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO signal_settings (project_id, space_id, enabled, settings, next_scan_at, updated_at) VALUES "
            "(?, ?, ?, ?, ?, ?) ON CONFLICT (project_id) DO UPDATE SET enabled = excluded.enabled, settings = "
            "excluded.settings, next_scan_at = excluded.next_scan_at, updated_at = excluded.updated_at",
            project.id, project.space_id, enabled, json::write(settings), next, now));
        if (is_switched_on)
            TRY(transaction.execute("UPDATE signal_settings SET consent_by = ?, consent_by_name = ?, consent_at = ?, "
                                    "consent_note = ? WHERE project_id = ?",
                                    caller.actor(), caller.name, now, consent_note, project.id));
        return m_parts.access.audit.record(
            transaction, caller, {"signal_configure", project.space_id, project.id.text(), {{"enabled", enabled}}});
    }));
    const auto after = TRY(row_of(project.id));
    if (after) TRY(keep_automation(caller, *after, enabled != before->enabled));
    wake();
    return view(caller, space, project.id.text());
}

Result<Page<Scan>> Signal::scans(const Caller& caller, const SpaceId& space, const std::string& wanted,
                                 const PageRequest& page) const {
    const auto project = TRY(m_parts.access.projects.find(caller, space, wanted, Permission::issue_read));
    const std::string after = TRY(page.after());
    const auto rows = TRY(
        m_parts.database.query(select_scans + " WHERE project_id = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?",
                               project.id, after, after, page.limit + 1));
    std::vector<Scan> all;
    for (const auto& row : rows) all.push_back(sql::read<Scan>(scan_columns, row));
    TRY(add_spending(all));
    return access::make_page(std::move(all), page, [](const Scan& scan) { return scan.id.text(); });
}

Result<Scan> Signal::scan_now(const Caller& caller, const SpaceId& space, const std::string& wanted) {
    const auto project = TRY(m_parts.access.projects.find(caller, space, wanted, Permission::issue_write));
    TRY(m_parts.access.audit.record(caller, {"signal_scan", project.space_id, project.id.text(), {}}));
    const auto row = TRY(row_of(project.id));
    std::optional<automation::SlotId> slot;
    if (row && row->automation)
        slot = TRY(note_due({.automation = *row->automation,
                             .key = "scan by hand " + make_ulid(m_parts.clock.now()),
                             .due_at = m_parts.clock.now(),
                             .values = {{"type", "scan"}, {"by", caller.name}},
                             .by_hand = true}));
    return scan_for(slot, project.id, caller.name, false);
}

Result<Findings> Signal::detect(const Row& row, Scan& scan) {
    const Time now = m_parts.clock.now();
    // Spans since the last scan belong to the window too, up to a week.
    Time from = now - std::chrono::hours(*row.settings.window_hours);
    if (row.last_scan_at && *row.last_scan_at < from) from = std::max(*row.last_scan_at, now - std::chrono::hours(168));
    scan.window_to = now;
    scan.window_from = from;
    scan.baseline_from = from - std::chrono::hours(24 * *row.settings.baseline_days);
    if (m_parts.telemetry == nullptr) return unavailable("this server stores no spans");
    TRY(m_parts.telemetry->store()); // the tables are there
    const Window window{row.project.text(), to_ns(scan.baseline_from), to_ns(scan.window_from), to_ns(scan.window_to)};
    return run_detectors(m_parts.telemetry->engine(), window, m_parts.clock);
}

Result<> Signal::store(const Row& row, const Findings& findings, Scan& scan) {
    const Window window{row.project.text(), to_ns(scan.baseline_from), to_ns(scan.window_from), to_ns(scan.window_to)};
    // A resolved issue is back when since then it touches at least half the share of traces that it touches in the
    // whole window: spans from before the fix do not reopen it.
    const Issues::CameBack came_back = [&](const Candidate& candidate, Time resolved_at) -> Result<bool> {
        Survey survey = TRY(Survey::open(m_parts.telemetry->engine(), window));
        const Since since = TRY(count_since(survey, candidate, to_ns(resolved_at)));
        return since.touched >= std::min<int64_t>(3, candidate.traces) && since.traces > 0 &&
               static_cast<double>(since.touched) >= 0.5 * candidate.share * static_cast<double>(since.traces);
    };
    for (const Candidate& candidate : findings.candidates) {
        const Issues::Taken taken = TRY(issues.take(row.space, row.project, candidate, came_back));
        scan.new_issues += taken.outcome == Outcome::found;
        scan.reopened += taken.outcome == Outcome::reopened;
        scan.quiet += taken.outcome == Outcome::quiet;
        if (taken.needs_notice) TRY(notify(taken.id));
    }
    return {};
}

Result<> Signal::notify(const IssueId& id) const {
    if (m_parts.notices == nullptr) return {};
    const Issue issue = TRY(issues.find(Caller::system(), id));
    notice::Notice notice;
    notice.space = issue.space_id;
    notice.project = issue.project_id;
    notice.kind = notice::Kind::issue_new;
    notice.title = (issue.reopened > 0 ? "Reopened issue: " : "New issue: ") + issue.title;
    notice.body = fmt::format("Severity {}, {} traces, score {}.\n{}", name_of(issue.severity), issue.traces,
                              issue.score, issue.explanation);
    const auto names = TRY(m_parts.access.projects.names(std::span(&issue.project_id, 1)));
    if (names.empty()) return {};
    notice.link = "/projects/" + percent_encode(names.begin()->second) + "/signal/" + issue.id.text();
    notice.key = fmt::format("issue:{}:{}", issue.id.text(), issue.reopened);
    TRY(m_parts.notices->notify(notice));
    return {};
}

Result<> Signal::write(const Scan& scan) {
    TRY(m_parts.database.run_execute("INSERT INTO signal_scans (" + sql::names(scan_columns) + ") VALUES (" +
                                         sql::marks(sql::width(scan_columns)) + ")",
                                     sql::values(scan_columns, scan)));
    if (scan.failed.empty())
        TRY(m_parts.database.execute("UPDATE signal_settings SET last_scan_at = ? WHERE project_id = ?", scan.window_to,
                                     scan.project_id));
    TRY(m_parts.database.execute("DELETE FROM signal_scans WHERE project_id = ? AND started_at < ?", scan.project_id,
                                 m_parts.clock.now() - scans_kept));
    const Time oldest = m_parts.clock.now() - readings_kept;
    TRY(m_parts.database.execute("DELETE FROM signal_readings WHERE project_id = ? AND created_at < ?", scan.project_id,
                                 oldest));
    TRY(m_parts.database.execute("DELETE FROM signal_sightings WHERE project_id = ? AND created_at < ?",
                                 scan.project_id, oldest));
    return issues.sweep();
}

Result<Scan> Signal::scan(const ProjectId& project, const std::string& asked_by, bool starts_workers) {
    return scan_for({}, project, asked_by, starts_workers);
}

Result<Scan> Signal::scan_for(const std::optional<automation::SlotId>& slot, const ProjectId& project,
                              const std::string& asked_by, bool starts_workers) {
    const auto row = TRY(row_of(project));
    if (!row) return not_found("project " + project.text());
    Scan scan;
    scan.id = make_id<ScanTag>(m_parts.clock);
    scan.project_id = project;
    scan.asked_by = asked_by;
    scan.started_at = m_parts.clock.now();
    const auto began = m_parts.clock.steady();
    OperationTimer timer("scan", "scan of a project");
    timer.add("hone.project.id", project.text());
    timer.add("hone.scan.id", scan.id.text());
    telemetry::EngineProcess* const engine = m_parts.telemetry ? m_parts.telemetry->engine_process() : nullptr;
    const PeakMemory memory(engine ? engine->pid() : 0);
    const auto done = [&]() -> Result<> {
        const Findings findings = TRY(detect(*row, scan));
        scan.spans = findings.spans;
        scan.traces = findings.traces;
        scan.questions = findings.cost.questions;
        scan.rows_read = findings.cost.rows_read;
        scan.bytes_read = findings.cost.bytes_read;
        scan.found = static_cast<int64_t>(findings.candidates.size());
        scan.detectors = findings.costs;
        TRY(store(*row, findings, scan));
        if (starts_workers) {
            scan.investigations = TRY(start_workers(*row, scan.id));
            TRY(start_due_reading(*row, scan.id));
        }
        return {};
    }();
    if (!done.ok()) scan.failed = done.error().message;
    if (!done.ok()) timer.fail(done.error().message);
    timer.add("hone.scan.spans", std::to_string(scan.spans));
    timer.add("hone.scan.found", std::to_string(scan.found));
    scan.took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(m_parts.clock.steady() - began).count();
    scan.memory_bytes = memory.bytes(engine ? engine->pid() : 0);
    TRY(write(scan));
    const json::Object values{{"type", "scan"},
                              {"scan", scan.id.text()},
                              {"spans", scan.spans},
                              {"found", scan.found},
                              {"new_issues", scan.new_issues},
                              {"took_ms", scan.took_ms},
                              {"investigations", scan.investigations}};
    TRY(note_outcome(slot, done.ok() ? Became::fired : Became::failed, done.ok() ? Reason::none : Reason::not_started,
                     done.ok() ? fmt::format("scanned {} spans in {} ms: {} found, {} new", scan.spans, scan.took_ms,
                                             scan.found, scan.new_issues)
                               : scan.failed,
                     values));
    {
        const Lock lock(m_mutex);
        ++m_scans;
        m_failed_scans += done.ok() ? 0 : 1;
        m_last_ms = scan.took_ms;
    }
    if (!done.ok()) {
        log(Level::warning, "scan failed", {{"project", project.text()}, {"why", done.error().message}});
        return done.error();
    }
    log(Level::info, "scan finished",
        {{"project", project.text()},
         {"spans", scan.spans},
         {"found", scan.found},
         {"new", scan.new_issues},
         {"took_ms", scan.took_ms}});
    return scan;
}

// The embedded engine's ledger counts every span: without new ones there is nothing to find, and the engine may sleep.
bool Signal::holds_nothing_new(const ProjectId& project) {
    if (m_parts.telemetry == nullptr || m_parts.telemetry->engine_process() == nullptr) return false;
    const int64_t stored = m_parts.telemetry->ledger()[project.text()].stored;
    const Lock lock(m_mutex);
    const auto [known, is_first] = m_stored.try_emplace(project.text(), stored);
    return !is_first && std::exchange(known->second, stored) == stored;
}

Result<int64_t> Signal::step() {
    TRY(follow_runs());
    TRY(follow_readings());
    TRY(issues.settle_fixes());
    TRY(issues.unmute_due());
    TRY(fail_interrupted());
    TRY(evaluators.step());
    const Time now = m_parts.clock.now();
    const auto due =
        TRY(m_parts.database.query("SELECT project_id, next_scan_at FROM signal_settings WHERE enabled = 1 "
                                   "AND next_scan_at <= ? ORDER BY next_scan_at LIMIT 1000",
                                   now));
    int64_t scans = 0;
    for (const auto& one : due) {
        const auto project = one.id<access::ProjectTag>(0);
        auto row = TRY(row_of(project));
        if (!row) continue;
        if (!row->automation) {
            TRY(keep_automation(Caller::system(), *row, false));
            row = TRY(row_of(project));
        }
        const Claim claimed = TRY(claim(*row, one.time(1), now));
        if (!claimed.is_won) continue;
        if (holds_nothing_new(project)) {
            TRY(note_outcome(claimed.slot, Became::skipped, Reason::nothing_new,
                             "no new span since the previous scan"));
            continue;
        }
        scans += scan_for(claimed.slot, project, "schedule", true).ok();
    }
    return scans;
}

// --- the thread ----------------------------------------------------------------------------------------------------

// Until the next scan is due; the state of runs that have not ended is read every second.
Result<Duration> Signal::until_next() const {
    const auto running = TRY(m_parts.database.query("SELECT (SELECT COUNT(*) FROM issue_runs WHERE is_over = 0) + "
                                                    "(SELECT COUNT(*) FROM signal_readings WHERE is_over = 0)"));
    if (running.front().integer(0) > 0) return Duration(std::chrono::seconds(1));
    const auto next = TRY(m_parts.database.query("SELECT MIN(next_scan_at) FROM signal_settings WHERE enabled = 1"));
    const Duration longest = std::chrono::minutes(1); // another server may have switched something on
    const auto scan = next.front().optional_time(0), evaluation = TRY(evaluators.next_due());
    if (!scan && !evaluation) return longest;
    const Duration wait = std::min(scan.value_or(Time::max()), evaluation.value_or(Time::max())) - m_parts.clock.now();
    return std::clamp<Duration>(wait, std::chrono::milliseconds(10), longest);
}

Result<Duration> Signal::step_now() {
    TRY(step());
    return until_next();
}

void Signal::metrics(MetricsWriter& out) const {
    const Lock lock(m_mutex);
    out.counter("signal_scans_total", "Scans of projects by Signal.", m_scans);
    out.counter("signal_failed_scans_total", "Of these, those that failed.", m_failed_scans);
    out.gauge("signal_last_scan_milliseconds", "How long the last scan took.", m_last_ms);
}

} // namespace hone::signal
