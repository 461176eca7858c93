// What a server leaves that is killed between any two steps of a collection.
#include "run/storage/yard.test.h"

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::run;
using namespace hone::run::testing;

namespace {

// One of each kind that has to go, and one that has to stay.
struct Scene {
    RunId old_run, kept_run, expired_workspace;
};

constexpr StorageLimits killing_limits{.runs = {.age = 20 * one_day},
                                       .workspaces = {.age = 10 * one_day},
                                       .layers = {.age = one_day},
                                       .images = {.age = one_day},
                                       .quarantines = {.age = 10 * one_day},
                                       .mirrors = {.age = one_day},
                                       .artifacts = {.bytes = 1},
                                       .uploads = {.age = 10 * one_day}};

// Opens what a server opens, and calls `work`. Nothing of it is open afterwards.
template <class Work>
void with_yard(const std::string& folder, Time now, Work&& work) {
    sql::Options options;
    options.url = "sqlite:" + folder + "/hone.db";
    auto database = must(sql::Database::open(options));
    FakeClock clock(now);
    must(sql::migrate(*database, clock));
    access::Access access(*database, clock, World::cheap_policy());
    Yard yard(*database, clock, access, folder);
    work(yard, access);
}

Scene set_scene(const std::string& folder, Time now) {
    Scene scene;
    with_yard(folder, now - 30 * one_day, [&](Yard& yard, access::Access& access) {
        must(access.first_start(good_password));
        const Caller system = Caller::system();
        const access::SpaceId space = must(access.spaces.find(system, "default")).id;
        must(access.projects.create(system, space, "shop", "", false, {}));
        const auto repo = yard.make_mirror(space, "shop");
        yard.make_mirror(space, "unused");
        const auto make = [&](bool kept) {
            const Run run = start_in(yard, system, space);
            yard.make_workspace(run.id);
            yard.make_quarantine(run.id, repo, space);
            save(yard, run, "file of " + run.id.text(), true);
            end(yard, run.id);
            if (kept) must(yard.services.runs.update(system, run.id, {.kept = true}));
            return run.id;
        };
        scene.old_run = make(false);
        scene.kept_run = make(true);
        scene.expired_workspace = make(false);
        must(yard.database.execute("UPDATE runs SET ended_at = ? WHERE id = ?", now - 15 * one_day,
                                   scene.expired_workspace));
        yard.make_upload(space, "of_old", scene.old_run);
        yard.make_upload(space, "of_kept", scene.kept_run);
        yard.make_upload(space, "of_no_run", std::nullopt);
        // What servers left that were killed within a removal.
        must(write_file(folder + "/uploads/without_row", "x"));
        must(make_directories(folder + "/runs/run_interrupted/broker"));
        yard.make_layer("v2-old");
        yard.make_image("plain");
    });
    return scene;
}

} // namespace

TEST_CASE("a server that is killed between any two steps of a collection leaves nothing half removed") {
    crypto::start();
    const Time now = SystemClock().now() + 2 * one_day;
    int killed = 0;
    for (int last = 0;; ++last) {
        const sql::testing::TemporaryDirectory directory;
        const Scene scene = set_scene(directory.path(), now);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            // A forked process would make the same random ids as this one; another server does not.
            for (int i = 0; i < 100'000; ++i) (void)make_ulid(now);
            int passed = 0;
            with_yard(directory.path(), now, [&](Yard& yard, access::Access&) {
                StorageParts parts = yard.parts(killing_limits);
                parts.checkpoint = [&](std::string_view) {
                    if (passed++ == last) ::kill(::getpid(), SIGKILL);
                };
                (void)Storage(std::move(parts)).step().ok();
            });
            ::_exit(0);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        INFO("killed at step ", last);
        with_yard(directory.path(), now, [&](Yard& yard, access::Access&) {
            // A run that takes follow-ups has its workspace.
            for (const RunId& id : {scene.old_run, scene.kept_run, scene.expired_workspace}) {
                const auto found = yard.services.runs.find(Caller::system(), id);
                if (found.ok() && found.value().takes_follow_ups) CHECK(yard.has_workspace(id));
            }
            must(Storage(yard.parts(killing_limits)).step());
            CHECK_FALSE(exists(yard, scene.old_run));
            CHECK_FALSE(yard.has_workspace(scene.old_run));
            CHECK(exists(yard, scene.kept_run));
            CHECK(yard.has_workspace(scene.kept_run));
            CHECK(exists(yard, scene.expired_workspace));
            CHECK_FALSE(yard.has_workspace(scene.expired_workspace));
            CHECK_FALSE(yard.has_quarantine(scene.old_run));
            CHECK_FALSE(yard.has_quarantine(scene.expired_workspace));
            CHECK(yard.has_quarantine(scene.kept_run));
            CHECK(must(yard.mirrors.stored()).size() == 1); // the kept run stands on it
            CHECK(must(yard.database.query("SELECT 1 FROM artifacts")).size() == 1);
            CHECK(must(sandbox::stored_layers(yard.store)).empty());
            CHECK(must(sandbox::list_images(yard.store)).empty());
            CHECK(std::filesystem::is_empty(yard.store.trash()));
            CHECK(must(yard.database.query("SELECT 1 FROM uploads")).size() == 1);
            CHECK(must(yard.services.uploads.stored()).size() == 1);
            CHECK(file_exists(directory.path() + "/uploads/of_kept"));
            CHECK(std::filesystem::is_empty(directory.path() + "/runs"));
            CHECK(must(yard.database.query("SELECT 1 FROM run_files")).size() == 2);
            must(yard.database.check_integrity());
        });
        if (WIFEXITED(status)) break;
        CHECK(WTERMSIG(status) == SIGKILL);
        ++killed;
    }
    CHECK(killed > 12);
}
