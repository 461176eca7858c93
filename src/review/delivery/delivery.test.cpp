// Forges are independent, and what is over stays as it is: rows in both databases, a forge that a test holds.
#include "review/delivery/delivery.h"

#include "access/testing.h"
#include "forge/testing.h"
#include "review/reviews.h"
#include "review/testing.h"

#include <condition_variable>
#include <doctest/doctest.h>
#include <thread>

using namespace hone;
using namespace hone::review;
using namespace hone::access::testing;
using namespace std::chrono_literals;

namespace {

class FollowedRun final : public RunSource {
public:
    Result<RunFacts> facts(const std::string&) override { return known; }
    Result<> note(const std::string&, const ArtifactId&, const std::string&) override { return {}; }
    Result<> send_follow_up(const access::Caller&, const std::string&, const std::string&) override { return {}; }
    RunFacts known;
};

// Each repository is on a host of its own: repo_a on a.example.com.
class RepoPerHost final : public RepoSource {
public:
    explicit RepoPerHost(access::SpaceId space) : m_space(std::move(space)) {}
    Result<RepoPlace> place(const std::string&, const std::string& repo) override {
        if (repo == "repo_gone") return not_found("repository repo_gone");
        RepoPlace place;
        place.space = m_space;
        place.url = "https://" + repo.substr(5) + ".example.com/team/shop";
        place.default_branch = "main";
        return place;
    }

private:
    const access::SpaceId m_space;
};

// A Gitea on every host; requests to `held` wait until they are released, and then fail.
class HeldForge final : public forge::ForgeHttp, public PullRequestContextSource {
public:
    Result<net::ClientResponse> send(const forge::Remote&, net::ClientRequest request) override {
        if (!held.empty() && request.url.find(held) != std::string::npos) {
            std::unique_lock lock(m_mutex);
            ++waiting;
            m_changed.notify_all();
            m_changed.wait(lock, [&] { return m_released; });
            return unavailable("the response timed out");
        }
        net::ClientResponse response;
        response.status = 200;
        response.headers = {{"content-type", "application/json"}};
        response.body = R"({"version":"1.26.0"})";
        if (request.url.find("/pulls/1") != std::string::npos) response.body = pull_request;
        if (request.url.find("/reviews") != std::string::npos) response.body = "[]";
        return response;
    }
    Result<PullRequestContext> context(const PullRequest&) override { return PullRequestContext{}; }
    void ended(const PullRequest&) override {}

    void wait_for_request() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return waiting > 0; });
    }
    void release() {
        const std::lock_guard lock(m_mutex);
        m_released = true;
        m_changed.notify_all();
    }

    std::string held;
    int waiting = 0;
    std::string pull_request = R"({"number":1,"state":"open","title":"Fix","html_url":"https://x/1","draft":false,
        "base":{"ref":"main"},"head":{"ref":"hone/run_1/a","sha":"aa"},"user":{"login":"bot"}})";

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_released = false;
};

struct DeliveryDesk {
    explicit DeliveryDesk(World& given)
        : world(given),
          artifacts(given.database, given.clock, given.access, bench.folder.path),
          branches(given.database, given.clock, artifacts, runs),
          reviews(given.database, given.clock, given.access, artifacts, branches, runs),
          pull_requests(given.database, given.clock, given.access),
          repos(given.space),
          delivery({given.database, given.clock, artifacts, branches, pull_requests, runs, repos, bench.git, forge,
                    forge, bench.folder.path + "/scratch"}) {
        const auto project = world.add_project(world.admin, world.space, "shop");
        testing::add_run(world, project.id);
        runs.known.space = world.space;
        runs.known.project = project.id;
        runs.known.policy.open_pull_requests = int64_t{100};
    }

    // An approved branch of a repository.
    PullRequest approve(const std::string& repo, const std::string& name, const std::string& head = "b1") {
        const std::string diff =
            "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+" + name + head + "\n";
        must(branches.pushed({world.space, "run_1", repo, "shop", "hone/run_1/" + name, std::string(40, 'a'), head}));
        const auto waiting = must(branches.next_pending()).value();
        Inspected found;
        found.title = "Fix " + name;
        found.commits = {{"1", "w <w@example.com>", found.title}};
        found.diff = must(parse_diff(diff));
        found.diff_text = diff;
        must(branches.inspected(waiting, found));
        Decide wanted;
        wanted.revision = waiting.revision;
        must(reviews.decide(world.admin, waiting.artifact, ReviewState::approved, wanted));
        return must(pull_requests.of_artifact(waiting.artifact)).value();
    }
    // The same, as if its pull request were open since.
    PullRequest open(const std::string& repo, const std::string& name) {
        const PullRequest made = approve(repo, name);
        must(
            world.database.execute("UPDATE pull_requests SET state = 'open', number = 1, url = 'https://x/1', target = "
                                   "'main', head_commit = 'aa', forge_commit = 'aa', draft = 0, delivered_revision = 1 "
                                   "WHERE id = ?",
                                   made.id));
        return find(made);
    }
    PullRequest find(const PullRequest& one) { return must(pull_requests.find(world.admin, one.id)); }
    std::vector<std::string> events(const PullRequest& one) {
        std::vector<std::string> kinds;
        for (const auto& event : must(pull_requests.events(world.admin, one.id, {})).data)
            kinds.emplace_back(name_of(event.kind));
        return kinds;
    }

    World& world;
    forge::testing::Workbench bench;
    FollowedRun runs;
    Artifacts artifacts;
    Branches branches;
    Reviews reviews;
    PullRequests pull_requests;
    HeldForge forge;
    RepoPerHost repos;
    Delivery delivery;
};

} // namespace

TEST_CASE("a forge that hangs delays only its own pull requests, and is left alone for longer each time") {
    for_each_world([](World& world) {
        DeliveryDesk desk(world);
        const PullRequest held = desk.open("repo_held", "one");
        world.clock.advance(1s);
        const PullRequest behind = desk.open("repo_held", "two");
        world.clock.advance(1s);
        const PullRequest other = desk.open("repo_b", "three");
        world.clock.advance(1s);
        desk.forge.held = "held.example.com";
        std::jthread first([&] { CHECK(must(desk.delivery.step())); });
        desk.forge.wait_for_request();
        // Another thread serves the other host meanwhile, and nothing else of the one that hangs.
        CHECK(must(desk.delivery.step()));
        CHECK(desk.find(other).polled_at.has_value());
        CHECK_FALSE(must(desk.delivery.step()));
        CHECK(desk.forge.waiting == 1);
        desk.forge.release();
        first.join();
        CHECK(desk.find(held).state == PullRequestState::open);
        CHECK(desk.find(held).cause == "unreachable");
        CHECK(desk.find(held).next_try_at > world.clock.now());
        // The host rests, also for the pull request that waited behind; then it is tried again.
        CHECK_FALSE(must(desk.delivery.step()));
        world.clock.advance(16s);
        CHECK(must(desk.delivery.step()));
        CHECK_FALSE(must(desk.delivery.step()));
        CHECK(desk.forge.waiting == 2);
        // A person who knows better does not wait.
        desk.forge.held.clear();
        must(desk.pull_requests.wake(world.admin, behind.id));
        CHECK(must(desk.delivery.step()));
        CHECK(desk.find(behind).polled_at.has_value());
    });
}

TEST_CASE("what people approved goes before polls") {
    for_each_world([](World& world) {
        DeliveryDesk desk(world);
        desk.open("repo_a", "old");
        world.clock.advance(1h);
        const PullRequest fresh = desk.approve("repo_a", "new");
        CHECK(must(desk.pull_requests.next_due({}))->id == fresh.id);
        CHECK_FALSE(must(desk.pull_requests.next_due({"", "a.example.com:443"})).has_value());
    });
}

TEST_CASE("a merged pull request is history: the next approval gets a row of its own") {
    for_each_world([](World& world) {
        DeliveryDesk desk(world);
        const PullRequest first = desk.open("repo_a", "fix");
        desk.forge.pull_request = R"({"number":1,"state":"closed","merged":true,"merged_at":"2026-11-15T12:00:00Z",
            "title":"Fix","html_url":"https://x/1","base":{"ref":"main"},"head":{"sha":"aa"}})";
        CHECK(must(desk.delivery.step()));
        const PullRequest merged = desk.find(first);
        CHECK(merged.state == PullRequestState::merged);
        CHECK(merged.merged_at.has_value());
        const PullRequest second = desk.approve("repo_a", "fix", "b2");
        CHECK(second.id != first.id);
        CHECK(second.state == PullRequestState::queued);
        CHECK(desk.find(first).merged_at == merged.merged_at);
        CHECK(desk.find(first).number == 1);
        const ReviewView view = must(desk.reviews.find(world.admin, first.artifact_id));
        CHECK(view.pull_request->id == second.id);
        REQUIRE(view.earlier_pull_requests.size() == 1);
        CHECK(view.earlier_pull_requests[0].id == first.id);
        const auto items = must(desk.reviews.list(world.admin, world.space, {}, {})).data;
        REQUIRE(items.size() == 1);
        CHECK(items[0].pull_request == PullRequestState::queued);
        CHECK(desk.events(first) == std::vector<std::string>{"approved", "merged"});
    });
}

TEST_CASE("an approval that was withdrawn does not count; a pull request that is over cannot be withdrawn") {
    for_each_world([](World& world) {
        DeliveryDesk desk(world);
        const access::Caller viewer = world.join(world.space, "viewer@example.com", access::Role::viewer);
        const PullRequest queued = desk.approve("repo_a", "fix");
        CHECK(outcome(desk.pull_requests.cancel(viewer, queued.id)) == "forbidden");
        CHECK(must(desk.pull_requests.cancel(world.admin, queued.id)).state == PullRequestState::cancelled);
        CHECK(outcome(desk.pull_requests.cancel(world.admin, queued.id)) == "conflict");
        CHECK(outcome(desk.pull_requests.abandon(world.admin, queued.id)) == "conflict");
        const ReviewView view = must(desk.reviews.find(world.admin, queued.artifact_id));
        CHECK(view.artifact.review == ReviewState::pending);
        CHECK(view.approvals == 0);
        CHECK_FALSE(view.cannot_approve.has_value());
        Decide wanted;
        wanted.revision = 1;
        must(desk.reviews.decide(world.admin, queued.artifact_id, ReviewState::approved, wanted));
        CHECK(must(desk.pull_requests.of_artifact(queued.artifact_id))->id != queued.id);
        // The update of an open one is withdrawn; the pull request stays open.
        const PullRequest open = desk.open("repo_b", "other");
        desk.approve("repo_b", "other", "b2");
        CHECK(desk.find(open).update_state == "pending");
        const PullRequest kept = must(desk.pull_requests.cancel(world.admin, open.id));
        CHECK(kept.state == PullRequestState::open);
        CHECK(kept.update_state == "cancelled");
        CHECK(outcome(desk.pull_requests.abandon(viewer, open.id)) == "forbidden");
        CHECK(must(desk.pull_requests.abandon(world.admin, open.id)).state == PullRequestState::abandoned);
        CHECK(must(desk.pull_requests.unfinished_of_repo("repo_b")).empty());
        CHECK(must(world.access.audit.verify(world.admin)).ok);
    });
}

TEST_CASE("a pull request whose repository was removed stops immediately and names the cause") {
    for_each_world([](World& world) {
        DeliveryDesk desk(world);
        const PullRequest queued = desk.approve("repo_gone", "fix");
        CHECK(must(desk.delivery.step()));
        const PullRequest failed = desk.find(queued);
        CHECK(failed.state == PullRequestState::failed);
        CHECK(failed.cause == "repository_removed");
        CHECK(failed.error.find("hone pr abandon") != std::string::npos);
        CHECK(desk.events(queued) == std::vector<std::string>{"approved", "failed"});
        const auto news = must(pull_request_news(world.database, Time{}, 10));
        REQUIRE(news.size() == 1);
        CHECK(news[0].pull_request.id == queued.id);
    });
}

TEST_CASE("only Hone's own part of a description is replaced") {
    const std::string first = own_part("## Change\n\none");
    CHECK(with_own_part("before\n" + first + "\nafter", "two") == "before\n" + own_part("two") + "\nafter");
    CHECK_FALSE(with_own_part("I rewrote the text", "two").has_value());
    CHECK_FALSE(with_own_part(first.substr(0, first.size() - 5), "two").has_value());
    // A worker cannot write the markers.
    CHECK(harmless_markdown(own_part("x")).find("<!--") == std::string::npos);
}
