// GitHub's REST API, which Gitea and Forgejo speak too, but for drafts, labels and the names of review states.
#include "base/text.h"
#include "base/time.h"
#include "forge/clients/rest.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::forge {

namespace {

constexpr size_t most_comments = 100;

class GithubClient final : public RestClient {
public:
    GithubClient(ForgeHttp& http, const Remote& remote, const ForgePlace& place)
        : RestClient(http, remote, place),
          m_repo("/repos/" + place.path),
          m_owner(place.path.substr(0, place.path.find('/'))),
          m_gitea(place.kind == ForgeKind::gitea) {}

    Result<std::optional<ForgePullRequest>> find(const std::string& head) override {
        std::optional<ForgePullRequest> found;
        // Gitea has no filter by branch; both have pages.
        const std::string query =
            m_gitea ? "?state=open&limit=50" : "?state=open&per_page=100&head=" + percent_encode(m_owner + ":" + head);
        TRY(each("look for a pull request", m_repo + "/pulls" + query, [&](const json::Value& item) {
            if (text_at(item, {"head", "ref"}) != head) return true;
            if (auto one = read(item, ""); one.ok()) found = std::move(one).value();
            return false;
        }));
        return found;
    }

    Result<ForgePullRequest> create(const NewPullRequest& wanted) override {
        json::Object body{
            {"title", titled(wanted)}, {"body", wanted.body}, {"head", wanted.head}, {"base", wanted.base}};
        if (!m_gitea) body["draft"] = wanted.draft;
        auto answer = call("open a pull request", "POST", m_repo + "/pulls", json::Value(body));
        if (answer.ok()) return read(answer.value().body, answer.value().etag);
        const std::string said = lowercase_ascii(answer.error().message);
        if (said.find("already exists") != std::string::npos)
            return conflict("the forge has a pull request for this branch already");
        // A private repository of a free plan takes no drafts.
        if (m_gitea || !wanted.draft || answer.error().code != Code::invalid || said.find("draft") == std::string::npos)
            return answer.error();
        body["draft"] = false;
        const Response again = TRY(call("open a pull request", "POST", m_repo + "/pulls", json::Value(body)));
        return read(again.body, again.etag);
    }

    Result<> update(int64_t number, const std::string& body) override {
        TRY(call("change the pull request", "PATCH", fmt::format("{}/pulls/{}", m_repo, number),
                 json::Value(json::Object{{"body", body}})));
        return {};
    }

    Result<std::vector<std::string>> decorate(int64_t number, const NewPullRequest& wanted) override {
        std::vector<std::string> missing;
        std::optional<Error> failed;
        const auto label = [&]() -> Result<> {
            if (wanted.labels.empty()) return {};
            const json::Array labels = TRY(labels_of(wanted.labels, missing));
            if (!labels.empty())
                TRY(call("set labels", "POST", fmt::format("{}/issues/{}/labels", m_repo, number),
                         json::Value(json::Object{{"labels", labels}})));
            return {};
        };
        if (const auto done = label(); !done.ok()) failed = done.error();
        // One at a time: a name that the forge does not have does not exclude the others.
        for (const std::string& reviewer : wanted.reviewers) {
            const auto done =
                call("request reviewers", "POST", fmt::format("{}/pulls/{}/requested_reviewers", m_repo, number),
                     json::Value(json::Object{{"reviewers", json::Array{json::Value(reviewer)}}}));
            if (!done.ok()) missing.push_back("reviewer " + reviewer);
        }
        if (failed) return *failed;
        return missing;
    }

    Result<std::optional<ForgePullRequest>> get(int64_t number, const std::string& etag) override {
        const Response answer = TRY(call("read the pull request", "GET", fmt::format("{}/pulls/{}", m_repo, number),
                                         std::nullopt, {304}, etag));
        if (answer.status == 304) return std::optional<ForgePullRequest>();
        return std::optional(TRY(read(answer.body, answer.etag)));
    }

    Result<ForgeOpinion> opinion(const ForgePullRequest& about) override {
        ForgeOpinion opinion;
        opinion.checks = TRY(checks_of(about.head_commit));
        std::map<std::string, std::string> by_user; // the last word of each
        TRY(each("read the reviews", fmt::format("{}/pulls/{}/reviews?{}", m_repo, about.number, page_size()),
                 [&](const json::Value& item) {
                     const std::string state = text_at(item, {"state"});
                     if (state == "APPROVED" || state == "CHANGES_REQUESTED" || state == "REQUEST_CHANGES" ||
                         state == "DISMISSED")
                         by_user[text_at(item, {"user", "login"})] = state;
                     return true;
                 }));
        for (const auto& [user, state] : by_user) {
            if (state == "CHANGES_REQUESTED" || state == "REQUEST_CHANGES") opinion.review = "changes_requested";
            if (state == "APPROVED" && opinion.review.empty()) opinion.review = "approved";
        }
        return opinion;
    }

    Result<std::string> check_log(const ForgeCheck& check, const std::string& commit) override {
        if (m_gitea) TRY(require_job(check, commit));
        auto log = read_text("read the log", fmt::format("{}/actions/jobs/{}/logs", m_repo, check.id));
        if (log.ok() || m_gitea || (log.error().code != Code::not_found && log.error().code != Code::forbidden))
            return log;
        // A check of another program than GitHub Actions: its report is in the check itself.
        const Response one = TRY(
            call("read the check", "GET", fmt::format("{}/check-runs/{}", m_repo, check.id), std::nullopt, {403, 404}));
        std::string report = text_at(one.body, {"output", "summary"});
        if (const std::string text = text_at(one.body, {"output", "text"}); !text.empty())
            report += (report.empty() ? "" : "\n\n") + text;
        return report.empty() ? log : Result<std::string>(std::move(report));
    }

    // Comments on the pull request, with a review and on its lines. A line's comment goes by its review: people write
    // some for days before others see them.
    Result<std::vector<ForgeComment>> comments(int64_t number, const std::string& after) override {
        std::vector<ForgeComment> found;
        const std::string pull = fmt::format("{}/pulls/{}", m_repo, number);
        TRY(each("read the comments", fmt::format("{}/issues/{}/comments?{}", m_repo, number, page_size()),
                 [&](const json::Value& item) {
                     const std::string place = place_of(item, "created_at");
                     if (place > after) keep(found, item, place);
                     return true;
                 }));
        std::map<int64_t, std::string> fresh; // reviews, and their places
        TRY(each("read the reviews", fmt::format("{}/reviews?{}", pull, page_size()), [&](const json::Value& item) {
            const std::string place = place_of(item, "submitted_at");
            if (text_at(item, {"state"}) == "PENDING" || place <= after) return true;
            fresh[number_at(item, {"id"})] = place;
            keep(found, item, place);
            return true;
        }));
        TRY(keep_lines(found, pull, fresh));
        std::ranges::stable_sort(found, {}, &ForgeComment::id);
        size_t kept = std::min(found.size(), most_comments);
        while (kept > 0 && kept < found.size() && found[kept].id == found[kept - 1].id) ++kept; // a review stays whole
        found.resize(kept);
        return found;
    }

    Result<ForgeIssue> create_issue(const std::string& title, const std::string& body,
                                    const std::vector<std::string>& labels) override {
        json::Object wanted{{"title", title}, {"body", body}};
        std::vector<std::string> missing;
        if (!labels.empty()) wanted["labels"] = TRY(labels_of(labels, missing));
        if (!missing.empty()) return invalid("the forge has no label " + missing.front() + "; create it there first");
        const Response answer = TRY(call("open an issue", "POST", m_repo + "/issues", json::Value(wanted)));
        return ForgeIssue{number_at(answer.body, {"number"}), text_at(answer.body, {"html_url"})};
    }

    Result<std::vector<ForgeCommit>> commits(int64_t number) override {
        std::vector<ForgeCommit> found;
        TRY(each("read the commits", fmt::format("{}/pulls/{}/commits?{}", m_repo, number, page_size()),
                 [&](const json::Value& item) {
                     const std::string message = text_at(item, {"commit", "message"});
                     found.push_back({std::string(truncate_utf8(text_at(item, {"sha"}), 64)),
                                      std::string(truncate_utf8(text_at(item, {"commit", "author", "name"}), 100)),
                                      std::string(truncate_utf8(message.substr(0, message.find('\n')), 200))});
                     return true;
                 }));
        // GitHub lists the oldest first, Gitea the newest.
        if (m_gitea) std::ranges::reverse(found);
        return found;
    }

    Result<ForgeRepository> repository() override {
        const Response answer = TRY(call("read the repository", "GET", m_repo));
        ForgeRepository found;
        found.path = truncate_utf8(text_at(answer.body, {"full_name"}), 300);
        found.url = truncate_utf8(text_at(answer.body, {"clone_url"}), 500);
        found.default_branch = truncate_utf8(text_at(answer.body, {"default_branch"}), 250);
        found.archived = true_at(answer.body, {"archived"});
        found.empty = true_at(answer.body, {"empty"});
        found.can_push = true_at(answer.body, {"permissions", "push"});
        found.moved = was_redirected() && lowercase_ascii(found.path) != lowercase_ascii(m_place.path);
        return found;
    }

    Result<std::string> account() override {
        const Response answer = TRY(call("read the account", "GET", "/user", std::nullopt, {401, 403, 404}));
        return answer.status < 300 ? text_at(answer.body, {"login"}) : std::string();
    }

    Result<bool> can_write(const ForgeComment& comment) override {
        if (m_gitea) {
            if (!m_writers) {
                m_writers.emplace();
                // Those who can be assigned are those who can write.
                TRY(each("read who can write", m_repo + "/assignees", [&](const json::Value& item) {
                    m_writers->insert(text_at(item, {"login"}));
                    return true;
                }));
            }
            return m_writers->contains(comment.author);
        }
        const Response answer =
            TRY(call("read who can write", "GET",
                     fmt::format("{}/collaborators/{}/permission", m_repo, percent_encode(comment.author)),
                     std::nullopt, {403, 404}));
        if (answer.status < 300) {
            const std::string permission = text_at(answer.body, {"permission"});
            return permission == "admin" || permission == "write" || permission == "maintain";
        }
        return comment.association == "OWNER" || comment.association == "MEMBER" ||
               comment.association == "COLLABORATOR";
    }

    Result<> try_scope(ForgeScope scope, const std::string& branch) override {
        const std::string one = m_gitea ? "limit=1" : "per_page=1";
        switch (scope) {
        case ForgeScope::pull_requests:
            return try_requests("use pull requests", m_repo + "/pulls?state=open&" + one, "PATCH", m_repo + "/pulls/0");
        case ForgeScope::labels:
            return try_requests("set labels", m_repo + "/labels?" + one, "POST", m_repo + "/issues/0/labels");
        case ForgeScope::comments:
            return try_requests("read the comments", m_repo + "/issues/comments?" + one, "", "");
        case ForgeScope::checks:
            return try_requests("read the checks", m_repo + "/commits/" + percent_encode(branch) + "/status", "", "");
        }
        return {};
    }

private:
    // Commit statuses, and the check runs that only GitHub has.
    Result<std::vector<ForgeCheck>> checks_of(const std::string& commit) {
        std::vector<ForgeCheck> checks;
        const std::string about = fmt::format("{}/commits/{}/", m_repo, commit);
        const Response combined = TRY(
            call("read the checks", "GET", fmt::format("{}status?{}", about, page_size()), std::nullopt, {403, 404}));
        if (const json::Value* list = member(combined.body, {"statuses"}); list != nullptr && list->is_array())
            for (const json::Value& item : list->get_array()) checks.push_back(read_status(item));
        if (m_gitea) return checks;
        const Response runs = TRY(call("read the checks", "GET", fmt::format("{}check-runs?{}", about, page_size()),
                                       std::nullopt, {403, 404}));
        if (const json::Value* list = member(runs.body, {"check_runs"}); list != nullptr && list->is_array())
            for (const json::Value& item : list->get_array()) checks.push_back(read_run(item));
        return checks;
    }

    ForgeCheck read_status(const json::Value& item) const {
        ForgeCheck check;
        check.name = line_at(item, {"context"}, 200);
        const std::string state = text_at(item, {m_gitea ? "status" : "state"});
        check.result = state == "success" || state == "warning" ? "passed"
                       : state == "skipped"                     ? "skipped"
                       : state == "pending"                     ? "running"
                                                                : "failed";
        check.summary = line_at(item, {"description"}, 300);
        check.url = line_at(item, {"target_url"}, 1000);
        if (!m_gitea) return check;
        // A job of Gitea Actions: …/actions/runs/7/jobs/12
        const size_t job = check.url.rfind("/jobs/");
        if (check.url.find("/actions/runs/") != std::string::npos && job != std::string::npos)
            if (const auto id = parse_integer(check.url.substr(job + 6)); id.ok() && id.value() > 0)
                check.id = std::to_string(id.value());
        if (check.url.starts_with('/'))
            check.url = m_place.api.substr(0, m_place.api.find('/', m_place.api.find("://") + 3)) + check.url;
        return check;
    }

    static ForgeCheck read_run(const json::Value& item) {
        ForgeCheck check;
        if (const int64_t id = number_at(item, {"id"}); id > 0) check.id = std::to_string(id);
        check.name = line_at(item, {"name"}, 200);
        const std::string how = text_at(item, {"conclusion"});
        check.result = text_at(item, {"status"}) != "completed" ? "running"
                       : how == "success" || how == "neutral"   ? "passed"
                       : how == "skipped" || how == "stale"     ? "skipped"
                                                                : "failed";
        check.summary = line_at(item, {"output", "title"}, 300);
        check.url = line_at(item, {"html_url"}, 1000);
        return check;
    }

    // Before version 1.26 the address of a status had a position instead of the job's id: the log of another job must
    // not be shown.
    Result<> require_job(const ForgeCheck& check, const std::string& commit) {
        const Response job = TRY(call("read the job", "GET", fmt::format("{}/actions/jobs/{}", m_repo, check.id)));
        const std::string name = text_at(job.body, {"name"});
        if (name.empty() || text_at(job.body, {"head_sha"}) != commit || check.name.find(name) == std::string::npos)
            return not_found("the log of " + check.name);
        return {};
    }

    // When others could read it, then which it is; text order is this order. Empty: unknown, never sent.
    static std::string place_of(const json::Value& item, std::string_view moment) {
        const auto time = parse_time(text_at(item, {moment}));
        return time.ok() ? fmt::format("{} {:020}", to_text(time.value()), number_at(item, {"id"})) : "";
    }

    static void keep(std::vector<ForgeComment>& found, const json::Value& item, const std::string& place) {
        ForgeComment comment;
        comment.id = place;
        comment.author = truncate_utf8(text_at(item, {"user", "login"}), 100);
        comment.path = truncate_utf8(text_at(item, {"path"}), 1000);
        const int64_t line = number_at(item, {"line"});
        if (const int64_t at = line > 0 ? line : number_at(item, {"position"}); at > 0) comment.line = at;
        comment.body = truncate_utf8(text_at(item, {"body"}), 10'000);
        comment.association = text_at(item, {"author_association"}); // Gitea has none
        comment.automatic = text_at(item, {"user", "type"}) == "Bot";
        if (!trim(comment.body).empty()) found.push_back(std::move(comment));
    }

    // GitHub lists the lines of all reviews, with their numbers; Gitea those of one.
    Result<> keep_lines(std::vector<ForgeComment>& found, const std::string& pull,
                        const std::map<int64_t, std::string>& reviews) {
        if (reviews.empty()) return {};
        if (!m_gitea)
            return each("read the comments on lines", fmt::format("{}/comments?{}", pull, page_size()),
                        [&](const json::Value& item) {
                            const auto review = reviews.find(number_at(item, {"pull_request_review_id"}));
                            if (review != reviews.end()) keep(found, item, review->second);
                            return true;
                        });
        for (const auto& review : reviews)
            TRY(each("read the comments on lines", fmt::format("{}/reviews/{}/comments", pull, review.first),
                     [&](const json::Value& item) {
                         keep(found, item, review.second);
                         return true;
                     }));
        return {};
    }

    std::string_view page_size() const { return m_gitea ? "limit=50" : "per_page=100"; }

    // Gitea knows drafts by their title.
    std::string titled(const NewPullRequest& wanted) const {
        return m_gitea && wanted.draft ? "WIP: " + wanted.title : wanted.title;
    }

    // Names at GitHub; ids at Gitea, of the repository or of its organisation. `missing`: those that neither has.
    Result<json::Array> labels_of(const std::vector<std::string>& names, std::vector<std::string>& missing) {
        json::Array labels;
        if (!m_gitea) {
            for (const std::string& name : names) labels.push_back(json::Value(name));
            return labels;
        }
        std::map<std::string, int64_t> known;
        const auto take = [&](const json::Value& item) {
            known.emplace(text_at(item, {"name"}), number_at(item, {"id"}));
            return true;
        };
        TRY(each("read labels", m_repo + "/labels?limit=50", take));
        // A user has none; the organisation's may be hidden from the token.
        if (std::ranges::any_of(names, [&](const std::string& name) { return !known.contains(name); }))
            (void)each("read labels of the organisation", "/orgs/" + percent_encode(m_owner) + "/labels?limit=50", take)
                .ok();
        for (const std::string& name : names)
            if (const auto label = known.find(name); label != known.end())
                labels.push_back(label->second);
            else
                missing.push_back(name);
        return labels;
    }

    Result<ForgePullRequest> read(const json::Value& item, const std::string& etag) const {
        ForgePullRequest found;
        found.number = number_at(item, {"number"});
        if (found.number <= 0) return unavailable("the response of the forge is not a pull request");
        found.url = truncate_utf8(text_at(item, {"html_url"}), 1000);
        found.title = truncate_utf8(text_at(item, {"title"}), 500);
        found.body = text_at(item, {"body"});
        found.base = truncate_utf8(text_at(item, {"base", "ref"}), 250);
        found.author = truncate_utf8(text_at(item, {"user", "login"}), 100);
        found.head_commit = truncate_utf8(text_at(item, {"head", "sha"}), 64);
        found.open = text_at(item, {"state"}) == "open";
        const std::string merged_at = text_at(item, {"merged_at"});
        found.merged = true_at(item, {"merged"}) || !merged_at.empty();
        found.draft = true_at(item, {"draft"}) || found.title.starts_with("WIP: ");
        if (auto time = parse_time(merged_at); time.ok()) found.merged_at = time.value();
        // Gitea reports a draft as not mergeable, whatever its changes are.
        if (const json::Value* mergeable = member(item, {"mergeable"}); mergeable != nullptr && mergeable->is_bool())
            found.mergeable = mergeable->get_bool() ? "yes" : m_gitea && found.draft ? "" : "conflicts";
        found.etag = truncate_utf8(etag, 200);
        return found;
    }

    const std::string m_repo;
    const std::string m_owner;
    const bool m_gitea;
    std::optional<std::set<std::string>> m_writers; // of Gitea, once read
};

} // namespace

std::unique_ptr<Client> make_github_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place) {
    return std::make_unique<GithubClient>(http, remote, place);
}

} // namespace hone::forge
