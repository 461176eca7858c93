#include "review/delivery/pull_requests.h"

#include "access/project_list.h"
#include "base/text.h"
#include "sql/columns.h"

#include <fmt/format.h>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr std::tuple pull_request_columns{
    sql::Column{"id", &PullRequest::id},
    sql::Column{"space_id", &PullRequest::space_id},
    sql::Column{"project_id", &PullRequest::project_id},
    sql::Column{"artifact_id", &PullRequest::artifact_id},
    sql::Column{"run_id", &PullRequest::run_id},
    sql::Column{"repo_id", &PullRequest::repo_id},
    sql::Column{"repo_name", &PullRequest::repo_name},
    sql::Column{"fix_of", &PullRequest::fix_of},
    sql::Column{"forge", &PullRequest::forge},
    sql::Column{"branch", &PullRequest::branch},
    sql::Column{"target", &PullRequest::target},
    sql::Column{"revision", &PullRequest::revision},
    sql::Column{"state", &PullRequest::state, PullRequestState::failed},
    sql::Column{"number", &PullRequest::number},
    sql::Column{"url", &PullRequest::url},
    sql::Column{"title", &PullRequest::title},
    sql::Column{"draft", &PullRequest::draft},
    sql::Column{"head_commit", &PullRequest::head_commit},
    sql::Column{"checks", &PullRequest::checks},
    sql::Column{"forge_review", &PullRequest::forge_review},
    sql::Column{"error", &PullRequest::error},
    sql::Column{"attempts", &PullRequest::attempts},
    sql::Column{"next_try_at", &PullRequest::next_try_at},
    sql::Column{"created_at", &PullRequest::created_at},
    sql::Column{"updated_at", &PullRequest::updated_at},
    sql::Column{"polled_at", &PullRequest::polled_at},
    sql::Column{"merged_at", &PullRequest::merged_at},
    sql::Column{"etag", &PullRequest::etag},
    sql::Column{"told_until", &PullRequest::told_until},
};
const std::string select_pull_request = "SELECT " + sql::names(pull_request_columns) + " FROM pull_requests";
constexpr std::string_view unfinished = "('queued', 'pushed', 'open')";

PullRequest pull_request_of(const sql::Row& row) {
    return sql::read<PullRequest>(pull_request_columns, row);
}

} // namespace

Result<Page<PullRequest>> PullRequests::list(const Caller& caller, const SpaceId& space,
                                             const PullRequestFilter& filter, const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, filter.project, Permission::run_read,
                                                select_pull_request));
    if (filter.repo) list.where(filter.repo->starts_with("repo_") ? "repo_id = ?" : "repo_name = ?", *filter.repo);
    if (filter.run) list.where("run_id = ?", *filter.run);
    if (filter.fix_of) list.where("fix_of = ?", *filter.fix_of);
    if (filter.state) list.where("state = ?", name_of(*filter.state));
    const auto rows = TRY(list.newest_first(m_database, page));
    std::vector<PullRequest> found;
    for (const auto& row : rows) found.push_back(pull_request_of(row));
    return access::make_page(std::move(found), page, [](const PullRequest& one) { return one.id.text(); });
}

Result<PullRequest> PullRequests::find(const Caller& caller, const PullRequestId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select_pull_request + " WHERE id = ?", id));
    if (rows.empty()) return not_found("pull request " + id.text());
    PullRequest found = pull_request_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, found.space_id, found.project_id, permission,
                                   "pull request " + id.text()));
    return found;
}

Result<std::optional<PullRequest>> PullRequests::of_artifact(const ArtifactId& artifact) const {
    const auto rows = TRY(m_database.query(select_pull_request + " WHERE artifact_id = ?", artifact));
    if (rows.empty()) return std::optional<PullRequest>();
    return std::optional(pull_request_of(rows.front()));
}

Result<PullRequest> PullRequests::wake(const Caller& caller, const PullRequestId& id) {
    const PullRequest found = TRY(find(caller, id, Permission::artifact_review));
    TRY(m_database.execute("UPDATE pull_requests SET next_try_at = 0, attempts = 0, etag = '', updated_at = ?, state = "
                           "CASE WHEN state = 'failed' THEN 'queued' ELSE state END WHERE id = ?",
                           m_clock.now(), id));
    return find(caller, found.id);
}

Result<> PullRequests::enqueue(sql::Transaction& transaction, const Clock& clock, const Artifact& artifact,
                               const Branch& branch, const Revision& revision) {
    const auto own = TRY(transaction.query("SELECT id, state FROM pull_requests WHERE artifact_id = ?", artifact.id));
    if (!branch.fix_of.empty()) {
        const auto others = TRY(transaction.query("SELECT url, branch FROM pull_requests WHERE fix_of = ? AND "
                                                  "artifact_id <> ? AND state IN " +
                                                      std::string(unfinished) + " LIMIT 1",
                                                  branch.fix_of, artifact.id));
        if (!others.empty()) {
            const std::string& url = others.front().text(0);
            return conflict(fmt::format("issue {} has an open pull request already: {}. Close it first", branch.fix_of,
                                        url.empty() ? others.front().text(1) : url));
        }
    }
    const auto open = TRY(transaction.query("SELECT COUNT(*) FROM pull_requests WHERE repo_id = ? AND artifact_id <> ? "
                                            "AND state IN " +
                                                std::string(unfinished),
                                            branch.repo_id, artifact.id));
    if (open.front().integer(0) >= *branch.policy.open_pull_requests)
        return conflict(fmt::format("{} has {} open pull requests of Hone, as many as the preset allows; merge or "
                                    "close some first",
                                    branch.repo_name, open.front().integer(0)));
    const Time now = clock.now();
    // A later approval of the same branch updates the same pull request; a merged or closed one gets a successor.
    if (!own.empty()) {
        const bool over = own.front().text(1) == "merged" || own.front().text(1) == "closed";
        TRY(transaction.execute("UPDATE pull_requests SET revision = ?, state = 'queued', title = ?, error = '', "
                                "attempts = 0, next_try_at = ?, updated_at = ?, etag = '' WHERE id = ?",
                                revision.revision, revision.title, now, now, own.front().text(0)));
        if (over)
            TRY(transaction.execute("UPDATE pull_requests SET number = NULL, url = '', checks = '', forge_review = '', "
                                    "merged_at = NULL WHERE id = ?",
                                    own.front().text(0)));
        return {};
    }
    TRY(transaction.execute(
        "INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, fix_of, forge, "
        "branch, target, revision, state, url, title, draft, head_commit, checks, forge_review, error, attempts, "
        "next_try_at, etag, told_until, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, '', ?, "
        "'queued', '', ?, ?, '', '', '', '', 0, ?, '', '', ?, ?)",
        make_id<PullRequestTag>(clock), artifact.space_id, artifact.project_id, artifact.id, artifact.run_id,
        branch.repo_id, branch.repo_name, branch.fix_of, branch.branch, revision.revision, revision.title,
        *branch.policy.draft ? 1 : 0, now, now, now));
    return {};
}

Result<std::optional<PullRequest>> PullRequests::next_due() const {
    const auto rows = TRY(m_database.query(select_pull_request + " WHERE state IN " + std::string(unfinished) +
                                               " AND next_try_at <= ? ORDER BY next_try_at LIMIT 1",
                                           m_clock.now()));
    if (rows.empty()) return std::optional<PullRequest>();
    return std::optional(pull_request_of(rows.front()));
}

Result<> PullRequests::wake_open(const std::string& repo_id, int64_t number) {
    TRY(m_database.execute(
        "UPDATE pull_requests SET next_try_at = 0 WHERE repo_id = ? AND state = 'open' AND (? = 0 OR "
        "number = ?)",
        repo_id, number, number));
    return {};
}

Result<bool> PullRequests::update(const PullRequest& changed, Time seen_updated_at) {
    const int64_t touched = TRY(m_database.execute(
        "UPDATE pull_requests SET forge = ?, target = ?, state = ?, number = ?, url = ?, title = ?, draft = ?, "
        "head_commit = ?, checks = ?, forge_review = ?, error = ?, attempts = ?, next_try_at = ?, updated_at = ?, "
        "polled_at = ?, merged_at = ?, etag = ?, told_until = ? WHERE id = ? AND updated_at = ?",
        changed.forge, changed.target, name_of(changed.state), changed.number, changed.url, changed.title,
        changed.draft ? 1 : 0, changed.head_commit, changed.checks, changed.forge_review,
        std::string(truncate_utf8(repair_utf8(changed.error), 2000)), changed.attempts, changed.next_try_at,
        changed.updated_at, changed.polled_at, changed.merged_at, changed.etag, changed.told_until, changed.id,
        seen_updated_at));
    return touched == 1;
}

Result<std::vector<PullRequest>> ended_fixes(sql::Database& database, std::span<const std::string> issues) {
    std::vector<PullRequest> ended;
    if (issues.empty()) return ended;
    const auto rows =
        TRY(database.run_query(select_pull_request + " WHERE state IN ('merged', 'closed') AND fix_of IN (" +
                                   sql::marks(issues.size()) + ") ORDER BY updated_at",
                               sql::to_values(issues)));
    for (const auto& row : rows) ended.push_back(pull_request_of(row));
    return ended;
}

} // namespace hone::review
