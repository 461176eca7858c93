// The collection of old data: what goes and what stays. Files are real; nothing is isolated. tests/e2e/storage.py
// collects what real runs left.
#include "run/storage/yard.test.h"

#include <filesystem>

using namespace hone;
using namespace hone::run;
using namespace hone::run::testing;
using access::Role;

namespace {

std::string removed_of(const std::vector<Collection>& done) {
    std::string text;
    for (const Collection& one : done)
        text += (text.empty() ? "" : " ") + std::string(name_of(one.kind)) + "=" + std::to_string(one.removed);
    return text;
}

} // namespace

TEST_CASE("old runs go with everything, and those that something needs stay") {
    for_each_yard([](World& world, Yard& yard) {
        const Run plain = start_in(yard, world.admin, world.space);
        const Run live = start_in(yard, world.admin, world.space);
        const Run in_review = start_in(yard, world.admin, world.space);
        const Run kept = start_in(yard, world.admin, world.space);
        const Run with_kept_artifact = start_in(yard, world.admin, world.space);
        for (const Run* run : {&plain, &live, &in_review, &kept, &with_kept_artifact}) yard.make_workspace(run->id);
        for (const Run* run : {&plain, &in_review, &kept, &with_kept_artifact}) end(yard, run->id);
        const auto repo = yard.make_mirror(world.space, "shop");
        yard.make_quarantine(plain.id, repo, world.space);
        save(yard, plain, "approved", true);
        save(yard, in_review, "waits", false);
        must(yard.services.runs.update(world.admin, kept.id, {.kept = true}));
        const auto artifact = save(yard, with_kept_artifact, "treasure", true);
        must(yard.services.artifacts.keep(world.admin, artifact.id, true));

        Storage storage(yard.parts({.runs = {.age = 10 * one_day}}));
        CHECK(removed_of(must(storage.collect(world.admin))) == "");
        world.clock.advance(11 * one_day);
        CHECK(removed_of(must(storage.collect(world.admin))) == "runs=1");
        CHECK_FALSE(exists(yard, plain.id));
        CHECK_FALSE(yard.has_workspace(plain.id));
        CHECK_FALSE(yard.has_quarantine(plain.id));
        CHECK(yard.deleted_traces == std::set<std::string>{plain.trace_id});
        CHECK(world.count("run_files WHERE run_id = '" + plain.id.text() + "'") == 0);
        CHECK(world.count("artifacts WHERE run_id = '" + plain.id.text() + "'") == 0);
        for (const Run* run : {&live, &in_review, &kept, &with_kept_artifact}) {
            CHECK(exists(yard, run->id));
            CHECK(yard.has_workspace(run->id));
        }
        // Nobody keeps them any more, and the review is decided.
        must(yard.services.runs.update(world.admin, kept.id, {.kept = false}));
        must(yard.services.artifacts.keep(world.admin, artifact.id, false));
        must(world.database.execute("UPDATE artifacts SET review = 'rejected' WHERE review = 'pending'"));
        CHECK(removed_of(must(storage.collect(world.admin))) == "runs=3");
        CHECK(exists(yard, live.id));
    });
}

TEST_CASE("the number of runs is limited for each space, and a space can keep its runs for less time") {
    for_each_yard([](World& world, Yard& yard) {
        const access::SpaceId quiet = world.add_space("quiet");
        const Caller admin = world.again(world.admin);
        world.add_project(admin, quiet, "shop");
        std::vector<RunId> busy;
        for (int i = 0; i < 5; ++i) {
            busy.push_back(start_in(yard, admin, world.space).id);
            end(yard, busy.back());
            world.clock.advance(std::chrono::seconds(1));
        }
        const RunId only = start_in(yard, admin, quiet).id;
        end(yard, only);
        Storage storage(yard.parts({.runs = {.count = 3}}));
        CHECK(removed_of(must(storage.collect(admin))) == "runs=2");
        CHECK_FALSE(exists(yard, busy[1]));
        CHECK(exists(yard, busy[2]));
        CHECK(exists(yard, only));
        SpacePolicy policy;
        policy.run_days = 2;
        must(yard.policies.set(admin, quiet, policy));
        world.clock.advance(3 * one_day);
        CHECK(removed_of(must(storage.collect(admin))) == "runs=1");
        CHECK_FALSE(exists(yard, only));
    });
}

TEST_CASE("the workspaces that were used least recently go first, and then the run takes no follow-ups") {
    for_each_yard([](World& world, Yard& yard) {
        std::vector<Run> runs;
        for (int i = 0; i < 4; ++i) {
            runs.push_back(start_in(yard, world.admin, world.space));
            yard.make_workspace(runs.back().id);
            end(yard, runs.back().id);
            world.clock.advance(std::chrono::minutes(1));
        }
        must(yard.services.runs.update(world.admin, runs[0].id, {.kept = true}));
        // A fork that has not begun will copy this one.
        const Run fork = must(yard.services.runs.fork(world.admin, runs[1].id, "another way"));
        const int64_t each = must(yard.volumes.bytes(runs[0].id.text()));
        Storage storage(yard.parts({.workspaces = {.bytes = 3 * each}}));
        CHECK(removed_of(must(storage.collect(world.admin))) == "workspaces=1");
        CHECK(yard.has_workspace(runs[0].id));
        CHECK(yard.has_workspace(runs[1].id));
        CHECK_FALSE(yard.has_workspace(runs[2].id));
        CHECK(yard.has_workspace(runs[3].id));
        const Run expired = must(yard.services.runs.find(world.admin, runs[2].id));
        CHECK_FALSE(expired.takes_follow_ups);
        CHECK(expired.workspace_removed_at.has_value());
        CHECK(outcome(yard.services.runs.send_message(world.admin, runs[2].id, "and?")) == "conflict");
        CHECK(outcome(yard.services.runs.fork(world.admin, runs[2].id, "and?")) == "conflict");
        // A follow-up makes a run live again: its workspace stays, whatever the limit.
        must(yard.services.runs.send_message(world.admin, runs[3].id, "and?"));
        Storage strict(yard.parts({.workspaces = {.age = std::chrono::minutes(1)}}));
        world.clock.advance(one_day);
        CHECK(removed_of(must(strict.collect(world.admin))) == "");
        CHECK(yard.has_workspace(runs[3].id));
        CHECK(yard.has_workspace(runs[1].id));
    });
}

TEST_CASE("deleting a run, a project or a space deletes its files") {
    for_each_yard([](World& world, Yard& yard) {
        const access::SpaceId other = world.add_space("other");
        const Caller admin = world.again(world.admin);
        const access::Project elsewhere = world.add_project(admin, other, "shop");
        const access::Project side = world.add_project(admin, world.space, "side");
        const Run single = start_in(yard, admin, world.space);
        const Run of_project = start_in(yard, admin, world.space, "side");
        const Run of_space = start_in(yard, admin, other);
        const Run stays = start_in(yard, admin, world.space);
        for (const Run* run : {&single, &of_project, &of_space, &stays}) {
            yard.make_workspace(run->id);
            must(make_directories(yard.folder + "/runs/" + run->id.text()));
        }
        CHECK(outcome(yard.services.runs.remove(admin, single.id)) == "conflict"); // it is not over
        end(yard, single.id);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        CHECK(outcome(yard.services.runs.remove(member, single.id)) == "forbidden");
        must(yard.services.runs.remove(admin, single.id));
        CHECK(outcome(yard.services.runs.find(admin, single.id)) == "not_found");
        must(world.access.projects.remove(admin, side.id));
        must(world.access.spaces.remove(admin, other, "other"));
        CHECK(yard.has_workspace(single.id)); // until the next step
        Storage storage(yard.parts({}));
        must(storage.step());
        for (const Run* run : {&single, &of_project, &of_space}) {
            CHECK_FALSE(yard.has_workspace(run->id));
            CHECK_FALSE(file_exists(yard.folder + "/runs/" + run->id.text()));
        }
        CHECK(yard.has_workspace(stays.id));
        CHECK(world.count("run_files") == 1);
        CHECK(world.count("audit_entries WHERE action = 'run_delete'") == 1);
    });
}

TEST_CASE("artifacts beyond their bytes go, the oldest first, but not while they wait for a review") {
    for_each_yard([](World& world, Yard& yard) {
        const Run run = start_in(yard, world.admin, world.space);
        const auto pending = save(yard, run, "pending", false);
        world.clock.advance(std::chrono::minutes(1));
        const auto first = save(yard, run, "first", true);
        world.clock.advance(std::chrono::minutes(1));
        const auto second = save(yard, run, "second", true);
        Storage storage(yard.parts({.artifacts = {.bytes = pending.bytes + second.bytes}}));
        CHECK(removed_of(must(storage.collect(world.admin))) == ""); // the run is live
        end(yard, run.id);
        CHECK(removed_of(must(storage.collect(world.admin))) == "artifacts=1");
        CHECK(outcome(yard.services.artifacts.find(world.admin, first.id)) == "not_found");
        CHECK(must(yard.services.artifacts.content(pending)) == "content of pending");
        CHECK(must(yard.services.artifacts.content(second)) == "content of second");
        // What waits for a review cannot fill the disk either.
        yard.services.artifacts.set_all_bytes(pending.bytes + second.bytes + 3);
        CHECK(outcome(yard.services.artifacts.save({run.space_id, run.project_id, run.id.text(),
                                                    review::ArtifactKind::file, "more", "", "much more", true})) ==
              "too_large");
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        CHECK(outcome(yard.services.artifacts.remove(member, second.id)) == "forbidden");
        must(yard.services.artifacts.remove(world.admin, second.id));
        CHECK(outcome(yard.services.artifacts.find(world.admin, second.id)) == "not_found");
    });
}

TEST_CASE("layers and images that nothing uses or names expire; those in use stay") {
    for_each_yard([](World& world, Yard& yard) {
        yard.make_layer("v2-old");
        yard.make_layer("v2-used");
        yard.make_image("plain");
        yard.make_image("named");
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        settings.sandbox.value.image = std::string("named");
        must(yard.services.presets.create(world.admin, world.space, "builder", "", settings));
        const Fd held = must(yard.store.hold(yard.store.layers() + "/v2-used"));
        Storage storage(yard.parts({.layers = {.age = one_day}, .images = {.age = one_day}}));
        CHECK(removed_of(must(storage.collect(world.admin))) == "");
        world.clock.advance(2 * one_day);
        CHECK(removed_of(must(storage.collect(world.admin))) == "layers=1 images=1");
        CHECK_FALSE(file_exists(yard.store.layers() + "/v2-old"));
        CHECK(file_exists(yard.store.layers() + "/v2-used/upper/file"));
        CHECK_FALSE(file_exists(yard.store.images() + "/plain"));
        CHECK(file_exists(yard.store.images() + "/named"));
        CHECK(std::filesystem::is_empty(yard.store.trash()));
    });
}

TEST_CASE("quarantines and mirrors go when no run, review or pull request needs them") {
    for_each_yard([](World& world, Yard& yard) {
        const Run done = start_in(yard, world.admin, world.space);
        const Run live = start_in(yard, world.admin, world.space);
        const Run in_review = start_in(yard, world.admin, world.space);
        end(yard, done.id);
        end(yard, in_review.id);
        const auto shop = yard.make_mirror(world.space, "shop");
        const auto side = yard.make_mirror(world.space, "side");
        const auto unused = yard.make_mirror(world.space, "unused");
        yard.make_quarantine(done.id, side, world.space);
        yard.make_quarantine(live.id, shop, world.space);
        yard.make_quarantine(in_review.id, shop, world.space);
        const review::ArtifactId branch = make_id<review::ArtifactTag>(world.clock);
        must(world.database.write([&](sql::Transaction& transaction) {
            return yard.services.artifacts.add_branch(
                transaction, {branch, world.space, in_review.project_id, in_review.id.text(), "hone/fix"});
        }));
        Storage storage(yard.parts({.quarantines = {.age = one_day}, .mirrors = {.age = one_day}}));
        CHECK(removed_of(must(storage.collect(world.admin))) == "");
        world.clock.advance(2 * one_day);
        CHECK(removed_of(must(storage.collect(world.admin))) == "quarantines=1 mirrors=2");
        CHECK_FALSE(yard.has_quarantine(done.id));
        CHECK(yard.has_quarantine(live.id));
        CHECK(yard.has_quarantine(in_review.id));
        CHECK(file_exists(yard.mirrors.path(shop)));
        CHECK_FALSE(file_exists(yard.mirrors.path(side))); // nothing stands on it any more
        CHECK_FALSE(file_exists(yard.mirrors.path(unused)));
        CHECK_FALSE(
            must(yard.repos.find(world.admin, unused)).fetched_at.has_value()); // it is fetched again when needed
        must(world.database.execute("UPDATE artifacts SET review = 'approved' WHERE id = ?", branch));
        must(world.database.execute(
            "INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, host, "
            "fix_of, "
            "forge, branch, target, revision, delivered_revision, state, update_state, url, title, draft, head_commit, "
            "forge_commit, people, their_commits, mergeable, checks, forge_review, error, cause, moved_to, attempts, "
            "next_try_at, etag, told_until, created_at, updated_at) VALUES ('pr_1', ?, ?, ?, ?, ?, '', '', '', '', '', "
            "'', 1, 1, 'open', '', '', '', 0, '', '', '', '[]', '', '', '', '', '', '', 0, 0, '', '', 1, 1)",
            world.space, in_review.project_id, branch, in_review.id, shop));
        CHECK(removed_of(must(storage.collect(world.admin))) == "");
        CHECK(outcome(yard.services.artifacts.remove(world.admin, branch)) == "conflict");
        CHECK(outcome(yard.services.runs.remove(world.admin, in_review.id)) == "conflict");
        must(world.database.execute("UPDATE pull_requests SET state = 'merged'"));
        CHECK(removed_of(must(storage.collect(world.admin))) == "quarantines=1");
    });
}

TEST_CASE("what was removed is reported, counted, and shown to installation owners only") {
    for_each_yard([](World& world, Yard& yard) {
        for (int i = 0; i < 3; ++i) {
            const Run run = start_in(yard, world.admin, world.space);
            yard.make_workspace(run.id);
            end(yard, run.id);
        }
        Storage storage(yard.parts({.workspaces = {.count = 1}}));
        must(storage.step());
        must(storage.step()); // within the hour: nothing more happens
        const StorageView view = must(storage.view(world.admin));
        CHECK(view.disk_bytes > view.free_bytes);
        CHECK(view.collected_at == world.clock.now());
        const StoredKind& workspaces = view.kinds.at(1);
        CHECK(workspaces.kind == StorageKind::workspaces);
        CHECK(workspaces.count == 1);
        CHECK(workspaces.limits == "count=1");
        CHECK(workspaces.removed == 2);
        CHECK(workspaces.freed_bytes > 0);
        const auto history = must(storage.collections(world.admin, {}));
        REQUIRE(history.data.size() == 1);
        CHECK(history.data.front().removed == 2);
        MetricsWriter metrics;
        storage.metrics(metrics);
        CHECK(metrics.text().find("hone_collected_total{kind=\"workspaces\"} 2") != std::string::npos);
        const Caller member = world.join(world.space, "member@example.com", Role::admin);
        CHECK(outcome(storage.view(member)) == "forbidden");
        CHECK(outcome(storage.collections(member, {})) == "forbidden");
        CHECK(outcome(storage.collect(member)) == "forbidden");
    });
}
