#include "evaluate/tasks/target_search.h"

#include "base/log.h"
#include "base/text.h"
#include "evaluate/tasks/eval_tasks.h"
#include "evaluate/tasks/task_rows.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr Duration count_interval = std::chrono::seconds(30);
constexpr Duration longest_turn = std::chrono::seconds(3); // of a backfill
constexpr std::string_view queue_is_full = "its queue is full: new targets wait until jobs end";

} // namespace

telemetry::TargetSample sample_of(const EvalTask& task) {
    telemetry::TargetSample sample{task.project_id.text(), task.target, task.filter, task.rate_ppm, {}};
    for (const Stratum& stratum : task.strata) sample.strata.push_back({stratum.filter, stratum.rate_ppm});
    return sample;
}

// The embedded engine's ledger counts every span: without new ones the engine may sleep. Traces and chat sessions are
// complete some time after their last span.
bool TargetSearch::has_nothing_new(const EvalTask& task) {
    if (m_telemetry->engine_process() == nullptr) return false;
    const int64_t stored = m_telemetry->ledger()[task.project_id.text()].stored;
    const Duration now = m_clock.steady();
    const Duration complete =
        std::max<Duration>(std::chrono::seconds(task.delay_seconds), late) + std::chrono::minutes(2);
    const Lock lock(m_mutex);
    Seen& seen = m_seen[task.id.text()];
    if (seen.stored != stored || seen.revision != task.revision) {
        seen.stored = stored;
        seen.revision = task.revision;
        seen.changed = now;
        return false;
    }
    return now - seen.changed > (task.target == EvalTarget::span ? 2 * cadence : complete);
}

Result<> TargetSearch::count(const EvalTask& task, const telemetry::ReadyTargets& ready) {
    {
        const Duration now = m_clock.steady();
        const Lock lock(m_mutex);
        Seen& seen = m_seen[task.id.text()];
        if (seen.counted && now - *seen.counted < count_interval) return {};
        seen.counted = now;
    }
    // Whole hours are counted again until nothing can arrive late for them. What came before the task is none of its.
    const Time from = std::max(hour_of(m_clock.now() - 2 * late), std::min(task.since, m_clock.now()));
    telemetry::EvalTargets targets(m_telemetry->engine());
    for (const auto& hour : TRY(targets.count_by_hour(sample_of(task), ready, to_ns(from))))
        TRY(m_database.execute("INSERT INTO eval_counts (task_id, hour, received, matched) VALUES (?, ?, ?, ?) ON "
                               "CONFLICT (task_id, hour) "
                               "DO UPDATE SET received = excluded.received, matched = excluded.matched",
                               task.id, hour.hour_ns, hour.received, hour.matched));
    return {};
}

Result<int64_t> TargetSearch::search(const EvalTask& task) {
    TRY(m_telemetry->store()); // the tables are there
    const Time now = m_clock.now();
    // A clock that was set back: what arrives now would be before the watermark.
    const Time watermark = std::min(task.watermark, now);
    telemetry::ReadyTargets ready;
    ready.last_until = to_ns(now - std::chrono::seconds(task.delay_seconds));
    ready.rootless_until = std::min(ready.last_until, to_ns(now - late));
    ready.first_until = to_ns(now - longest_session);
    // Targets that were loaded late, and traces whose root did not come. Never before the task was made or enabled.
    const Time since = task.since > now ? now - 2 * late : task.since;
    const Time searched = std::max(watermark - 2 * late - std::chrono::seconds(task.delay_seconds), since);
    ready.received_after = to_ns(task.target == EvalTarget::span ? std::max(watermark - late, since) : searched);
    telemetry::EvalTargets targets(m_telemetry->engine());
    telemetry::TargetCursor cursor;
    int64_t made = 0;
    for (;;) {
        const int64_t room = JobQueue::most_queued - TRY(m_queue.queued(task.id));
        if (room <= 0) {
            TRY(m_database.execute("UPDATE eval_tasks SET reason = ? WHERE id = ? AND state = 'active'", queue_is_full,
                                   task.id));
            return made; // the watermark stays: nothing is left out
        }
        const auto found = TRY(targets.find_new(sample_of(task), ready, cursor, at_once));
        const bool is_last = found.size() < at_once;
        const Time reached = is_last ? now : from_ns(found.back().last_ns);
        made += TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
            const AddedJobs added = TRY(m_queue.add(transaction, task, task.current_version, found, std::nullopt));
            TRY(transaction.execute(
                "UPDATE eval_tasks SET watermark = ?, reason = CASE WHEN reason = ? THEN '' ELSE reason "
                "END WHERE id = ? AND revision = ?",
                std::max(reached, watermark), queue_is_full, task.id, task.revision));
            return added.made;
        }));
        if (is_last) break;
        cursor = {found.back().last_ns, found.back().id};
    }
    TRY(count(task, ready));
    return made;
}

// One page of a backfill, newest targets first.
Result<int64_t> TargetSearch::search_past(const Backfill& backfill) {
    const auto rows = TRY(m_database.query(std::string(select_task) + " WHERE t.id = ?", backfill.task_id));
    if (rows.empty()) return int64_t{0};
    EvalTask task = task_of(rows.front());
    if (JobQueue::most_queued - TRY(m_queue.queued(task.id)) <= 0) return int64_t{0};
    TRY(m_telemetry->store());
    task.filter = backfill.filter;
    task.rate_ppm = backfill.rate_ppm;
    task.strata = backfill.strata;
    telemetry::EvalTargets targets(m_telemetry->engine());
    const auto limit = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(past_at_once), backfill.most_targets - backfill.queued));
    auto found = TRY(targets.find_past(sample_of(task), to_ns(backfill.from), to_ns(backfill.to),
                                       telemetry::TargetCursor{backfill.cursor_at, backfill.cursor_id}, limit));
    return m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const AddedJobs added = TRY(m_queue.add(transaction, task, backfill.version, found, backfill.id));
        const bool is_over = found.size() < limit || backfill.queued + added.made >= backfill.most_targets;
        // A cancelled one, or one that another server moved on meanwhile, stays as it is.
        const auto moved = TRY(transaction.execute(
            "UPDATE eval_backfills SET cursor_at = ?, cursor_id = ?, queued = queued + ?, known = known + ?, state = ? "
            "WHERE id = ? AND state = 'searching' AND cursor_at = ? AND cursor_id = ?",
            found.empty() ? backfill.cursor_at : found.back().start_ns,
            found.empty() ? backfill.cursor_id : found.back().id, added.made, added.known,
            is_over ? "running" : "searching", backfill.id, backfill.cursor_at, backfill.cursor_id));
        if (moved == 0) return conflict("the backfill was changed meanwhile");
        return added.made;
    });
}

// Several pages, for a time that leaves room for new targets.
Result<int64_t> TargetSearch::search_pages(Backfill backfill) {
    const Duration until = m_clock.steady() + longest_turn;
    int64_t made = 0;
    while (backfill.state == BackfillState::searching && backfill.queued < backfill.most_targets) {
        const int64_t before = backfill.cursor_at;
        const std::string before_id = backfill.cursor_id;
        made += TRY(search_past(backfill));
        const auto rows = TRY(m_database.query(std::string(select_backfill) + " WHERE id = ?", backfill.id));
        if (rows.empty()) break;
        backfill = backfill_of(rows.front());
        const bool is_stuck = backfill.cursor_at == before && backfill.cursor_id == before_id; // its queue is full
        if (is_stuck || m_clock.steady() >= until) break;
    }
    return made;
}

Result<int64_t> TargetSearch::step() {
    if (m_telemetry == nullptr) return int64_t{0};
    const Time now = m_clock.now();
    int64_t made = 0;
    // Also those whose next time is far ahead, because the clock was set back.
    const auto due = TRY(m_database.query(std::string(select_task) +
                                              " WHERE t.enabled = 1 AND (t.next_at <= ? OR t.next_at > ?) ORDER BY "
                                              "t.next_at, t.id LIMIT 1000",
                                          now, now + std::chrono::minutes(1)));
    for (const auto& row : due) {
        const EvalTask task = task_of(row);
        const Duration pause = m_telemetry->engine_process() != nullptr ? cadence : slow_cadence;
        const auto claimed = TRY(m_database.execute(
            "UPDATE eval_tasks SET next_at = ? WHERE id = ? AND enabled = 1 AND (next_at <= ? OR next_at > ?)",
            now + pause, task.id, now, now + std::chrono::minutes(1)));
        if (claimed == 0 || has_nothing_new(task)) continue;
        const auto searched = search(task);
        if (searched.ok()) {
            made += searched.value();
            continue;
        }
        {
            const Lock lock(m_mutex);
            m_seen.erase(task.id.text()); // it is searched again
        }
        log(Level::warning, "targets of a task not searched",
            {{"task", task.id.text()}, {"why", searched.error().message}});
    }
    for (const auto& row : TRY(m_database.query(
             std::string(select_backfill) + " WHERE state = 'searching' AND next_at <= ? ORDER BY next_at, id LIMIT 20",
             now))) {
        const Backfill backfill = backfill_of(row);
        const auto claimed = TRY(m_database.execute(
            "UPDATE eval_backfills SET next_at = ? WHERE id = ? AND state = 'searching' AND next_at <= ?",
            now + cadence, backfill.id, now));
        if (claimed == 0) continue;
        const auto searched = search_pages(backfill);
        if (searched.ok())
            made += searched.value();
        else if (searched.error().code != Code::conflict)
            log(Level::warning, "targets of a backfill not searched",
                {{"backfill", backfill.id.text()}, {"why", searched.error().message}});
    }
    TRY(m_database.execute(
        "UPDATE eval_backfills SET state = 'done', ended_at = ? WHERE state = 'running' AND NOT EXISTS "
        "(SELECT 1 FROM eval_jobs j WHERE j.backfill_id = eval_backfills.id AND j.state IN ('queued', "
        "'running'))",
        now));
    return made;
}

} // namespace hone::evaluate
