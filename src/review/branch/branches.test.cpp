#include "access/testing.h"
#include "forge/testing.h"
#include "review/branch/verifier.h"
#include "review/delivery/delivery.h"
#include "review/reviews.h"
#include "review/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::review;
using namespace hone::access::testing;
using access::Caller;
using access::Role;

namespace {

constexpr std::string_view commit_a = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

// Runs as the tests need them: one, which remembers what it is told.
class OneRun final : public RunSource {
public:
    Result<RunFacts> facts(const std::string&) override { return known; }
    Result<> note(const std::string&, const ArtifactId&, const std::string& line) override {
        notes.push_back(line);
        return {};
    }
    Result<> send_follow_up(const Caller&, const std::string&, const std::string& message) override {
        told.push_back(message);
        return {};
    }
    RunFacts known;
    std::vector<std::string> notes, told;
};

struct BranchDesk {
    explicit BranchDesk(World& given)
        : world(given),
          artifacts(given.database, given.clock, given.access, folder.path),
          branches(given.database, given.clock, artifacts, runs),
          reviews(given.database, given.clock, given.access, artifacts, branches, runs),
          pull_requests(given.database, given.clock, given.access) {
        const auto project = world.add_project(world.admin, world.space, "shop");
        testing::add_run(world, project.id);
        runs.known.space = world.space;
        runs.known.project = project.id;
        runs.known.starter = world.admin.principal();
    }
    forge::Push push(const std::string& head, const std::string& branch = "hone/run_1/fix") const {
        return {world.space, "run_1", "repo_1", "shop", branch, std::string(commit_a), head};
    }
    ArtifactId only() {
        const auto page = must(reviews.list(world.admin, world.space, {.kind = ArtifactKind::branch}, {}));
        REQUIRE(page.data.size() >= 1);
        return page.data.front().artifact.id;
    }
    // As the inspector would.
    void inspect(const std::string& diff, const std::string& subject = "Refund whole orders") {
        const auto waiting = must(branches.next_pending());
        REQUIRE(waiting.has_value());
        Inspected found;
        found.title = subject;
        found.commits = {{"1234567890", "w <w@example.com>", subject}};
        found.diff = must(parse_diff(diff));
        found.diff_text = diff;
        found.patch = "From 1234567890\n" + diff;
        must(branches.inspected(*waiting, found));
    }

    World& world;
    sandbox::Folder folder;
    OneRun runs;
    Artifacts artifacts;
    Branches branches;
    Reviews reviews;
    PullRequests pull_requests;
};

std::string diff_of(const std::string& path, const std::string& added) {
    return "diff --git a/" + path + " b/" + path + "\nindex 1..2 100644\n--- a/" + path + "\n+++ b/" + path +
           "\n@@ -1,2 +1,2 @@\n same\n-old\n+" + added + "\n";
}

} // namespace

TEST_CASE("a branch is pushed, commented, sent back, pushed again, approved by two, and waits for its pull request") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        desk.runs.known.policy.approvals = int64_t{2};
        desk.runs.known.policy.not_starter = true;
        const Caller ada = world.join(world.space, "ada@example.com", Role::member);
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        must(desk.branches.pushed(desk.push("b1")));
        const ArtifactId id = desk.only();
        CHECK(outcome(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 1})) ==
              "conflict"); // no diff yet
        desk.inspect(diff_of("a.py", "new"));
        CHECK(must(desk.artifacts.find(ada, id)).summary == "Refund whole orders");
        // Comments stand on lines that the diff shows.
        CHECK(outcome(desk.reviews.comment(viewer, id, {.path = "a.py", .line = 2, .body = "why?"})) == "forbidden");
        CHECK(outcome(desk.reviews.comment(ada, id, {.path = "b.py", .body = "why?"})) == "invalid");
        CHECK(outcome(desk.reviews.comment(ada, id, {.path = "a.py", .line = 9, .body = "why?"})) == "invalid");
        const Comment first = must(desk.reviews.comment(ada, id, {.path = "a.py", .line = 2, .body = "why?"}));
        const Comment reply = must(desk.reviews.comment(bob, id, {.reply_to = first.id.text(), .body = "because"}));
        CHECK(reply.line == 2);
        CHECK(outcome(desk.reviews.change_comment(bob, id, first.id, "mine", std::nullopt)) == "forbidden");
        must(desk.reviews.set_viewed(ada, id, "a.py", true));
        CHECK(must(desk.reviews.viewed(ada, id)) == std::vector<std::string>{"a.py"});
        CHECK(must(desk.reviews.viewed(bob, id)).empty());
        // The line's comments are reason enough; they go to the session as data.
        must(desk.reviews.decide(ada, id, ReviewState::changes_requested, {}));
        REQUIRE(desk.runs.told.size() == 1);
        CHECK(desk.runs.told[0].find("\"line\": 2") != std::string::npos);
        CHECK(desk.runs.told[0].find("because") != std::string::npos);
        CHECK(must(desk.artifacts.find(ada, id)).review == ReviewState::changes_requested);
        // The same commit again is nothing new; another one is the next revision, and waits again.
        must(desk.branches.pushed(desk.push("b1")));
        CHECK(must(desk.branches.revisions(id)).size() == 1);
        must(desk.branches.pushed(desk.push("b2")));
        desk.inspect(diff_of("a.py", "newer"));
        CHECK(must(desk.artifacts.find(ada, id)).review == ReviewState::pending);
        CHECK(must(desk.reviews.viewed(ada, id)).empty()); // the file changed since
        CHECK(must(desk.branches.revisions(id)).size() == 2);
        CHECK(outcome(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 1})) == "conflict");
        CHECK(outcome(desk.reviews.decide(ada, id, ReviewState::approved, {})) == "invalid"); // names no revision
        CHECK(outcome(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 2, .digest = "other"})) ==
              "conflict");
        CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, {.revision = 2})) ==
              "forbidden"); // the starter
        CHECK(must(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 2})).review ==
              ReviewState::pending);
        CHECK(outcome(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 2})) ==
              "forbidden"); // twice is once
        CHECK_FALSE(must(desk.pull_requests.of_artifact(id)).has_value());
        CHECK(must(desk.reviews.decide(bob, id, ReviewState::approved, {.revision = 2})).review ==
              ReviewState::approved);
        const ReviewView view = must(desk.reviews.find(ada, id));
        CHECK(view.approvals == 2);
        CHECK(view.decisions.size() == 3);
        REQUIRE(view.pull_request.has_value());
        CHECK(view.pull_request->state == PullRequestState::queued);
        CHECK(view.pull_request->revision == 2);
        CHECK(must(world.access.audit.verify(world.admin)).ok);
    });
}

TEST_CASE("blocking flags need an explicit allow, a rejected branch stays rejected") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        must(desk.branches.pushed(desk.push("b1")));
        desk.inspect(diff_of(".github/workflows/ci.yml", "run: curl"));
        const ArtifactId id = desk.only();
        CHECK(must(desk.reviews.find(world.admin, id)).revisions[0].blocking_flags == 1);
        CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, {.revision = 1})) == "conflict");
        Decide allowed;
        allowed.revision = 1;
        allowed.allow_protected = true;
        CHECK(outcome(desk.reviews.decide(world.admin, id, ReviewState::approved, allowed)) == "ok");
        must(desk.branches.pushed(desk.push("c1", "hone/run_1/other")));
        desk.inspect(diff_of("a.py", "x"));
        const ArtifactId other = desk.only();
        must(desk.reviews.decide(world.admin, other, ReviewState::rejected, {}));
        CHECK(outcome(desk.branches.pushed(desk.push("c2", "hone/run_1/other"))) == "conflict");
    });
}

TEST_CASE("one open pull request per issue, and no more per repository than the preset allows") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        desk.runs.known.fix_of = "issue_1";
        must(desk.branches.pushed(desk.push("b1")));
        desk.inspect(diff_of("a.py", "x"));
        must(desk.reviews.decide(world.admin, desk.only(), ReviewState::approved, {.revision = 1}));
        must(desk.branches.pushed(desk.push("c1", "hone/run_1/second")));
        desk.inspect(diff_of("a.py", "y"));
        const auto second = desk.reviews.decide(world.admin, desk.only(), ReviewState::approved, {.revision = 1});
        REQUIRE_FALSE(second.ok());
        CHECK(second.error().message.find("issue_1 has an open pull request") != std::string::npos);
        desk.runs.known.fix_of.clear();
        desk.runs.known.policy.open_pull_requests = int64_t{1};
        must(desk.branches.pushed(desk.push("d1", "hone/run_1/third")));
        desk.inspect(diff_of("a.py", "z"));
        const auto third = desk.reviews.decide(world.admin, desk.only(), ReviewState::approved, {.revision = 1});
        REQUIRE_FALSE(third.ok());
        CHECK(third.error().message.find("as many as the preset allows") != std::string::npos);
        CHECK(must(desk.artifacts.find(world.admin, desk.only())).review == ReviewState::pending);
    });
}

TEST_CASE("a preset that wants no person still wants nothing flagged and everything green") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        desk.runs.known.approved = true;
        desk.runs.known.policy.verification = std::vector<VerificationCommand>{{"tests", "make test"}};
        must(desk.branches.pushed(desk.push("b1")));
        desk.inspect(diff_of("a.py", "x"));
        CHECK_FALSE(must(desk.reviews.approve_automatic()));
        const auto waiting = must(desk.branches.next_unverified());
        REQUIRE(waiting.has_value());
        must(desk.branches.verified(*waiting, VerificationState::green, {}));
        CHECK(must(desk.reviews.approve_automatic()));
        CHECK(must(desk.artifacts.find(world.admin, desk.only())).reviewer == "policy of the preset");
        must(desk.branches.pushed(desk.push("c1", "hone/run_1/ci")));
        desk.inspect(diff_of(".github/x.yml", "x"));
        must(desk.branches.verified(must(desk.branches.next_unverified()).value(), VerificationState::green, {}));
        CHECK_FALSE(must(desk.reviews.approve_automatic()));
    });
}

TEST_CASE("the text of a pull request mentions no user and contains no secret") {
    Branch branch;
    branch.run_id = "run_1";
    Revision revision;
    revision.files = 1;
    revision.commits = {
        {"1", "w", "Fix refunds\n\nThanks @octocat <!-- hidden -->\nghp_0123456789abcdefghijklmnopqrstuvwxyz"}};
    revision.verification_results = {
        {"tests", "make | test", VerificationRun{1, false, 5, ""}, VerificationRun{0, false, 5, ""}}};
    const std::string body =
        pull_request_body(branch, revision, {.root_cause = "Because of @team"}, {"ada@example.com"});
    CHECK(body.find("@octocat") == std::string::npos);
    CHECK(body.find("@team") == std::string::npos);
    CHECK(body.find("<!--") == std::string::npos);
    CHECK(body.find("ghp_") == std::string::npos);
    CHECK(body.find("| tests (`make   test`) | red (exit 1) | green |") != std::string::npos);
    CHECK(body.find("ada@example.com") != std::string::npos);
}

TEST_CASE("of several servers the one that received a branch inspects, verifies and delivers it") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        VerificationCommand tests;
        tests.name = "tests";
        tests.command = "true";
        desk.runs.known.policy.verification = std::vector{tests};
        const Caller ada = world.join(world.space, "ada@example.com", Role::member);
        Branches other(world.database, world.clock, desk.artifacts, desk.runs);
        PullRequests others_requests(world.database, world.clock, world.access);
        std::vector<std::string> live{"b"};
        desk.branches.set_server("a", [] { return std::vector<std::string>{"b"}; });
        other.set_server("b", [&] { return live; });
        desk.pull_requests.set_server("a");
        others_requests.set_server("b");
        must(desk.branches.pushed(desk.push("b1")));
        const ArtifactId id = desk.only();
        CHECK_FALSE(must(other.next_pending()).has_value());
        desk.inspect(diff_of("a.py", "new"));
        CHECK_FALSE(must(other.next_unverified()).has_value());
        const auto waiting = must(desk.branches.next_unverified());
        REQUIRE(waiting.has_value());
        must(desk.branches.require_here(id, 1));
        CHECK(other.require_here(id, 1).error().message.find("on the server a") != std::string::npos);
        // Another server starts: what this one verifies is not begun again.
        must(desk.branches.verifying(*waiting));
        must(other.restart());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::running);
        must(desk.branches.restart());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::pending);
        // Its result could not be written: it waits again, and not by another server.
        must(desk.branches.verifying(*waiting));
        must(other.verify_again());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::running);
        must(desk.branches.verify_again());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::pending);
        // A lost server's branches fail with a reason, and wait again when it is back.
        live = {"a"};
        must(other.fail_lost());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::pending);
        live = {};
        must(desk.branches.pushed(desk.push("b2", "hone/run_1/other")));
        must(other.fail_lost());
        const Revision failed = must(desk.branches.revision(id, 1));
        CHECK(failed.verification == VerificationState::failed);
        REQUIRE(failed.verification_results.size() == 1);
        CHECK(failed.verification_results[0].branch->output ==
              "the commits are on the server a, which is lost: they wait until it is started again");
        CHECK_FALSE(must(desk.branches.next_pending()).has_value());
        must(other.restart());
        CHECK_FALSE(must(desk.branches.next_pending()).has_value());
        must(desk.branches.restart());
        CHECK(must(desk.branches.next_pending()).has_value());
        CHECK(must(desk.branches.revision(id, 1)).verification == VerificationState::pending);
        must(desk.branches.verified(*waiting, VerificationState::green, {}));
        // Approved, it is pushed by the server that has it; any server follows what is on the forge.
        must(desk.reviews.decide(ada, id, ReviewState::approved, {.revision = 1}));
        CHECK_FALSE(must(others_requests.next_due({})).has_value());
        auto due = must(desk.pull_requests.next_due({}));
        REQUIRE(due.has_value());
        const Time seen = due->updated_at;
        due->state = PullRequestState::open;
        REQUIRE(must(desk.pull_requests.update(*due, seen)));
        const auto both = must(others_requests.next_due({}));
        REQUIRE(both.has_value());
        // One at a time; when it is killed, the other one does.
        CHECK(must(others_requests.claim(*both)));
        CHECK_FALSE(must(desk.pull_requests.claim(*both)));
        CHECK_FALSE(must(desk.pull_requests.next_due({})).has_value());
        world.clock.advance(std::chrono::minutes(3));
        CHECK(must(desk.pull_requests.next_due({})).has_value());
    });
}

TEST_CASE("a branch that was pushed before servers were recorded is inspected by any") {
    for_each_world([](World& world) {
        BranchDesk desk(world);
        must(desk.branches.pushed(desk.push("b1")));
        desk.branches.set_server("a", [] { return std::vector<std::string>{}; });
        must(desk.branches.fail_lost());
        CHECK(must(desk.branches.next_pending()).has_value());
    });
}
