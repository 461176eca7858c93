// A verified fix: the evidence of an issue and a control set, run on the base and on the branch of a review, several
// times each. Signal runs it (signal/replay/fix_replays.h); reviews and pull requests show it. Values only, declared
// once; any thread.
#pragma once

#include "review/artifacts.h"
#include "review/policy.h"

namespace hone::review {

// `queued`: waits for a server. `running`: the two experiments run. `done`: it has an outcome. `failed`: it could not
// be run, see the reason. `stopped`: by a person. From the last three, a new start leads back to `queued`.
enum class ReplayState { queued, running, done, failed, stopped };
constexpr auto enum_names(ReplayState) {
    return std::array{EnumName{ReplayState::queued, "queued"}, EnumName{ReplayState::running, "running"},
                      EnumName{ReplayState::done, "done"}, EnumName{ReplayState::failed, "failed"},
                      EnumName{ReplayState::stopped, "stopped"}};
}

// `not_reproduced`: no evidence fails on the base, so nothing is known about the fix. `fixed`: all evidence that fails
// on the base passes on the branch. `partly`: some of it. `unchanged`: none of it. `regressed`: something that passes
// on the base does not pass on the branch.
enum class ReplayOutcome { none, not_reproduced, fixed, partly, unchanged, regressed };
constexpr auto enum_names(ReplayOutcome) {
    return std::array{
        EnumName{ReplayOutcome::none, "none"},           EnumName{ReplayOutcome::not_reproduced, "not_reproduced"},
        EnumName{ReplayOutcome::fixed, "fixed"},         EnumName{ReplayOutcome::partly, "partly"},
        EnumName{ReplayOutcome::unchanged, "unchanged"}, EnumName{ReplayOutcome::regressed, "regressed"}};
}

enum class ReplaySet { evidence, control };
constexpr auto enum_names(ReplaySet) {
    return std::array{EnumName{ReplaySet::evidence, "evidence"}, EnumName{ReplaySet::control, "control"}};
}

// Of the repetitions of one example, by majority. `none`: most repetitions have no verdict, or there is a tie.
enum class ReplayVerdict { pass, fail, none };
constexpr auto enum_names(ReplayVerdict) {
    return std::array{EnumName{ReplayVerdict::pass, "pass"}, EnumName{ReplayVerdict::fail, "fail"},
                      EnumName{ReplayVerdict::none, "none"}};
}

struct ReplaySide {
    int64_t passed = 0;
    int64_t failed = 0;
    ReplayVerdict verdict = ReplayVerdict::none;
    static constexpr Pack fields{
        Field{"passed", &ReplaySide::passed, "Repetitions that passed."},
        Field{"failed", &ReplaySide::failed, "Repetitions that failed; the others have no verdict."},
        Field{"verdict", &ReplaySide::verdict, "pass or fail by majority; none: most repetitions have no verdict."},
    };
};

struct ReplayedExample {
    ReplaySet set = ReplaySet::evidence;
    std::string example_id;
    std::string trace_id;
    ReplaySide base;
    ReplaySide branch;
    int64_t tool_results = 0;
    static constexpr Pack fields{
        Field{"set", &ReplayedExample::set,
              "evidence of the issue, or control: passing traces of the same entry point."},
        Field{"example_id", &ReplayedExample::example_id, "Id of the example in the dataset."},
        Field{"trace_id", &ReplayedExample::trace_id, "The recorded trace, in the project of the issue."},
        Field{"base", &ReplayedExample::base, "On the base commit."},
        Field{"branch", &ReplayedExample::branch, "On the branch."},
        Field{"tool_results", &ReplayedExample::tool_results,
              "Recorded results of tools that the application got instead of calls."},
    };
};

struct NotReplayed {
    ReplaySet set = ReplaySet::evidence;
    std::string trace_id;
    std::string reason;
    static constexpr Pack fields{
        Field{"set", &NotReplayed::set, "evidence or control."},
        Field{"trace_id", &NotReplayed::trace_id, "The recorded trace."},
        Field{"reason", &NotReplayed::reason, "Why it cannot be replayed."},
    };
};

struct ReplayResult {
    int64_t evidence = 0;
    int64_t reproduced = 0;
    int64_t fixed = 0;
    int64_t control = 0;
    int64_t control_base_passed = 0;
    int64_t control_branch_passed = 0;
    int64_t broken = 0;
    double p = 1;
    int64_t with_recorded_tools = 0;
    int64_t spent_micro_usd = 0;
    int64_t spent_ms = 0;
    std::string problem;
    std::vector<ReplayedExample> examples;
    std::vector<NotReplayed> not_replayed;
    static constexpr Pack fields{
        Field{"evidence", &ReplayResult::evidence, "Replayed traces of the issue."},
        Field{"reproduced", &ReplayResult::reproduced, "Of these, those that fail on the base."},
        Field{"fixed", &ReplayResult::fixed, "Of the reproduced ones, those that pass on the branch."},
        Field{"control", &ReplayResult::control, "Replayed traces of the control set."},
        Field{"control_base_passed", &ReplayResult::control_base_passed, "Of these, those that pass on the base."},
        Field{"control_branch_passed", &ReplayResult::control_branch_passed,
              "Of these, those that pass on the branch."},
        Field{"broken", &ReplayResult::broken, "Examples of both sets that pass on the base and not on the branch."},
        Field{"p", &ReplayResult::p,
              "Exact McNemar test of the evidence, two-sided. Six fixed examples are the least that reach 0.05."},
        Field{"with_recorded_tools", &ReplayResult::with_recorded_tools,
              "Examples whose tools were not called: the application got recorded results."},
        Field{"spent_micro_usd", &ReplayResult::spent_micro_usd, "Cost of model calls in millionths of a US dollar."},
        Field{"spent_ms", &ReplayResult::spent_ms, "Time of both experiments."},
        Field{"problem", &ReplayResult::problem, "The first error of a run or of an evaluator; empty: none."},
        Field{"examples", &ReplayResult::examples, "Every replayed example, evidence first."},
        Field{"not_replayed", &ReplayResult::not_replayed, "What could not be replayed, with the reason."},
    };
};

// What is run, fixed when it starts.
struct ReplaySettings {
    Defaulted<std::string> issue;
    Defaulted<std::string> command;
    Defaulted<std::string> evaluator;
    Defaulted<std::string> control_evaluator;
    Defaulted<int64_t> repetitions = int64_t{3};
    Defaulted<int64_t> evidence = int64_t{20};
    Defaulted<int64_t> control = int64_t{20};
    Defaulted<int64_t> timeout_seconds = int64_t{120};
    Defaulted<int64_t> budget_seconds = int64_t{1800};
    Defaulted<bool> last_line = false;
    Defaulted<bool> live_tools = false;
    Defaulted<bool> automatic = false;
    static constexpr Pack fields{
        Field{"issue", &ReplaySettings::issue, "Issue whose traces are the evidence."},
        Field{"command", &ReplaySettings::command, "Shell command that runs the application on one example."},
        Field{"evaluator", &ReplaySettings::evaluator, "Evaluator of the evidence, with @NUMBER for its version."},
        Field{"control_evaluator", &ReplaySettings::control_evaluator, "Evaluator of the control set."},
        Field{"repetitions", &ReplaySettings::repetitions, "Runs of each example on each side."},
        Field{"evidence", &ReplaySettings::evidence, "Most traces of the issue."},
        Field{"control", &ReplaySettings::control, "Most traces of the control set."},
        Field{"timeout_seconds", &ReplaySettings::timeout_seconds, "Time of one run."},
        Field{"budget_seconds", &ReplaySettings::budget_seconds, "Time of each of the two experiments."},
        Field{"last_line", &ReplaySettings::last_line, "The last line of stdout is the output."},
        Field{"live_tools", &ReplaySettings::live_tools,
              "The application calls its tools in a sandbox without network instead of getting recorded results."},
        Field{"automatic", &ReplaySettings::automatic, "The policy of the preset started it."},
    };
};

struct BranchReplay {
    ArtifactId artifact_id;
    int64_t revision = 0;
    int64_t attempt = 1;
    ReplayState state = ReplayState::queued;
    std::string reason;
    ReplayOutcome outcome = ReplayOutcome::none;
    ReplaySettings settings;
    ReplayResult result;
    std::string dataset_id;
    std::string base_experiment_id;
    std::string branch_experiment_id;
    std::string started_by;
    Time created_at{};
    std::optional<Time> started_at;
    std::optional<Time> ended_at;
    static constexpr Pack fields{
        Field{"artifact_id", &BranchReplay::artifact_id, "Artifact of the branch."},
        Field{"revision", &BranchReplay::revision, "Revision that was replayed."},
        Field{"attempt", &BranchReplay::attempt, "How often it was started."},
        Field{"state", &BranchReplay::state, "queued, running, done, failed or stopped."},
        Field{"reason", &BranchReplay::reason, "Why it failed or was stopped."},
        Field{"outcome", &BranchReplay::outcome,
              "fixed, partly, unchanged, regressed or not_reproduced; none until it is done."},
        Field{"settings", &BranchReplay::settings, "What is run."},
        Field{"result", &BranchReplay::result, "Counts and examples; empty until it is done."},
        Field{"dataset_id", &BranchReplay::dataset_id, "Dataset with the examples; empty until it is prepared."},
        Field{"base_experiment_id", &BranchReplay::base_experiment_id, "Experiment on the base commit."},
        Field{"branch_experiment_id", &BranchReplay::branch_experiment_id, "Experiment on the branch."},
        Field{"started_by", &BranchReplay::started_by, "Name of the person, or the policy of the preset."},
        Field{"created_at", &BranchReplay::created_at, "Time of the start."},
        Field{"started_at", &BranchReplay::started_at, "Time at which the experiments began."},
        Field{"ended_at", &BranchReplay::ended_at, "Time at which it ended."},
    };
};

// What the policy of a preset wants for a branch that fixes this issue.
ReplaySettings replay_settings(const ReplayPolicy& policy, const std::string& issue);

// `base 6/6 fail → branch 6/6 pass, control 20/20 → 20/20, exact p = 0.031, 3 repetitions, $0.42`
std::string replay_sentence(const BranchReplay& replay);

} // namespace hone::review
