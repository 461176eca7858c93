#include "run/managed/plan.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;

namespace {

skill::Grant provider_grant() {
    skill::ModelEndpoint endpoint;
    endpoint.skill_id = "skl_1";
    endpoint.protocol = "anthropic";
    endpoint.base_url = "https://api.anthropic.com/";
    endpoint.secret_id = "sec_1";
    skill::Grant grant;
    grant.models.push_back(endpoint);
    return grant;
}

skill::Credential bound_secret(const skill::HostRule& rule) {
    skill::Credential credential;
    credential.variable = "TOKEN";
    credential.secret_id = "sec_2";
    credential.secret_name = "pager.TOKEN";
    credential.hosts = {rule};
    return credential;
}

std::string plan_refusal(const Settings& settings, const skill::Grant& grant) {
    const auto plan = plan_managed(settings, grant);
    return plan.ok() ? "ok" : plan.error().message;
}

bool has_text(const std::vector<std::string>& lines, std::string_view part) {
    for (const std::string& line : lines)
        if (line.find(part) != std::string::npos) return true;
    return false;
}

} // namespace

TEST_CASE("a managed plan has the endpoint of the model skill, and needs its key") {
    skill::Grant grant = provider_grant();
    const auto plan = plan_managed({}, grant);
    REQUIRE(plan.ok());
    CHECK(plan.value().endpoint.base_url == "https://api.anthropic.com");
    CHECK(plan.value().environment.hosts.empty());
    CHECK_FALSE(plan.value().environment.open);
    grant.models[0].secret_id.clear();
    CHECK(plan_refusal({}, grant).find("API key") != std::string::npos);
    grant.models[0].protocol = "openai";
    CHECK(plan_refusal({}, grant).find("of type anthropic") != std::string::npos);
}

TEST_CASE("secrets of a managed plan are bound to hosts, and finer rules are refused") {
    skill::Grant grant = provider_grant();
    grant.credentials = {bound_secret({"pager.example.com", 443, true, {}, "/", false})};
    const auto plan = plan_managed({}, grant);
    REQUIRE(plan.ok());
    REQUIRE(plan.value().variables.size() == 1);
    CHECK(plan.value().variables[0].hosts == std::vector<std::string>{"pager.example.com"});
    CHECK(plan.value().environment.hosts == std::vector<std::string>{"pager.example.com"});
    CHECK(has_text(what_leaves(plan.value()), "pager.TOKEN"));
    for (const skill::HostRule& finer : {skill::HostRule{"a.example.com", 443, true, {}, "/v1", false},
                                         skill::HostRule{"a.example.com", 443, true, {"GET"}, "/", false},
                                         skill::HostRule{"a.example.com", 8443, true, {}, "/", false},
                                         skill::HostRule{"a.example.com", 80, false, {}, "/", false}}) {
        grant.credentials = {bound_secret(finer)};
        CHECK(plan_refusal({}, grant) != "ok");
        grant.credentials.clear();
        grant.allow = {finer};
        CHECK(plan_refusal({}, grant) != "ok");
        grant.allow.clear();
    }
    grant.credentials = {bound_secret({"pager.example.com", 443, true, {}, "/", false})};
    grant.credentials[0].brokered = false;
    CHECK(plan_refusal({}, grant).find("brokered") != std::string::npos);
    Settings closed;
    closed.sandbox.value.network = broker::EgressMode::none;
    grant.credentials[0].brokered = true;
    CHECK(plan_refusal(closed, grant).find("sandbox.network is none") != std::string::npos);
}

TEST_CASE("the token of a managed repository is no variable of the agent") {
    skill::Grant grant = provider_grant();
    grant.credentials = {bound_secret({"github.com", 443, true, {"GET"}, "/a/b", false})};
    Settings settings;
    settings.repos.value = {{"https://github.com/a/b", {"main"}, {}, {}}};
    const auto plan = plan_managed(settings, grant);
    REQUIRE(plan.ok());
    CHECK(plan.value().variables.empty());
    CHECK(plan.value().repository_secret == "sec_2");
    CHECK(plan.value().repositories[0].branch == "main");
    settings.repos.value[0].ref = std::string(40, 'a');
    CHECK(plan_managed(settings, grant).value().repositories[0].commit == std::string(40, 'a'));
    settings.repos.value[0].url = "https://git.example.com/a/b";
    CHECK(plan_refusal(settings, grant).find("https://github.com/OWNER/NAME only") != std::string::npos);
}
