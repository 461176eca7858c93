// Secret variables of presets and sessions: the value is in the vault and nowhere else.
#include "run/settings/secret_env.h"
#include "access/testing.h"
#include "run/runs.h"
#include "secret/master_keys.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;
using access::Caller;

namespace {

const std::string canary = "canary-7f3e-value";

class AllSkills final : public SettingsCheck {
public:
    Result<> check(const Caller&, const access::SpaceId&, const Settings&) override { return {}; }
};

struct Bench {
    explicit Bench(World& given)
        : world(given),
          folder(std::filesystem::temp_directory_path() / ("hone-test-secret-env-" + std::to_string(::getpid()))),
          keys(open_keys(folder)),
          vault(given.database, given.clock, given.access.audit, *keys),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, skills),
          runs(given.database, given.clock, given.access, presets, skills, transcript) {
        must(vault.start());
        presets.set_vault(vault);
        runs.set_vault(vault);
        world.add_project(world.admin, world.space, "shop");
    }
    ~Bench() { std::filesystem::remove_all(folder); }
    static std::unique_ptr<secret::MasterKeys> open_keys(const std::filesystem::path& folder) {
        std::filesystem::create_directories(folder);
        secret::MasterKeyOptions options;
        options.file = folder / "master.key";
        options.create_file = true;
        return must(secret::MasterKeys::open(std::move(options)));
    }
    static Settings with_secret(const std::string& value) {
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        settings.sandbox.value.secret_env.value["TOKEN"] = value;
        return settings;
    }
    std::string stored(const std::string& owner, const access::SpaceId& space) {
        const auto value = reveal_secret(vault, space, owner, "TOKEN", "test");
        return value.ok() ? std::string(value.value().reveal()) : code_name(value.error().code);
    }
    std::string stored(const std::string& owner) { return stored(owner, world.space); }
    // Whether the canary is in any row of the control plane's tables that hold settings, or in the audit log.
    bool leaked() {
        for (const char* sql : {"SELECT settings FROM presets", "SELECT settings FROM preset_versions",
                                "SELECT manifest FROM runs", "SELECT details FROM audit_entries"})
            for (const auto& row : must(world.database.query(sql)))
                if (row.text(0).find(canary) != std::string::npos) return true;
        for (const auto& row : must(world.database.query("SELECT sealed FROM kept_secrets")))
            if (std::string(row.blob(0)).find(canary) != std::string::npos) return true;
        return false;
    }

    World& world;
    std::filesystem::path folder;
    std::unique_ptr<secret::MasterKeys> keys;
    secret::Vault vault;
    AllSkills skills;
    Transcript transcript;
    Presets presets;
    Runs runs;
};

void with_bench(const std::function<void(Bench&)>& test) {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    World world(fresh.database());
    Bench bench(world);
    test(bench);
}

} // namespace

TEST_CASE("a secret variable of a preset is in the vault and nowhere else") {
    with_bench([](Bench& bench) {
        const Caller& admin = bench.world.admin;
        const auto space = bench.world.space;
        const Preset made = must(bench.presets.create(admin, space, "p", "", Bench::with_secret(canary)));
        CHECK(made.settings.sandbox.value.secret_env.value.at("TOKEN") == secret_mask);
        CHECK(must(bench.presets.find(admin, space, "p")).settings.sandbox.value.secret_env.value.at("TOKEN") ==
              secret_mask);
        CHECK(bench.stored(made.id.text()) == canary);
        CHECK(bench.stored(made.id.text(), bench.world.add_space("other")) == "conflict"); // another space
        // The mask saved again, or nothing, keeps the value.
        must(bench.presets.update(admin, space, "p", {}, {}, Bench::with_secret(std::string(secret_mask))));
        must(bench.presets.update(admin, space, "p", {}, {}, Bench::with_secret("")));
        CHECK(bench.stored(made.id.text()) == canary);
        CHECK(must(bench.presets.versions(admin, space, "p")).size() == 1);
        // A new value is a new version, which names the variable only.
        must(bench.presets.update(admin, space, "p", {}, {}, Bench::with_secret(canary + "2")));
        CHECK(bench.stored(made.id.text()) == canary + "2");
        CHECK(must(bench.presets.versions(admin, space, "p")).size() == 2);
        CHECK_FALSE(bench.leaked());
        // Removed from the settings: removed from the vault. The mask alone does not bring it back.
        Settings without = Bench::with_secret("");
        without.sandbox.value.secret_env.value.clear();
        must(bench.presets.update(admin, space, "p", {}, {}, without));
        CHECK(bench.stored(made.id.text()) == "conflict");
        CHECK(outcome(bench.presets.update(admin, space, "p", {}, {}, Bench::with_secret(std::string(secret_mask)))) ==
              "invalid");
        must(bench.presets.update(admin, space, "p", {}, {}, Bench::with_secret(canary)));
        must(bench.presets.remove(admin, space, "p"));
        CHECK(bench.stored(made.id.text()) == "conflict");
        CHECK_FALSE(bench.leaked());
    });
}

TEST_CASE("a run uses the secret variables of its preset, or its own; its manifest has names only") {
    with_bench([](Bench& bench) {
        const Caller& admin = bench.world.admin;
        const auto space = bench.world.space;
        const Preset preset = must(bench.presets.create(admin, space, "p", "", Bench::with_secret(canary)));
        const auto owner_of = [&](const Run& run) { return *must(bench.runs.manifest(admin, run.id)).secret_env_of; };
        const Run by_preset = must(bench.runs.start(admin, space, {.project = "shop", .prompt = "go", .preset = "p"}));
        CHECK(owner_of(by_preset) == preset.id.text());
        const Run own = must(bench.runs.start(
            admin, space, {.project = "shop", .prompt = "go", .settings = Bench::with_secret(canary + "-own")}));
        CHECK(owner_of(own) == own.id.text());
        CHECK(bench.stored(own.id.text()) == canary + "-own");
        const Run again = must(bench.runs.rerun(admin, own.id, {}));
        CHECK(owner_of(again) == own.id.text());
        // A mask without a value does not reach what others stored.
        CHECK(outcome(bench.runs.start(
                  admin, space,
                  {.project = "shop", .prompt = "go", .settings = Bench::with_secret(std::string(secret_mask))})) ==
              "invalid");
        CHECK_FALSE(bench.leaked());
    });
}

TEST_CASE("secret variables have checked names and belong to one list") {
    Settings settings = Bench::with_secret("x");
    CHECK(outcome(validate(settings)) == "ok");
    settings.sandbox.value.env.value["TOKEN"] = "y";
    CHECK(outcome(validate(settings)) == "invalid");
    settings = Bench::with_secret(std::string("a\0b", 3));
    CHECK(outcome(validate(settings)) == "invalid");
    settings = Bench::with_secret("x");
    settings.sandbox.value.secret_env.value["1X"] = "y";
    CHECK(outcome(validate(settings)) == "invalid");
    // What looks like a token is fine here: it is stored encrypted.
    CHECK(outcome(validate(Bench::with_secret("ghp_" + std::string(36, 'a')))) == "ok");
}
