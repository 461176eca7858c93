#include "signal/replay/fix_verdicts.h"

#include <cmath>
#include <doctest/doctest.h>

namespace hone::signal {

namespace {

using review::BranchReplay, review::ReplayedExample, review::ReplayOutcome, review::ReplaySet, review::ReplaySide,
    review::ReplayVerdict;

constexpr ReplaySide passes{3, 0}, fails{0, 3}, silent{0, 0};

BranchReplay replay_of(int count, ReplaySide base, ReplaySide branch, ReplaySet set = ReplaySet::evidence) {
    BranchReplay replay;
    for (int i = 0; i < count; ++i) {
        ReplayedExample example;
        example.set = set;
        example.base = base;
        example.branch = branch;
        replay.result.examples.push_back(example);
    }
    return replay;
}

void append(BranchReplay& replay, const BranchReplay& more) {
    for (const auto& example : more.result.examples) replay.result.examples.push_back(example);
}

ReplayOutcome outcome_of(BranchReplay replay) {
    conclude(replay);
    return replay.outcome;
}

} // namespace

TEST_CASE("a verdict of repetitions needs the majority of all of them") {
    CHECK(majority(2, 1, 3) == ReplayVerdict::pass);
    CHECK(majority(1, 2, 3) == ReplayVerdict::fail);
    CHECK(majority(1, 0, 3) == ReplayVerdict::none); // two runs crashed
    CHECK(majority(1, 1, 2) == ReplayVerdict::none);
    CHECK(majority(0, 0, 3) == ReplayVerdict::none);
    CHECK(majority(1, 0, 1) == ReplayVerdict::pass);
}

TEST_CASE("six fixed examples with an intact control set are a fix with p = 0.031") {
    BranchReplay replay = replay_of(6, fails, passes);
    append(replay, replay_of(20, passes, passes, ReplaySet::control));
    conclude(replay);
    CHECK(replay.outcome == ReplayOutcome::fixed);
    CHECK(replay.result.reproduced == 6);
    CHECK(replay.result.fixed == 6);
    CHECK(replay.result.control_base_passed == 20);
    CHECK(replay.result.control_branch_passed == 20);
    CHECK(std::abs(replay.result.p - 0.03125) < 1e-12);
    replay.result.spent_micro_usd = 420'000;
    CHECK(review::replay_sentence(replay) ==
          "base 6/6 fail → branch 6/6 pass, control 20/20 → 20/20, exact p = 0.031, 3 repetitions, $0.42");
}

TEST_CASE("five fixed examples do not reach p < 0.05") {
    BranchReplay replay = replay_of(5, fails, passes);
    conclude(replay);
    CHECK(std::abs(replay.result.p - 0.0625) < 1e-12);
}

TEST_CASE("what does not fail on the base is never called fixed") {
    CHECK(outcome_of(replay_of(6, passes, passes)) == ReplayOutcome::not_reproduced);
    CHECK(outcome_of(replay_of(6, silent, passes)) == ReplayOutcome::not_reproduced);
    CHECK(outcome_of(BranchReplay{}) == ReplayOutcome::not_reproduced);
}

TEST_CASE("some fixed examples are a part of a fix, none of them no change") {
    BranchReplay replay = replay_of(3, fails, passes);
    append(replay, replay_of(3, fails, fails));
    CHECK(outcome_of(replay) == ReplayOutcome::partly);
    CHECK(outcome_of(replay_of(6, fails, fails)) == ReplayOutcome::unchanged);
    CHECK(outcome_of(replay_of(6, fails, silent)) == ReplayOutcome::unchanged);
}

TEST_CASE("a control that fails or crashes on the branch is a regression, also beside a complete fix") {
    BranchReplay failing = replay_of(6, fails, passes);
    append(failing, replay_of(1, passes, fails, ReplaySet::control));
    CHECK(outcome_of(failing) == ReplayOutcome::regressed);
    BranchReplay crashing = replay_of(6, fails, passes);
    append(crashing, replay_of(1, passes, silent, ReplaySet::control));
    CHECK(outcome_of(crashing) == ReplayOutcome::regressed);
    // One that does not pass on the base either has broken nothing.
    BranchReplay broken_before = replay_of(6, fails, passes);
    append(broken_before, replay_of(1, fails, fails, ReplaySet::control));
    CHECK(outcome_of(broken_before) == ReplayOutcome::fixed);
}

} // namespace hone::signal
