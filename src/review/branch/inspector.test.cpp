// Real git in real sandboxes, on a quarantine as forge/ makes it.
#include "access/testing.h"
#include "base/text.h"
#include "forge/testing.h"
#include "review/branch/verifier.h"
#include "review/delivery/delivery.h"
#include "review/reviews.h"
#include "review/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::review;
using namespace hone::access::testing;

namespace {

class InspectedRun final : public RunSource {
public:
    Result<RunFacts> facts(const std::string&) override { return known; }
    Result<> note(const std::string&, const ArtifactId&, const std::string&) override { return {}; }
    Result<> send_follow_up(const access::Caller&, const std::string&, const std::string&) override { return {}; }
    RunFacts known;
};

class OneRepo final : public RepoSource {
public:
    Result<RepoPlace> place(const std::string&, const std::string&) override { return known; }
    RepoPlace known;
};

class NoForge final : public forge::ForgeHttp, public PullRequestContextSource {
public:
    Result<net::ClientResponse> send(const forge::Remote&, net::ClientRequest) override { return unavailable("none"); }
    Result<PullRequestContext> context(const PullRequest&) override { return PullRequestContext{}; }
    void ended(const PullRequest&) override {}
};

std::string commit_of(const std::string& repository, const std::string& ref) {
    return std::string(trim(read_file(repository + "/" + ref).value()));
}

} // namespace

TEST_CASE("commits, diff and patch come from git in a sandbox; revisions are compared; fixes verified and delivered") {
    forge::testing::Workbench bench;
    const std::string home = bench.folder.path + "/git-test";
    REQUIRE(make_directories(home, 0755).ok());
    forge::testing::shell(home, R"(
git init -q -b main work && cd work
printf 'one\ntwo\n' > a.txt && printf '#!/bin/sh\ngrep -q fixed a.txt\n' > check.sh && chmod +x check.sh
git add . && git commit -qm 'Start'
git clone -q --bare . ../remote.git
git checkout -q -b hone/run_1/fix && printf 'one\ntwo, fixed\n' > a.txt && git mv check.sh checks.sh
git commit -qam 'Fix two

It was not.' && git branch first
printf 'one\ntwo, fixed well\n' > a.txt && git commit -qam 'Fix it well'
git clone -q --bare . ../quarantine.git
mkdir -p ../heads && git rev-parse main > ../heads/base && git rev-parse first > ../heads/first && git rev-parse HEAD > ../heads/second
)");
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    World world(fresh.database());
    const auto project = world.add_project(world.admin, world.space, "shop");
    testing::add_run(world, project.id);
    InspectedRun runs;
    runs.known.space = world.space;
    runs.known.project = project.id;
    runs.known.policy.commits = CommitStyle::squash;
    runs.known.policy.author = std::string("Shop Bot <bot@example.com>");
    runs.known.policy.sign_off = true;
    runs.known.policy.require_verified = true;
    runs.known.policy.verification = std::vector<VerificationCommand>{{"check", "sh ./check*.sh"}};
    OneRepo repos;
    repos.known.space = world.space;
    repos.known.default_branch = "main";
    repos.known.mounts = {{home + "/quarantine.git", "/quarantine"}};
    repos.known.directory = "/quarantine";
    repos.known.local_path = home + "/remote.git";
    Artifacts artifacts(world.database, world.clock, world.access, bench.folder.path);
    Branches branches(world.database, world.clock, artifacts, runs);
    Reviews reviews(world.database, world.clock, world.access, artifacts, branches, runs);
    PullRequests pull_requests(world.database, world.clock, world.access);
    Inspector inspector(branches, repos, bench.git, world.clock, bench.folder.path + "/scratch");
    const std::string base = commit_of(home, "heads/base");
    const auto push = [&](const std::string& head, const std::string& branch = "hone/run_1/fix") {
        must(branches.pushed({world.space, "run_1", "repo_1", "shop", branch, base, head}));
        CHECK(must(inspector.step()));
        CHECK_FALSE(must(inspector.step()));
    };
    push(commit_of(home, "heads/first"));
    const ArtifactId id = must(reviews.list(world.admin, world.space, {}, {})).data.at(0).artifact.id;
    Revision first = must(branches.revision(id, 1));
    INFO(first.error);
    REQUIRE(first.state == RevisionState::ready);
    CHECK(first.title == "Fix two");
    REQUIRE(first.commits.size() == 1);
    CHECK(first.commits[0].message == "Fix two\n\nIt was not.");
    CHECK(first.files == 2);
    const Diff diff = must(branches.diff(first));
    CHECK(diff.files[0].file.path == "a.txt");
    CHECK(diff.files[1].file.change == ChangeKind::renamed);
    CHECK(must(branches.patch(first)).find("Subject: [PATCH] Fix two") != std::string::npos);
    push(commit_of(home, "heads/second"));
    const Diff between = must(inspector.interdiff(id, 1, 2));
    REQUIRE(between.files.size() == 1);
    CHECK(between.additions == 1);

    // Red on the base, green on the branch; before that nobody may approve.
    CHECK(outcome(reviews.decide(world.admin, id, ReviewState::approved, {.revision = 2})) == "forbidden");
    Verifier verifier(branches, runs, repos, *bench.provider, bench.store);
    while (must(verifier.step())) {
    }
    const Revision second = must(branches.revision(id, 2));
    REQUIRE(second.verification_results.size() == 1);
    INFO(second.verification_results[0].branch->output);
    REQUIRE(second.verification == VerificationState::green);
    CHECK(second.verification_results[0].base->exit_code == 1);
    CHECK(second.verification_results[0].branch->exit_code == 0);

    // Delivered to a repository of this server as one commit, and the same one when it is done again.
    NoForge forge;
    Delivery delivery({world.database, world.clock, artifacts, branches, pull_requests, runs, repos, bench.git, forge,
                       forge, bench.folder.path + "/scratch"});
    must(reviews.decide(world.admin, id, ReviewState::approved, {.revision = 2}));
    CHECK(must(delivery.step()));
    PullRequest done = must(pull_requests.of_artifact(id)).value();
    INFO(done.error);
    CHECK(done.state == PullRequestState::only_pushed);
    CHECK(commit_of(home, "remote.git/refs/heads/hone/run_1/fix") == done.head_commit);
    must(world.database.execute("UPDATE pull_requests SET state = 'queued', next_try_at = 0"));
    CHECK(must(delivery.step()));
    CHECK(must(pull_requests.of_artifact(id))->head_commit == done.head_commit);
    forge::testing::shell(home, "git -C remote.git fsck --strict && git -C remote.git log -1 --format='%an%n%B' "
                                "refs/heads/hone/run_1/fix > log && grep -q 'Signed-off-by: Shop Bot' log && "
                                "test $(git -C remote.git rev-list --count main..refs/heads/hone/run_1/fix) = 1 && "
                                "test $(git -C remote.git rev-parse refs/heads/hone/run_1/fix^{tree}) = "
                                "$(git -C work rev-parse HEAD^{tree})");
    CHECK(must(artifacts.find(world.admin, id)).applied_at.has_value());

    // The worker's own commits, signed off one by one; again the same each time.
    runs.known.policy = {};
    runs.known.policy.sign_off = true;
    runs.known.policy.trailers = std::vector<std::string>{"Reviewed-in: Hone"};
    push(commit_of(home, "heads/second"), "hone/run_1/kept");
    const ArtifactId kept = must(reviews.list(world.admin, world.space, {}, {})).data.at(0).artifact.id;
    must(reviews.decide(world.admin, kept, ReviewState::approved, {.revision = 1}));
    CHECK(must(delivery.step()));
    done = must(pull_requests.of_artifact(kept)).value();
    REQUIRE_MESSAGE(done.state == PullRequestState::only_pushed, done.error);
    must(world.database.execute("UPDATE pull_requests SET state = 'queued', next_try_at = 0 WHERE id = ?", done.id));
    CHECK(must(delivery.step()));
    CHECK(must(pull_requests.of_artifact(kept))->head_commit == done.head_commit);
    forge::testing::shell(home, R"sh(
git -C remote.git fsck --strict && kept=refs/heads/hone/run_1/kept
git -C remote.git log --format='%an <%ae>|%cn|%s|%(trailers:separator=%x3B)' main..$kept > log
test "$(cat log)" = "t <t@example.com>|t|Fix it well|Reviewed-in: Hone;Signed-off-by: t <t@example.com>
t <t@example.com>|t|Fix two|Reviewed-in: Hone;Signed-off-by: t <t@example.com>"
test $(git -C remote.git rev-parse $kept^{tree}) = $(git -C work rev-parse HEAD^{tree})
test "$(git -C remote.git log -2 --format=%ad $kept)" = "$(git -C work log -2 --format=%ad HEAD)"
)sh");

    // A git that fails in the middle leaves no diff, not a smaller one.
    forge::testing::shell(home, R"sh(
rm -f quarantine.git/objects/$(git -C work rev-parse HEAD:a.txt | sed 's,^..,&/,')
)sh");
    push(commit_of(home, "heads/second"), "hone/run_1/broken");
    const ArtifactId broken = must(reviews.list(world.admin, world.space, {}, {})).data.at(0).artifact.id;
    CHECK(must(branches.revision(broken, 1)).state == RevisionState::failed);
    CHECK(must(branches.revision(broken, 1)).error.find("git could not read the branch") == 0);
}

TEST_CASE("commits are read as git prints them, the oldest first") {
    CHECK(parse_commits("", 10).empty());
    using namespace std::string_literals;
    const std::string two = "b\x1fx <x@y>\x1fsecond\n\0"s + "a\x1fx <x@y>\x1f" + "first\n";
    const auto commits = parse_commits(two, 10);
    REQUIRE(commits.size() == 2);
    CHECK(commits[0].message == "first");
    CHECK(commits[1].id == "b");
}
