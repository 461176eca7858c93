#include "run/managed/branch_tools.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;

namespace {

std::vector<RepoSettings> repos_at(const std::vector<std::string>& urls) {
    std::vector<RepoSettings> repos;
    for (const std::string& url : urls) repos.emplace_back().url = url;
    return repos;
}

std::string chosen(const std::vector<RepoSettings>& repos, std::string_view name) {
    const auto repo = choose_repository(repos, name);
    return repo.ok() ? repo.value().url : repo.error().message;
}

std::string as_call(const std::vector<RepoSettings>& repos, const std::string& name) {
    return branch_of_file(repos, name, "x").value_or("a file");
}

} // namespace

TEST_CASE("a repository of a managed session is chosen by its name, or is the only one") {
    const auto one = repos_at({"https://github.com/team/shop"});
    for (const char* name : {"", "shop", "team/shop", "https://github.com/team/shop"})
        CHECK(chosen(one, name) == "https://github.com/team/shop");
    for (const char* name : {"hop", "/", "..", "github.com", "https://github.com/other/shop"})
        CHECK(chosen(one, name) == "repository: one of https://github.com/team/shop");
    const auto two =
        repos_at({"https://github.com/team/shop", "https://github.com/other/shop", "https://github.com/team/mail.git"});
    CHECK(chosen(two, "mail") == "https://github.com/team/mail.git");
    CHECK(chosen(two, "other/shop") == "https://github.com/other/shop");
    CHECK(chosen(two, "shop") == "two repositories have this name; give the address of one of them");
    CHECK(chosen(two, "").starts_with("repository: one of "));
}

TEST_CASE("a file of a managed session is a branch by its name") {
    const auto one = repos_at({"https://github.com/team/shop"});
    CHECK(as_call(one, "shop.bundle") == R"({"repository":"shop","base64":"eA=="})");
    CHECK(as_call(one, "any.bundle") == R"({"base64":"eA=="})");
    CHECK(as_call(one, "shop.patch") == R"({"repository":"shop","base64":"eA=="})");
    CHECK(as_call(one, "shop.fix-it.patch") == R"({"repository":"shop","branch":"fix-it","base64":"eA=="})");
    CHECK(as_call(one, "fix.patch") == R"({"branch":"fix","base64":"eA=="})");
    CHECK(as_call(one, ".patch") == R"({"base64":"eA=="})");
    CHECK(as_call(one, "shop.diff") == "a file");
    CHECK(as_call(one, "report.md") == "a file");
    CHECK(as_call({}, "shop.bundle") == "a file");
}
