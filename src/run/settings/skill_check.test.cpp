#include "run/settings/skill_check.h"

#include "access/testing.h"
#include "base/file.h"
#include "sql/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;

namespace {

// Presets with real skills, as the server checks them.
struct SkillShop {
    explicit SkillShop(World& given)
        : world(given),
          keys(must(secret::MasterKeys::open(key_options(directory.path())))),
          vault(given.database, given.clock, given.access.audit, *keys),
          skills(given.database, given.clock, given.access, vault),
          policies(given.database, given.clock, given.access.audit, {}),
          check(skills, policies, providers, nullptr),
          presets(given.database, given.clock, given.access.audit, check) {
        must(vault.start());
    }
    static secret::MasterKeyOptions key_options(const std::string& directory) {
        secret::MasterKeyOptions options;
        options.file = directory + "/master.key";
        options.create_file = true;
        return options;
    }
    std::string custom(const std::string& name, const skill::HostRule& rule) {
        skill::NewSkill wanted{name, skill::SkillType::custom};
        skill::Declared declared;
        declared.name = "TOKEN";
        declared.secret = true;
        declared.hosts = std::vector{skill::Host::of(rule)};
        wanted.setup.declared = {declared};
        skill::Secrets secrets;
        secrets.emplace("TOKEN", crypto::SecretBytes("t"));
        return must(skills.create(world.admin, world.space, wanted, std::move(secrets))).id.text();
    }
    std::vector<std::string> warnings(std::vector<std::string> ids, std::vector<std::string> hosts = {}) {
        static int number = 0;
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        settings.repos = std::vector<RepoSettings>{{"https://git.example.com/team/shop"}};
        settings.skills = std::move(ids);
        settings.sandbox.value.allow_hosts = std::move(hosts);
        const std::string name = "preset " + std::to_string(++number);
        const Preset saved = must(presets.create(world.admin, world.space, name, "", settings));
        CHECK(must(presets.find(world.admin, world.space, saved.id.text())).warnings == saved.warnings);
        return saved.warnings;
    }

    World& world;
    sql::testing::TemporaryDirectory directory;
    std::unique_ptr<secret::MasterKeys> keys;
    secret::Vault vault;
    skill::Skills skills;
    SpacePolicies policies;
    Providers providers;
    SkillCheck check;
    Presets presets;
};

} // namespace

TEST_CASE("a preset warns of rules for its forge and of what its skills permit") {
    for_each_world([](World& world) {
        SkillShop shop(world);
        CHECK(shop.warnings({}).empty());
        CHECK(shop.warnings({shop.custom("pager", {"pager.example.com", 443, true, {}, "/", false})}).empty());
        const auto forge = shop.warnings({shop.custom("wide", {"git.example.com", 443, true, {}, "/", false})});
        REQUIRE(forge.size() == 1);
        CHECK(forge[0].starts_with("wide names git.example.com, a forge of this preset's repositories: workers read"));
        CHECK(forge[0].find("when it names POST and their path") != std::string::npos);
        // A host below the forge is the forge.
        CHECK(shop.warnings({shop.custom("below", {"up.git.example.com", 443, true, {}, "/", false})}).size() == 1);
        const auto hosts = shop.warnings({}, {"git.example.com", "other.example.com"});
        REQUIRE(hosts.size() == 1);
        CHECK(hosts[0].starts_with("allow_hosts names git.example.com"));
        // Those of a skill itself, with its name.
        skill::NewSkill github{"forge", skill::SkillType::github};
        github.setup.variables = {{"GITHUB_URL", "https://git.example.com"},
                                  {"GITHUB_WRITES", "POST /api/v1/repos/team/shop/issues"}};
        skill::Secrets secrets;
        secrets.emplace("GH_TOKEN", crypto::SecretBytes("t"));
        const std::string id = must(shop.skills.create(world.admin, world.space, github, std::move(secrets))).id.text();
        const auto writes = shop.warnings({id});
        REQUIRE(writes.size() == 1);
        CHECK(writes[0].starts_with("forge: Workers can send POST /api/v1/repos/team/shop/issues"));
    });
}
