// The jobs of tasks in the database: made by the search for targets, claimed by one server at a time under a lease,
// ended with a verdict or a reason. A job is a hash of evaluator, version, target and generation, so it exists once,
// whichever server or backfill makes it. Thread-safe; several servers share one database.
#pragma once

#include "evaluate/judges/judge.h"
#include "evaluate/tasks/eval_task.h"
#include "sql/sql.h"
#include "telemetry/targets/eval_targets.h"

#include <unordered_set>

namespace hone::evaluate {

struct AddedJobs {
    int64_t made = 0;
    int64_t known = 0; // had a job already
};

// Jobs of one task that this server may run now.
struct ClaimedJobs {
    EvalTask task;
    std::vector<EvalJob> jobs;
};

// What the end of a job did to its task.
struct EndedJob {
    bool is_stored = false; // false: another server has the job
    std::string paused;     // why the task was paused by it; empty: it was not
};

class JobQueue {
public:
    static constexpr Duration lease = std::chrono::seconds(30);
    static constexpr int64_t most_queued = 200'000; // of one task; then no more are made
    static constexpr int64_t most_attempts = 5;
    static constexpr Duration longest_try = std::chrono::hours(2);
    static constexpr int64_t failures_before_pause = 5;
    static constexpr Duration probe_interval = std::chrono::minutes(10);
    static constexpr Duration kept = std::chrono::hours(24 * 90); // of jobs that ended

    JobQueue(sql::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    static std::string key_of(const EvalTask& task, int64_t version, const std::string& target_id, int64_t generation);

    // Within the transaction that moves the watermark or the cursor on. A target that has grown since its first verdict
    // gets a second job, and no third.
    Result<AddedJobs> add(sql::Transaction& transaction, const EvalTask& task, int64_t version,
                          const std::vector<telemetry::FoundTarget>& targets,
                          const std::optional<EvalBackfillId>& backfill) const;
    Result<int64_t> queued(const EvalTaskId& id) const;

    // The jobs of the task that has waited longest, newest targets first, backfills last. `batch`: at most so many of
    // code, one of the others. Applies caps and budgets. Nothing: there is nothing to do now.
    Result<std::optional<ClaimedJobs>> claim(const std::string& server, int64_t batch) const;
    Result<EndedJob> end(const EvalTask& task, const EvalJob& job, const std::string& server,
                         const JudgeOutcome& outcome) const;
    // Not tried, for a reason of the target.
    Result<> skip(const EvalJob& job, const std::string& server, std::string_view reason,
                  const std::string& error) const;

    // Prolongs the leases of jobs that run on this server.
    Result<> renew(const std::string& server, const std::vector<std::string>& keys) const;
    // Gives back the jobs of servers that are gone, also after the clock was set back; removes old ones.
    Result<int64_t> rescue() const;
    Result<int64_t> collect() const;
    // When the next job can begin; nothing: none waits.
    Result<std::optional<Time>> next_due() const;

private:
    struct NewJob {
        const telemetry::FoundTarget* target;
        std::string key;
        int64_t generation = 1;
    };
    Result<std::unordered_set<std::string>> insert(sql::Transaction& transaction, const EvalTask& task, int64_t version,
                                                   const std::vector<NewJob>& jobs,
                                                   const std::optional<EvalBackfillId>& backfill) const;
    Result<bool> apply_limits(sql::Transaction& transaction, const EvalTask& task, Time now, int64_t& room) const;
    Result<> use_up(sql::Transaction& transaction, const EvalTask& task, std::string_view reason, Time until) const;

    sql::Database& m_database;
    const Clock& m_clock;
};

} // namespace hone::evaluate
