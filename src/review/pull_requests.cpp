#include "review/pull_requests.h"

#include "access/project_list.h"
#include "base/text.h"

#include <fmt/format.h>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr std::string_view pull_request_columns =
    "id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, fix_of, forge, branch, target, revision, "
    "state, number, url, title, draft, head_commit, checks, forge_review, error, attempts, next_try_at, created_at, "
    "updated_at, polled_at, merged_at, etag, told_until";
constexpr std::string_view unfinished = "('queued', 'pushed', 'open')";

PullRequest pull_request_of(const sql::Row& row) {
    PullRequest made;
    made.id = row.id<PullRequestTag>(0);
    made.space_id = row.id<access::SpaceTag>(1);
    made.project_id = row.id<access::ProjectTag>(2);
    made.artifact_id = row.id<ArtifactTag>(3);
    made.run_id = row.text(4);
    made.repo_id = row.text(5);
    made.repo_name = row.text(6);
    made.fix_of = row.text(7);
    made.forge = row.text(8);
    made.branch = row.text(9);
    made.target = row.text(10);
    made.revision = row.integer(11);
    made.state = parse_enum<PullRequestState>(row.text(12)).value_or(PullRequestState::failed);
    made.number = row.optional_integer(13);
    made.url = row.text(14);
    made.title = row.text(15);
    made.draft = row.flag(16);
    made.head_commit = row.text(17);
    made.checks = row.text(18);
    made.forge_review = row.text(19);
    made.error = row.text(20);
    made.attempts = row.integer(21);
    made.next_try_at = row.time(22);
    made.created_at = row.time(23);
    made.updated_at = row.time(24);
    made.polled_at = row.optional_time(25);
    made.merged_at = row.optional_time(26);
    made.etag = row.text(27);
    made.told_until = row.text(28);
    return made;
}

} // namespace

Result<Page<PullRequest>> PullRequests::list(const Caller& caller, const SpaceId& space,
                                             const PullRequestFilter& filter, const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, filter.project, Permission::run_read,
                                                "SELECT " + std::string(pull_request_columns) + " FROM pull_requests"));
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
    const auto rows =
        TRY(m_database.query("SELECT " + std::string(pull_request_columns) + " FROM pull_requests WHERE id = ?", id));
    if (rows.empty()) return not_found("pull request " + id.text());
    PullRequest found = pull_request_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, found.space_id, found.project_id, permission,
                                   "pull request " + id.text()));
    return found;
}

Result<std::optional<PullRequest>> PullRequests::of_artifact(const ArtifactId& artifact) const {
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(pull_request_columns) + " FROM pull_requests WHERE artifact_id = ?", artifact));
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
    const auto rows =
        TRY(m_database.query("SELECT " + std::string(pull_request_columns) + " FROM pull_requests WHERE state IN " +
                                 std::string(unfinished) + " AND next_try_at <= ? ORDER BY next_try_at LIMIT 1",
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

} // namespace hone::review
