// Backfills of tasks: the estimate, the start with everything fixed, and the end.
#include "base/text.h"
#include "evaluate/tasks/eval_tasks.h"
#include "evaluate/tasks/task_rows.h"
#include "telemetry/targets/eval_targets.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

constexpr int64_t most_backfill_targets = 1'000'000;
constexpr int64_t most_backfills_at_once = 5;
constexpr int64_t verdicts_measured = 100;
constexpr int64_t at_the_same_time = 4;

telemetry::TargetSample sample_for(const EvalTask& task, const NewBackfill& wanted) {
    telemetry::TargetSample sample{task.project_id.text(), task.target, task.filter, task.rate_ppm, {}};
    for (const Stratum& stratum : task.strata) sample.strata.push_back({stratum.filter, stratum.rate_ppm});
    if (wanted.rate_ppm) {
        sample.rate_ppm = *wanted.rate_ppm;
        sample.strata.clear();
    }
    return sample;
}

} // namespace

Result<> EvalTasks::check_backfill(const EvalTask& task, const NewBackfill& wanted) const {
    if (*wanted.most_targets < 1 || *wanted.most_targets > most_backfill_targets)
        return invalid(fmt::format("most_targets must be between 1 and {}", most_backfill_targets));
    if (wanted.rate_ppm && (*wanted.rate_ppm < 1 || *wanted.rate_ppm > 1'000'000))
        return invalid("rate_ppm must be between 1 and 1000000");
    if (wanted.from >= wanted.to.value_or(m_clock.now())) return invalid("from must be before to");
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    return check(task);
}

Result<BackfillEstimate> EvalTasks::estimate(const Caller& caller, const EvalTaskId& id, const NewBackfill& wanted) {
    const EvalTask task = TRY(find(caller, id));
    TRY(check_backfill(task, wanted));
    TRY(m_spans->store());
    const auto found =
        TRY(telemetry::EvalTargets(m_spans->telemetry.engine())
                .count_past(sample_for(task, wanted), to_ns(wanted.from), to_ns(wanted.to.value_or(m_clock.now()))));
    BackfillEstimate estimate;
    estimate.received = found.received;
    estimate.matched = found.matched;
    estimate.sampled = found.sampled;
    estimate.targets = std::min(found.sampled, *wanted.most_targets);
    const auto measured = TRY(m_database.query(
        "SELECT COUNT(*), COALESCE(SUM(tokens), 0), COALESCE(SUM(cost_nano_usd), 0), COALESCE(SUM(duration_ms), 0) "
        "FROM "
        "(SELECT tokens, cost_nano_usd, duration_ms FROM eval_jobs WHERE task_id = ? AND state = 'done' AND cached = 0 "
        "ORDER BY ended_at DESC LIMIT ?) m",
        id, verdicts_measured));
    estimate.verdicts_measured = measured.front().integer(0);
    if (estimate.verdicts_measured == 0) return estimate;
    const auto total = [&](size_t column) {
        return static_cast<double>(measured.front().integer(column)) * static_cast<double>(estimate.targets) /
               static_cast<double>(estimate.verdicts_measured);
    };
    estimate.tokens = static_cast<int64_t>(total(1));
    estimate.cost_micro_usd = static_cast<int64_t>(total(2) / 1000);
    estimate.seconds = static_cast<int64_t>(total(3) / 1000 / at_the_same_time) + 1;
    return estimate;
}

Result<Backfill> EvalTasks::start_backfill(const Caller& caller, const EvalTaskId& id, const NewBackfill& wanted) {
    const EvalTask task = TRY(find(caller, id, Permission::eval_write));
    TRY(require_spending(caller, task));
    TRY(check_backfill(task, wanted));
    const Time now = m_clock.now();
    const auto backfill = make_id<EvalBackfillTag>(m_clock);
    const telemetry::TargetSample sample = sample_for(task, wanted);
    std::vector<Stratum> strata;
    for (const auto& stratum : sample.strata) strata.push_back({stratum.filter, stratum.rate_ppm});
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto under_way = TRY(transaction.query(
            "SELECT COUNT(*) FROM eval_backfills WHERE task_id = ? AND state IN ('searching', 'running')", id));
        if (under_way.front().integer(0) >= most_backfills_at_once)
            return conflict(
                fmt::format("{} backfills of this task are under way: wait or cancel one", most_backfills_at_once));
        TRY(transaction.execute(
            "INSERT INTO eval_backfills (id, task_id, version, filter, rate_ppm, strata, from_at, to_at, most_targets, "
            "state, cursor_at, cursor_id, queued, known, next_at, created_by_name, created_at) VALUES (?, ?, ?, ?, ?, "
            "?, "
            "?, ?, ?, 'searching', ?, '', 0, 0, ?, ?, ?)",
            backfill, id, task.current_version, sample.filter, sample.rate_ppm, json::write(strata), wanted.from,
            wanted.to.value_or(now), *wanted.most_targets, INT64_MAX, now, caller.name, now));
        return m_access.audit.record(transaction, caller,
                                     {"eval_backfill_start",
                                      task.space_id,
                                      backfill.text(),
                                      {{"task", id.text()}, {"most", *wanted.most_targets}}});
    }));
    const auto rows = TRY(m_database.query(std::string(select_backfill) + " WHERE id = ?", backfill));
    if (rows.empty()) return not_found("backfill " + backfill.text());
    return backfill_of(rows.front());
}

Result<Backfill> EvalTasks::cancel_backfill(const Caller& caller, const EvalTaskId& id,
                                            const EvalBackfillId& backfill) {
    const EvalTask task = TRY(find(caller, id, Permission::eval_write));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed = TRY(
            transaction.execute("UPDATE eval_backfills SET state = 'cancelled', ended_at = ? WHERE id = ? AND task_id "
                                "= ? AND state IN ('searching', 'running')",
                                now, backfill, id));
        if (changed == 0) return {};
        TRY(transaction.execute("UPDATE eval_jobs SET state = 'skipped', reason = 'cancelled', ended_at = ? WHERE "
                                "backfill_id = ? AND state = 'queued'",
                                now, backfill));
        return m_access.audit.record(transaction, caller,
                                     {"eval_backfill_cancel", task.space_id, backfill.text(), {{"task", id.text()}}});
    }));
    const auto rows =
        TRY(m_database.query(std::string(select_backfill) + " WHERE id = ? AND task_id = ?", backfill, id));
    if (rows.empty()) return not_found("backfill " + backfill.text());
    return backfill_of(rows.front());
}

Result<Page<Backfill>> EvalTasks::backfills(const Caller& caller, const EvalTaskId& id, const PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows =
        TRY(m_database.query(std::string(select_backfill) +
                                 " WHERE task_id = ? AND (CAST(? AS TEXT) = '' OR id < ?) ORDER BY id DESC LIMIT ?",
                             id, after, after, page.limit + 1));
    std::vector<Backfill> all;
    for (const auto& row : rows) {
        Backfill one = backfill_of(row);
        for (const auto& count : TRY(m_database.query(
                 "SELECT state, COUNT(*) FROM eval_jobs WHERE backfill_id = ? GROUP BY state", one.id))) {
            const auto state = parse_enum<EvalJobState>(count.text(0)).value_or(EvalJobState::failed);
            if (state == EvalJobState::done)
                one.done += count.integer(1);
            else if (state == EvalJobState::queued || state == EvalJobState::running)
                one.waiting += count.integer(1);
            else
                one.failed += count.integer(1);
        }
        all.push_back(std::move(one));
    }
    return access::make_page(std::move(all), page, [](const Backfill& one) { return one.id.text(); });
}

} // namespace hone::evaluate
