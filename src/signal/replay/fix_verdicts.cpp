#include "signal/replay/fix_verdicts.h"

#include "evaluate/statistics/statistics.h"

namespace hone::signal {

using review::ReplayOutcome, review::ReplaySet, review::ReplayVerdict;

ReplayVerdict majority(int64_t passed, int64_t failed, int64_t repetitions) {
    if (2 * passed > repetitions) return ReplayVerdict::pass;
    if (2 * failed > repetitions) return ReplayVerdict::fail;
    return ReplayVerdict::none;
}

void conclude(review::BranchReplay& replay) {
    review::ReplayResult& result = replay.result;
    result.evidence = result.reproduced = result.fixed = result.control = result.control_base_passed =
        result.control_branch_passed = result.broken = result.with_recorded_tools = 0;
    int64_t fail_to_pass = 0, pass_to_fail = 0;
    for (review::ReplayedExample& example : result.examples) {
        const int64_t repetitions = *replay.settings.repetitions;
        example.base.verdict = majority(example.base.passed, example.base.failed, repetitions);
        example.branch.verdict = majority(example.branch.passed, example.branch.failed, repetitions);
        const bool base_passes = example.base.verdict == ReplayVerdict::pass;
        const bool branch_passes = example.branch.verdict == ReplayVerdict::pass;
        const bool base_fails = example.base.verdict == ReplayVerdict::fail;
        // A branch that gives no verdict where the base passes has broken it: a crash is no success.
        result.broken += base_passes && !branch_passes;
        result.with_recorded_tools += example.tool_results > 0;
        if (example.set == ReplaySet::control) {
            ++result.control;
            result.control_base_passed += base_passes;
            result.control_branch_passed += branch_passes;
            continue;
        }
        ++result.evidence;
        result.reproduced += base_fails;
        result.fixed += base_fails && branch_passes;
        fail_to_pass += base_fails && branch_passes;
        pass_to_fail += base_passes && example.branch.verdict == ReplayVerdict::fail;
    }
    result.p = evaluate::mcnemar(pass_to_fail, fail_to_pass).exact_p;
    if (result.broken > 0)
        replay.outcome = ReplayOutcome::regressed;
    else if (result.reproduced == 0)
        replay.outcome = ReplayOutcome::not_reproduced;
    else if (result.fixed == result.reproduced)
        replay.outcome = ReplayOutcome::fixed;
    else
        replay.outcome = result.fixed > 0 ? ReplayOutcome::partly : ReplayOutcome::unchanged;
}

} // namespace hone::signal
