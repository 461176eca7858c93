#include "evaluate/tasks/job_queue.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "evaluate/tasks/eval_tasks.h"
#include "evaluate/tasks/task_rows.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr Duration first_retry_pause = std::chrono::seconds(1);
constexpr Duration longest_retry_pause = std::chrono::minutes(5);
constexpr int64_t skipped_at_once = 5000;
constexpr size_t most_error_bytes = 2000;

// Doubles with each attempt, with up to a fifth more so that retries do not meet.
Duration retry_pause(int64_t attempts, Duration wanted, const std::string& key) {
    const Duration doubled = first_retry_pause * (int64_t{1} << std::clamp<int64_t>(attempts - 1, 0, 10));
    const Duration jitter = doubled / 5 * (static_cast<unsigned char>(key.back()) % 16) / 16;
    return std::min(std::max(doubled + jitter, wanted), longest_retry_pause);
}

// Failures that probably every job of the task has.
bool concerns_task(JudgeReason reason) {
    using enum JudgeReason;
    return reason == provider || reason == timeout || reason == unparsable || reason == off_config ||
           reason == code_failed;
}

} // namespace

std::string JobQueue::key_of(const EvalTask& task, int64_t version, const std::string& target_id, int64_t generation) {
    return to_hex(crypto::hash(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", task.evaluator_id.text(), version,
                                           name_of(task.target), task.project_id.text(), target_id, generation)))
        .substr(0, 40);
}

// Inserts jobs in groups, one statement each. Returns the keys that were new.
Result<std::unordered_set<std::string>> JobQueue::insert(sql::Transaction& transaction, const EvalTask& task,
                                                         int64_t version, const std::vector<NewJob>& jobs,
                                                         const std::optional<EvalBackfillId>& backfill) const {
    constexpr size_t rows_of_jobs = 100;
    const Time now = m_clock.now();
    std::unordered_set<std::string> made;
    for (size_t first = 0; first < jobs.size(); first += rows_of_jobs) {
        std::string sql =
            "INSERT INTO eval_jobs (key, task_id, backfill_id, version, target_id, trace_id, generation, target_at, "
            "seen_until, inclusion, state, reason, error, priority, attempts, next_at, server, lease_until, cached, "
            "tokens, cost_nano_usd, duration_ms, judge_trace, created_at) VALUES ";
        std::vector<sql::Value> values;
        for (size_t i = first; i < std::min(first + rows_of_jobs, jobs.size()); ++i) {
            const telemetry::FoundTarget& target = *jobs[i].target;
            sql += i == first ? "" : ", ";
            sql += "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', '', '', ?, 0, ?, '', 0, 0, 0, 0, 0, '', ?)";
            const auto add = [&](const auto&... each) { (values.push_back(sql::to_value(each)), ...); };
            add(jobs[i].key, task.id, backfill, version, target.id, target.trace_id, jobs[i].generation,
                target.start_ns, target.last_ns, target.inclusion, int64_t{backfill ? 1 : 0}, now, now);
        }
        sql += " ON CONFLICT (key) DO NOTHING RETURNING key";
        for (const auto& row : TRY(transaction.run(sql, values)).rows) made.insert(row.text(0));
    }
    return made;
}

Result<AddedJobs> JobQueue::add(sql::Transaction& transaction, const EvalTask& task, int64_t version,
                                const std::vector<telemetry::FoundTarget>& targets,
                                const std::optional<EvalBackfillId>& backfill) const {
    std::vector<NewJob> jobs;
    jobs.reserve(targets.size());
    for (const auto& target : targets) jobs.push_back({&target, key_of(task, version, target.id, 1), 1});
    // Keys are hashes: in their order a page of the index is changed once, not once for each of its keys.
    std::sort(jobs.begin(), jobs.end(), [](const NewJob& a, const NewJob& b) { return a.key < b.key; });
    const auto made = TRY(insert(transaction, task, version, jobs, backfill));
    AddedJobs added;
    added.made = static_cast<int64_t>(made.size());
    added.known = static_cast<int64_t>(jobs.size() - made.size());
    if (backfill || task.target == EvalTarget::span) return added;
    for (const NewJob& job : jobs) {
        if (made.contains(job.key) || !job.target->is_complete) continue;
        // Spans that arrived after the first verdict make a second one, which replaces it.
        const auto before = TRY(transaction.query("SELECT seen_until, state FROM eval_jobs WHERE key = ?", job.key));
        if (before.empty() || before.front().integer(0) >= job.target->last_ns) continue;
        const auto state = parse_enum<EvalJobState>(before.front().text(1));
        if (state == EvalJobState::queued || state == EvalJobState::running) continue; // reads them anyway, or is next
        const NewJob again{job.target, key_of(task, version, job.target->id, 2), 2};
        if (TRY(insert(transaction, task, version, {again}, backfill)).empty()) continue;
        ++added.made;
        TRY(transaction.execute("UPDATE eval_jobs SET reason = 'superseded' WHERE key = ? AND state = 'done'",
                                job.key));
    }
    return added;
}

Result<int64_t> JobQueue::queued(const EvalTaskId& id) const {
    const auto rows =
        TRY(m_database.query("SELECT COUNT(*) FROM eval_jobs WHERE task_id = ? AND state = 'queued'", id));
    return rows.front().integer(0);
}

// A limit is used up: the jobs that wait are skipped, or the task waits.
Result<> JobQueue::use_up(sql::Transaction& transaction, const EvalTask& task, std::string_view reason,
                          Time until) const {
    const std::string why =
        fmt::format("its {} is used up until {}", reason == "cap" ? "cap" : "budget", to_text(until).substr(0, 16));
    if (task.on_budget == OnBudget::defer) {
        TRY(transaction.execute("UPDATE eval_tasks SET waits_until = ?, reason = ? WHERE id = ?", until, why, task.id));
        return {};
    }
    TRY(transaction.execute("UPDATE eval_jobs SET state = 'skipped', reason = ?, error = ?, ended_at = ? WHERE key IN "
                            "(SELECT key FROM eval_jobs WHERE task_id = ? AND state = 'queued' LIMIT ?)",
                            reason, why, m_clock.now(), task.id, skipped_at_once));
    TRY(transaction.execute("UPDATE eval_tasks SET reason = ? WHERE id = ?", why, task.id));
    return {};
}

// True: the task may begin `room` jobs.
Result<bool> JobQueue::apply_limits(sql::Transaction& transaction, const EvalTask& task, Time now,
                                    int64_t& room) const {
    const Time hour = hour_of(now), day = day_of(now);
    const auto begun_since = [&](Time since) -> Result<int64_t> {
        const auto rows = TRY(
            transaction.query("SELECT COUNT(*) FROM eval_jobs WHERE task_id = ? AND begun_at >= ?", task.id, since));
        return rows.front().integer(0);
    };
    if (task.most_per_hour) {
        room = std::min(room, *task.most_per_hour - TRY(begun_since(hour)));
        if (room <= 0) {
            TRY(use_up(transaction, task, "cap", hour + std::chrono::hours(1)));
            return false;
        }
    }
    if (task.most_per_day) {
        room = std::min(room, *task.most_per_day - TRY(begun_since(day)));
        if (room <= 0) {
            TRY(use_up(transaction, task, "cap", day + std::chrono::hours(24)));
            return false;
        }
    }
    // Code and services use no tokens: there is nothing to add up, however many jobs there were today.
    const bool is_model = task.evaluator_kind == EvaluatorKind::llm || task.evaluator_kind == EvaluatorKind::agent;
    if (is_model && (task.tokens_per_day || task.cost_micro_usd_per_day)) {
        const auto spent =
            TRY(transaction.query("SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost_nano_usd), 0) FROM "
                                  "eval_jobs WHERE task_id = ? AND begun_at >= ?",
                                  task.id, day));
        const bool is_over =
            (task.tokens_per_day && spent.front().integer(0) >= *task.tokens_per_day) ||
            (task.cost_micro_usd_per_day && spent.front().integer(1) / 1000 >= *task.cost_micro_usd_per_day);
        if (is_over) {
            TRY(use_up(transaction, task, "budget", day + std::chrono::hours(24)));
            return false;
        }
    }
    return true;
}

Result<std::optional<ClaimedJobs>> JobQueue::claim(const std::string& server, int64_t batch) const {
    return m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<ClaimedJobs>> {
        const Time now = m_clock.now();
        const auto rows = TRY(transaction.query(
            std::string(select_task) + " WHERE t.enabled = 1 AND t.waits_until <= ? AND EXISTS (SELECT 1 FROM "
                                       "eval_jobs j WHERE j.task_id = t.id "
                                       "AND j.state = 'queued' AND j.next_at <= ?) ORDER BY t.served_at, t.id LIMIT 20",
            now, now));
        for (const auto& row : rows) {
            ClaimedJobs claimed;
            claimed.task = task_of(row);
            const EvalTask& task = claimed.task;
            const bool is_probe = task.state == EvalTaskState::paused;
            int64_t room = task.evaluator_kind == EvaluatorKind::code && !is_probe ? batch : 1;
            if (!TRY(apply_limits(transaction, task, now, room))) continue;
            // The next attempt of a paused task is one job, also with several lanes and servers.
            TRY(transaction.execute("UPDATE eval_tasks SET served_at = ?, waits_until = ? WHERE id = ?", now,
                                    is_probe ? now + probe_interval : Time{}, task.id));
            for (const auto& found : TRY(transaction.query(
                     std::string(select_job) +
                         " WHERE task_id = ? AND state = 'queued' AND next_at <= ? ORDER BY priority, "
                         "target_at DESC LIMIT ?",
                     task.id, now, room)))
                claimed.jobs.push_back(job_of(found));
            // One version at a time.
            std::erase_if(claimed.jobs, [first = claimed.jobs.empty() ? 0 : claimed.jobs.front().version](
                                            const EvalJob& job) { return job.version != first; });
            for (EvalJob& job : claimed.jobs) {
                ++job.attempts;
                if (!job.begun_at) job.begun_at = now;
                TRY(transaction.execute(
                    "UPDATE eval_jobs SET state = 'running', server = ?, lease_until = ?, attempts = "
                    "?, begun_at = ?, seen_until = ? WHERE key = ?",
                    server, now + lease, job.attempts, job.begun_at, now, job.key));
            }
            if (!claimed.jobs.empty()) return std::optional(std::move(claimed));
        }
        return std::optional<ClaimedJobs>();
    });
}

Result<EndedJob> JobQueue::end(const EvalTask& task, const EvalJob& job, const std::string& server,
                               const JudgeOutcome& outcome) const {
    using enum JudgeReason;
    return m_database.write([&](sql::Transaction& transaction) -> Result<EndedJob> {
        const Time now = m_clock.now();
        EndedJob ended;
        EvalJobState state = EvalJobState::done;
        std::string reason(name_of(outcome.reason));
        Time next_at = now;
        int64_t attempts = job.attempts;
        bool pauses = false;
        if (!outcome.verdict) {
            state = EvalJobState::failed;
            if (outcome.reason == stopped || outcome.reason == rejected || outcome.reason == unavailable) {
                // Not the fault of this job.
                state = EvalJobState::queued;
                --attempts;
                pauses = outcome.reason != stopped;
            } else if (outcome.reason == budget) {
                state = task.on_budget == OnBudget::skip ? EvalJobState::skipped : EvalJobState::queued;
                --attempts;
                if (task.on_budget == OnBudget::defer)
                    TRY(transaction.execute("UPDATE eval_tasks SET waits_until = ?, reason = ? WHERE id = ?",
                                            day_of(now) + std::chrono::hours(24),
                                            "a budget is used up: " + outcome.error, task.id));
            } else if (outcome.is_temporary) {
                if (outcome.is_pending) --attempts;
                next_at = now + retry_pause(attempts, outcome.retry_after, job.key);
                if (now - job.begun_at.value_or(now) > longest_try)
                    state = EvalJobState::expired;
                else if (attempts < most_attempts)
                    state = EvalJobState::queued;
            }
        } else {
            reason = outcome.is_cached ? "cached" : "";
        }
        const bool is_over = state != EvalJobState::queued;
        const std::optional<Verdict>& verdict = outcome.verdict;
        const auto changed = TRY(transaction.execute(
            "UPDATE eval_jobs SET state = ?, reason = ?, error = ?, attempts = ?, next_at = ?, server = '', "
            "lease_until = "
            "0, label = ?, score = ?, cached = ?, tokens = tokens + ?, estimated_tokens = estimated_tokens + ?, "
            "cost_nano_usd = cost_nano_usd + ?, duration_ms = ?, judge_trace = ?, ended_at = ? WHERE key = ? AND "
            "server = ? AND state = 'running'",
            name_of(state), reason, std::string(truncate_utf8(outcome.error, most_error_bytes)), attempts, next_at,
            verdict ? verdict->label : std::nullopt, verdict ? verdict->score : std::nullopt, outcome.is_cached,
            outcome.tokens(), outcome.estimated_tokens, outcome.cost_nano_usd.value_or(0), outcome.duration_ms,
            outcome.trace_id, is_over ? std::optional(now) : std::nullopt, job.key, server));
        if (changed == 0) return ended;
        ended.is_stored = true;
        if (verdict) {
            TRY(transaction.execute(
                "UPDATE eval_tasks SET failures = 0, state = 'active', reason = '', waits_until = 0 "
                "WHERE id = ? AND (failures > 0 OR state = 'paused' OR reason != '')",
                task.id));
            return ended;
        }
        if (concerns_task(outcome.reason) && !outcome.is_pending) {
            TRY(transaction.execute("UPDATE eval_tasks SET failures = failures + 1 WHERE id = ?", task.id));
            const auto failures = TRY(transaction.query("SELECT failures FROM eval_tasks WHERE id = ?", task.id));
            pauses = !failures.empty() && failures.front().integer(0) >= failures_before_pause;
        }
        if (!pauses) return ended;
        const std::string why = fmt::format("{}: {}", reason, truncate_utf8(outcome.error, 500));
        const auto paused = TRY(transaction.query("SELECT state FROM eval_tasks WHERE id = ?", task.id));
        TRY(transaction.execute("UPDATE eval_tasks SET state = 'paused', reason = ?, waits_until = ? WHERE id = ?", why,
                                now + probe_interval, task.id));
        if (!paused.empty() && paused.front().text(0) == name_of(EvalTaskState::active)) ended.paused = why;
        return ended;
    });
}

Result<> JobQueue::skip(const EvalJob& job, const std::string& server, std::string_view reason,
                        const std::string& error) const {
    TRY(m_database.execute(
        "UPDATE eval_jobs SET state = 'skipped', reason = ?, error = ?, server = '', lease_until = 0, "
        "ended_at = ? WHERE key = ? AND server = ? AND state = 'running'",
        reason, std::string(truncate_utf8(error, most_error_bytes)), m_clock.now(), job.key, server));
    return {};
}

Result<> JobQueue::renew(const std::string& server, const std::vector<std::string>& keys) const {
    constexpr size_t at_once = 500;
    for (size_t first = 0; first < keys.size(); first += at_once) {
        const size_t count = std::min(at_once, keys.size() - first);
        std::vector<sql::Value> values{sql::to_value(m_clock.now() + lease), sql::to_value(server)};
        for (size_t i = first; i < first + count; ++i) values.push_back(sql::to_value(keys[i]));
        TRY(m_database.run_execute(
            "UPDATE eval_jobs SET lease_until = ? WHERE state = 'running' AND server = ? AND key IN (" +
                sql::marks(count) + ")",
            values));
    }
    return {};
}

Result<int64_t> JobQueue::rescue() const {
    const Time now = m_clock.now();
    return m_database.execute(
        "UPDATE eval_jobs SET state = 'queued', server = '', lease_until = 0 WHERE state = 'running' "
        "AND (lease_until < ? OR lease_until > ?)",
        now, now + 3 * lease);
}

Result<int64_t> JobQueue::collect() const {
    return m_database.execute("DELETE FROM eval_jobs WHERE key IN (SELECT key FROM eval_jobs WHERE created_at < ? AND "
                              "state NOT IN ('queued', 'running') LIMIT 10000)",
                              m_clock.now() - kept);
}

Result<std::optional<Time>> JobQueue::next_due() const {
    const auto rows = TRY(m_database.query(
        "SELECT MIN(CASE WHEN t.waits_until > j.due THEN t.waits_until ELSE j.due END) FROM eval_tasks t JOIN (SELECT "
        "task_id, MIN(next_at) AS due FROM eval_jobs WHERE state = 'queued' GROUP BY task_id) j ON j.task_id = t.id "
        "WHERE "
        "t.enabled = 1"));
    return rows.front().optional_time(0);
}

} // namespace hone::evaluate
