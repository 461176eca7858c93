// GitLab's REST API, version 4.
#include "base/text.h"
#include "forge/clients/rest.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

class GitlabClient final : public RestClient {
public:
    GitlabClient(ForgeHttp& http, const Remote& remote, const ForgePlace& place)
        : RestClient(http, remote, place),
          m_project("/projects/" + percent_encode(place.path)) {}

    Result<std::optional<ForgePullRequest>> find(const std::string& head) override {
        std::optional<ForgePullRequest> found;
        TRY(each("look for a merge request",
                 m_project + "/merge_requests?state=opened&per_page=100&source_branch=" + percent_encode(head),
                 [&](const json::Value& item) {
                     if (text_at(item, {"source_branch"}) != head) return true;
                     if (auto one = read(item, ""); one.ok()) found = std::move(one).value();
                     return false;
                 }));
        return found;
    }

    Result<ForgePullRequest> create(const NewPullRequest& wanted) override {
        json::Object body{{"source_branch", wanted.head},
                          {"target_branch", wanted.base},
                          {"title", (wanted.draft ? "Draft: " : "") + wanted.title},
                          {"description", wanted.body}};
        const Response answer =
            TRY(call("open a merge request", "POST", m_project + "/merge_requests", json::Value(body)));
        return read(answer.body, answer.etag);
    }

    Result<> update(int64_t number, const std::string& body) override {
        TRY(call("change the merge request", "PUT", fmt::format("{}/merge_requests/{}", m_project, number),
                 json::Value(json::Object{{"description", body}})));
        return {};
    }

    Result<std::vector<std::string>> decorate(int64_t number, const NewPullRequest& wanted) override {
        json::Object body;
        std::vector<std::string> missing;
        if (!wanted.labels.empty()) body["add_labels"] = json::to_value(wanted.labels);
        json::Array ids;
        for (const std::string& name : wanted.reviewers) {
            const size_t before = ids.size();
            const auto found =
                each("find a reviewer", "/users?username=" + percent_encode(name), [&](const json::Value& item) {
                    if (text_at(item, {"username"}) == name) ids.push_back(number_at(item, {"id"}));
                    return true;
                });
            if (!found.ok() || ids.size() == before) missing.push_back("reviewer " + name);
        }
        if (!ids.empty()) body["reviewer_ids"] = std::move(ids);
        if (!body.empty())
            TRY(call("set labels and reviewers", "PUT", fmt::format("{}/merge_requests/{}", m_project, number),
                     json::Value(body)));
        return missing;
    }

    Result<std::optional<ForgePullRequest>> get(int64_t number, const std::string& etag) override {
        const Response answer =
            TRY(call("read the merge request", "GET", fmt::format("{}/merge_requests/{}", m_project, number),
                     std::nullopt, {304}, etag));
        if (answer.status == 304) return std::optional<ForgePullRequest>();
        return std::optional(TRY(read(answer.body, answer.etag)));
    }

    Result<ForgeOpinion> opinion(const ForgePullRequest& about) override {
        ForgeOpinion opinion;
        opinion.checks = TRY(checks_of(about.number));
        const Response approvals =
            TRY(call("read the approvals", "GET",
                     fmt::format("{}/merge_requests/{}/approvals", m_project, about.number), std::nullopt, {403, 404}));
        const json::Value* by = member(approvals.body, {"approved_by"});
        if (by != nullptr && by->is_array() && !by->get_array().empty()) opinion.review = "approved";
        return opinion;
    }

    Result<std::string> check_log(const ForgeCheck& check, const std::string&) override {
        return read_text("read the log", fmt::format("{}/jobs/{}/trace", m_project, check.id));
    }

    Result<std::vector<ForgeComment>> comments(int64_t number, const std::string& after) override {
        std::vector<ForgeComment> found;
        TRY(each("read the notes",
                 fmt::format("{}/merge_requests/{}/notes?sort=asc&order_by=created_at&per_page=100", m_project, number),
                 [&](const json::Value& item) {
                     ForgeComment comment;
                     comment.id = fmt::format("{:020}", number_at(item, {"id"}));
                     comment.author = truncate_utf8(text_at(item, {"author", "username"}), 100);
                     comment.author_id = number_at(item, {"author", "id"});
                     comment.automatic = true_at(item, {"author", "bot"});
                     comment.path = truncate_utf8(text_at(item, {"position", "new_path"}), 1000);
                     if (const int64_t line = number_at(item, {"position", "new_line"}); line > 0) comment.line = line;
                     comment.body = truncate_utf8(text_at(item, {"body"}), 10'000);
                     if (!true_at(item, {"system"}) && comment.id > after && !trim(comment.body).empty())
                         found.push_back(std::move(comment));
                     return found.size() < 100;
                 }));
        return found;
    }

    Result<ForgeIssue> create_issue(const std::string& title, const std::string& body,
                                    const std::vector<std::string>& labels) override {
        json::Object wanted{{"title", title}, {"description", body}};
        if (!labels.empty()) wanted["labels"] = json::to_value(labels);
        const Response answer = TRY(call("open an issue", "POST", m_project + "/issues", json::Value(wanted)));
        return ForgeIssue{number_at(answer.body, {"iid"}), text_at(answer.body, {"web_url"})};
    }

    Result<std::vector<ForgeCommit>> commits(int64_t number) override {
        std::vector<ForgeCommit> found;
        TRY(each("read the commits", fmt::format("{}/merge_requests/{}/commits?per_page=100", m_project, number),
                 [&](const json::Value& item) {
                     found.push_back({std::string(truncate_utf8(text_at(item, {"id"}), 64)),
                                      std::string(truncate_utf8(text_at(item, {"author_name"}), 100)),
                                      std::string(truncate_utf8(text_at(item, {"title"}), 200))});
                     return true;
                 }));
        std::ranges::reverse(found); // GitLab lists the newest first
        return found;
    }

    Result<ForgeRepository> repository() override {
        const Response answer = TRY(call("read the repository", "GET", m_project));
        ForgeRepository found;
        found.path = truncate_utf8(text_at(answer.body, {"path_with_namespace"}), 300);
        found.url = truncate_utf8(text_at(answer.body, {"http_url_to_repo"}), 500);
        found.default_branch = truncate_utf8(text_at(answer.body, {"default_branch"}), 250);
        found.archived = true_at(answer.body, {"archived"});
        found.empty = true_at(answer.body, {"empty_repo"});
        found.can_push = std::max(number_at(answer.body, {"permissions", "project_access", "access_level"}),
                                  number_at(answer.body, {"permissions", "group_access", "access_level"})) >= developer;
        found.moved = was_redirected() && lowercase_ascii(found.path) != lowercase_ascii(m_place.path);
        return found;
    }

    Result<std::string> account() override {
        const Response answer = TRY(call("read the account", "GET", "/user", std::nullopt, {401, 403, 404}));
        return answer.status < 300 ? text_at(answer.body, {"username"}) : std::string();
    }

    Result<bool> can_write(const ForgeComment& comment) override {
        const Response answer =
            TRY(call("read who can write", "GET", fmt::format("{}/members/all/{}", m_project, comment.author_id),
                     std::nullopt, {403, 404}));
        return answer.status < 300 && number_at(answer.body, {"access_level"}) >= developer;
    }

    Result<> try_scope(ForgeScope scope, const std::string&) override {
        switch (scope) {
        case ForgeScope::pull_requests:
            return try_requests("use merge requests", m_project + "/merge_requests?state=opened&per_page=1", "PUT",
                                m_project + "/merge_requests/0");
        case ForgeScope::labels:
            return try_requests("read the labels", m_project + "/labels?per_page=1", "", "");
        case ForgeScope::comments:
            return try_requests("read the comments", m_project + "/events?target_type=note&per_page=1", "", "");
        case ForgeScope::checks:
            return try_requests("read the pipelines", m_project + "/pipelines?per_page=1", "", "");
        }
        return {};
    }

private:
    static constexpr int64_t developer = 30; // the least access level that can push

    static std::string result_of_state(const std::string& state) {
        return state == "success"                         ? "passed"
               : state == "failed" || state == "canceled" ? "failed"
               : state == "skipped" || state == "manual"  ? "skipped"
                                                          : "running";
    }

    // The jobs of the newest pipeline.
    Result<std::vector<ForgeCheck>> checks_of(int64_t number) {
        std::vector<ForgeCheck> checks;
        const Response pipelines = TRY(call("read the pipelines", "GET",
                                            fmt::format("{}/merge_requests/{}/pipelines?per_page=1", m_project, number),
                                            std::nullopt, {403, 404}));
        if (!pipelines.body.is_array() || pipelines.body.get_array().empty()) return checks;
        const json::Value& newest = pipelines.body.get_array().front();
        const Response jobs =
            TRY(call("read the jobs", "GET",
                     fmt::format("{}/pipelines/{}/jobs?per_page=100", m_project, number_at(newest, {"id"})),
                     std::nullopt, {403, 404}));
        if (jobs.body.is_array())
            for (const json::Value& item : jobs.body.get_array()) {
                ForgeCheck check;
                if (const int64_t id = number_at(item, {"id"}); id > 0) check.id = std::to_string(id);
                check.name = line_at(item, {"name"}, 200);
                check.result = result_of_state(text_at(item, {"status"}));
                check.summary = line_at(item, {"failure_reason"}, 300);
                check.url = line_at(item, {"web_url"}, 1000);
                if (check.result == "failed" && true_at(item, {"allow_failure"})) {
                    check.result = "passed";
                    check.summary = "Failed, and is allowed to fail.";
                }
                checks.push_back(std::move(check));
            }
        // Jobs of programs outside GitLab count too, and are not in the list.
        const std::string whole = result_of_state(text_at(newest, {"status"}));
        if (checks.empty() || ((whole == "failed" || whole == "running") && result_of(checks) != whole))
            checks.push_back({"", "pipeline", whole, "", line_at(newest, {"web_url"}, 1000)});
        return checks;
    }

    static Result<ForgePullRequest> read(const json::Value& item, const std::string& etag) {
        ForgePullRequest found;
        found.number = number_at(item, {"iid"});
        if (found.number <= 0) return unavailable("the response of the forge is not a merge request");
        found.url = truncate_utf8(text_at(item, {"web_url"}), 1000);
        found.title = truncate_utf8(text_at(item, {"title"}), 500);
        found.body = text_at(item, {"description"});
        found.base = truncate_utf8(text_at(item, {"target_branch"}), 250);
        found.author = truncate_utf8(text_at(item, {"author", "username"}), 100);
        found.head_commit = truncate_utf8(text_at(item, {"sha"}), 64);
        if (true_at(item, {"has_conflicts"}))
            found.mergeable = "conflicts";
        else if (text_at(item, {"merge_status"}) == "can_be_merged")
            found.mergeable = "yes";
        const std::string state = text_at(item, {"state"});
        found.open = state == "opened" || state == "locked";
        found.merged = state == "merged";
        found.draft = true_at(item, {"draft"});
        if (auto time = parse_time(text_at(item, {"merged_at"})); time.ok()) found.merged_at = time.value();
        found.etag = truncate_utf8(etag, 200);
        return found;
    }

    const std::string m_project;
};

} // namespace

std::unique_ptr<Client> make_gitlab_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place) {
    return std::make_unique<GitlabClient>(http, remote, place);
}

} // namespace hone::forge
