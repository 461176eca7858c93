#include "evaluate/tasks/eval_tasks.h"

#include "access/project_list.h"
#include "base/text.h"
#include "evaluate/judges/judge.h"
#include "evaluate/tasks/task_rows.h"
#include "telemetry/query/filter.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr int64_t most_tasks_per_project = 100;
constexpr size_t most_strata = 10;
constexpr int64_t usual_tokens_per_day = 1'000'000;
constexpr int64_t largest_limit = 1'000'000'000'000;
constexpr int64_t longest_delay = 7 * 24 * 3600;
constexpr size_t most_retried_keys = 1000;

int64_t usual_delay(EvalTarget target) {
    return target == EvalTarget::span ? 0 : target == EvalTarget::trace ? 30 : 900;
}

Result<> check_task_filter(std::string_view field, const std::string& text) {
    const auto parsed = telemetry::parse_filter(text);
    if (!parsed.ok()) return invalid(std::string(field) + ": " + parsed.error().message);
    return {};
}

} // namespace

Time hour_of(Time time) {
    constexpr int64_t hour = 3'600'000'000'000;
    return from_ns(to_ns(time) / hour * hour);
}

Time day_of(Time time) {
    constexpr int64_t day = 24 * int64_t{3'600'000'000'000};
    return from_ns(to_ns(time) / day * day);
}

Result<> EvalTasks::check(const EvalTask& task) const {
    TRY(check_task_filter("filter", task.filter));
    if (task.rate_ppm < 0 || task.rate_ppm > 1'000'000) return invalid("rate_ppm must be between 0 and 1000000");
    if (task.rate_ppm == 0 && task.strata.empty())
        return invalid("rate_ppm is 0 and there are no strata: nothing would be evaluated");
    if (task.strata.size() > most_strata) return invalid(fmt::format("strata has at most {} entries", most_strata));
    for (size_t i = 0; i < task.strata.size(); ++i) {
        TRY(check_task_filter(fmt::format("strata[{}].filter", i), task.strata[i].filter));
        if (task.strata[i].rate_ppm < 1 || task.strata[i].rate_ppm > 1'000'000)
            return invalid(fmt::format("strata[{}].rate_ppm must be between 1 and 1000000", i));
    }
    if (task.delay_seconds < 0 || task.delay_seconds > longest_delay)
        return invalid(fmt::format("delay_seconds must be between 0 and {}", longest_delay));
    for (const auto& [name, limit] :
         {std::pair("most_per_hour", task.most_per_hour), std::pair("most_per_day", task.most_per_day),
          std::pair("tokens_per_day", task.tokens_per_day),
          std::pair("cost_micro_usd_per_day", task.cost_micro_usd_per_day)})
        if (limit && (*limit < 1 || *limit > largest_limit))
            return invalid(fmt::format("{} must be between 1 and {}", name, largest_limit));
    return {};
}

Result<> EvalTasks::require_spending(const Caller& caller, const EvalTask& task) const {
    if (task.evaluator_kind != EvaluatorKind::llm && task.evaluator_kind != EvaluatorKind::agent) return {};
    return caller.require(Permission::run_start, task.space_id);
}

Result<EvalTask> EvalTasks::create(const Caller& caller, const SpaceId& space, const NewEvalTask& wanted,
                                   const FindEvaluator& find_evaluator) {
    const auto project = TRY(m_access.projects.find(caller, space, wanted.project, Permission::eval_write));
    if (TRY(m_access.projects.is_hidden(project.id)))
        return invalid("project " + project.name + " has spans of experiments or evaluators, which no task evaluates");
    const EvaluatorVersion version = TRY(find_evaluator(wanted.evaluator, wanted.version));
    if (version.space_id != project.space_id)
        return not_found("evaluator " + std::string(truncate_utf8(wanted.evaluator, 100)));
    if (version.kind == EvaluatorKind::rule)
        return invalid("evaluator " + version.name +
                       " is a rule: it evaluates new spans of its project without a task");
    TRY(require_single(version));
    if (*wanted.latest && wanted.version) return invalid("give version or latest, not both");
    EvalTask task;
    task.id = make_id<EvalTaskTag>(m_clock);
    task.space_id = project.space_id;
    task.project_id = project.id;
    task.evaluator_id = version.evaluator_id;
    task.evaluator_kind = version.kind;
    if (!*wanted.latest) task.version = version.number;
    task.target = wanted.target;
    task.filter = *wanted.filter;
    task.rate_ppm = *wanted.rate_ppm;
    task.strata = *wanted.strata;
    task.delay_seconds = wanted.delay_seconds.value_or(usual_delay(wanted.target));
    task.most_per_hour = wanted.most_per_hour;
    task.most_per_day = wanted.most_per_day;
    task.tokens_per_day = wanted.tokens_per_day;
    task.cost_micro_usd_per_day = wanted.cost_micro_usd_per_day;
    const bool spends = version.kind == EvaluatorKind::llm || version.kind == EvaluatorKind::agent;
    if (spends && !task.tokens_per_day && !task.cost_micro_usd_per_day) task.tokens_per_day = usual_tokens_per_day;
    task.on_budget = *wanted.on_budget;
    TRY(check(task));
    TRY(require_spending(caller, task));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count =
            TRY(transaction.query("SELECT COUNT(*) FROM eval_tasks WHERE project_id = ?", task.project_id));
        if (count.front().integer(0) >= most_tasks_per_project)
            return conflict(fmt::format("a project has at most {} tasks", most_tasks_per_project));
        TRY(transaction.execute(
            "INSERT INTO eval_tasks (id, space_id, project_id, evaluator_id, version, target, filter, rate_ppm, "
            "strata, delay_seconds, most_per_hour, most_per_day, tokens_per_day, cost_micro_usd_per_day, on_budget, "
            "enabled, "
            "state, reason, waits_until, failures, watermark, since_at, next_at, served_at, revision, created_by, "
            "created_by_name, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, "
            "'active', '', 0, 0, ?, ?, ?, 0, 1, ?, ?, ?, ?)",
            task.id, task.space_id, task.project_id, task.evaluator_id, task.version, name_of(task.target), task.filter,
            task.rate_ppm, json::write(task.strata), task.delay_seconds, task.most_per_hour, task.most_per_day,
            task.tokens_per_day, task.cost_micro_usd_per_day, name_of(task.on_budget), now, now, now, caller.actor(),
            caller.name, now, now));
        return m_access.audit.record(transaction, caller,
                                     {"eval_task_create",
                                      task.space_id,
                                      task.id.text(),
                                      {{"evaluator", version.name}, {"project", project.name}}});
    }));
    return find(Caller::system(), task.id);
}

Result<EvalTask> EvalTasks::find(const Caller& caller, const EvalTaskId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(std::string(select_task) + " WHERE t.id = ?", id));
    if (rows.empty()) return not_found("task " + id.text());
    EvalTask task = task_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, task.space_id, task.project_id, permission,
                                   "task " + id.text()));
    return with_counts(std::move(task));
}

Result<EvalTask> EvalTasks::with_counts(EvalTask task) const {
    const Time now = m_clock.now();
    if (task.waits_until && *task.waits_until <= now) task.waits_until.reset();
    for (const auto& row : TRY(m_database.query(
             "SELECT state, COUNT(*) FROM eval_jobs WHERE task_id = ? AND created_at > ? GROUP BY state", task.id,
             now - std::chrono::hours(24)))) {
        const auto state = parse_enum<EvalJobState>(row.text(0)).value_or(EvalJobState::failed);
        if (state == EvalJobState::done) task.done_24h = row.integer(1);
        if (state == EvalJobState::failed || state == EvalJobState::expired) task.failed_24h += row.integer(1);
        if (state == EvalJobState::skipped) task.skipped_24h = row.integer(1);
    }
    const auto queued =
        TRY(m_database.query("SELECT COUNT(*) FROM eval_jobs WHERE task_id = ? AND state = 'queued'", task.id));
    task.queued = queued.front().integer(0);
    const auto spent = TRY(m_database.query("SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost_nano_usd), 0) FROM "
                                            "eval_jobs WHERE task_id = ? AND begun_at >= ?",
                                            task.id, day_of(now)));
    task.tokens_today = spent.front().integer(0);
    task.cost_micro_usd_today = spent.front().integer(1) / 1000;
    return task;
}

Result<Page<EvalTask>> EvalTasks::list(const Caller& caller, const SpaceId& space,
                                       const std::optional<std::string>& project,
                                       const std::optional<EvaluatorId>& evaluator, const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, project, Permission::project_read,
                                                std::string(select_task), "t."));
    if (evaluator) list.where("t.evaluator_id = ?", *evaluator);
    std::vector<EvalTask> all;
    for (const auto& row : TRY(list.oldest_first(m_database, page))) all.push_back(TRY(with_counts(task_of(row))));
    return access::make_page(std::move(all), page, [](const EvalTask& one) { return one.id.text(); });
}

Result<EvalTask> EvalTasks::update(const Caller& caller, const EvalTaskId& id, const EvalTaskChange& change) {
    EvalTask task = TRY(find(caller, id, Permission::eval_write));
    const bool was_off = !task.enabled;
    if (change.version) {
        task.version = *change.version;
        if (task.version) TRY(m_versions.find(task.evaluator_id, *task.version));
    }
    if (change.filter) task.filter = *change.filter;
    if (change.rate_ppm) task.rate_ppm = *change.rate_ppm;
    if (change.strata) task.strata = *change.strata;
    if (change.delay_seconds) task.delay_seconds = *change.delay_seconds;
    if (change.most_per_hour) task.most_per_hour = *change.most_per_hour;
    if (change.most_per_day) task.most_per_day = *change.most_per_day;
    if (change.tokens_per_day) task.tokens_per_day = *change.tokens_per_day;
    if (change.cost_micro_usd_per_day) task.cost_micro_usd_per_day = *change.cost_micro_usd_per_day;
    if (change.on_budget) task.on_budget = *change.on_budget;
    if (change.enabled) task.enabled = *change.enabled;
    TRY(check(task));
    if (task.enabled) TRY(require_spending(caller, task));
    const Time now = m_clock.now();
    // What arrived while it was off is left out; a backfill evaluates it.
    const Time watermark = task.enabled && was_off ? now : task.watermark;
    const Time since = task.enabled && was_off ? now : task.since;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE eval_tasks SET version = ?, filter = ?, rate_ppm = ?, strata = ?, delay_seconds = ?, most_per_hour "
            "= ?, most_per_day = ?, tokens_per_day = ?, cost_micro_usd_per_day = ?, on_budget = ?, enabled = ?, state "
            "= 'active', reason = '', waits_until = 0, failures = 0, watermark = ?, since_at = ?, next_at = ?, "
            "revision "
            "= revision + 1, updated_at = ? WHERE id = ?",
            task.version, task.filter, task.rate_ppm, json::write(task.strata), task.delay_seconds, task.most_per_hour,
            task.most_per_day, task.tokens_per_day, task.cost_micro_usd_per_day, name_of(task.on_budget), task.enabled,
            watermark, since, now, now, id));
        return m_access.audit.record(transaction, caller,
                                     {"eval_task_update",
                                      task.space_id,
                                      id.text(),
                                      {{"evaluator", task.evaluator_name}, {"enabled", task.enabled}}});
    }));
    return find(Caller::system(), id);
}

Result<> EvalTasks::remove(const Caller& caller, const EvalTaskId& id) {
    const EvalTask task = TRY(find(caller, id, Permission::eval_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM eval_tasks WHERE id = ?", id));
        return m_access.audit.record(
            transaction, caller, {"eval_task_delete", task.space_id, id.text(), {{"evaluator", task.evaluator_name}}});
    });
}

Result<Page<EvalJob>> EvalTasks::jobs(const Caller& caller, const EvalTaskId& id, const std::string& state,
                                      const std::string& reason, const PageRequest& page) const {
    const EvalTask task = TRY(find(caller, id));
    const std::string after = TRY(page.after());
    std::string sql = std::string(select_job) + " WHERE task_id = ? AND key > ?";
    std::vector<sql::Value> values{sql::to_value(task.id), sql::to_value(after)};
    if (!state.empty()) {
        if (!parse_enum<EvalJobState>(state))
            return invalid("state must be queued, running, done, failed, skipped or expired");
        sql += " AND state = ?";
        values.push_back(sql::to_value(state));
    }
    if (!reason.empty()) {
        sql += " AND reason = ?";
        values.push_back(sql::to_value(reason));
    }
    sql += " ORDER BY key LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<EvalJob> all;
    for (const auto& row : TRY(m_database.run_query(sql, values))) all.push_back(job_of(row));
    return access::make_page(std::move(all), page, [](const EvalJob& one) { return one.key; });
}

Result<RetriedJobs> EvalTasks::retry(const Caller& caller, const EvalTaskId& id, const RetryJobs& which) {
    const EvalTask task = TRY(find(caller, id, Permission::eval_write));
    TRY(require_spending(caller, task));
    if (which.keys.value.size() > most_retried_keys)
        return invalid(fmt::format("keys has at most {} keys", most_retried_keys));
    for (const EvalJobState state : *which.states)
        if (state != EvalJobState::failed && state != EvalJobState::skipped && state != EvalJobState::expired)
            return invalid("states has failed, skipped and expired: other jobs cannot be retried");
    if (which.states.value.empty()) return RetriedJobs{};
    const Time now = m_clock.now();
    std::string sql = "UPDATE eval_jobs SET state = 'queued', reason = '', error = '', attempts = 0, next_at = ?, "
                      "begun_at = NULL, ended_at = NULL WHERE task_id = ? AND state IN (" +
                      sql::marks(which.states.value.size()) + ")";
    std::vector<sql::Value> values{sql::to_value(now), sql::to_value(task.id)};
    for (const EvalJobState state : *which.states) values.push_back(sql::to_value(name_of(state)));
    if (!which.reason.value.empty()) {
        sql += " AND reason = ?";
        values.push_back(sql::to_value(*which.reason));
    }
    if (!which.keys.value.empty()) {
        sql += " AND key IN (" + sql::marks(which.keys.value.size()) + ")";
        for (const std::string& key : *which.keys) values.push_back(sql::to_value(key));
    }
    RetriedJobs retried;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        retried.jobs = TRY(transaction.run(sql, values)).affected;
        return m_access.audit.record(transaction, caller,
                                     {"eval_task_retry", task.space_id, id.text(), {{"jobs", retried.jobs}}});
    }));
    return retried;
}

Result<std::vector<FunnelRow>> EvalTasks::funnel(const Caller& caller, const EvalTaskId& id, int64_t hours) const {
    const EvalTask task = TRY(find(caller, id));
    if (hours < 1 || hours > 24 * 90) return invalid("hours must be between 1 and 2160");
    const Time since = hour_of(m_clock.now()) - std::chrono::hours(hours - 1);
    std::map<int64_t, FunnelRow> by_hour;
    for (const auto& row : TRY(m_database.query(
             "SELECT hour, received, matched FROM eval_counts WHERE task_id = ? AND hour >= ?", task.id, since))) {
        FunnelRow& found = by_hour[row.integer(0)];
        found.received = row.integer(1);
        found.matched = row.integer(2);
    }
    for (const auto& row : TRY(m_database.query(
             "SELECT created_at / 3600000000000, state, reason, cached, COUNT(*), COALESCE(SUM(tokens), 0), "
             "COALESCE(SUM(cost_nano_usd), 0) FROM eval_jobs WHERE task_id = ? AND created_at >= ? AND backfill_id IS "
             "NULL GROUP BY created_at / 3600000000000, state, reason, cached",
             task.id, since))) {
        FunnelRow& found = by_hour[row.integer(0) * 3'600'000'000'000];
        const auto state = parse_enum<EvalJobState>(row.text(1)).value_or(EvalJobState::failed);
        const int64_t count = row.integer(4);
        found.sampled += count;
        if (state == EvalJobState::done) found.judged += count;
        if (state == EvalJobState::done && row.integer(3) != 0) found.cached += count;
        if (state == EvalJobState::failed || state == EvalJobState::expired) found.failed += count;
        if (state == EvalJobState::skipped) found.skipped += count;
        if (state == EvalJobState::queued || state == EvalJobState::running) found.waiting += count;
        if (!row.text(2).empty() && state != EvalJobState::done) found.reasons[row.text(2)] += count;
        found.tokens += row.integer(5);
        found.cost_micro_usd += row.integer(6) / 1000;
    }
    std::vector<FunnelRow> rows;
    for (auto& [hour, row] : by_hour) {
        row.hour = from_ns(hour);
        // Counts are read once in a minute: jobs may be ahead of them.
        row.matched = std::max(row.matched, row.sampled);
        row.received = std::max(row.received, row.matched);
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace hone::evaluate
