// Experiments that the server runs, in the database: started, stopped and resumed by people; claimed by one server at a
// time, whose lease must be renewed. A server that dies loses its lease and another one (or the same one after a
// restart) continues with what is missing. Runs and evals have unique keys, so a server that was only slow stores
// nothing twice. Thread-safe.
#pragma once

#include "evaluate/evaluators/evaluator_versions.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/runner/experiment_task.h"

namespace hone::evaluate {

class ModelCalls; // prompts/model_session.h

// Finds what a task names in other parts of the server. Implemented by server/.
class TaskSources {
public:
    virtual ~TaskSources() = default;
    // The id of a repository that the caller can read.
    virtual Result<std::string> find_repo(const access::Caller& caller, const access::SpaceId& space,
                                          const std::string& id_or_name) = 0;
    // Writes the files of a commit as a tar archive. `ref` may be a branch, tag or commit, or empty. Returns the
    // commit.
    virtual Result<std::string> write_archive(const access::SpaceId& space, const std::string& repo,
                                              const std::string& ref, const std::string& file) = 0;
    // Whether the installation allows HTTP tasks to reach this place although its address is private.
    virtual bool allows_private(const std::string& host, int64_t port) = 0;
    // Null: this server calls no models.
    virtual ModelCalls* models() { return nullptr; }
};

struct TaskBudget {
    std::optional<int64_t> seconds{};
    std::optional<int64_t> micro_usd{};
};

// An example and a repetition without a good run.
struct PendingRun {
    Example example;
    int64_t repetition = 1;
    std::optional<json::Value> replay{}; // what the application gets of the recorded trace beside the input
};

class ExperimentTasks {
public:
    static constexpr Duration lease = std::chrono::seconds(10);

    ExperimentTasks(sql::Database& database, const Clock& clock, access::Access& access, Experiments& experiments,
                    TaskSources* sources)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_experiments(experiments),
          m_versions(database),
          m_prompts(database, clock, access),
          m_sources(sources) {}

    // Conflict when it was started before: `resume` continues it. `find_evaluator` gives id and newest version by name
    // or id.
    using FindEvaluator =
        std::function<Result<EvaluatorVersion>(const std::string& name_or_id, std::optional<int64_t> number)>;
    Result<ExperimentTask> start(const access::Caller& caller, const ExperimentId& id, const StartTask& wanted,
                                 const FindEvaluator& find_evaluator);
    Result<ExperimentTask> stop(const access::Caller& caller, const ExperimentId& id);
    // Continues with what is missing or failed. The limits replace those of before; absent: they stay.
    Result<ExperimentTask> resume(const access::Caller& caller, const ExperimentId& id, const TaskBudget& budget = {});
    Result<ExperimentTask> find(const access::Caller& caller, const ExperimentId& id,
                                access::Permission permission = access::Permission::dataset_read) const;

    // For the runner: the next experiment that waits or whose server is gone.
    Result<std::optional<ExperimentId>> claim(const std::string& server);
    // Prolongs the lease and adds the time since the last call; false: stop working on it.
    Result<bool> renew(const ExperimentId& id, const std::string& server, Duration spent);
    Result<> set_commit(const ExperimentId& id, const std::string& commit);
    Result<> end(const ExperimentId& id, const std::string& server, TaskState state, const std::string& reason);
    // Gives it back, for a server that shuts down.
    Result<> release(const ExperimentId& id, const std::string& server);
    // In the order of the examples, after a position and repetition.
    Result<std::vector<PendingRun>> pending_runs(const ExperimentTask& task, int64_t after, int64_t examples,
                                                 int64_t& last_position) const;
    // Successful runs without an eval of this name, or whose eval failed before this attempt; after a run's id.
    Result<std::vector<RunRecord>> pending_evals(const ExperimentTask& task, const std::string& name,
                                                 const std::string& after, int64_t limit) const;
    Result<> set_replay(const ExperimentId& id, const Replay& replay);
    // In the order of the examples. `only_reasons`: those that could not be replayed.
    Result<access::Page<Replay>> replays(const access::Caller& caller, const ExperimentId& id, bool only_reasons,
                                         const access::PageRequest& page) const;
    sql::Database& database() const { return m_database; }
    Result<EvaluatorVersion> version(const TaskEvaluator& evaluator) const {
        return m_versions.find(evaluator.evaluator_id, evaluator.number);
    }

private:
    Result<std::vector<std::string>> readable_sources(const access::Caller& caller, const Experiment& of) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Experiments& m_experiments;
    EvaluatorVersions m_versions;
    Prompts m_prompts;
    TaskSources* const m_sources;
};

} // namespace hone::evaluate
