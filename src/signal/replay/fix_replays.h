// Verified fixes: takes recorded traces of an issue (the evidence) and passing traces of the same entry point (the
// control set), runs both on the base and on the branch of a review as two experiments, and concludes from the verdicts
// of the issue's evaluator whether the branch fixes the issue. Started by a person, or by the policy of a preset with
// each push. Every step can be repeated after a crash: the dataset is the same for the same traces, the experiments are
// found by their names, and their runs are stored once (evaluate/runner). Thread-safe; one thread calls step().
#pragma once

#include "evaluate/evaluate.h"
#include "review/branch/branches.h"
#include "review/branch/replays.h"
#include "signal/evaluators.h"
#include "signal/issues.h"
#include "telemetry/spans.h"

namespace hone::signal {

// What a person can give instead of the policy's settings.
struct StartReplay {
    std::optional<int64_t> revision{};
    std::optional<std::string> issue{};
    std::optional<std::string> command{};
    std::optional<std::string> evaluator{};
    std::optional<std::string> control_evaluator{};
    std::optional<int64_t> repetitions{};
    std::optional<int64_t> evidence{};
    std::optional<int64_t> control{};
    std::optional<int64_t> timeout_seconds{};
    std::optional<int64_t> budget_seconds{};
    std::optional<bool> last_line{};
    std::optional<bool> live_tools{};
    static constexpr Pack fields{
        Field{"revision", &StartReplay::revision, "The newest one if not given; another one is a conflict."},
        Field{"issue", &StartReplay::issue, "Issue whose traces are the evidence; the one that the branch fixes."},
        Field{"command", &StartReplay::command,
              "Shell command that runs the application on one example; the preset's if not given."},
        Field{"evaluator", &StartReplay::evaluator,
              "Evaluator by id or name, with @NUMBER for a version; the preset's, else the issue's, if not given. A "
              "score "
              "of 0.5 or more passes."},
        Field{"control_evaluator", &StartReplay::control_evaluator,
              "Evaluator of the control set; the same one if not given."},
        Field{"repetitions", &StartReplay::repetitions, "Runs of each example on each side, 1 to 9."},
        Field{"evidence", &StartReplay::evidence, "Most traces of the issue, 1 to 20."},
        Field{"control", &StartReplay::control, "Most traces of the control set, 0 to 20."},
        Field{"timeout_seconds", &StartReplay::timeout_seconds, "Time of one run, 1 to 3600."},
        Field{"budget_seconds", &StartReplay::budget_seconds, "Time of all runs of one side, 1 to 86400."},
        Field{"last_line", &StartReplay::last_line, "The last line of stdout is the output."},
        Field{"live_tools", &StartReplay::live_tools,
              "true: tools are called in the sandbox instead of getting recorded results."},
    };
};

struct FixReplayParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    evaluate::Evaluate& evaluate;
    const Evaluators& evaluators;
    const Issues& issues;
    review::Artifacts& artifacts;
    review::Branches& branches;
    review::RunSource& runs;
    telemetry::Spans* spans = nullptr; // null: nothing can be replayed
    std::string server{};              // the name of this one
};

class FixReplays {
public:
    explicit FixReplays(const FixReplayParts& parts) : m_parts(parts), m_replays(parts.database, parts.clock) {}
    // Called after a start. Once, before requests come.
    void set_listener(std::function<void()> listener) { m_listener = std::move(listener); }

    // Needs experiment_write, and run_read of the branch. Conflict while the revision is being replayed.
    Result<review::BranchReplay> start(const access::Caller& caller, const review::ArtifactId& artifact,
                                       const StartReplay& wanted);
    Result<review::BranchReplay> stop(const access::Caller& caller, const review::ArtifactId& artifact);
    // 0: the newest revision.
    Result<review::BranchReplay> find(const access::Caller& caller, const review::ArtifactId& artifact,
                                      int64_t revision) const;

    // Takes one replay a step further; how long to wait until the next.
    Result<Duration> step();

private:
    Result<> advance(review::BranchReplay& replay);
    Result<> prepare(review::BranchReplay& replay);
    Result<EvaluatorVersion> evaluator_of(const access::SpaceId& space, const std::string& named,
                                          const Issue& issue) const;
    Result<evaluate::ExperimentId> make_experiment(const review::BranchReplay& replay,
                                                   const evaluate::DatasetId& dataset, int64_t version,
                                                   const std::string& side, const evaluate::StartTask& task) const;
    Result<bool> finish(review::BranchReplay& replay);
    Result<> read_runs(review::BranchReplay& replay, const std::string& experiment,
                       review::ReplaySide review::ReplayedExample::*side) const;

    const FixReplayParts m_parts;
    review::Replays m_replays;
    std::function<void()> m_listener;
};

} // namespace hone::signal
