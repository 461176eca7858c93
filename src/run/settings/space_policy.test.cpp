#include "run/settings/space_policy.h"
#include "access/testing.h"
#include "run/runs.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;
using access::Caller;
using access::Role;

namespace {

// As the server asks it, without skills.
class PolicyCheck final : public SettingsCheck {
public:
    explicit PolicyCheck(SpacePolicies& policies) : m_policies(policies) {}
    Result<> check(const Caller&, const access::SpaceId& space, const Settings& settings) override {
        return m_policies.check(space, settings, grant);
    }
    Result<Budget> budget_of(const access::SpaceId& space, const Budget& budget) override {
        return m_policies.budget_of(space, budget);
    }
    skill::Grant grant;

private:
    SpacePolicies& m_policies;
};

struct PolicyShop {
    explicit PolicyShop(World& given, const Ceilings& ceilings = {})
        : world(given),
          policies(given.database, given.clock, given.access.audit, ceilings),
          check(policies),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, check),
          runs(given.database, given.clock, given.access, presets, check, transcript) {
        world.add_project(world.admin, world.space, "shop");
    }
    static Settings settings() {
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        return settings;
    }
    void set(const SpacePolicy& policy) { must(policies.set(world.admin, world.space, policy)); }
    // The refusal of a session with such settings; "ok" when it starts.
    std::string started(const Settings& settings) {
        const auto run =
            runs.start(world.admin, world.space, {.project = "shop", .prompt = "go", .settings = settings});
        return run.ok() ? "ok" : run.error().message;
    }

    World& world;
    SpacePolicies policies;
    PolicyCheck check;
    Transcript transcript;
    Presets presets;
    Runs runs;
};

skill::HostRule rule(const std::string& host, uint16_t port = 443) {
    skill::HostRule rule;
    rule.host = host;
    rule.port = port;
    return rule;
}

} // namespace

TEST_CASE("a host of a policy covers itself or everything below it, on its port") {
    CHECK(covers(rule("api.example.com"), rule("api.example.com")));
    CHECK_FALSE(covers(rule("api.example.com"), rule("api.example.com", 8443)));
    CHECK_FALSE(covers(rule("example.com"), rule("api.example.com")));
    CHECK(covers(rule("*.example.com"), rule("api.example.com")));
    CHECK(covers(rule("*.example.com"), rule("*.example.com")));
    CHECK(covers(rule("*.example.com"), rule("*.api.example.com")));
    CHECK_FALSE(covers(rule("*.example.com"), rule("example.com")));
    CHECK_FALSE(covers(rule("*.example.com"), rule("evilexample.com")));
    CHECK_FALSE(covers(rule("*.api.example.com"), rule("*.example.com")));
    CHECK_FALSE(covers(rule("api.example.com"), rule("*.example.com")));
}

TEST_CASE("no session and no preset goes beyond the installation's ceilings") {
    for_each_world([](World& world) {
        PolicyShop shop(world, Ceilings{int64_t{4} << 30, 4, 1000, int64_t{8} << 30, 120, 0});
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        const auto refused = [&](auto change) {
            Settings settings = PolicyShop::settings();
            change(settings.sandbox.value);
            const auto saved = shop.presets.create(world.admin, world.space, "p", "", settings);
            REQUIRE_FALSE(saved.ok());
            CHECK(saved.error().code == Code::forbidden);
            CHECK(shop.started(settings) == saved.error().message);
            return saved.error().message;
        };
        CHECK(refused([](SandboxSettings& s) { s.memory_bytes = int64_t{4} << 40; }).find("at most 4 GiB") !=
              std::string::npos);
        CHECK(refused([](SandboxSettings& s) { s.cpus = 4.5; }).starts_with("sandbox.cpus is 4.5"));
        CHECK(refused([](SandboxSettings& s) { s.pids = int64_t{1001}; }).starts_with("sandbox.pids"));
        CHECK(refused([](SandboxSettings& s) { s.disk_bytes = (int64_t{8} << 30) + 1; }).starts_with("sandbox.disk"));
        CHECK(refused([](SandboxSettings& s) { s.wall_clock_minutes = int64_t{121}; }).starts_with("sandbox.wall"));
    });
}

TEST_CASE("a space's policy holds when settings are saved and again when a run starts") {
    for_each_world([](World& world) {
        PolicyShop shop(world);
        Settings open = PolicyShop::settings();
        open.sandbox.value.network = broker::EgressMode::open;
        Settings hosts = PolicyShop::settings();
        hosts.sandbox.value.allow_hosts.value = {"api.example.com", "evil.example.net"};
        Settings large = PolicyShop::settings();
        large.budget.value.tokens = 2000;
        must(shop.presets.create(world.admin, world.space, "open", "", open));
        for (const Settings& settings : {open, hosts, large}) CHECK(shop.started(settings) == "ok");

        SpacePolicy policy;
        policy.open_network = false;
        policy.hosts = std::vector<std::string>{"*.example.com"};
        policy.tokens = 1000;
        policy.minimum_tier = sandbox::Tier::ns;
        policy.memory_bytes = int64_t{2} << 30;
        shop.set(policy);
        CHECK(shop.started(open).find("open") != std::string::npos);
        CHECK(shop.started(hosts).find("evil.example.net") != std::string::npos);
        CHECK(shop.started(large).find("at most 1000") != std::string::npos);
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        // What was saved before stays and does not start.
        const auto saved = shop.runs.start(world.admin, world.space,
                                           {.project = "shop", .prompt = "go", .preset = std::string("open")});
        CHECK(saved.error().code == Code::forbidden);
        // Skills count as well: hosts that they open, and values that they put into the environment.
        shop.check.grant.allow = {rule("github.com")};
        CHECK(shop.started(PolicyShop::settings()).find("github.com") != std::string::npos);
        shop.check.grant.allow = {rule("git.example.com")};
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        skill::Credential raw;
        raw.variable = "TOKEN";
        raw.brokered = false;
        shop.check.grant.credentials = {raw};
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        policy.env_secrets = false;
        shop.set(policy);
        CHECK(shop.started(PolicyShop::settings()).find("TOKEN") != std::string::npos);
        shop.check.grant = {};
        // So do secret variables of the settings, hosts of repositories and those of models.
        Settings secret = PolicyShop::settings();
        secret.sandbox.value.secret_env.value = {{"DEPLOY_KEY", "value"}};
        CHECK(shop.started(secret).find("DEPLOY_KEY") != std::string::npos);
        Settings cloned = PolicyShop::settings();
        cloned.repos.value.emplace_back().url = "https://git.example.com/team/shop.git";
        CHECK(shop.started(cloned) == "ok");
        cloned.repos.value.emplace_back().url = "file:///srv/shop.git";
        CHECK(shop.started(cloned) == "ok");
        cloned.repos.value.emplace_back().url = "https://git.example.com:8443/team/shop.git";
        CHECK(shop.started(cloned).find("repos opens git.example.com:8443") != std::string::npos);
        cloned.repos.value.back().url = "https://evil.example.net/x?@git.example.com/";
        CHECK(shop.started(cloned) != "ok");
        skill::ModelEndpoint endpoint;
        endpoint.base_url = "https://models.example.com/v1";
        shop.check.grant.models = {endpoint};
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        shop.check.grant.models[0].base_url = "http://models.example.net";
        CHECK(shop.started(PolicyShop::settings()).find("models.example.net:80") != std::string::npos);
        shop.check.grant = {};
        policy.minimum_tier = sandbox::Tier::gvisor;
        shop.set(policy);
        CHECK(shop.started(PolicyShop::settings()).find("requires gvisor") != std::string::npos);
    });
}

TEST_CASE("a run without a budget gets the policy's, or else the installation's default") {
    for_each_world([](World& world) {
        PolicyShop shop(world);
        const auto budget_of = [&](const Settings& settings) {
            const Run run = must(
                shop.runs.start(world.admin, world.space, {.project = "shop", .prompt = "go", .settings = settings}));
            return *must(shop.runs.manifest(world.admin, run.id)).settings.budget;
        };
        CHECK(budget_of(PolicyShop::settings()).tokens == 5'000'000);
        Settings named = PolicyShop::settings();
        named.budget.value.cost_micro_usd = 7;
        CHECK_FALSE(budget_of(named).tokens.has_value()); // it names one: nothing is added
        CHECK(budget_of(named).cost_micro_usd == 7);
        SpacePolicy policy;
        policy.tokens = 1000;
        policy.cost_micro_usd = 50;
        shop.set(policy);
        CHECK(budget_of(PolicyShop::settings()).tokens == 1000);
        CHECK(budget_of(named).tokens == 1000); // the policy is a ceiling for both
        CHECK(budget_of(named).cost_micro_usd == 7);
        // For a run that was started before: the lower of both.
        Budget before;
        before.tokens = 5'000'000;
        CHECK(must(shop.policies.budget_of(world.space, before)).tokens == 1000);
        CHECK(must(shop.policies.budget_of(world.space, before)).cost_micro_usd == 50);
        before.tokens = 10;
        CHECK(must(shop.policies.budget_of(world.space, before)).tokens == 10);
    });
}

TEST_CASE("only who may change a space sets its policy, and the audit log has it") {
    for_each_world([](World& world) {
        PolicyShop shop(world);
        const Caller member = world.join(world.space, "member@example.com", Role::member);
        CHECK(must(shop.policies.find(member, world.space)).policy.open_network.value);
        CHECK_FALSE(shop.policies.set(member, world.space, {}).ok());
        const Caller stranger = world.join(world.add_space("other"), "stranger@example.com", Role::admin);
        CHECK(shop.policies.find(stranger, world.space).error().code == Code::not_found);
        CHECK_FALSE(shop.policies.set(stranger, world.space, {}).ok());
        SpacePolicy bad;
        bad.hosts = std::vector<std::string>{"http://x"};
        CHECK(shop.policies.set(world.admin, world.space, bad).error().code == Code::invalid);
        bad = {};
        bad.cpus = -1;
        CHECK(shop.policies.set(world.admin, world.space, bad).error().code == Code::invalid);
        SpacePolicy policy;
        policy.env_secrets = false;
        shop.set(policy);
        CHECK_FALSE(must(shop.policies.find(member, world.space)).policy.env_secrets.value);
        CHECK(world.count("audit_entries WHERE action = 'space_policy_update'") == 1);
    });
}

TEST_CASE("a policy names the providers that its space can use") {
    for_each_world([](World& world) {
        PolicyShop shop(world);
        Settings pod = PolicyShop::settings();
        pod.provider = RunProvider::kubernetes;
        CHECK(shop.started(pod) == "ok");
        SpacePolicy policy;
        policy.providers = std::vector{RunProvider::local};
        shop.set(policy);
        CHECK(shop.started(pod).starts_with("provider is kubernetes, which this space's policy"));
        CHECK(shop.started(PolicyShop::settings()) == "ok");
        // The one of the request counts, not the one of the settings.
        const auto other = shop.runs.start(world.admin, world.space,
                                           {.project = "shop",
                                            .prompt = "go",
                                            .settings = PolicyShop::settings(),
                                            .provider = RunProvider::kubernetes});
        REQUIRE_FALSE(other.ok());
        CHECK(other.error().code == Code::forbidden);
        policy.providers = std::vector<RunProvider>{};
        CHECK_FALSE(shop.policies.set(world.admin, world.space, policy).ok());
    });
}
