#include "run/worker/worker_context.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;

TEST_CASE("a worker reads its skills and hosts with the names of variables, and no secret") {
    Settings settings;
    settings.sandbox.value.allow_hosts.value = {"pypi.example.com"};
    skill::Grant grant;
    skill::Credential token;
    token.variable = "GH_TOKEN";
    token.secret_id = "sec_1";
    token.secret_name = "canary";
    token.hosts = {{.host = "api.github.com", .methods = {"GET", "HEAD"}, .path_prefix = "/repos/team/shop"},
                   {.host = "git.example.com", .port = 8443, .methods = {"POST"}}};
    grant.credentials = {token};
    grant.allow = {{.host = "codeload.github.com", .methods = {"GET"}}};
    const std::string text = describe_reach(settings, grant, {{"hone-github", "/hone/skills/hone-github"}});
    CHECK(text.find("- /hone/skills/hone-github/SKILL.md\n") != std::string::npos);
    CHECK(text.find("- https://api.github.com (GET, HEAD) with GH_TOKEN\n") != std::string::npos);
    CHECK(text.find("- https://git.example.com:8443 (POST) with GH_TOKEN\n") != std::string::npos);
    CHECK(text.find("- https://codeload.github.com (GET)\n") != std::string::npos);
    CHECK(text.find("- https://pypi.example.com\n") != std::string::npos);
    CHECK(text.find("canary") == std::string::npos);
    CHECK(text.find("sec_1") == std::string::npos);
    CHECK(describe_reach({}, {}, {}) == "No other host than Hone's gateway is set up for you.\n");
    skill::Grant many;
    for (int i = 0; i < 100; ++i) many.allow.emplace_back().host = "h" + std::to_string(i) + ".example.com";
    CHECK(describe_reach({}, many, {}).find("- and 60 more\n") != std::string::npos);
}
