// Online tasks in the database: who may create and change them, and their jobs as people see them. The search for
// targets and the execution of jobs are in target_search.h, job_queue.h and task_runner.h. Thread-safe.
#pragma once

#include "access/access.h"
#include "access/page.h"
#include "evaluate/evaluators/evaluator_versions.h"
#include "evaluate/tasks/eval_task.h"
#include "telemetry/spans.h"

#include <functional>

namespace hone::evaluate {

struct RetryJobs {
    json::Defaulted<std::vector<EvalJobState>> states =
        std::vector{EvalJobState::failed, EvalJobState::skipped, EvalJobState::expired};
    json::Defaulted<std::string> reason;
    json::Defaulted<std::vector<std::string>> keys;
    static constexpr Pack fields{
        Field{"states", &RetryJobs::states, "failed, skipped, expired; all three if not given."},
        Field{"reason", &RetryJobs::reason, "Only jobs with this reason; all if not given."},
        Field{"keys", &RetryJobs::keys, "Only these jobs; at most 1000."},
    };
};

struct RetriedJobs {
    int64_t jobs = 0;
    static constexpr Pack fields{Field{"jobs", &RetriedJobs::jobs, "Jobs that are retried."}};
};

class EvalTasks {
public:
    // `spans`: null where there are none.
    EvalTasks(sql::Database& database, const Clock& clock, access::Access& access, telemetry::Spans* spans)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_versions(database),
          m_spans(spans) {}

    // Gives id and newest version of an evaluator by name or id, as the caller sees it.
    using FindEvaluator =
        std::function<Result<EvaluatorVersion>(const std::string& name_or_id, std::optional<int64_t> number)>;
    Result<EvalTask> create(const access::Caller& caller, const access::SpaceId& space, const NewEvalTask& wanted,
                            const FindEvaluator& find_evaluator);
    Result<EvalTask> update(const access::Caller& caller, const EvalTaskId& id, const EvalTaskChange& change);
    // Its evals stay; its jobs are deleted.
    Result<> remove(const access::Caller& caller, const EvalTaskId& id);
    Result<EvalTask> find(const access::Caller& caller, const EvalTaskId& id,
                          access::Permission permission = access::Permission::project_read) const;
    // Oldest first.
    Result<access::Page<EvalTask>> list(const access::Caller& caller, const access::SpaceId& space,
                                        const std::optional<std::string>& project,
                                        const std::optional<EvaluatorId>& evaluator,
                                        const access::PageRequest& page) const;

    // By key. `state`, `reason`: empty: all.
    Result<access::Page<EvalJob>> jobs(const access::Caller& caller, const EvalTaskId& id, const std::string& state,
                                       const std::string& reason, const access::PageRequest& page) const;
    Result<RetriedJobs> retry(const access::Caller& caller, const EvalTaskId& id, const RetryJobs& which);
    // The last hours, oldest first.
    Result<std::vector<FunnelRow>> funnel(const access::Caller& caller, const EvalTaskId& id, int64_t hours) const;

    // What a backfill would find and cost. Nothing is stored.
    Result<BackfillEstimate> estimate(const access::Caller& caller, const EvalTaskId& id, const NewBackfill& wanted);
    Result<Backfill> start_backfill(const access::Caller& caller, const EvalTaskId& id, const NewBackfill& wanted);
    Result<Backfill> cancel_backfill(const access::Caller& caller, const EvalTaskId& id,
                                     const EvalBackfillId& backfill);
    // Newest first.
    Result<access::Page<Backfill>> backfills(const access::Caller& caller, const EvalTaskId& id,
                                             const access::PageRequest& page) const;

private:
    Result<EvalTask> with_counts(EvalTask task) const;
    Result<> check(const EvalTask& task) const;
    // Models and workers cost money: what starts a run may use them.
    Result<> require_spending(const access::Caller& caller, const EvalTask& task) const;
    Result<> check_backfill(const EvalTask& task, const NewBackfill& wanted) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    EvaluatorVersions m_versions;
    telemetry::Spans* const m_spans;
};

// The start of the hour and of the day, UTC.
Time hour_of(Time time);
Time day_of(Time time);

} // namespace hone::evaluate
