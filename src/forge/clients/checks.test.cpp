// Checks of the three kinds of forges and their logs, as their documentation shows them; and where a credential goes.
#include "forge/clients/forge.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::forge;

namespace {

// Responds by address, and remembers who asked.
class ScriptedForge final : public ForgeHttp {
public:
    Result<net::ClientResponse> send(const Remote& remote, net::ClientRequest request) override {
        sent.push_back(request.method + " " + request.url + (remote.skill_id.empty() ? " without credential" : "") +
                       (remote.allow_private ? "" : ", public only"));
        net::ClientResponse response;
        const auto found = responses.find(request.url);
        response.status = found == responses.end() ? 404 : 200;
        response.body = found == responses.end() ? R"({"message":"Not Found"})" : found->second;
        if (response.body.starts_with("redirect ")) {
            response.status = 302;
            response.headers = {{"location", response.body.substr(9)}};
            response.body.clear();
        }
        return response;
    }
    std::map<std::string, std::string> responses;
    std::vector<std::string> sent;
};

std::unique_ptr<Client> client_at(ScriptedForge& forge, ForgeKind kind, const std::string& api) {
    Remote remote;
    remote.url = "https://git.example.com/team/shop";
    remote.skill_id = "skill_1";
    remote.allow_private = true;
    return make_client(forge, remote, {kind, api, "team/shop"});
}

ForgePullRequest pull_request() {
    ForgePullRequest one;
    one.number = 1;
    one.head_commit = "aa";
    return one;
}

std::string shown(Result<ForgeOpinion> opinion) {
    REQUIRE_MESSAGE(opinion.ok(), (opinion.ok() ? "" : opinion.error().message));
    std::string text;
    for (const ForgeCheck& one : opinion.value().checks)
        text += one.id + "|" + one.name + "|" + one.result + "|" + one.summary + "|" + one.url + "\n";
    return text;
}

} // namespace

TEST_CASE("GitHub: commit statuses and check runs, by name and with their results") {
    ScriptedForge forge;
    const std::string repo = "https://api.github.com/repos/team/shop";
    forge.responses[repo + "/commits/aa/status?per_page=100"] = R"({"state":"success","statuses":[
        {"context":"ci/old","state":"success","description":"fine\u0007","target_url":"https://ci.example.com/1"}]})";
    forge.responses[repo + "/commits/aa/check-runs?per_page=100"] = R"({"check_runs":[
        {"id":7,"name":"test","status":"completed","conclusion":"failure","html_url":"https://github.com/7",
         "output":{"title":"2 tests failed"}},
        {"id":8,"name":"lint","status":"completed","conclusion":"skipped","html_url":""},
        {"id":9,"name":"build","status":"in_progress","conclusion":null},
        {"id":10,"name":"docs","status":"completed","conclusion":"neutral"}]})";
    forge.responses[repo + "/pulls/1/reviews?per_page=100"] = "[]";
    const auto client = client_at(forge, ForgeKind::github, "https://api.github.com");
    CHECK(shown(client->opinion(pull_request())) == "|ci/old|passed|fine |https://ci.example.com/1\n"
                                                    "7|test|failed|2 tests failed|https://github.com/7\n"
                                                    "8|lint|skipped||\n9|build|running||\n10|docs|passed||\n");
}

TEST_CASE("GitHub: a log is kept in another place, which gets no credential and must be public") {
    ScriptedForge forge;
    const std::string job = "https://api.github.com/repos/team/shop/actions/jobs/7/logs";
    forge.responses[job] = "redirect https://logs.blob.example.net/7?signature=x";
    forge.responses["https://logs.blob.example.net/7?signature=x"] = "line 1\nline 2\n";
    const auto client = client_at(forge, ForgeKind::github, "https://api.github.com");
    const ForgeCheck check{"7", "test", "failed", "", ""};
    CHECK(client->check_log(check, "aa").value() == "line 1\nline 2\n");
    CHECK(forge.sent ==
          std::vector<std::string>{"GET " + job,
                                   "GET https://logs.blob.example.net/7?signature=x without credential, public only"});
    // Not to addresses without TLS, and not for ever.
    forge.responses[job] = "redirect http://logs.blob.example.net/7";
    CHECK(client->check_log(check, "aa").error().message.find("not https") != std::string::npos);
    forge.responses[job] = "redirect " + job;
    CHECK(client->check_log(check, "aa").error().message.find("redirects more than") != std::string::npos);
    // A check that is no job of GitHub Actions has its report in the check itself.
    forge.responses.clear();
    CHECK(client->check_log(check, "aa").error().code == Code::not_found);
    forge.responses["https://api.github.com/repos/team/shop/check-runs/7"] =
        R"({"output":{"summary":"2 failed","text":"test_total"}})";
    CHECK(client->check_log(check, "aa").value() == "2 failed\n\ntest_total");
}

TEST_CASE("Gitea: commit statuses; the log of a job only when it is the job of this check and commit") {
    ScriptedForge forge;
    const std::string repo = "https://git.example.com/api/v1/repos/team/shop";
    forge.responses[repo + "/commits/aa/status?limit=50"] = R"json({"state":"failure","total_count":3,"statuses":[
        {"context":"ci.yml / test (push)","status":"failure","description":"Failing after 3s",
         "target_url":"/team/shop/actions/runs/4/jobs/12"},
        {"context":"coverage","status":"warning","description":"","target_url":"https://c.example.com/jobs/3"},
        {"context":"slow","status":"pending","description":"","target_url":"/team/shop/actions/runs/4/jobs/-1"}]})json";
    forge.responses[repo + "/pulls/1/reviews?limit=50"] = "[]";
    const auto client = client_at(forge, ForgeKind::gitea, "https://git.example.com/api/v1");
    CHECK(shown(client->opinion(pull_request())) ==
          "12|ci.yml / test (push)|failed|Failing after 3s|https://git.example.com/team/shop/actions/runs/4/jobs/12\n"
          "|coverage|passed||https://c.example.com/jobs/3\n"
          "|slow|running||https://git.example.com/team/shop/actions/runs/4/jobs/-1\n");
    const ForgeCheck check{"12", "ci.yml / test (push)", "failed", "", ""};
    forge.responses[repo + "/actions/jobs/12/logs"] = "1 failed\n";
    forge.responses[repo + "/actions/jobs/12"] = R"({"id":12,"name":"test","head_sha":"aa"})";
    CHECK(client->check_log(check, "aa").value() == "1 failed\n");
    CHECK(client->check_log(check, "bb").error().code == Code::not_found);
    forge.responses[repo + "/actions/jobs/12"] = R"({"id":12,"name":"deploy","head_sha":"aa"})";
    CHECK(client->check_log(check, "aa").error().code == Code::not_found);
}

TEST_CASE("GitLab: jobs of the newest pipeline, and the pipeline where it knows more") {
    ScriptedForge forge;
    const std::string project = "https://gitlab.com/api/v4/projects/team%2Fshop";
    forge.responses[project + "/merge_requests/1/pipelines?per_page=1"] =
        R"([{"id":5,"status":"failed","web_url":"https://gitlab.com/p/5"}])";
    forge.responses[project + "/pipelines/5/jobs?per_page=100"] = R"([
        {"id":51,"name":"test","status":"success","web_url":"https://gitlab.com/j/51"},
        {"id":52,"name":"lint","status":"failed","allow_failure":true,"failure_reason":"script_failure"},
        {"id":53,"name":"deploy","status":"manual"}])";
    const auto client = client_at(forge, ForgeKind::gitlab, "https://gitlab.com/api/v4");
    CHECK(shown(client->opinion(pull_request())) == "51|test|passed||https://gitlab.com/j/51\n"
                                                    "52|lint|passed|Failed, and is allowed to fail.|\n"
                                                    "53|deploy|skipped||\n|pipeline|failed||https://gitlab.com/p/5\n");
    forge.responses[project + "/pipelines/5/jobs?per_page=100"] =
        R"([{"id":51,"name":"test","status":"failed","failure_reason":"script_failure"}])";
    CHECK(shown(client->opinion(pull_request())) == "51|test|failed|script_failure|\n");
    forge.responses[project + "/jobs/51/trace"] = "1 failed\n";
    CHECK(client->check_log({"51", "test", "failed", "", ""}, "aa").value() == "1 failed\n");
}

TEST_CASE("the common result of checks is the worst of them") {
    const auto result = [](std::initializer_list<const char*> results) {
        std::vector<ForgeCheck> checks;
        for (const char* one : results) checks.push_back({"", "x", one, "", ""});
        return result_of(checks);
    };
    CHECK(result({}) == "");
    CHECK(result({"passed", "skipped"}) == "passed");
    CHECK(result({"passed", "running"}) == "running");
    CHECK(result({"running", "failed", "passed"}) == "failed");
}

TEST_CASE("a scope is tried without changing anything: reading, and writing to what does not exist") {
    ScriptedForge forge;
    const std::string repo = "https://git.example.com/api/v1/repos/team/shop";
    forge.responses[repo + "/pulls?state=open&limit=1"] = "[]";
    forge.responses[repo + "/labels?limit=1"] = "[]";
    const auto client = client_at(forge, ForgeKind::gitea, "https://git.example.com/api/v1");
    CHECK(client->try_scope(ForgeScope::pull_requests, "main").ok());
    CHECK(client->try_scope(ForgeScope::labels, "main").ok());
    CHECK(forge.sent[1] == "PATCH " + repo + "/pulls/0");
    CHECK(forge.sent[3] == "POST " + repo + "/issues/0/labels");
    CHECK_FALSE(client->try_scope(ForgeScope::checks, "main").ok());
}
