#include "signal/issues.h"
#include "access/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::signal;
using namespace hone::access::testing;
using access::Caller;
using access::Role;

namespace {

Candidate candidate(const std::string& subject = "lookup_order", int64_t traces = 40) {
    Candidate made;
    made.detector = Detector::tool_failure;
    made.subject = subject;
    made.title = subject + " fails";
    made.explanation = "often";
    made.severity = Severity::high;
    made.filter = "status = error";
    made.traces = traces;
    made.share = 0.1;
    made.growth = 3;
    made.confidence = 0.9;
    made.first_seen_ns = 1'772'000'000'000'000'000;
    made.last_seen_ns = 1'772'300'000'000'000'000;
    made.volume = {{1'772'000'000'000'000'000 / hour_ns * hour_ns, traces}};
    made.examples = {{std::string(32, 'a'), std::string(16, 'b'), from_ns(made.last_seen_ns)}};
    return made;
}

struct IssueShop {
    explicit IssueShop(World& given) : world(given), issues(given.database, given.clock, given.access) {
        for (const char* table : {"issue_history", "issue_comments", "issue_volume", "issue_fingerprints", "issues"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        project = world.add_project(world.admin, world.space, "shop");
    }
    Issues::Taken take(const Candidate& found, bool is_back = false) {
        return must(issues.take(world.space, project.id, found,
                                [&](const Candidate&, Time) -> Result<bool> { return is_back; }));
    }
    Issue issue(const IssueId& id) { return must(issues.find(world.admin, id)); }
    Issue set(const IssueId& id, Status status, const std::string& reason = "because") {
        return must(issues.update(world.admin, id, {.status = status, .reason = reason}));
    }
    std::vector<Issue> listed(const IssueFilter& filter = {}) {
        return must(issues.list(world.admin, world.space, filter, {})).data;
    }
    World& world;
    Issues issues;
    access::Project project;
};

} // namespace

TEST_CASE("a finding makes one issue, and the next scan finds it again") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto first = shop.take(candidate());
        CHECK(first.outcome == Outcome::found);
        CHECK(first.needs_notice);
        const auto second = shop.take(candidate("lookup_order", 55));
        CHECK(second.outcome == Outcome::updated);
        CHECK_FALSE(second.needs_notice);
        CHECK(second.id == first.id);
        const Issue issue = shop.issue(first.id);
        CHECK(issue.matches == 2);
        CHECK(issue.traces == 55);
        CHECK(issue.fingerprint == fingerprint_of(shop.project.id, Detector::tool_failure, "lookup_order"));
        CHECK(shop.take(candidate("other")).id != first.id);
        // The hour that two scans saw is counted once.
        const auto volume = must(shop.issues.volume(world.admin, first.id, from_ns(0)));
        REQUIRE(volume.size() == 1);
        CHECK(volume.front().traces == 55);
        const auto stacked = must(shop.issues.project_volume(shop.project.id, from_ns(0)));
        REQUIRE(stacked.size() == 1);
        CHECK(stacked.front().high == 95);
    });
}

TEST_CASE("the traces of an issue are evidence until it is dismissed, or resolved for long") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto evidence = [&] { return must(shop.issues.evidence_traces())[shop.project.id.text()]; };
        const auto kept = shop.take(candidate()).id;
        const auto gone = shop.take(candidate("other")).id;
        CHECK(evidence() == std::vector<std::string>(2, std::string(32, 'a')));
        shop.set(gone, Status::dismissed);
        CHECK(evidence().size() == 1);
        shop.set(kept, Status::resolved);
        world.clock.advance(std::chrono::hours(24 * 89));
        CHECK(evidence().size() == 1);
        world.clock.advance(std::chrono::hours(24 * 2));
        CHECK(evidence().empty());
    });
}

TEST_CASE("the score is the sum of its terms, and each has its reason") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const Issue issue = shop.issue(shop.take(candidate()).id);
        double sum = 0;
        for (const ScoreTerm& term : issue.score_terms) {
            sum += term.points;
            CHECK(term.points <= term.most);
            CHECK_FALSE(term.why.empty());
        }
        CHECK(issue.score_terms.size() == 6);
        CHECK(std::abs(sum - static_cast<double>(issue.score)) <= 0.5);
        // More of everything ranks higher.
        const Issue small = shop.issue(shop.take(candidate("small", 4)).id);
        CHECK(small.score < issue.score);
        CHECK(shop.listed().front().id == issue.id);
    });
}

TEST_CASE(
    "matches of a dismissed issue are counted without notices; a resolved issue reopens only when it occurs again") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto id = shop.take(candidate()).id;
        CHECK(outcome(shop.issues.update(world.admin, id, {.status = Status::dismissed})) == "invalid");
        shop.set(id, Status::dismissed, "known, harmless");
        CHECK(shop.take(candidate(), true).outcome == Outcome::quiet);
        CHECK(shop.issue(id).status == Status::dismissed);
        CHECK(shop.issue(id).quiet_matches == 1);
        CHECK(shop.listed().empty());
        CHECK(shop.listed({.statuses = {Status::dismissed}}).size() == 1);

        shop.set(id, Status::resolved);
        CHECK(shop.take(candidate(), false).outcome == Outcome::updated);
        CHECK(shop.issue(id).status == Status::resolved);
        const auto back = shop.take(candidate(), true);
        CHECK(back.outcome == Outcome::reopened);
        CHECK(back.needs_notice);
        CHECK(shop.issue(id).status == Status::open);
        CHECK(shop.issue(id).reopened == 1);
        const auto history = must(shop.issues.history(world.admin, id, {})).data;
        REQUIRE(history.size() == 4);
        CHECK(history.front().what == "reopened");
        CHECK(history[1].detail == "dismissed → resolved: because");
        CHECK(history.back().what == "found");
    });
}

TEST_CASE("a mute with an end ends by itself") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto id = shop.take(candidate()).id;
        const Time until = world.clock.now() + std::chrono::hours(2);
        CHECK(outcome(shop.issues.update(world.admin, id,
                                         {.status = Status::muted,
                                          .muted_until = std::optional(world.clock.now() - std::chrono::hours(1))})) ==
              "invalid");
        must(shop.issues.update(world.admin, id, {.status = Status::muted, .muted_until = std::optional(until)}));
        CHECK(must(shop.issues.unmute_due()) == 0);
        CHECK(shop.take(candidate()).outcome == Outcome::quiet);
        world.clock.advance(std::chrono::hours(3));
        CHECK(must(shop.issues.unmute_due()) == 1);
        CHECK(shop.issue(id).status == Status::open);
        CHECK_FALSE(shop.issue(id).muted_until);
    });
}

TEST_CASE("merged issues are found as one, and can be split again") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto one = shop.take(candidate("one", 50)).id, two = shop.take(candidate("two", 30)).id;
        must(shop.issues.comment(world.admin, two, "seen at night"));
        CHECK(outcome(shop.issues.merge(world.admin, one, one)) == "invalid");
        must(shop.issues.merge(world.admin, one, two));
        CHECK(outcome(shop.issues.merge(world.admin, one, two)) == "conflict");
        CHECK(shop.issue(two).merged_into == one);
        CHECK(shop.listed({.statuses = {Status::open, Status::resolved}}).size() == 1);
        CHECK(shop.take(candidate("two", 33)).id == one);
        CHECK(must(shop.issues.fingerprints(shop.issue(one))).size() == 2);
        CHECK(must(shop.issues.comments(world.admin, one, {})).data.size() == 1);
        CHECK(must(shop.issues.volume(world.admin, one, from_ns(0))).front().traces == 83);

        const std::string fingerprint = fingerprint_of(shop.project.id, Detector::tool_failure, "two");
        CHECK(outcome(shop.issues.split(world.admin, one, "nothing")) == "not_found");
        const Issue apart = must(shop.issues.split(world.admin, one, fingerprint));
        CHECK(apart.title == "two fails");
        CHECK(shop.take(candidate("two")).id == apart.id);
        CHECK(outcome(shop.issues.split(world.admin, one, shop.issue(one).fingerprint)) == "conflict");
    });
}

TEST_CASE("people's words stay: title and severity, assignee, comments") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto id = shop.take(candidate()).id;
        must(shop.issues.update(world.admin, id,
                                {.severity = Severity::low,
                                 .assignee = std::optional(world.admin.user.text()),
                                 .title = "Orders [cannot](http://x) be found"}));
        shop.take(candidate());
        const Issue issue = shop.issue(id);
        CHECK(issue.title == "Orders cannot (http x) be found");
        CHECK(issue.severity == Severity::low);
        CHECK(issue.assignee_name == "admin@localhost");
        CHECK(outcome(shop.issues.update(world.admin, id, {.assignee = std::optional(std::string("user_x"))})) ==
              "invalid");
        CHECK(outcome(shop.issues.update(world.admin, id, {.status = Status::investigating})) == "invalid");
        CHECK(outcome(shop.issues.comment(world.admin, id, "  ")) == "invalid");
        CHECK(shop.listed({.assignee = world.admin.user.text()}).size() == 1);
    });
}

TEST_CASE("an issue is as visible as its project") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto id = shop.take(candidate()).id;
        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(shop.issues.find(viewer, id)) == "ok");
        CHECK(outcome(shop.issues.update(viewer, id, {.status = Status::resolved})) == "forbidden");
        const auto other = world.add_space("other");
        const Caller stranger = world.join(other, "stranger@example.com", Role::owner);
        CHECK(outcome(shop.issues.find(stranger, id)) == "not_found");
        CHECK(outcome(shop.issues.find(World::guest(), id)) == "unauthorized");
        CHECK(must(shop.issues.list(stranger, other, {}, {})).data.empty());
        CHECK(outcome(shop.issues.list(stranger, world.space, {}, {})) == "not_found");
    });
}

TEST_CASE("an issue follows its pull request: merged is resolved, closed is open again") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto id = shop.take(candidate()).id;
        CHECK(must(shop.issues.settle_fixes()) == 0);
        shop.set(id, Status::fix_proposed);
        must(world.database.execute(
            "INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, "
            "started_by, started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, "
            "cache_write_tokens, output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, "
            "wish, created_at, queued_at) VALUES ('run_1', ?, ?, 'session', '', 'command', '', '{}', 'succeeded', '', "
            "'', '', '{}', 0, 0, 0, 0, 0, 0, 0, 0, 'run_1', '', '', 0, '', 1, 1)",
            world.space, shop.project.id));
        must(world.database.execute(
            "INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, "
            "review, comment, created_at) VALUES ('artifact_1', ?, ?, 'run_1', 'branch', 'b', '', 'x', 0, '', "
            "'approved', '', 1)",
            world.space, shop.project.id));
        must(world.database.execute(
            "INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, host, "
            "fix_of, "
            "forge, branch, target, revision, delivered_revision, state, update_state, url, title, draft, head_commit, "
            "forge_commit, people, their_commits, mergeable, checks, forge_review, error, cause, moved_to, attempts, "
            "next_try_at, etag, told_until, created_at, updated_at) VALUES ('pr_1', ?, ?, 'artifact_1', 'run_1', "
            "'repo_1', 'shop', 'forge', ?, 'github', 'b', 'main', 1, 1, 'open', '', 'https://forge/1', 't', 1, '', '', "
            "'', '[]', '', '', '', '', '', '', 0, 0, '', '', 1, ?)",
            world.space, shop.project.id, id, world.clock.now()));
        CHECK(must(shop.issues.settle_fixes()) == 0);
        const auto end_as = [&](std::string_view state) {
            world.clock.advance(std::chrono::minutes(1));
            must(
                world.database.execute("UPDATE pull_requests SET state = ?, updated_at = ?", state, world.clock.now()));
            CHECK(must(shop.issues.settle_fixes()) == 1);
            CHECK(must(shop.issues.settle_fixes()) == 0);
            return shop.issue(id);
        };
        CHECK(end_as("closed").status == Status::open);
        world.clock.advance(std::chrono::minutes(1));
        shop.set(id, Status::fix_proposed);
        CHECK(must(shop.issues.settle_fixes()) == 0); // the one that was closed is old
        const Issue resolved = end_as("merged");
        CHECK(resolved.status == Status::resolved);
        CHECK(resolved.reason == "pull request merged: https://forge/1");
    });
}

TEST_CASE("a problem that is reported again is the same issue") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto report = [&](const std::string& title) {
            return shop.issues.report(world.admin, world.space, shop.project.id, "run_1",
                                      {title, "seen", {}, "status = error", std::vector{std::string(32, 'c')}, {}});
        };
        const Issue first = must(report("Order 17 is lost"));
        CHECK(first.detector == Detector::reported);
        CHECK(first.reported_by == "run_1");
        CHECK(must(report("Order 99 is lost")).id == first.id);
        CHECK(shop.issue(first.id).matches == 2);
        shop.set(first.id, Status::resolved);
        CHECK(must(report("Order 1 is lost")).status == Status::open);
        CHECK(outcome(report("  ")) == "invalid");
        CHECK(outcome(shop.issues.report(world.admin, world.space, shop.project.id, "x",
                                         {"t", "e", {}, "status = = x", {}, {}})) == "invalid");
        CHECK(outcome(shop.issues.report(world.admin, world.space, shop.project.id, "x",
                                         {"t", "e", {}, {}, std::vector<std::string>{"nope"}, {}})) == "invalid");
    });
}

TEST_CASE("pages of issues follow the ranking") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        for (int i = 0; i < 7; ++i) shop.take(candidate("tool" + std::to_string(i), 5 + i % 3 * 40));
        std::vector<Issue> all;
        std::optional<std::string> cursor;
        do {
            auto page = must(shop.issues.list(world.admin, world.space, {}, {.limit = 2, .cursor = cursor}));
            all.insert(all.end(), page.data.begin(), page.data.end());
            cursor = page.next_cursor;
        } while (cursor);
        REQUIRE(all.size() == 7);
        for (size_t i = 1; i < all.size(); ++i)
            CHECK((all[i - 1].score > all[i].score || (all[i - 1].score == all[i].score && all[i - 1].id > all[i].id)));
        CHECK(outcome(shop.issues.list(world.admin, world.space, {}, {.limit = 2, .cursor = "eA"})) == "invalid");
    });
}

TEST_CASE("the key of a run sees the issues of its project in tools, and no others") {
    for_each_world([](World& world) {
        IssueShop shop(world);
        const auto issue = shop.take(candidate()).id;
        const access::Project other = world.add_project(world.admin, world.space, "other");
        Caller worker;
        worker.kind = access::CallerKind::key;
        worker.key = access::KeyId("key_run");
        worker.roles[world.space] = Role::viewer;
        worker.scope.add(access::Permission::project_read);
        worker.run = "run_1";
        worker.bound_project = shop.project.id;
        CHECK_FALSE(shop.issues.find(worker, issue).ok());
        CHECK(must(shop.issues.find_for_tool(worker, issue)).id == issue);
        CHECK(must(shop.issues.list_for_tool(worker, shop.project, {}, {})).data.size() == 1);
        CHECK(shop.issues.list_for_tool(worker, other, {}, {}).error().code == Code::not_found);
        worker.bound_project = other.id;
        CHECK(shop.issues.find_for_tool(worker, issue).error().code == Code::not_found);
        // A caller that is no worker needs issue_read.
        worker.run.clear();
        worker.bound_project = shop.project.id;
        CHECK_FALSE(shop.issues.find_for_tool(worker, issue).ok());
        CHECK(shop.issues.list_for_tool(worker, shop.project, {}, {}).error().code == Code::forbidden);
        CHECK(must(shop.issues.find_for_tool(world.admin, issue)).id == issue);
    });
}
