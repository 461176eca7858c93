// Comparisons of two experiments by a model, in the database: started, stopped and resumed by people; worked on by one
// server at a time, whose lease must be renewed. The verdicts about a pair are stored once, so a server that was killed
// or was only slow doubles nothing. Thread-safe.
#pragma once

#include "evaluate/evaluators/evaluator_versions.h"
#include "evaluate/experiments/experiments.h"
#include "evaluate/pairs/pair.h"
#include "evaluate/runner/experiment_tasks.h"

namespace hone::evaluate {

struct PairLimits {
    int64_t concurrency = 4;
    std::optional<int64_t> budget_tokens{};
    std::optional<int64_t> budget_micro_usd{};
};

// A repetition of an example with an output in both experiments.
struct PendingPair {
    Example example;
    int64_t repetition = 1;
    ExperimentRunId base_run_id{};
    ExperimentRunId other_run_id{};
    std::string base_output{}; // JSON
    std::string other_output{};
};

struct PairFilter {
    std::optional<PairWinner> winner{};
    std::optional<ExampleId> example{};
};

class PairTasks {
public:
    static constexpr Duration lease = std::chrono::seconds(10);

    PairTasks(sql::Database& database, const Clock& clock, access::Access& access, Experiments& experiments,
              TaskSources* sources)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_experiments(experiments),
          m_versions(database),
          m_sources(sources) {}

    // Needs experiment_write and, because it spends money, run_start. conflict: this version compares them already.
    Result<PairTask> start(const access::Caller& caller, const ExperimentId& base, const ExperimentId& other,
                           const EvaluatorVersion& version, const PairLimits& limits);
    Result<PairTask> stop(const access::Caller& caller, const PairTaskId& id);
    // Continues with what is missing or failed. The limits replace those of before; absent: they stay.
    Result<PairTask> resume(const access::Caller& caller, const PairTaskId& id, std::optional<int64_t> budget_tokens,
                            std::optional<int64_t> budget_micro_usd);
    Result<PairTask> find(const access::Caller& caller, const PairTaskId& id,
                          access::Permission permission = access::Permission::dataset_read) const;
    Result<> remove(const access::Caller& caller, const PairTaskId& id);
    // Of an experiment, as base or other; newest first.
    Result<std::vector<PairTask>> list(const access::Caller& caller, const ExperimentId& experiment) const;
    // By example and repetition, with the labels of people.
    Result<access::Page<PairEval>> pairs(const access::Caller& caller, const PairTaskId& id, const PairFilter& filter,
                                         const access::PageRequest& page) const;
    // What the caller prefers, a person; replaces what this person preferred before. Needs queue_answer.
    Result<PairEval> label(const access::Caller& caller, const PairTaskId& id, const ExampleId& example,
                           int64_t repetition, PairWinner winner);
    // Of all tasks that compare these two, seen from `base`, by name and version.
    Result<std::vector<PairResults>> results(const access::Caller& caller, const ExperimentId& base,
                                             const ExperimentId& other) const;

    // For the runner: the next one that waits or whose server is gone.
    Result<std::optional<PairTaskId>> claim(const std::string& server);
    // Prolongs the lease; false: stop working on it.
    Result<bool> renew(const PairTaskId& id, const std::string& server);
    Result<> end(const PairTaskId& id, const std::string& server, TaskState state, const std::string& reason);
    // Gives it back, for a server that shuts down.
    Result<> release(const PairTaskId& id, const std::string& server);
    // Without verdicts, or failed before this attempt; after an example and a repetition.
    Result<std::vector<PendingPair>> pending(const PairTask& task, const ExampleId& after_example,
                                             int64_t after_repetition, int64_t limit) const;
    // Verdicts that are there stay.
    Result<> store(const PairTaskId& id, const PairEval& pair) const;
    Result<EvaluatorVersion> version(const PairTask& task) const {
        return m_versions.find(task.evaluator_id, task.number);
    }

private:
    Result<> add_counts(PairTask& task) const;
    Result<std::vector<PairEval>> read_pairs(const PairTaskId& id, const std::string& condition,
                                             const std::vector<sql::Value>& values) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Experiments& m_experiments;
    EvaluatorVersions m_versions;
    TaskSources* const m_sources;
};

} // namespace hone::evaluate
