// For tests of the collection: the parts of a server that have files, on one database, and runs to collect. Nothing is
// isolated. Not part of the product.
#pragma once

#include "access/testing.h"
#include "base/file.h"
#include "run/run_services.h"
#include "run/storage/storage.h"
#include "sandbox/image/image.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/volume.h"

namespace hone::run::testing {

using namespace hone::access::testing;
using access::Caller;

inline constexpr Duration one_day = std::chrono::hours(24);

class AnyWorker final : public SettingsCheck {
public:
    Result<> check(const Caller&, const access::SpaceId&, const Settings&) override { return {}; }
};

// What nothing in these tests asks of sandboxes.
class NoProvider final : public sandbox::Provider {
public:
    sandbox::Capabilities capabilities() override { return {}; }
    Result<std::unique_ptr<sandbox::Sandbox>> start(const sandbox::SandboxSpec&,
                                                    const sandbox::StartProgress&) override {
        return unavailable("no");
    }
    Result<std::unique_ptr<sandbox::Sandbox>> attach(const sandbox::SandboxId&) override { return unavailable("no"); }
    Result<std::vector<sandbox::SandboxId>> list() override { return unavailable("no"); }
    Result<> destroy(const sandbox::SandboxId&) override { return unavailable("no"); }
    bool await_ready(int64_t) override { return true; }
    Result<int64_t> reconcile() override { return int64_t{0}; }
    Result<std::unique_ptr<sandbox::Files>> thread_files(const std::string&) override { return unavailable("no"); }
    Result<> fork_thread(const std::string&, const std::string&) override { return unavailable("no"); }
};

inline std::unique_ptr<secret::MasterKeys> keys_in(const std::string& directory) {
    secret::MasterKeyOptions options;
    options.create_file = true;
    options.file = directory + "/master.key";
    return must(secret::MasterKeys::open(std::move(options)));
}

// The parts of a server that have files, in one folder, on one database.
struct Yard {
    Yard(sql::Database& given, const Clock& given_clock, access::Access& given_access, std::string directory)
        : database(given),
          clock(given_clock),
          access(given_access),
          folder(std::move(directory)),
          keys(keys_in(folder)),
          store(must(sandbox::Store::open(folder))) {}

    StorageParts parts(StorageLimits limits) {
        StorageParts parts{database, clock, access, services.artifacts, services.uploads, policies, folder};
        parts.limits = limits;
        parts.provider = &provider;
        parts.store = &store;
        parts.mirrors = &mirrors;
        parts.quarantine = &quarantine;
        parts.vault = &vault;
        parts.mounts_volumes = false;
        parts.delete_traces = [this](const access::SpaceId&, const std::vector<std::string>& traces) -> Result<> {
            deleted_traces.insert(traces.begin(), traces.end());
            return {};
        };
        return parts;
    }

    std::string thread_of(const RunId& run) const { return run.text(); }
    bool has_workspace(const RunId& run) const { return must(volumes.bytes(run.text())) > 0; }
    void make_workspace(const RunId& run) const {
        const sandbox::Volume volume = must(volumes.open(run.text(), {}));
        must(write_file(volume.directory + "/notes.txt", std::string(20'000, 'x')));
        must(database.execute("UPDATE run_files SET server = 'local' WHERE run_id = ?", run));
    }
    void make_layer(const std::string& key) const {
        must(make_directories(store.layers() + "/" + key + "/upper"));
        must(write_file(store.layers() + "/" + key + "/upper/file", std::string(10'000, 'x')));
        must(store.hold(store.layers() + "/" + key)); // last use: now
    }
    void make_image(const std::string& name) const {
        must(make_directories(store.images() + "/" + name));
        sandbox::ImageView view;
        view.name = name;
        view.created = SystemClock().now();
        must(write_file(store.images() + "/" + name + "/image.json", json::write(view)));
    }
    forge::RepoId make_mirror(const access::SpaceId& space, const std::string& name) {
        const auto repo = must(repos.find_or_create(space, "https://git.example.com/" + name, {}, "test"));
        must(forge::make_bare_repository(mirrors.path(repo.id)));
        must(repos.fetched(repo.id, {"refs/heads/main", 1, 100, {}}));
        return repo.id;
    }
    void make_quarantine(const RunId& run, const forge::RepoId& repo, const access::SpaceId& space) {
        must(forge::make_bare_repository(folder + "/quarantine/" + run.text() + "/" + repo.text() + ".git"));
        must(database.execute("INSERT INTO run_repos (run_id, repo_id, space_id, name, base_ref, base_commit, "
                              "created_at) VALUES (?, ?, ?, ?, '', '', ?)",
                              run, repo, space, repo.text(), clock.now()));
    }
    void make_upload(const access::SpaceId& space, const std::string& content, const std::optional<RunId>& run) const {
        must(make_directories(folder + "/uploads"));
        must(write_file(folder + "/uploads/" + content, std::string(5'000, 'x')));
        must(database.execute("INSERT INTO uploads (id, space_id, run_id, path, bytes, uploaded_by, uploaded_by_name, "
                              "content, created_at) VALUES (?, ?, ?, 'data.csv', 5000, 'system', 'system', ?, ?)",
                              "upload_" + content, space, run, content, clock.now()));
    }
    bool has_quarantine(const RunId& run) const { return file_exists(folder + "/quarantine/" + run.text()); }

    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    const std::string folder;
    AnyWorker any;
    NoProvider provider;
    std::unique_ptr<secret::MasterKeys> keys;
    sandbox::Store store;
    sandbox::Volumes volumes{store, false};
    secret::Vault vault{database, clock, access.audit, *keys};
    skill::Skills skills{database, clock, access, vault};
    SpacePolicies policies{database, clock, access.audit, {}};
    Providers providers;
    RunServices services{database, clock, access, any, policies, providers, folder};
    forge::Repos repos{database, clock, access, skills, folder + "/repos"};
    forge::Git git{provider, store, nullptr, {folder + "/git", false}};
    forge::Mirrors mirrors{repos, git, clock, {folder + "/mirrors"}};
    forge::Quarantine quarantine{database, clock, mirrors, git, {folder + "/quarantine"}};
    std::set<std::string> deleted_traces;
};

inline Run start_in(Yard& yard, const Caller& caller, const access::SpaceId& space,
                    const std::string& project = "shop") {
    Settings settings;
    settings.harness = "command";
    settings.command = std::vector<std::string>{"/bin/cat"};
    return must(yard.services.runs.start(caller, space, {.project = project, .prompt = "look", .settings = settings}));
}

inline void end(Yard& yard, const RunId& run) {
    must(
        yard.database.execute("UPDATE runs SET state = 'succeeded', ended_at = ? WHERE id = ?", yard.clock.now(), run));
}

inline review::Artifact save(Yard& yard, const Run& run, const std::string& name, bool approved) {
    return must(yard.services.artifacts.save({run.space_id, run.project_id, run.id.text(), review::ArtifactKind::file,
                                              name, "", "content of " + name, approved}));
}

inline bool exists(Yard& yard, const RunId& run) {
    return !must(yard.database.query("SELECT 1 FROM runs WHERE id = ?", run)).empty();
}

// A world with a yard, once per engine. Volumes have the times of the machine, so the clock begins there.
template <class Test>
void for_each_yard(Test&& test) {
    for_each_world([&](World& world) {
        for (const char* table : {"run_files", "collections", "run_repos", "repos"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        world.clock.advance(SystemClock().now() - world.clock.now());
        const sql::testing::TemporaryDirectory directory;
        Yard yard(world.database, world.clock, world.access, directory.path());
        world.add_project(world.admin, world.space, "shop");
        test(world, yard);
    });
}

} // namespace hone::run::testing
