// Runs experiments on this server: claims one after the other, runs its examples in lanes, then its evaluators, and
// renews its lease meanwhile. Every run and every eval is stored when it is there, so a killed server loses only what
// was under way, and that is run again. Threads: one that claims; for each experiment one that renews the lease, one
// that evaluates, and its lanes. A lane has a place of the server (base/shared_places.h) while it runs an example.
#pragma once

#include "base/duty.h"
#include "base/shared_places.h"
#include "evaluate/evaluators/code_runner.h"
#include "evaluate/judges/judge.h"
#include "evaluate/runner/experiment_tasks.h"
#include "evaluate/runner/task_run.h"

#include <atomic>
#include <deque>

namespace hone::evaluate {

struct RunnerParts {
    const Clock& clock;
    Datasets& datasets;
    Experiments& experiments;
    ExperimentTasks& tasks;
    Judges& judges;
    sandbox::Provider* provider = nullptr; // null: nothing can be isolated
    TaskSources* sources = nullptr;
    telemetry::Spans* spans = nullptr; // null: there are none to replay or to apply rules to
    std::string directory{};           // for short-lived files
    std::string packages{};            // folder with packages for code; empty: there is none
    SharedPlaces* places = nullptr;    // that lanes and batches of code take one of; null: as many as there are
    size_t most_at_once = 4;           // experiments
};

class ExperimentRunner {
public:
    explicit ExperimentRunner(RunnerParts parts);
    // Abandons the runs that are under way and gives the experiments back.
    ~ExperimentRunner();

    // Removes what a killed server left, then claims until the end.
    Result<> start();
    void wake() { m_duty.wake(); }
    // Runs code on a few documents; unavailable where nothing can be isolated.
    Result<std::vector<CodeResult>> run_code(const EvaluatorVersion& version, const std::vector<json::Value>& documents,
                                             const std::function<bool()>& stopped = {},
                                             const DocumentFiles& files = {});

private:
    struct Live {
        explicit Live(ExperimentId given) : id(std::move(given)) {}
        const ExperimentId id;
        std::atomic<bool> stopping{false}; // no further run begins
        std::atomic<bool> out_of_budget{false};
        std::atomic<bool> finished{false}; // its thread can be joined
        Mutex mutex;
        Condition changed;
        bool worked GUARDED_BY(mutex) = false;
        std::deque<PendingRun> pending GUARDED_BY(mutex);
        int64_t position GUARDED_BY(mutex) = -1;
        bool all_read GUARDED_BY(mutex) = false;
        std::optional<Error> error GUARDED_BY(mutex);
        std::string problem GUARDED_BY(mutex); // of evaluators
        std::jthread thread{};
    };

    Result<> step();
    void collect_layers();
    void join_finished();
    void keep(Live& live);
    void work(Live& live);
    Result<> run_examples(Live& live, const ExperimentTask& task);
    void run_lane(Live& live, const ExperimentTask& task, const TaskFolder& folder);
    Result<std::optional<PendingRun>> take(Live& live, const ExperimentTask& task);
    Result<> evaluate(Live& live, const ExperimentTask& task);
    Result<> evaluate_with(Live& live, const ExperimentTask& task, const TaskEvaluator& evaluator);
    Result<std::vector<RunRecord>> next_records(const ExperimentTask& task, const std::string& evaluator, bool is_cheap,
                                                std::string after);
    static std::vector<ExperimentEval> evals_of(const RunRecord& record, const TaskEvaluator& evaluator,
                                                const EvaluatorVersion& version, const JudgeOutcome& outcome,
                                                Time began);
    Result<std::vector<JudgeOutcome>> apply_evaluator(Live& live, const ExperimentTask& task,
                                                      const TaskEvaluator& evaluator, const EvaluatorVersion& version,
                                                      const std::vector<RunRecord>& records);
    std::vector<JudgeOutcome> apply_judge(Live& live, const ExperimentTask& task, const EvaluatorVersion& version,
                                          const std::vector<RunRecord>& records);
    // The files that the example of a run names, for its evaluators. not_found: one is gone.
    Result<DocumentFiles> files_of(const ExperimentTask& task, const json::Value& document) const;
    Result<std::vector<CodeResult>> apply_code(Live& live, const ExperimentTask& task, const EvaluatorVersion& version,
                                               const std::vector<RunRecord>& records);
    bool is_over(const Live& live) const { return m_ending || live.stopping; }

    const RunnerParts m_parts;
    const std::string m_server; // name of this process among those that share the database
    TaskRunner m_tasks;
    std::optional<CodeLayers> m_layers; // none: nothing can be isolated
    std::atomic<bool> m_ending{false};
    Mutex m_mutex;
    std::deque<std::unique_ptr<Live>> m_live GUARDED_BY(m_mutex);
    std::optional<Duration> m_collected GUARDED_BY(m_mutex); // steady time of the last removal of layers
    Duty m_duty;                                             // last: its thread uses what stands above
};

// The document that evaluators get for a run.
json::Value document_of(const RunRecord& record);

} // namespace hone::evaluate
