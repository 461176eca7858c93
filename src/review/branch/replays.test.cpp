// Replays of branches on both engines: who works on one, what a new start replaces, what an approval needs.
#include "review/branch/replays.h"
#include "access/testing.h"
#include "forge/testing.h"
#include "review/delivery/pull_request_body.h"
#include "review/reviews.h"
#include "review/testing.h"

#include <doctest/doctest.h>

namespace hone::review {

namespace {

using namespace access::testing;

class ReplayedRun final : public RunSource {
public:
    Result<RunFacts> facts(const std::string&) override { return known; }
    Result<> note(const std::string&, const ArtifactId&, const std::string&) override { return {}; }
    Result<> send_follow_up(const access::Caller&, const std::string&, const std::string&) override { return {}; }
    RunFacts known;
};

struct ReplayDesk {
    explicit ReplayDesk(World& given)
        : world(given),
          artifacts(given.database, given.clock, given.access, folder.path),
          branches(given.database, given.clock, artifacts, runs),
          reviews(given.database, given.clock, given.access, artifacts, branches, runs),
          replays(given.database, given.clock) {
        const auto project = world.add_project(world.admin, world.space, "shop");
        testing::add_run(world, project.id);
        runs.known.space = world.space;
        runs.known.project = project.id;
        runs.known.fix_of = "issue_1";
        runs.known.policy.replay.value.command = std::string("python3 replay.py");
        runs.known.policy.require_replayed = true;
    }
    // A pushed branch with its diff.
    ArtifactId push(const std::string& head) {
        must(branches.pushed({world.space, "run_1", "repo_1", "shop", "hone/run_1/fix", std::string(40, 'a'), head}));
        const auto waiting = must(branches.next_pending());
        REQUIRE(waiting.has_value());
        Inspected found;
        found.title = "Fix";
        found.commits = {{head, "w <w@example.com>", "Fix"}};
        found.diff_text = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n";
        found.diff = must(parse_diff(found.diff_text));
        must(branches.inspected(*waiting, found));
        return waiting->artifact;
    }
    void end(BranchReplay replay, ReplayState state, ReplayOutcome outcome) {
        replay.state = state;
        replay.outcome = outcome;
        CHECK(must(replays.stop(replay)));
    }

    World& world;
    sandbox::Folder folder;
    ReplayedRun runs;
    Artifacts artifacts;
    Branches branches;
    Reviews reviews;
    Replays replays;
};

} // namespace

TEST_CASE("a policy that requires a replayed fix queues one with each push, and approves nothing before it is fixed") {
    for_each_world([](World& world) {
        ReplayDesk desk(world);
        const ArtifactId id = desk.push("b1");
        const auto queued = must(desk.replays.find(id, 1));
        REQUIRE(queued);
        CHECK(queued->state == ReplayState::queued);
        CHECK(*queued->settings.issue == "issue_1");
        CHECK(*queued->settings.automatic);
        Decide approve;
        approve.revision = 1;
        CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, approve)) == "forbidden");
        CHECK(must(desk.reviews.find(world.admin, id)).cannot_approve.value().find("queued") != std::string::npos);
        for (const auto not_enough : {ReplayOutcome::partly, ReplayOutcome::not_reproduced, ReplayOutcome::regressed}) {
            desk.end(must(desk.replays.find(id, 1)).value(), ReplayState::done, not_enough);
            CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, approve)) == "forbidden");
            must(world.database.write([&](sql::Transaction& transaction) -> Result<> {
                return Replays::enqueue(transaction, id, 1, queued->settings, "ada", world.clock.now());
            }));
        }
        desk.end(must(desk.replays.find(id, 1)).value(), ReplayState::done, ReplayOutcome::fixed);
        CHECK(must(desk.reviews.decide(world.admin, id, ReviewState::approved, approve)).review ==
              ReviewState::approved);
    });
}

TEST_CASE("a fix of an earlier revision proves nothing about a later one") {
    for_each_world([](World& world) {
        ReplayDesk desk(world);
        const ArtifactId id = desk.push("b1");
        desk.end(must(desk.replays.find(id, 1)).value(), ReplayState::done, ReplayOutcome::fixed);
        desk.push("b2");
        Decide approve;
        approve.revision = 2;
        CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, approve)) == "forbidden");
        CHECK(must(desk.reviews.find(world.admin, id)).replay->revision == 2);
    });
}

TEST_CASE("a preset that wants no person waits for the replay, and approves only a fix") {
    for_each_world([](World& world) {
        ReplayDesk desk(world);
        desk.runs.known.approved = true;
        const ArtifactId id = desk.push("b1");
        CHECK_FALSE(must(desk.reviews.approve_automatic()));
        desk.end(must(desk.replays.find(id, 1)).value(), ReplayState::done, ReplayOutcome::fixed);
        CHECK(must(desk.reviews.approve_automatic()));
        CHECK(must(desk.artifacts.find(world.admin, id)).review == ReviewState::approved);
    });
}

TEST_CASE("one server works on a replay; when it dies, another one continues after its lease") {
    for_each_world([](World& world) {
        ReplayDesk desk(world);
        const ArtifactId id = desk.push("b1");
        auto mine = must(desk.replays.claim("a"));
        REQUIRE(mine);
        CHECK(mine->artifact_id == id);
        CHECK_FALSE(must(desk.replays.claim("b")));
        world.clock.advance(Replays::lease + std::chrono::seconds(1));
        auto theirs = must(desk.replays.claim("b"));
        REQUIRE(theirs);
        // The first server was frozen, and thaws: it changes nothing, also not the lease of the other.
        mine->settings.timeout_seconds = int64_t{7};
        mine->state = ReplayState::failed;
        CHECK_FALSE(must(desk.replays.started(*mine, "a")));
        CHECK_FALSE(must(desk.replays.release(*mine, "a", Duration{})));
        CHECK_FALSE(must(desk.replays.end(*mine, "a")));
        CHECK_FALSE(must(desk.replays.claim("c")));
        CHECK(must(desk.replays.find(id, 1))->state == ReplayState::queued);
        CHECK(must(desk.replays.started(*theirs, "b")));
        CHECK(must(desk.replays.release(*theirs, "b", Duration{})));
        CHECK_FALSE(must(desk.replays.release(*theirs, "b", Duration{}))); // it is nobody's
        world.clock.advance(std::chrono::seconds(1));
        auto last = must(desk.replays.claim("a"));
        REQUIRE(last);
        last->state = ReplayState::done;
        last->outcome = ReplayOutcome::fixed;
        CHECK_FALSE(must(desk.replays.end(*theirs, "b")));
        CHECK(must(desk.replays.end(*last, "a")));
        CHECK_FALSE(must(desk.replays.end(*last, "a")));
        CHECK_FALSE(must(desk.replays.claim("b")));
        CHECK(must(desk.replays.find(id, 1))->outcome == ReplayOutcome::fixed);
    });
}

TEST_CASE("a new start replaces what has ended, and is a conflict before") {
    for_each_world([](World& world) {
        ReplayDesk desk(world);
        const ArtifactId id = desk.push("b1");
        const auto enqueue = [&] {
            return world.database.write([&](sql::Transaction& transaction) -> Result<> {
                return Replays::enqueue(transaction, id, 1, {}, "ada", world.clock.now());
            });
        };
        CHECK(outcome(enqueue()) == "conflict");
        const auto first = must(desk.replays.find(id, 1)).value();
        desk.end(first, ReplayState::stopped, ReplayOutcome::none);
        must(enqueue());
        CHECK(must(desk.replays.find(id, 1))->attempt == 2);
        // A server that still works on the first attempt changes nothing.
        BranchReplay late = first;
        late.state = ReplayState::done;
        late.outcome = ReplayOutcome::fixed;
        CHECK_FALSE(must(desk.replays.stop(late)));
        CHECK(must(desk.replays.find(id, 1))->state == ReplayState::queued);
    });
}

TEST_CASE("settings of a replay that cannot be are refused with the name of the field") {
    ReviewPolicy policy;
    policy.require_replayed = true;
    CHECK(validate(policy).error().message.find("review.replay.command") != std::string::npos);
    policy.replay.value.command = std::string("run");
    CHECK(validate(policy).ok());
    policy.replay.value.repetitions = int64_t{10};
    CHECK(validate(policy).error().message.find("replay.repetitions") != std::string::npos);
    policy.replay.value.repetitions = int64_t{3};
    policy.replay.value.command = std::string("a\0b", 3);
    CHECK_FALSE(validate(policy).ok());
    policy.replay.value.command = std::string("run");
    policy.replay.value.evidence = int64_t{0};
    CHECK_FALSE(validate(policy).ok());
}

TEST_CASE("the block of a pull request has numbers, at most 4 KiB, and no text of traces") {
    BranchReplay replay;
    replay.state = ReplayState::done;
    replay.outcome = ReplayOutcome::fixed;
    replay.settings.evaluator = std::string("no | loop@1");
    for (int i = 0; i < 120; ++i) {
        ReplayedExample example;
        example.set = i < 20 ? ReplaySet::evidence : ReplaySet::control;
        example.trace_id = std::string(32, 'a');
        replay.result.examples.push_back(example);
    }
    replay.result.evidence = replay.result.reproduced = replay.result.fixed = 20;
    replay.result.not_replayed = {
        {ReplaySet::evidence, std::string(32, 'b'), "it continues the chat session secret-7"}};
    replay.result.problem = "stderr: private words";
    const std::string block = replay_block(replay);
    CHECK(block.size() <= 4096);
    CHECK(block.find("**Fixed**: base 20/20 fail → branch 20/20 pass") != std::string::npos);
    CHECK(block.find("1 traces could not be replayed") != std::string::npos);
    CHECK(block.find("further examples are in the review") != std::string::npos);
    CHECK(block.find("secret-7") == std::string::npos);
    CHECK(block.find("private words") == std::string::npos);
    CHECK(block.find("no | loop") == std::string::npos); // it would end a cell of the table
    replay.state = ReplayState::running;
    CHECK(replay_block(replay).empty());
}

} // namespace hone::review
