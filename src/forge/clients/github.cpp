// GitHub's REST API, which Gitea and Forgejo speak too, but for drafts, labels and the names of review states.
#include "base/text.h"
#include "base/time.h"
#include "forge/clients/rest.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

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

    Result<> update(int64_t number, const std::string& title, const std::string& body) override {
        TRY(call("change the pull request", "PATCH", fmt::format("{}/pulls/{}", m_repo, number),
                 json::Value(json::Object{{"title", title}, {"body", body}})));
        return {};
    }

    Result<> decorate(int64_t number, const NewPullRequest& wanted) override {
        if (!wanted.labels.empty()) {
            const json::Array labels = TRY(labels_of(wanted.labels));
            if (!labels.empty())
                TRY(call("set labels", "POST", fmt::format("{}/issues/{}/labels", m_repo, number),
                         json::Value(json::Object{{"labels", labels}})));
        }
        if (!wanted.reviewers.empty())
            TRY(call("ask reviewers", "POST", fmt::format("{}/pulls/{}/requested_reviewers", m_repo, number),
                     json::Value(json::Object{{"reviewers", json::to_value(wanted.reviewers)}})));
        return {};
    }

    Result<std::optional<ForgePullRequest>> get(int64_t number, const std::string& etag) override {
        const Response answer = TRY(call("read the pull request", "GET", fmt::format("{}/pulls/{}", m_repo, number),
                                         std::nullopt, {304}, etag));
        if (answer.status == 304) return std::optional<ForgePullRequest>();
        return std::optional(TRY(read(answer.body, answer.etag)));
    }

    Result<ForgeOpinion> opinion(const ForgePullRequest& about) override {
        ForgeOpinion opinion;
        const Response status =
            TRY(call("read the checks", "GET", fmt::format("{}/commits/{}/status", m_repo, about.head_commit),
                     std::nullopt, {404}));
        bool failed = false, running = false, passed = false;
        if (number_at(status.body, {"total_count"}) > 0) {
            const std::string state = text_at(status.body, {"state"});
            failed = state == "failure" || state == "error";
            running = state == "pending";
            passed = state == "success";
        }
        if (!m_gitea) {
            const Response checks =
                TRY(call("read the checks", "GET",
                         fmt::format("{}/commits/{}/check-runs?per_page=100", m_repo, about.head_commit), std::nullopt,
                         {403, 404}));
            if (const json::Value* list = member(checks.body, {"check_runs"}); list != nullptr && list->is_array())
                for (const json::Value& one : list->get_array()) {
                    const std::string how = text_at(one, {"conclusion"});
                    if (text_at(one, {"status"}) != "completed")
                        running = true;
                    else if (how == "success" || how == "neutral" || how == "skipped")
                        passed = true;
                    else
                        failed = true;
                }
        }
        opinion.checks = failed ? "failed" : running ? "running" : passed ? "passed" : "";
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

    // Comments on the pull request, with a review and on its lines. A line's comment goes by its review: people write
    // some for days before others see them.
    Result<std::vector<ForgeComment>> comments(int64_t number, const std::string& after) override {
        std::vector<ForgeComment> found;
        const std::string pull = fmt::format("{}/pulls/{}", m_repo, number);
        TRY(each("read the comments", fmt::format("{}/issues/{}/comments?{}", m_repo, number, page_size()),
                 [&](const json::Value& item) {
                     const std::string place = place_of(item, "created_at");
                     if (place > after && is_from_member(item)) keep(found, item, place);
                     return true;
                 }));
        std::map<int64_t, std::string> fresh; // reviews, and their places
        TRY(each("read the reviews", fmt::format("{}/reviews?{}", pull, page_size()), [&](const json::Value& item) {
            const std::string place = place_of(item, "submitted_at");
            if (text_at(item, {"state"}) == "PENDING" || place <= after || !is_from_member(item)) return true;
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
        if (!labels.empty()) wanted["labels"] = TRY(labels_of(labels));
        const Response answer = TRY(call("open an issue", "POST", m_repo + "/issues", json::Value(wanted)));
        return ForgeIssue{number_at(answer.body, {"number"}), text_at(answer.body, {"html_url"})};
    }

private:
    // When others could read it, then which it is; text order is this order. Empty: unknown, never sent.
    static std::string place_of(const json::Value& item, std::string_view moment) {
        const auto time = parse_time(text_at(item, {moment}));
        return time.ok() ? fmt::format("{} {:020}", to_text(time.value()), number_at(item, {"id"})) : "";
    }

    // Not bots, nor users outside the repository: each comment costs a turn.
    static bool is_from_member(const json::Value& item) {
        const std::string known = text_at(item, {"author_association"}); // Gitea does not say
        return text_at(item, {"user", "type"}) != "Bot" && known != "NONE" && known != "MANNEQUIN" &&
               !known.starts_with("FIRST_TIME");
    }

    static void keep(std::vector<ForgeComment>& found, const json::Value& item, const std::string& place) {
        ForgeComment comment;
        comment.id = place;
        comment.author = truncate_utf8(text_at(item, {"user", "login"}), 100);
        comment.path = truncate_utf8(text_at(item, {"path"}), 1000);
        const int64_t line = number_at(item, {"line"});
        if (const int64_t at = line > 0 ? line : number_at(item, {"position"}); at > 0) comment.line = at;
        comment.body = truncate_utf8(text_at(item, {"body"}), 10'000);
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

    // Names at GitHub; ids at Gitea, where labels that the repository does not have are left out.
    Result<json::Array> labels_of(const std::vector<std::string>& names) {
        json::Array labels;
        if (!m_gitea) {
            for (const std::string& name : names) labels.push_back(json::Value(name));
            return labels;
        }
        TRY(each("read labels", m_repo + "/labels?limit=50", [&](const json::Value& item) {
            for (const std::string& name : names)
                if (text_at(item, {"name"}) == name) labels.push_back(number_at(item, {"id"}));
            return true;
        }));
        return labels;
    }

    static Result<ForgePullRequest> read(const json::Value& item, const std::string& etag) {
        ForgePullRequest found;
        found.number = number_at(item, {"number"});
        if (found.number <= 0) return unavailable("the response of the forge is not a pull request");
        found.url = truncate_utf8(text_at(item, {"html_url"}), 1000);
        found.title = truncate_utf8(text_at(item, {"title"}), 500);
        found.head_commit = truncate_utf8(text_at(item, {"head", "sha"}), 64);
        found.open = text_at(item, {"state"}) == "open";
        const std::string merged_at = text_at(item, {"merged_at"});
        found.merged = true_at(item, {"merged"}) || !merged_at.empty();
        found.draft = true_at(item, {"draft"}) || found.title.starts_with("WIP: ");
        if (auto time = parse_time(merged_at); time.ok()) found.merged_at = time.value();
        found.etag = truncate_utf8(etag, 200);
        return found;
    }

    const std::string m_repo;
    const std::string m_owner;
    const bool m_gitea;
};

} // namespace

std::unique_ptr<Client> make_github_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place) {
    return std::make_unique<GithubClient>(http, remote, place);
}

} // namespace hone::forge
