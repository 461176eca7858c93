#include "forge/credential.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::forge;

namespace {

skill::Credential credential_for(std::string secret, std::string path, std::string format,
                                 std::vector<std::string> methods = {}) {
    skill::Credential made;
    made.secret_name = std::move(secret);
    made.format = std::move(format);
    made.hosts = {{"git.example.com", 443, true, std::move(methods), std::move(path), false}};
    return made;
}

std::string chosen(const std::vector<skill::Credential>& credentials, const std::string& path, ForgeUse use,
                   std::string_view method = {}) {
    skill::Grant grant;
    grant.credentials = credentials;
    const skill::Credential* found = choose_credential(grant, {"git.example.com", 443, path}, use, method);
    return found == nullptr ? "none" : found->secret_name;
}

} // namespace

TEST_CASE("a rule covers a forge by host, port and whole segments of the path") {
    const Place place = place_of("https://git.example.com:8443/team/shop.git").value();
    CHECK(place.port == 8443);
    CHECK(covers({"git.example.com", 8443, true, {}, "/", false}, place));
    CHECK(covers({"*.example.com", 8443, true, {}, "/team", false}, place));
    CHECK_FALSE(covers({"git.example.com", 443, true, {}, "/", false}, place));
    CHECK_FALSE(covers({"git.example.com", 8443, false, {}, "/", false}, place));
    CHECK_FALSE(covers({"example.com", 8443, true, {}, "/", false}, place));
    CHECK_FALSE(covers({"git.example.com", 8443, true, {}, "/tea", false}, place));
}

TEST_CASE("the credential with the longest path is used, whatever the order and the use") {
    const auto wide = credential_for("wide", "/", "Basic x-access-token:{}");
    const auto api = credential_for("api", "/api", "{}");
    const auto team = credential_for("team", "/team", "Bearer {}");
    for (const auto& all : {std::vector{wide, api, team}, std::vector{team, api, wide}}) {
        CHECK(chosen(all, "/api/v4/projects", ForgeUse::api) == "api");
        CHECK(chosen(all, "/api/v4/projects", ForgeUse::git) == "api");
        CHECK(chosen(all, "/team/shop.git", ForgeUse::git) == "team");
        CHECK(chosen(all, "/other/shop.git", ForgeUse::git) == "wide");
        CHECK(chosen(all, "/apia", ForgeUse::api) == "wide");
    }
}

TEST_CASE("of two credentials for the same path git gets Basic and the API the other one") {
    const auto basic = credential_for("basic", "/", "Basic x-access-token:{}");
    const auto bearer = credential_for("bearer", "/", "Bearer {}");
    for (const auto& all : {std::vector{basic, bearer}, std::vector{bearer, basic}}) {
        CHECK(chosen(all, "/team/shop.git", ForgeUse::git) == "basic");
        CHECK(chosen(all, "/api/v4", ForgeUse::api) == "bearer");
    }
    // Without a form either use takes it; of equal ones the first.
    const auto plain = credential_for("plain", "/", "");
    CHECK(chosen({bearer, plain}, "/x", ForgeUse::git) == "plain");
    CHECK(chosen({basic, plain}, "/x", ForgeUse::api) == "plain");
    CHECK(chosen({plain, basic}, "/x", ForgeUse::git) == "plain");
}

TEST_CASE("a credential that does not cover the host or the method is never used") {
    const auto reads = credential_for("reads", "/api", "Bearer {}", {"GET"});
    const auto wide = credential_for("wide", "/", "Bearer {}");
    CHECK(chosen({reads, wide}, "/api/v4", ForgeUse::api, "GET") == "reads");
    CHECK(chosen({reads, wide}, "/api/v4", ForgeUse::api, "POST") == "wide");
    CHECK(chosen({reads}, "/api/v4", ForgeUse::api, "POST") == "none");
    CHECK(chosen({}, "/api/v4", ForgeUse::api) == "none");
    skill::Grant grant;
    grant.credentials = {wide};
    CHECK(choose_credential(grant, {"evil.example.com", 443, "/"}, ForgeUse::git) == nullptr);
    CHECK(choose_credential(grant, {"git.example.com", 444, "/"}, ForgeUse::git) == nullptr);
}

TEST_CASE("a secret that workers see is not used to write to a forge") {
    skill::Credential credential{"GH_DELIVERY_TOKEN", "sec_1", "GH_TOKEN", true, {}, "authorization", "Bearer {}"};
    CHECK(check_may_write(credential).ok());
    credential.workers_see_it = true;
    const auto refused = check_may_write(credential);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::conflict);
    CHECK(refused.error().message.find("Set GH_DELIVERY_TOKEN") != std::string::npos);
}
