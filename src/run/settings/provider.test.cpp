#include "run/settings/provider.h"
#include "run/settings/settings.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace hone;
using namespace hone::run;

namespace {

Settings managed_settings() {
    Settings settings;
    settings.provider = RunProvider::claude_managed;
    settings.harness = "claude-managed";
    settings.model = std::string("claude-opus-4-5");
    return settings;
}

std::string refusal(const Settings& settings) {
    const auto checked = validate(settings);
    return checked.ok() ? "ok" : checked.error().message;
}

} // namespace

TEST_CASE("settings without a provider work in a sandbox of the server") {
    const auto settings = json::read<Settings>(R"({"harness":"command","command":["/bin/cat"]})");
    REQUIRE(settings.ok());
    CHECK(*settings.value().provider == RunProvider::local);
    CHECK(refusal(settings.value()) == "ok");
    CHECK_FALSE(json::read<Settings>(R"({"harness":"command","provider":"moon"})").ok());
}

TEST_CASE("each row of the providers is about its own provider, and names what exists") {
    const auto list = Providers().list();
    REQUIRE(list.size() == enum_names(RunProvider{}).size());
    const json::Value defaults = json::to_value(Settings{});
    for (const ProviderView& view : list) {
        CHECK(info_of(view.name).provider == view.name);
        CHECK(view.available == (view.name == RunProvider::local));
        CHECK(view.advice.empty() == view.available);
        std::set<std::string> names;
        for (const LackView& lack : view.lacks) {
            CHECK(names.insert(lack.name).second);
            CHECK_FALSE(lack.reason.empty());
            const auto dot = lack.name.find('.');
            if (dot == std::string::npos) continue;
            CHECK(defaults.at(lack.name.substr(0, dot)).as_object().contains(lack.name.substr(dot + 1)));
        }
    }
}

TEST_CASE("a provider that the installation does not have is refused with what to do") {
    Providers providers;
    CHECK(providers.require(RunProvider::local).ok());
    const auto refused = providers.require(RunProvider::kubernetes);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("connect this server to a cluster") != std::string::npos);
    providers.add(RunProvider::kubernetes);
    CHECK(providers.require(RunProvider::kubernetes).ok());
}

TEST_CASE("an installation can lack what its provider has elsewhere") {
    Settings settings;
    settings.harness = "command";
    settings.command = std::vector<std::string>{"/bin/true"};
    settings.provider = RunProvider::kubernetes;
    Providers providers;
    CHECK_FALSE(providers.check(settings).ok());
    providers.add(RunProvider::kubernetes,
                  {{capability::kept_workspace, "no volumes"}, {"sandbox.minimum_tier", "no RuntimeClass"}});
    CHECK(providers.check(settings).ok());
    settings.sandbox.value.minimum_tier = sandbox::Tier::gvisor;
    const auto refused = providers.check(settings);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == "provider kubernetes does not have sandbox.minimum_tier: no RuntimeClass");
    settings.provider = RunProvider::local;
    CHECK(providers.check(settings).ok());
    for (const ProviderView& view : providers.list())
        CHECK((std::ranges::count(view.lacks, "no volumes", &LackView::reason) == 1) ==
              (view.name == RunProvider::kubernetes));
    providers.add(RunProvider::kubernetes);
    settings.provider = RunProvider::kubernetes;
    CHECK(providers.check(settings).ok());
}

TEST_CASE("settings that a provider lacks must have their defaults") {
    CHECK(refusal(managed_settings()) == "ok");
    const auto changed = [](auto change) {
        Settings settings = managed_settings();
        change(settings);
        return refusal(settings);
    };
    CHECK(changed([](Settings& s) { s.sandbox.value.image = std::string("tools"); }) ==
          "provider claude-managed does not have sandbox.image: nothing can be prepared on machines of the provider");
    CHECK(changed([](Settings& s) { s.sandbox.value.memory_bytes = int64_t{1} << 30; }).find("sandbox.memory_bytes") !=
          std::string::npos);
    CHECK(changed([](Settings& s) { s.sandbox.value.secret_env.value["TOKEN"] = "x"; }).find("sandbox.secret_env") !=
          std::string::npos);
    CHECK(changed([](Settings& s) { s.sandbox.value.minimum_tier = sandbox::Tier::gvisor; }).find("minimum_tier") !=
          std::string::npos);
    CHECK(changed([](Settings& s) { s.sandbox.value.wall_clock_minutes = int64_t{5}; }) == "ok");
    CHECK(changed([](Settings& s) { s.sandbox.value.network = broker::EgressMode::none; }) == "ok");
    CHECK(changed([](Settings& s) { s.harness = "claude-code"; }) ==
          "provider claude-managed runs its own agent: harness must be claude-managed");
    CHECK(changed([](Settings& s) { s.provider = RunProvider::local; }) ==
          "harness claude-managed needs provider claude-managed");
    CHECK(changed([](Settings& s) { s.provider = RunProvider::kubernetes; }) ==
          "harness claude-managed needs provider claude-managed");
}

TEST_CASE("a pod has the image of the installation, and what was prepared in its home") {
    const auto changed = [](auto change) {
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/true"};
        settings.provider = RunProvider::kubernetes;
        change(settings);
        return refusal(settings);
    };
    CHECK(changed([](Settings&) {}) == "ok");
    CHECK(changed([](Settings& s) { s.sandbox.value.memory_bytes = int64_t{1} << 30; }) == "ok");
    CHECK(changed([](Settings& s) { s.sandbox.value.image = std::string("tools"); }).find("kubernetes_image") !=
          std::string::npos);
    CHECK(changed([](Settings& s) {
              s.sandbox.value.init_script = std::string("true");
              s.sandbox.value.setup = std::string("auto");
              s.sandbox.value.setup_hosts.value = {"example.org"};
          }) == "ok");
    CHECK_FALSE(require_capability(RunProvider::kubernetes, capability::fork).ok());
    CHECK(require_capability(RunProvider::kubernetes, capability::network).ok());
}
