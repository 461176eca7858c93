// Skills on real databases: who may do what, that secrets never come back, versions, sharing, and what a run gets.
#include "skill/skills.h"
#include "access/testing.h"

#include <algorithm>

using namespace hone;
using namespace hone::skill;
using access::Role;
using access::testing::must;
using access::testing::outcome;
using access::testing::World;

namespace {

struct Shop {
    explicit Shop(World& made)
        : world(made),
          keys(keys_in(directory.path())),
          vault(made.database, made.clock, made.access.audit, *keys),
          skills(made.database, made.clock, made.access, vault) {
        for (const char* table : {"secrets", "data_keys", "skill_shares", "skill_files", "skill_versions", "skills"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        must(vault.start());
    }
    static std::unique_ptr<secret::MasterKeys> keys_in(const std::string& directory) {
        secret::MasterKeyOptions options;
        options.file = directory + "/master.key";
        options.create_file = true;
        return must(secret::MasterKeys::open(std::move(options)));
    }
    Skill github(const std::string& name = "forge") {
        return must(skills.create(world.admin, world.space, {name, SkillType::github}, one("GH_TOKEN", "ghp_abc")));
    }
    static Secrets one(const std::string& name, std::string_view value) {
        Secrets secrets;
        secrets.emplace(name, crypto::SecretBytes(value));
        return secrets;
    }
    std::string opened(const std::string& secret_id) {
        auto value = vault.open(world.space, secret_id, "test");
        return value.ok() ? std::string(value.value().reveal()) : code_name(value.error().code);
    }

    sql::testing::TemporaryDirectory directory;
    World& world;
    std::unique_ptr<secret::MasterKeys> keys;
    secret::Vault vault;
    Skills skills;
};

void for_each_shop(const std::function<void(Shop&)>& test) {
    access::testing::for_each_world([&](World& world) {
        Shop shop(world);
        test(shop);
    });
}

const VariableView& variable(const Skill& skill, std::string_view name) {
    for (const auto& each : skill.variables)
        if (each.name == name) return each;
    FAIL("no variable ", std::string(name));
    return skill.variables.front();
}

Declared token_for(const std::string& host) {
    Declared declared;
    declared.name = "TOKEN";
    declared.secret = true;
    declared.header = std::string("authorization");
    declared.format = std::string("Bearer {}");
    Host rule;
    rule.host = host;
    declared.hosts = std::vector<Host>{rule};
    return declared;
}

class OneUse final : public SkillUse {
public:
    Result<std::vector<Use>> uses_of(const std::string&) const override { return uses; }
    std::vector<Use> uses;
};

} // namespace

TEST_CASE("a skill shows everything but its secret") {
    for_each_shop([](Shop& shop) {
        const Skill made = shop.github();
        CHECK(made.version == 1);
        CHECK(made.missing.empty());
        const auto& token = variable(made, "GH_TOKEN");
        CHECK(token.set);
        CHECK(token.exposure == Exposure::brokered);
        REQUIRE(token.ways.size() == 2);
        CHECK(token.ways[0].format == "Bearer {}");
        CHECK(token.ways[0].hosts[0].host == "api.github.com");
        CHECK(variable(made, "GITHUB_URL").value == "https://github.com");
        CHECK(json::write(made).find("ghp_abc") == std::string::npos);
        CHECK(json::write(must(shop.skills.versions(shop.world.admin, made.id))).find("ghp_abc") == std::string::npos);
        const auto audit = must(shop.world.database.query("SELECT details FROM audit_entries"));
        for (const auto& row : audit) CHECK(row.text(0).find("ghp_abc") == std::string::npos);
        CHECK(shop.opened(token.secret_id->text()) == "ghp_abc");
    });
}

TEST_CASE("a stored secret does not follow a change to a new place") {
    for_each_shop([](Shop& shop) {
        const access::Caller& admin = shop.world.admin;
        Skills& skills = shop.skills;
        const Skill made = shop.github();
        SkillChange elsewhere;
        elsewhere.variables["GITHUB_URL"] = "https://evil.example.com";
        CHECK(outcome(skills.update(admin, made.id, elsewhere, {})) == "conflict");
        SkillChange in_clear;
        in_clear.exposure["GH_TOKEN"] = Exposure::env;
        CHECK(outcome(skills.update(admin, made.id, in_clear, {})) == "conflict");
        CHECK(must(skills.find(admin, made.id)).version == 1);
        // Who knows the secret may.
        CHECK(outcome(skills.update(admin, made.id, elsewhere, Shop::one("GH_TOKEN", "new"))) == "ok");
        const Skill moved = must(skills.find(admin, made.id));
        CHECK(moved.version == 2);
        CHECK(variable(moved, "GH_TOKEN").ways[0].hosts[0].host == "evil.example.com");

        NewSkill custom{"own", SkillType::custom};
        custom.setup.declared = {token_for("api.example.com")};
        const Skill own = must(skills.create(admin, shop.world.space, custom, Shop::one("TOKEN", "t")));
        SkillChange hosts;
        hosts.declared = std::vector<Declared>{token_for("api.example.org")};
        CHECK(outcome(skills.update(admin, own.id, hosts, {})) == "conflict");
        // Fewer places are fine.
        hosts.declared = std::vector<Declared>{token_for("api.example.com")};
        (*hosts.declared)[0].hosts = std::vector<Host>{};
        CHECK(outcome(skills.update(admin, own.id, hosts, {})) == "ok");
        // Out and in again does not help: the secret goes with its variable.
        hosts.declared = std::vector<Declared>{};
        must(skills.update(admin, own.id, hosts, {}));
        hosts.declared = std::vector<Declared>{token_for("api.example.org")};
        CHECK(!variable(must(skills.update(admin, own.id, hosts, {})), "TOKEN").set);
    });
}

TEST_CASE("what makes no sense is refused with a reason") {
    for_each_shop([](Shop& shop) {
        const auto create = [&](SkillType type, auto&& change, Secrets secrets = {}) {
            NewSkill wanted{"s", type};
            change(wanted.setup);
            return outcome(shop.skills.create(shop.world.admin, shop.world.space, wanted, secrets));
        };
        CHECK(create(SkillType::github, [](Setup& s) { s.variables["NOPE"] = "x"; }) == "invalid");
        CHECK(create(SkillType::github, [](Setup& s) { s.variables["GH_TOKEN"] = "x"; }) == "invalid");
        CHECK(create(SkillType::github, [](Setup& s) { s.variables["GITHUB_URL"] = "http://git.example.com"; }) ==
              "invalid");
        CHECK(create(SkillType::github, [](Setup& s) { s.variables["GITHUB_URL"] = "https://u:p@git.example.com"; }) ==
              "invalid");
        CHECK(create(SkillType::github, [](Setup& s) { s.variables["GITHUB_URL"] = "https://169.254.169.254"; }) ==
              "invalid");
        CHECK(create(SkillType::datadog, [](Setup& s) { s.variables["DD_SITE"] = "x/../@evil.com"; }) == "invalid");
        CHECK(create(
                  SkillType::github, [](Setup&) {}, Shop::one("GH_TOKEN", "a\r\nX: y")) == "invalid");
        CHECK(create(
                  SkillType::github, [](Setup&) {}, Shop::one("OTHER", "a")) == "invalid");
        CHECK(create(SkillType::model, [](Setup& s) { s.variables["BASE_URL"] = "http://api.example.com"; }) ==
              "invalid");
        CHECK(create(SkillType::model, [](Setup& s) { s.exposure["API_KEY"] = Exposure::env; }) == "invalid");
        for (const char* name : {"LD_PRELOAD", "PATH", "1X", "A-B", "", "https_proxy", "GIT_SSH_COMMAND"})
            CHECK(create(SkillType::custom, [&](Setup& s) {
                      s.declared = {Declared{}};
                      s.declared[0].name = name;
                  }) == "invalid");
        for (const char* host :
             {"*", "*.com", "API.example.com", "10.0.0.1", "a..b", "exa mple.com", "0x7f.1", "-a.com"})
            CHECK(create(SkillType::custom, [&](Setup& s) { s.declared = {token_for(host)}; }) == "invalid");
        CHECK(create(SkillType::custom, [](Setup& s) {
                  s.declared = {token_for("a.example.com")};
                  s.declared[0].header = std::string("host");
              }) == "invalid");
        CHECK(create(SkillType::custom, [](Setup& s) {
                  s.declared = {token_for("a.example.com")};
                  s.declared[0].hosts.value[0].tls = false;
              }) == "invalid");
        CHECK(create(SkillType::custom, [](Setup& s) { s.declared = {token_for("*.example.com")}; }) == "ok");
        CHECK(create(SkillType::custom, [](Setup&) {}) == "conflict"); // the name is taken
    });
}

TEST_CASE("only installation owners let a model be on a private address") {
    for_each_shop([](Shop& shop) {
        const auto owner = shop.world.join(shop.world.space, "owner@example.com", Role::owner);
        NewSkill wanted{"local", SkillType::model};
        wanted.setup.variables = {
            {"PROTOCOL", "openai"}, {"BASE_URL", "http://10.0.0.5:8000/"}, {"ALLOW_PRIVATE", "true"}};
        CHECK(outcome(shop.skills.create(owner, shop.world.space, wanted, {})) == "forbidden");
        const Skill made = must(shop.skills.create(shop.world.admin, shop.world.space, wanted, {}));
        SkillChange change;
        change.variables["BASE_URL"] = "http://10.0.0.6:8000";
        CHECK(outcome(shop.skills.update(owner, made.id, change, {})) == "forbidden");
        const std::vector<std::string> ids{made.id.text()};
        const Grant grant = must(shop.skills.resolve(owner, shop.world.space, ids));
        REQUIRE(grant.models.size() == 1);
        CHECK(grant.models[0].base_url == "http://10.0.0.5:8000");
        CHECK(grant.models[0].allow_private);
        CHECK(grant.models[0].secret_id.empty());
        CHECK(grant.plain.empty());
        // A provider of its own asks for a key.
        const Skill claude = must(shop.skills.create(owner, shop.world.space, {"claude", SkillType::model}, {}));
        CHECK(claude.missing == std::vector<std::string>{"API_KEY"});
    });
}

TEST_CASE("a name means the skill of the space before one that is shared with it") {
    for_each_shop([](Shop& shop) {
        const Skill all = must(shop.skills.create(shop.world.admin, {}, {"forge", SkillType::github}, {}));
        const auto member = shop.world.join(shop.world.space, "m@example.com", Role::member);
        const auto found = [&] { return shop.skills.find(member, shop.world.space, "forge"); };
        CHECK(outcome(found()) == "not_found");
        CHECK(must(shop.skills.find(shop.world.admin, shop.world.space, "forge")).id == all.id);
        must(shop.skills.share(shop.world.admin, all.id, shop.world.space));
        CHECK(must(found()).id == all.id);
        const Skill own = shop.github();
        CHECK(must(found()).id == own.id);
    });
}

TEST_CASE("members read, admins write, other users see nothing") {
    for_each_shop([](Shop& shop) {
        const Skill made = shop.github();
        const auto viewer = shop.world.join(shop.world.space, "v@example.com", Role::viewer);
        const auto other = shop.world.join(shop.world.add_space("other"), "o@example.com", Role::owner);
        CHECK(outcome(shop.skills.find(viewer, made.id)) == "ok");
        CHECK(outcome(shop.skills.update(viewer, made.id, {}, {})) == "forbidden");
        CHECK(outcome(shop.skills.set_secret(viewer, made.id, "GH_TOKEN", crypto::SecretBytes("x"), {})) ==
              "forbidden");
        CHECK(outcome(shop.skills.find(other, made.id)) == "not_found");
        CHECK(outcome(shop.skills.update(other, made.id, {}, {})) == "not_found");
        CHECK(outcome(shop.skills.remove(other, made.id, "forge")) == "not_found");
        const std::vector<std::string> ids{made.id.text()};
        CHECK(outcome(shop.skills.resolve(other, ids)) == "not_found");
        CHECK(outcome(shop.skills.resolve(other, other.roles.begin()->first, ids)) == "not_found");
    });
}

TEST_CASE("a skill of the installation works where it is shared and nowhere else") {
    for_each_shop([](Shop& shop) {
        const auto other = shop.world.add_space("other");
        const auto member = shop.world.join(other, "m@example.com", Role::admin);
        const Skill made = must(
            shop.skills.create(shop.world.admin, {}, {"all", SkillType::github}, Shop::one("GH_TOKEN", "ghp_all")));
        const std::vector<std::string> ids{made.id.text()};
        CHECK(outcome(shop.skills.find(member, made.id)) == "not_found");
        CHECK(outcome(shop.skills.share(member, made.id, other)) == "forbidden");
        must(shop.skills.share(shop.world.admin, made.id, other));
        const Skill seen = must(shop.skills.find(member, made.id));
        CHECK(seen.shared_with.empty()); // who else it is shared with is not their matter
        CHECK(must(shop.skills.find(shop.world.admin, made.id)).shared_with.size() == 1);
        CHECK(outcome(shop.skills.update(member, made.id, {}, {})) == "forbidden");
        const Grant grant = must(shop.skills.resolve(member, ids));
        REQUIRE(!grant.credentials.empty());
        auto value = shop.vault.open(other, grant.credentials[0].secret_id, "test");
        REQUIRE(value.ok());
        CHECK(value.value().reveal() == "ghp_all");
        CHECK(must(shop.skills.list(member, other, {}, {})).data.size() == 1);
        must(shop.skills.unshare(shop.world.admin, made.id, other));
        CHECK(outcome(shop.skills.resolve(member, ids)) == "not_found");
        CHECK(outcome(shop.vault.open(other, grant.credentials[0].secret_id, "test")) == "not_found");
    });
}

TEST_CASE("a github skill lets workers read the run's repositories, and delivery write") {
    for_each_shop([](Shop& shop) {
        const auto& admin = shop.world.admin;
        const auto create = [&](std::map<std::string, std::string> variables, Secrets secrets) {
            static int number = 0;
            NewSkill wanted{"forge " + std::to_string(++number), SkillType::github};
            wanted.setup.variables = std::move(variables);
            return shop.skills.create(admin, shop.world.space, wanted, secrets);
        };
        const auto rules = [&](const Skill& skill, const GrantUse& use) {
            const std::vector<std::string> ids{skill.id.text()};
            std::set<std::string> found;
            for (const auto& credential : must(shop.skills.resolve(admin, shop.world.space, ids, use)).credentials)
                for (const auto& rule : credential.hosts) {
                    std::string methods;
                    for (const auto& method : rule.methods) methods += method + " ";
                    found.insert(credential.secret_name + " " + methods + rule.host + rule.path_prefix);
                }
            return found;
        };
        const auto use = [](std::vector<std::string> urls) { return GrantUse{Audience::worker, std::move(urls)}; };
        const std::vector<std::string> urls{"https://git.test:3000/team/shop.git", "https://github.com/team/other",
                                            "https://git.test/team/port", "file:///data/repos/x.git"};
        const Skill gitea = must(create({{"GITHUB_URL", "https://git.test:3000/"}}, Shop::one("GH_TOKEN", "t")));
        CHECK(rules(gitea, use(urls)) == std::set<std::string>{"GH_TOKEN GET HEAD git.test/api/v1/repos/team/shop",
                                                               "GH_TOKEN GET HEAD git.test/api/v3/repos/team/shop",
                                                               "GH_TOKEN GET HEAD git.test/team/shop/info/refs",
                                                               "GH_TOKEN GET HEAD git.test/team/shop.git/info/refs",
                                                               "GH_TOKEN POST git.test/team/shop/git-upload-pack",
                                                               "GH_TOKEN POST git.test/team/shop.git/git-upload-pack"});
        CHECK(rules(gitea, {}).empty()); // a run without repositories
        const GrantUse delivery{Audience::delivery, {}};
        CHECK(rules(gitea, delivery) == std::set<std::string>{"GH_TOKEN git.test/", "GH_TOKEN git.test/api"});
        CHECK(gitea.warnings.empty());

        // A token of its own for delivery is in no worker's grant, and takes over from the other.
        Secrets both = Shop::one("GH_TOKEN", "reads");
        both.emplace("GH_DELIVERY_TOKEN", crypto::SecretBytes("writes"));
        const Skill split = must(create({}, std::move(both)));
        for (const auto& rule : rules(split, use(urls))) CHECK(rule.starts_with("GH_TOKEN "));
        CHECK(rules(split, delivery) == std::set<std::string>{"GH_DELIVERY_TOKEN api.github.com/",
                                                              "GH_DELIVERY_TOKEN github.com/",
                                                              "GH_DELIVERY_TOKEN uploads.github.com/"});
        const std::vector<std::string> ids{split.id.text()};
        for (const auto& credential : must(shop.skills.resolve(admin, shop.world.space, ids, use(urls))).credentials)
            CHECK(credential.variable == "GH_TOKEN");
        SkillChange in_clear;
        in_clear.exposure["GH_DELIVERY_TOKEN"] = Exposure::env;
        CHECK(outcome(shop.skills.update(admin, split.id, in_clear, Shop::one("GH_DELIVERY_TOKEN", "w"))) == "invalid");

        // A token that workers see does not deliver: the credential says so. One of delivery's own does.
        const auto seen_by_workers = [&](const Skill& skill) {
            const std::vector<std::string> one{skill.id.text()};
            bool any = false;
            for (const auto& credential :
                 must(shop.skills.resolve(admin, shop.world.space, one, for_delivery())).credentials)
                any |= credential.workers_see_it && !credential.hosts.empty();
            return any;
        };
        CHECK_FALSE(seen_by_workers(gitea));
        SkillChange exposed;
        exposed.exposure["GH_TOKEN"] = Exposure::env;
        CHECK(seen_by_workers(must(shop.skills.update(admin, gitea.id, exposed, Shop::one("GH_TOKEN", "t")))));
        Secrets own = Shop::one("GH_TOKEN", "reads");
        own.emplace("GH_DELIVERY_TOKEN", crypto::SecretBytes("writes"));
        const Skill apart = must(create({}, std::move(own)));
        CHECK_FALSE(
            seen_by_workers(must(shop.skills.update(admin, apart.id, exposed, Shop::one("GH_TOKEN", "reads")))));

        // More is opted in to by method and path, with a warning; a stored token is asked for again.
        SkillChange writes;
        writes.variables["GITHUB_WRITES"] = "POST /repos/team/shop/issues";
        CHECK(outcome(shop.skills.update(admin, split.id, writes, {})) == "conflict");
        const Skill opened = must(shop.skills.update(admin, split.id, writes, Shop::one("GH_TOKEN", "t")));
        REQUIRE(opened.warnings.size() == 1);
        CHECK(opened.warnings[0].find("POST /repos/team/shop/issues") != std::string::npos);
        CHECK(rules(opened, {}) == std::set<std::string>{"GH_TOKEN POST api.github.com/repos/team/shop/issues"});
        const Skill wide = must(create({{"GITHUB_REPOSITORIES", "team/docs, *"}}, Shop::one("GH_TOKEN", "t")));
        CHECK(wide.warnings.size() == 1);
        CHECK(rules(wide, {}).contains("GH_TOKEN GET HEAD api.github.com/repos/team/docs"));
        CHECK(rules(wide, {}).contains("GH_TOKEN GET HEAD api.github.com/repos/*/*"));
        for (const char* wrong : {"/repos/x", "GET /repos/x", "POST", "POST repos", "POST /x/../y", "POST /a?b",
                                  "POST /team/shop.git/git-receive-pack", "TRACE /x"}) {
            INFO(wrong);
            CHECK(outcome(create({{"GITHUB_WRITES", wrong}}, {})) == "invalid");
        }
        for (const char* wrong : {"team", "/team/x", "a/../b", "team/x?y"}) {
            INFO(wrong);
            CHECK(outcome(create({{"GITHUB_REPOSITORIES", wrong}}, {})) == "invalid");
        }
    });
}

TEST_CASE("the key of a hone skill is never exposed to a worker") {
    for_each_shop([](Shop& shop) {
        NewSkill wanted{"hone", SkillType::hone};
        wanted.setup.exposure["HONE_API_KEY"] = Exposure::env;
        const auto refused =
            shop.skills.create(shop.world.admin, shop.world.space, wanted, Shop::one("HONE_API_KEY", "hone_key"));
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == Code::invalid);
        CHECK(refused.error().message.find("never enters the sandbox") != std::string::npos);
        wanted.setup.exposure.clear();
        const Skill made =
            must(shop.skills.create(shop.world.admin, shop.world.space, wanted, Shop::one("HONE_API_KEY", "hone_key")));
        SkillChange in_clear;
        in_clear.exposure["HONE_API_KEY"] = Exposure::env;
        CHECK(outcome(shop.skills.update(shop.world.admin, made.id, in_clear, Shop::one("HONE_API_KEY", "hone_key"))) ==
              "invalid");
    });
}

TEST_CASE("a model skill names the features that it allows, with a warning each") {
    for_each_shop([](Shop& shop) {
        NewSkill wanted{"claude", SkillType::model};
        wanted.setup.variables = {{"ALLOW_FEATURES", "url_sources, beta:next-thing-2027-01-01"}};
        const Skill made =
            must(shop.skills.create(shop.world.admin, shop.world.space, wanted, Shop::one("API_KEY", "k")));
        CHECK(made.warnings.size() == 2);
        const std::vector<std::string> ids{made.id.text()};
        CHECK(must(shop.skills.resolve(shop.world.admin, shop.world.space, ids)).models[0].features ==
              std::vector<std::string>{"url_sources", "beta:next-thing-2027-01-01"});
        // Any model of an endpoint that Hone does not know.
        NewSkill own{"own", SkillType::model};
        own.setup.variables = {{"BASE_URL", "https://models.example.com/v1"}};
        const Skill any = must(shop.skills.create(shop.world.admin, shop.world.space, own, {}));
        REQUIRE(any.warnings.size() == 1);
        CHECK(any.warnings[0].starts_with("MODELS is empty"));
        own.name = "named";
        own.setup.variables["MODELS"] = "own-model";
        CHECK(must(shop.skills.create(shop.world.admin, shop.world.space, own, {})).warnings.empty());
        wanted.name = "other";
        wanted.setup.variables["ALLOW_FEATURES"] = "everything";
        CHECK(outcome(shop.skills.create(shop.world.admin, shop.world.space, wanted, {})) == "invalid");
    });
}

TEST_CASE("a run gets placeholders for secrets, values of variables, hosts and versions") {
    for_each_shop([](Shop& shop) {
        const Skill forge = shop.github();
        Secrets secrets = Shop::one("DD_API_KEY", "k1");
        secrets.emplace("DD_APP_KEY", crypto::SecretBytes("k2"));
        NewSkill wanted{"metrics", SkillType::datadog};
        wanted.setup.variables["DD_SITE"] = "datadoghq.eu";
        wanted.setup.exposure["DD_APP_KEY"] = Exposure::env;
        const Skill datadog = must(shop.skills.create(shop.world.admin, shop.world.space, wanted, secrets));
        const std::vector<std::string> ids{forge.id.text(), datadog.id.text()};
        const GrantUse use{Audience::worker, std::vector<std::string>{"https://github.com/team/shop.git"}};
        const Grant grant = must(shop.skills.resolve(shop.world.admin, shop.world.space, ids, use));
        CHECK(grant.skill_versions == std::vector<std::string>{forge.id.text() + "@1", datadog.id.text() + "@1"});
        CHECK(std::find(grant.plain.begin(), grant.plain.end(),
                        std::pair<std::string, std::string>("DD_SITE", "datadoghq.eu")) != grant.plain.end());
        REQUIRE(grant.credentials.size() == 4);
        CHECK(grant.credentials[0].variable == "GH_TOKEN");
        CHECK(grant.credentials[1].format == "Basic x-access-token:{}");
        CHECK(grant.credentials[2].hosts[0].host == "api.datadoghq.eu");
        CHECK(grant.credentials[2].header == "dd-api-key");
        CHECK(grant.credentials[3].variable == "DD_APP_KEY");
        CHECK(!grant.credentials[3].brokered);
        CHECK(grant.credentials[3].hosts.empty());
        const auto reach = must(shop.skills.reach(shop.world.admin, shop.world.space, ids));
        CHECK(std::any_of(reach.begin(), reach.end(), [](const Reach& line) { return line.kind == "env"; }));

        // Two skills that set the same variable contradict each other.
        const Skill second = shop.github("forge 2");
        const std::vector<std::string> both{forge.id.text(), second.id.text()};
        CHECK(outcome(shop.skills.resolve(shop.world.admin, shop.world.space, both)) == "conflict");
        // An incomplete one is named.
        must(shop.skills.remove_secret(shop.world.admin, forge.id, "GH_TOKEN"));
        const auto refused = shop.skills.resolve(shop.world.admin, shop.world.space, ids);
        REQUIRE(!refused.ok());
        CHECK(refused.error().message.find("GH_TOKEN") != std::string::npos);
    });
}

TEST_CASE("every change is a version, and what is used cannot be deleted") {
    for_each_shop([](Shop& shop) {
        const Skill made = shop.github();
        must(shop.skills.set_secret(shop.world.admin, made.id, "GH_TOKEN", crypto::SecretBytes("ghp_2"), {}));
        SkillChange change;
        change.name = "renamed";
        must(shop.skills.update(shop.world.admin, made.id, change, {}));
        const auto versions = must(shop.skills.versions(shop.world.admin, made.id));
        REQUIRE(versions.size() == 3);
        CHECK(versions[0].summary == "renamed from forge");
        CHECK(versions[1].summary == "GH_TOKEN replaced");
        CHECK(versions[2].summary == "created; GH_TOKEN set");
        OneUse use;
        use.uses = {{"preset", "pre_1", "nightly"}};
        shop.skills.add_use(use);
        CHECK(outcome(shop.skills.remove(shop.world.admin, made.id, "wrong")) == "invalid");
        const auto refused = shop.skills.remove(shop.world.admin, made.id, "renamed");
        REQUIRE(!refused.ok());
        CHECK(refused.error().message.find("preset nightly") != std::string::npos);
        use.uses.clear();
        must(shop.skills.remove(shop.world.admin, made.id, "renamed"));
        CHECK(shop.world.count("secrets") == 0);
        CHECK(shop.world.count("skill_versions") == 0);
    });
}

TEST_CASE("a folder is stored once by its content and goes with its last version") {
    for_each_shop([](Shop& shop) {
        const std::vector<FolderFile> files{
            {"tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nText", false},
            {"tidy/run.sh", "echo", true}};
        const auto custom = [&](const std::string& name) {
            return must(shop.skills.create(shop.world.admin, shop.world.space, {name, SkillType::custom}, {}));
        };
        const Skill a = custom("a"), b = custom("b");
        const Skill filled = must(shop.skills.put_folder(shop.world.admin, a.id, files));
        REQUIRE(filled.folder);
        CHECK(filled.folder->name == "tidy");
        CHECK(filled.folder->files == 2);
        must(shop.skills.put_folder(shop.world.admin, b.id, files));
        CHECK(shop.world.count("skill_files") == 2);
        const auto stored = must(shop.skills.files(shop.world.admin, a.id));
        REQUIRE(stored.size() == 2);
        CHECK(stored[0].path == "SKILL.md");
        CHECK(stored[1].executable);
        must(shop.skills.remove(shop.world.admin, a.id, "a"));
        CHECK(shop.world.count("skill_files") == 2);
        must(shop.skills.remove(shop.world.admin, b.id, "b"));
        CHECK(shop.world.count("skill_files") == 0);
        CHECK(outcome(shop.skills.put_folder(shop.world.admin, shop.github().id, files)) == "invalid");
    });
}

// A repository whose commits have names of our choice.
struct Shelf final : FolderSource {
    FetchedFolder next;
    std::string space{}; // asked for last
    Result<FetchedFolder> fetch(const access::Caller&, const access::SpaceId& through, const GitSource& source,
                                const std::string&) override {
        space = through.text();
        if (*source.ref == "gone") return not_found("branch, tag or commit gone of shelf");
        return next;
    }
};

TEST_CASE("a folder from git is pinned to its commit until it is fetched again") {
    for_each_shop([](Shop& shop) {
        Shelf shelf;
        const auto at = [](const std::string& commit, const std::string& text) {
            return FetchedFolder{commit,
                                 {{"SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\n" + text, false}}};
        };
        const access::Caller& admin = shop.world.admin;
        const auto git = [&](const std::string& name, const std::string& ref) {
            NewSkill wanted{name, SkillType::custom};
            wanted.setup.git =
                GitSource{"https://git.example.com/team/skills.git", ref, std::string("tidy"), std::string("made-up")};
            return must(shop.skills.create(admin, shop.world.space, wanted, {}));
        };
        const Skill made = git("tidy", "main");
        CHECK(*made.git->commit == ""); // clients do not say what was fetched
        const std::vector<std::string> one{made.id.text()};
        CHECK(outcome(shop.skills.resolve(admin, shop.world.space, one)) == "conflict");
        CHECK(outcome(shop.skills.fetch_folder(admin, made.id)) == "unavailable");
        shop.skills.set_source(shelf);
        shelf.next = at("1111111111111111111111111111111111111111", "first");
        const Skill first = must(shop.skills.fetch_folder(admin, made.id));
        CHECK(*first.git->commit == "1111111111111111111111111111111111111111");
        CHECK(first.version == 2);
        CHECK(must(shop.skills.fetch_folder(admin, made.id)).version == 2); // nothing new
        CHECK(outcome(shop.skills.resolve(admin, shop.world.space, one)) == "ok");
        shelf.next = at("2222222222222222222222222222222222222222", "second");
        const Skill second = must(shop.skills.fetch_folder(admin, made.id));
        CHECK(second.version == 3);
        CHECK(second.folder->hash != first.folder->hash);
        CHECK(must(shop.skills.versions(admin, made.id))[0].summary.find("222222222222") != std::string::npos);
        shelf.next.files[0].path = "README.md";
        CHECK(outcome(shop.skills.fetch_folder(admin, made.id)) == "invalid"); // no SKILL.md
        CHECK(must(shop.skills.find(admin, made.id)).version == 3);
        CHECK(outcome(shop.skills.fetch_folder(admin, git("other", "gone").id)) == "not_found");
        CHECK(outcome(shop.skills.fetch_folder(admin, shop.github().id)) == "invalid");
        SkillChange moved;
        moved.git = GitSource{"https://git.example.com/team/skills.git", std::string("v2"), std::string("tidy"),
                              std::string("2222222222222222222222222222222222222222")};
        CHECK(*must(shop.skills.update(admin, made.id, moved, {})).git->commit == "");
    });
}

TEST_CASE("a skill of the installation is fetched through a space that is named; one of a space through its own") {
    for_each_shop([](Shop& shop) {
        Shelf shelf;
        shelf.next = {"1111111111111111111111111111111111111111",
                      {{"SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\n", false}}};
        shop.skills.set_source(shelf);
        const access::Caller& admin = shop.world.admin;
        const auto other = shop.world.add_space("other");
        NewSkill wanted{"tidy", SkillType::custom};
        wanted.setup.git = GitSource{"https://git.example.com/team/skills.git", {}, {}, {}};
        const Skill shared = must(shop.skills.create(admin, {}, wanted, {}));
        CHECK(outcome(shop.skills.fetch_folder(admin, shared.id)) == "invalid");
        CHECK(shelf.space.empty());
        CHECK(must(shop.skills.fetch_folder(admin, shared.id, other)).folder->name == "tidy");
        CHECK(shelf.space == other.text());
        const Skill own = must(shop.skills.create(admin, shop.world.space, wanted, {}));
        must(shop.skills.fetch_folder(admin, own.id, other));
        CHECK(shelf.space == shop.world.space.text());
        must(shop.skills.share(admin, shared.id, other));
        const auto member = shop.world.join(other, "m@example.com", Role::admin);
        CHECK(outcome(shop.skills.fetch_folder(member, shared.id, other)) == "forbidden");
    });
}

TEST_CASE("old and unused secrets are reminded of") {
    for_each_shop([](Shop& shop) {
        const Skill made = shop.github();
        CHECK(must(shop.skills.secrets(shop.world.admin, shop.world.space))[0].reminders.empty());
        shop.world.clock.advance(std::chrono::hours(24 * 40));
        CHECK(must(shop.skills.secrets(shop.world.admin, shop.world.space))[0].reminders ==
              std::vector<Reminder>{Reminder::unused});
        shop.opened(variable(made, "GH_TOKEN").secret_id->text());
        must(shop.vault.flush_used());
        CHECK(must(shop.skills.secrets(shop.world.admin, shop.world.space))[0].reminders.empty());
        shop.world.clock.advance(std::chrono::hours(24 * 60));
        const auto rows = must(shop.skills.secrets(shop.world.admin, shop.world.space));
        CHECK(rows[0].reminders == std::vector<Reminder>{Reminder::old, Reminder::unused});
        const auto counts = must(shop.skills.hygiene());
        CHECK(counts.secrets == 1);
        CHECK(counts.old == 1);
        CHECK(counts.unused == 1);
        CHECK(counts.env == 0);
    });
}

TEST_CASE("a pasted .env is previewed first; only known names are accepted") {
    for_each_shop([](Shop& shop) {
        const Skill made = shop.github();
        const std::string text = "GITHUB_TOKEN=ghp_new\nGITHUB_URL=https://github.com\nOTHER=1\nbroken line\n";
        const auto preview = must(shop.skills.preview_env(shop.world.admin, made.id, SkillType::github, text));
        REQUIRE(preview.matches.size() == 2);
        CHECK(preview.matches[0].variable == "GH_TOKEN");
        CHECK(preview.matches[0].replaces);
        CHECK(preview.unknown == std::vector<std::string>{"OTHER"});
        CHECK(preview.problems.size() == 1);
        CHECK(json::write(preview).find("ghp_new") == std::string::npos);
        CHECK(must(shop.skills.find(shop.world.admin, made.id)).version == 1);

        std::map<std::string, std::string> plain;
        Secrets secrets;
        must(Skills::take_env(SkillType::model, {}, "OPENAI_API_KEY=sk-1", plain, secrets));
        CHECK(plain["PROTOCOL"] == "openai");
        CHECK(secrets.at("API_KEY").reveal() == "sk-1");
    });
}
