#include "review/delivery/pull_requests.h"

#include "access/project_list.h"
#include "base/text.h"
#include "sql/columns.h"

#include <fmt/format.h>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr Pack pull_request_columns{
    sql::Column{"id", &PullRequest::id},
    sql::Column{"space_id", &PullRequest::space_id},
    sql::Column{"project_id", &PullRequest::project_id},
    sql::Column{"artifact_id", &PullRequest::artifact_id},
    sql::Column{"run_id", &PullRequest::run_id},
    sql::Column{"repo_id", &PullRequest::repo_id},
    sql::Column{"repo_name", &PullRequest::repo_name},
    sql::Column{"host", &PullRequest::host},
    sql::Column{"fix_of", &PullRequest::fix_of},
    sql::Column{"forge", &PullRequest::forge},
    sql::Column{"branch", &PullRequest::branch},
    sql::Column{"target", &PullRequest::target},
    sql::Column{"revision", &PullRequest::revision},
    sql::Column{"delivered_revision", &PullRequest::delivered_revision},
    sql::Column{"state", &PullRequest::state, PullRequestState::failed},
    sql::Column{"update_state", &PullRequest::update_state},
    sql::Column{"number", &PullRequest::number},
    sql::Column{"url", &PullRequest::url},
    sql::Column{"title", &PullRequest::title},
    sql::Column{"draft", &PullRequest::draft},
    sql::Column{"head_commit", &PullRequest::head_commit},
    sql::Column{"forge_commit", &PullRequest::forge_commit},
    sql::Column{"people", &PullRequest::people},
    sql::Column{"their_commits", sql::Converted{[](PullRequest& one, const sql::Row& row, size_t at) {
                    auto commits = json::read<std::vector<PeopleCommit>>(row.text(at));
                    if (commits.ok()) one.their_commits = std::move(commits).value();
                }}},
    sql::Column{"mergeable", &PullRequest::mergeable},
    sql::Column{"checks", &PullRequest::checks},
    sql::Column{"check_results", sql::Converted{[](PullRequest& one, const sql::Row& row, size_t at) {
                    auto checks = json::read<std::vector<PullRequestCheck>>(row.text(at));
                    if (checks.ok()) one.check_results = std::move(checks).value();
                }}},
    sql::Column{"forge_review", &PullRequest::forge_review},
    sql::Column{"error", &PullRequest::error},
    sql::Column{"cause", &PullRequest::cause},
    sql::Column{"moved_to", &PullRequest::moved_to},
    sql::Column{"attempts", &PullRequest::attempts},
    sql::Column{"next_try_at", &PullRequest::next_try_at},
    sql::Column{"created_at", &PullRequest::created_at},
    sql::Column{"updated_at", &PullRequest::updated_at},
    sql::Column{"polled_at", &PullRequest::polled_at},
    sql::Column{"merged_at", &PullRequest::merged_at},
    sql::Column{"ended_at", &PullRequest::ended_at},
    sql::Column{"etag", &PullRequest::etag},
    sql::Column{"told_until", &PullRequest::told_until},
};
const std::string select_pull_request = "SELECT " + sql::names(pull_request_columns) + " FROM pull_requests";
constexpr std::string_view unfinished = "('queued', 'pushed', 'open')";
// A person may reopen a closed one; later than this only `sync` and a webhook notice it.
constexpr Duration reopen_time = std::chrono::hours(24 * 7);

constexpr Pack event_columns{
    sql::Column{"id", &PullRequestEvent::id},
    sql::Column{"kind", &PullRequestEvent::kind, PullRequestEventKind::approved},
    sql::Column{"message", &PullRequestEvent::message},
    sql::Column{"created_at", &PullRequestEvent::created_at},
};

Result<> insert_event(sql::Transaction& transaction, const Clock& clock, std::string_view pull_request,
                      const NewPullRequestEvent& event) {
    TRY(transaction.execute("INSERT INTO pull_request_events (id, pull_request_id, kind, message, created_at) VALUES "
                            "(?, ?, ?, ?, ?)",
                            make_id<PullRequestEventTag>(clock), pull_request, name_of(event.kind),
                            std::string(truncate_utf8(repair_utf8(event.message), 2000)), clock.now()));
    return {};
}

struct NewRow {
    std::string id, space, project, artifact, run, repo, repo_name, fix_of, branch, title;
    int64_t revision = 0;
    bool draft = true;
};

Result<> insert_row(sql::Transaction& transaction, const Clock& clock, const NewRow& row) {
    const Time now = clock.now();
    TRY(transaction.execute(
        "INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, host, fix_of, "
        "forge, branch, target, revision, delivered_revision, state, update_state, url, title, draft, head_commit, "
        "forge_commit, people, their_commits, mergeable, checks, forge_review, error, cause, moved_to, attempts, "
        "next_try_at, etag, told_until, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, '', ?, '', ?, 0, "
        "'queued', '', '', ?, ?, '', '', '', '[]', '', '', '', '', '', '', 0, ?, '', '', ?, ?)",
        row.id, row.space, row.project, row.artifact, row.run, row.repo, row.repo_name, row.fix_of, row.branch,
        row.revision, row.title, row.draft ? 1 : 0, now, now, now));
    return insert_event(transaction, clock, row.id,
                        {PullRequestEventKind::approved, fmt::format("Revision {}.", row.revision)});
}

// The approvals of this revision no longer count; the branch waits for a review again.
Result<> withdraw_approvals(sql::Transaction& transaction, Time now, const PullRequest& one) {
    TRY(transaction.execute("UPDATE review_decisions SET withdrawn_at = ? WHERE artifact_id = ? AND revision = ? AND "
                            "decision = 'approved' AND withdrawn_at IS NULL",
                            now, one.artifact_id, one.revision));
    TRY(transaction.execute("UPDATE artifacts SET review = 'pending', reviewer = NULL, reviewer_name = NULL, "
                            "reviewed_at = NULL WHERE id = ? AND review = 'approved'",
                            one.artifact_id));
    // A policy that approved it would do so again immediately.
    TRY(transaction.execute("UPDATE review_branches SET automatic = 0 WHERE artifact_id = ?", one.artifact_id));
    return {};
}

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

Result<Page<PullRequestEvent>> PullRequests::events(const Caller& caller, const PullRequestId& id,
                                                    const PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query("SELECT " + sql::names(event_columns) +
                                               " FROM pull_request_events WHERE pull_request_id = ? AND id > ? ORDER "
                                               "BY id LIMIT ?",
                                           id, after, page.limit + 1));
    std::vector<PullRequestEvent> found;
    for (const auto& row : rows) found.push_back(sql::read<PullRequestEvent>(event_columns, row));
    return access::make_page(std::move(found), page, [](const PullRequestEvent& one) { return one.id.text(); });
}

Result<std::optional<PullRequest>> PullRequests::of_artifact(const ArtifactId& artifact) const {
    const auto rows =
        TRY(m_database.query(select_pull_request + " WHERE artifact_id = ? ORDER BY id DESC LIMIT 1", artifact));
    if (rows.empty()) return std::optional<PullRequest>();
    return std::optional(pull_request_of(rows.front()));
}

Result<std::vector<PullRequest>> PullRequests::all_of_artifact(const ArtifactId& artifact) const {
    const auto rows =
        TRY(m_database.query(select_pull_request + " WHERE artifact_id = ? ORDER BY id LIMIT 100", artifact));
    std::vector<PullRequest> found;
    for (const auto& row : rows) found.push_back(pull_request_of(row));
    return found;
}

Result<PullRequest> PullRequests::wake(const Caller& caller, const PullRequestId& id) {
    const PullRequest found = TRY(find(caller, id, Permission::artifact_review));
    TRY(m_database.execute("UPDATE pull_requests SET next_try_at = 0, attempts = 0, etag = '', host = '', updated_at = "
                           "?, update_state = CASE WHEN update_state = 'failed' THEN 'pending' ELSE update_state END, "
                           "state = CASE WHEN state = 'failed' THEN 'queued' ELSE state END WHERE id = ? AND state IN "
                           "('queued', 'pushed', 'open', 'failed', 'closed', 'only_pushed')",
                           m_clock.now(), id));
    return find(caller, found.id);
}

Result<PullRequest> PullRequests::cancel(const Caller& caller, const PullRequestId& id) {
    const PullRequest found = TRY(find(caller, id, Permission::artifact_review));
    if (!caller.run.empty()) return forbidden("a worker cannot withdraw an approval");
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t before_opened = TRY(transaction.execute(
            "UPDATE pull_requests SET state = 'cancelled', error = '', cause = '', ended_at = ?, updated_at = ? WHERE "
            "id = ? AND state IN ('queued', 'pushed', 'failed')",
            now, now, id));
        const int64_t update =
            before_opened > 0
                ? 0
                : TRY(transaction.execute(
                      "UPDATE pull_requests SET update_state = 'cancelled', error = '', cause = '', attempts = 0, "
                      "next_try_at = ?, updated_at = ? WHERE id = ? AND state = 'open' AND update_state IN "
                      "('pending', 'failed')",
                      now, now, id));
        if (before_opened + update == 0)
            return conflict("nothing waits to be delivered: the pull request is " + std::string(name_of(found.state)) +
                            ". Close it on the forge instead");
        TRY(withdraw_approvals(transaction, now, found));
        TRY(insert_event(transaction, m_clock, id.text(),
                         {PullRequestEventKind::cancelled, "By " + caller.name + "."}));
        return m_access.audit.record(transaction, caller,
                                     {"pull_request_cancel",
                                      found.space_id,
                                      id.text(),
                                      {{"branch", found.branch}, {"revision", found.revision}}});
    }));
    return find(caller, id);
}

Result<PullRequest> PullRequests::abandon(const Caller& caller, const PullRequestId& id) {
    const PullRequest found = TRY(find(caller, id, Permission::artifact_review));
    if (!caller.run.empty()) return forbidden("a worker cannot abandon a pull request");
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t changed = TRY(transaction.execute("UPDATE pull_requests SET state = 'abandoned', update_state = "
                                                        "'', ended_at = ?, updated_at = ? WHERE id = ? "
                                                        "AND state IN ('queued', 'pushed', 'open', 'failed')",
                                                        now, now, id));
        if (changed == 0) return conflict("the pull request is over: it is " + std::string(name_of(found.state)));
        TRY(insert_event(transaction, m_clock, id.text(),
                         {PullRequestEventKind::abandoned, "By " + caller.name + "."}));
        return m_access.audit.record(transaction, caller,
                                     {"pull_request_abandon", found.space_id, id.text(), {{"url", found.url}}});
    }));
    return find(caller, id);
}

Result<> PullRequests::enqueue(sql::Transaction& transaction, const Clock& clock, const Artifact& artifact,
                               const Branch& branch, const Revision& revision) {
    const auto own = TRY(transaction.query(
        "SELECT id, state FROM pull_requests WHERE artifact_id = ? ORDER BY id DESC LIMIT 1", artifact.id));
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
    const std::string state = own.empty() ? "" : own.front().text(1);
    // A later approval of the same branch updates the same pull request.
    if (state == "open") {
        TRY(transaction.execute("UPDATE pull_requests SET revision = ?, update_state = 'pending', error = '', cause = "
                                "'', attempts = 0, next_try_at = ?, updated_at = ? WHERE id = ?",
                                revision.revision, now, now, own.front().text(0)));
        return insert_event(transaction, clock, own.front().text(0),
                            {PullRequestEventKind::approved, fmt::format("Revision {}.", revision.revision)});
    }
    if (state == "queued" || state == "pushed" || state == "failed" || state == "only_pushed") {
        TRY(transaction.execute("UPDATE pull_requests SET revision = ?, state = 'queued', title = ?, error = '', cause "
                                "= '', attempts = 0, next_try_at = ?, updated_at = ?, etag = '' WHERE id = ?",
                                revision.revision, revision.title, now, now, own.front().text(0)));
        return insert_event(transaction, clock, own.front().text(0),
                            {PullRequestEventKind::approved, fmt::format("Revision {}.", revision.revision)});
    }
    // What is over stays as it is.
    return insert_row(transaction, clock,
                      {make_id<PullRequestTag>(clock).text(), artifact.space_id.text(), artifact.project_id.text(),
                       artifact.id.text(), artifact.run_id, branch.repo_id, branch.repo_name, branch.fix_of,
                       branch.branch, revision.title, revision.revision, *branch.policy.draft});
}

Result<std::optional<PullRequest>> PullRequests::next_due(const std::set<std::string>& without) const {
    const Time now = m_clock.now();
    // A push needs the commits, which are on the disk of one server; any server can read the forge.
    std::vector<sql::Value> values{sql::to_value(now - reopen_time), sql::to_value(now), sql::to_value(m_server),
                                   sql::to_value(m_server)};
    std::string hosts;
    if (!without.empty()) {
        hosts = " AND host NOT IN (" + sql::marks(without.size()) + ")";
        for (const std::string& host : without) values.push_back(sql::to_value(host));
    }
    const auto rows = TRY(m_database.run_query(
        select_pull_request + " WHERE (state IN " + std::string(unfinished) +
            " OR (state = 'closed' AND (ended_at >= ? OR next_try_at = 0))) AND next_try_at <= ? AND (? = '' OR (state "
            "IN ('open', 'closed') AND "
            "update_state <> 'pending') OR NOT EXISTS (SELECT 1 FROM review_revisions r WHERE r.artifact_id = "
            "pull_requests.artifact_id AND r.revision = pull_requests.revision AND r.server NOT IN ('', ?)))" +
            hosts +
            " ORDER BY CASE WHEN state IN ('queued', 'pushed') OR update_state = 'pending' THEN 0 ELSE 1 END, "
            "next_try_at LIMIT 1",
        values));
    if (rows.empty()) return std::optional<PullRequest>();
    return std::optional(pull_request_of(rows.front()));
}

Result<bool> PullRequests::claim(const PullRequest& due) {
    constexpr Duration length = std::chrono::minutes(2);
    if (m_server.empty()) return true;
    return TRY(m_database.execute("UPDATE pull_requests SET next_try_at = ? WHERE id = ? AND next_try_at = ? AND "
                                  "updated_at = ?",
                                  m_clock.now() + length, due.id, due.next_try_at, due.updated_at)) == 1;
}

Result<> PullRequests::set_host(const std::string& repo_id, const std::string& host) {
    TRY(m_database.execute("UPDATE pull_requests SET host = ? WHERE repo_id = ? AND host <> ?", host, repo_id, host));
    return {};
}

Result<> PullRequests::wake_open(const std::string& repo_id, int64_t number) {
    // A closed one may have been reopened.
    TRY(m_database.execute("UPDATE pull_requests SET next_try_at = 0, host = '' WHERE repo_id = ? AND ((state = 'open' "
                           "AND (? = 0 OR number = ?)) OR (state = 'closed' AND number = ?))",
                           repo_id, number, number, number));
    return {};
}

Result<std::vector<PullRequest>> PullRequests::unfinished_of_repo(const std::string& repo_id) const {
    const auto rows = TRY(m_database.query(
        select_pull_request + " WHERE repo_id = ? AND state IN " + std::string(unfinished) + " ORDER BY id", repo_id));
    std::vector<PullRequest> found;
    for (const auto& row : rows) found.push_back(pull_request_of(row));
    return found;
}

Result<> PullRequests::repo_moved(const std::string& repo_id) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const Time now = m_clock.now();
        TRY(transaction.execute(
            "UPDATE pull_requests SET update_state = 'pending' WHERE repo_id = ? AND state = 'open' "
            "AND update_state = 'failed'",
            repo_id));
        TRY(transaction.execute("UPDATE pull_requests SET state = 'queued' WHERE repo_id = ? AND state = 'failed'",
                                repo_id));
        TRY(transaction.execute("UPDATE pull_requests SET host = '', moved_to = '', error = '', cause = '', attempts = "
                                "0, etag = '', next_try_at = 0, updated_at = ? WHERE repo_id = ? AND state IN " +
                                    std::string(unfinished),
                                now, repo_id));
        return {};
    });
}

Result<> PullRequests::abandon_repo(const Caller& caller, const std::string& repo_id) {
    for (const PullRequest& one : TRY(unfinished_of_repo(repo_id))) TRY(abandon(caller, one.id));
    return {};
}

Result<bool> PullRequests::update(const PullRequest& changed, Time seen_updated_at,
                                  const std::vector<NewPullRequestEvent>& events, bool successor) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
        const int64_t touched = TRY(transaction.execute(
            "UPDATE pull_requests SET forge = ?, target = ?, revision = ?, delivered_revision = ?, state = ?, "
            "update_state = ?, number = ?, url = ?, title = ?, draft = ?, head_commit = ?, forge_commit = ?, people = "
            "?, their_commits = ?, mergeable = ?, checks = ?, check_results = ?, forge_review = ?, error = ?, cause = "
            "?, "
            "moved_to = ?, attempts = ?, next_try_at = ?, updated_at = ?, polled_at = ?, merged_at = ?, ended_at = ?, "
            "etag = ?, "
            "told_until = ? WHERE id = ? AND updated_at = ?",
            changed.forge, changed.target, successor ? changed.delivered_revision : changed.revision,
            changed.delivered_revision, name_of(changed.state), changed.update_state, changed.number, changed.url,
            changed.title, changed.draft ? 1 : 0, changed.head_commit, changed.forge_commit, changed.people,
            json::write(changed.their_commits), changed.mergeable, changed.checks, json::write(changed.check_results),
            changed.forge_review, std::string(truncate_utf8(repair_utf8(changed.error), 2000)), changed.cause,
            changed.moved_to, changed.attempts, changed.next_try_at, changed.updated_at, changed.polled_at,
            changed.merged_at, changed.ended_at, changed.etag, changed.told_until, changed.id, seen_updated_at));
        if (touched != 1) return false;
        for (const NewPullRequestEvent& event : events)
            TRY(insert_event(transaction, m_clock, changed.id.text(), event));
        if (!successor) return true;
        const std::string next = make_id<PullRequestTag>(m_clock).text();
        TRY(insert_row(transaction, m_clock,
                       {next, changed.space_id.text(), changed.project_id.text(), changed.artifact_id.text(),
                        changed.run_id, changed.repo_id, changed.repo_name, changed.fix_of, changed.branch,
                        changed.title, changed.revision, changed.draft}));
        TRY(insert_event(transaction, m_clock, changed.id.text(), {PullRequestEventKind::succeeded_by, next}));
        return true;
    });
}

Result<> PullRequests::add_event(const PullRequestId& id, const NewPullRequestEvent& event) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        return insert_event(transaction, m_clock, id.text(), event);
    });
}

Result<std::vector<PullRequestNews>> pull_request_news(sql::Database& database, Time since, int64_t limit) {
    const auto rows = TRY(database.query("SELECT " + sql::names(event_columns) +
                                             ", pull_request_id FROM pull_request_events WHERE created_at >= ? AND "
                                             "kind IN ('opened', 'failed', 'update_failed', 'follow_failed', 'merged', "
                                             "'changes_requested', 'commits_added', 'force_pushed') ORDER BY "
                                             "created_at, id LIMIT ?",
                                         since, limit));
    std::vector<PullRequestNews> news;
    for (const auto& row : rows) {
        const auto found =
            TRY(database.query(select_pull_request + " WHERE id = ?", row.text(sql::width(event_columns))));
        if (!found.empty())
            news.push_back({pull_request_of(found.front()), sql::read<PullRequestEvent>(event_columns, row)});
    }
    return news;
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
