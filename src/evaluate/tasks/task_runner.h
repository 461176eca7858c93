// Runs the jobs of tasks on this server: claims, reads the document, applies the evaluator, writes the eval, ends the
// job, in this order. A server that is killed in between loses its lease; the job is run again, its verdict comes from
// the cache and replaces the same eval. Threads: one that searches for targets, one that keeps the leases, and lanes.
#pragma once

#include "base/duty.h"
#include "base/shared_places.h"
#include "evaluate/tasks/documents.h"
#include "evaluate/tasks/eval_tasks.h"
#include "evaluate/tasks/target_search.h"
#include "notice/notices.h"

#include <atomic>
#include <set>

namespace hone::evaluate {

struct TaskRunnerParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    Judges& judges;
    const Documents& documents;
    telemetry::Spans* spans = nullptr;  // null: nothing is evaluated
    notice::Notices* notices = nullptr; // null: there are none
    SharedPlaces* places = nullptr;     // that batches of code take one of; null: as many as there are
    size_t lanes = 8;
};

class EvalTaskRunner {
public:
    static constexpr int64_t batch = 50; // documents of code that one sandbox evaluates

    explicit EvalTaskRunner(TaskRunnerParts parts);
    // Ends the calls that are under way; their jobs are given back.
    ~EvalTaskRunner();

    void start();
    void wake() {
        m_search_duty.wake();
        m_lanes.wake();
    }
    // One round of each duty, for tests. `run_some` returns how many jobs it ended.
    Result<int64_t> search() { return m_search.step(); }
    Result<int64_t> run_some();
    Result<> keep_leases();

    const JobQueue& queue() const { return m_queue; }
    const std::string& server() const { return m_server; }

private:
    Result<Duration> lane_step();
    Result<> run_jobs(const ClaimedJobs& claimed);
    Result<> end(const ClaimedJobs& claimed, const EvaluatorVersion& version, const EvalJob& job,
                 const JudgeOutcome& outcome);
    Result<std::optional<json::Value>> document_for(const EvalTask& task, const EvalJob& job);
    JudgeRequest request_for(const ClaimedJobs& claimed, const EvaluatorVersion& version, const json::Value& document,
                             const EvalJob& job) const;

    const TaskRunnerParts m_parts;
    const std::string m_server; // name of this process among those that share the database
    EvaluatorVersions m_versions;
    JobQueue m_queue;
    TargetSearch m_search;
    std::atomic<bool> m_ending{false};
    Mutex m_mutex;
    std::optional<Duration> m_collected GUARDED_BY(m_mutex);
    std::set<std::string> m_held GUARDED_BY(m_mutex); // keys of the jobs that run here
    Duty m_lease_duty;                                // last: their threads use what stands above
    Duty m_lanes;
    Duty m_search_duty;
};

} // namespace hone::evaluate
