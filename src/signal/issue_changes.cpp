// What people do with issues, and what runs do for them (declared in issues.h).
#include "signal/issues.h"

#include "access/names.h"
#include "access/project_list.h"
#include "base/text.h"
#include "review/delivery/pull_requests.h"
#include "signal/analysis/words.h"
#include "signal/text/message_template.h"
#include "sql/columns.h"

namespace hone::signal {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::ProjectId, access::SpaceId;

namespace {

constexpr size_t longest_reason = 2000;
constexpr size_t longest_comment = 20'000;

Result<std::string> checked_words(std::string_view what, std::string_view words, size_t most) {
    if (words.size() > most) return too_large(fmt::format("{} has at most {} bytes", what, most));
    if (!is_valid_utf8(words) || words.find('\0') != std::string_view::npos)
        return invalid(std::string(what) + " is not valid UTF-8 text");
    return std::string(trim(words));
}

std::string arrow(std::string_view before, std::string_view after) {
    return std::string(before) + " → " + std::string(after);
}

} // namespace

Result<Issue> Issues::find(const Caller& caller, const IssueId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("issue " + id.text());
    Issue issue = issue_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, issue.space_id, issue.project_id, permission,
                                   "issue " + id.text()));
    return issue;
}

Permission Issues::needed_in_tools(const Caller& caller, Permission permission) {
    return caller.run.empty() ? permission : Permission::project_read;
}

Result<Page<Issue>> Issues::list_for_tool(const Caller& caller, const access::Project& project, IssueFilter filter,
                                          const PageRequest& page) const {
    filter.project = project.id.text();
    if (caller.run.empty()) return list(caller, project.space_id, filter, page);
    TRY(m_access.projects.find(caller, project.space_id, project.id.text(), Permission::project_read));
    return list(Caller::system(), project.space_id, filter, page);
}

Result<Issue> Issues::find_for_tool(const Caller& caller, const IssueId& id) const {
    if (caller.run.empty()) return find(caller, id);
    Issue issue = TRY(find(Caller::system(), id));
    if (issue.project_id != caller.bound_project) return not_found("issue " + id.text());
    return issue;
}

Result<Page<Issue>> Issues::list(const Caller& caller, const SpaceId& space, const IssueFilter& filter,
                                 const PageRequest& page) const {
    TRY(caller.require(Permission::issue_read, space));
    std::string sql = select() + " WHERE space_id = ? AND merged_into IS NULL";
    std::vector<sql::Value> values{sql::to_value(space)};
    const auto one_of = [&](std::string_view column, const auto& wanted) {
        sql += " AND " + std::string(column) + " IN (" + sql::marks(wanted.size()) + ")";
        for (const auto value : wanted) values.push_back(sql::to_value(name_of(value)));
    };
    if (filter.project) {
        const auto project = TRY(m_access.projects.find(caller, space, *filter.project, Permission::issue_read));
        sql += " AND project_id = ?";
        values.push_back(sql::to_value(project.id));
    } else {
        access::Projects::Condition seen = access::Projects::seen_by(caller, space, "project_id");
        sql += " AND " + seen.sql;
        values.insert(values.end(), seen.values.begin(), seen.values.end());
    }
    one_of("status", filter.statuses.empty()
                         ? std::vector<Status>{Status::open, Status::investigating, Status::fix_proposed}
                         : filter.statuses);
    if (!filter.severities.empty()) one_of("severity", filter.severities);
    if (filter.detector) one_of("detector", std::vector<Detector>{*filter.detector});
    if (filter.assignee) {
        sql += " AND assignee = ?";
        values.push_back(sql::to_value(*filter.assignee));
    }
    // A place in the ranking: score and id.
    if (const std::string after = TRY(page.after()); !after.empty()) {
        const size_t colon = after.find(':');
        const auto score = parse_integer(std::string_view(after).substr(0, colon));
        if (colon == std::string::npos || !score.ok()) return invalid("cursor is not valid for this list");
        sql += " AND (score < ? OR (score = ? AND id < ?))";
        values.push_back(sql::to_value(score.value()));
        values.push_back(sql::to_value(score.value()));
        values.push_back(sql::to_value(after.substr(colon + 1)));
    }
    sql += " ORDER BY score DESC, id DESC LIMIT ?";
    values.push_back(sql::to_value(page.limit + 1));
    const auto rows = TRY(m_database.run_query(sql, values));
    std::vector<Issue> issues;
    for (const auto& row : rows) issues.push_back(issue_of(row));
    return access::make_page(std::move(issues), page,
                             [](const Issue& issue) { return std::to_string(issue.score) + ":" + issue.id.text(); });
}

Result<std::vector<Fingerprint>> Issues::fingerprints(const Issue& issue) const {
    const auto rows = TRY(m_database.query("SELECT fingerprint, detector, title, filter, traces, last_seen FROM "
                                           "issue_fingerprints WHERE issue_id = ? ORDER BY traces DESC, fingerprint",
                                           issue.id));
    std::vector<Fingerprint> all;
    for (const auto& row : rows)
        all.push_back({row.text(0), parse_enum<Detector>(row.text(1)).value_or(Detector::reported), row.text(2),
                       row.text(3), row.integer(4), row.time(5)});
    return all;
}

Result<Issue> Issues::update(const Caller& caller, const IssueId& id, const IssueChange& change) {
    const Issue before = TRY(find(caller, id, Permission::issue_write));
    if (before.merged_into) return conflict("it was merged into " + before.merged_into->text());
    const std::string reason = TRY(checked_words("reason", change.reason.value_or(""), longest_reason));
    if (change.status == Status::dismissed && reason.empty())
        return invalid("reason is missing: it is needed to dismiss an issue");
    if (change.status == Status::investigating)
        return invalid("status: investigating is set by starting an investigation");
    if (change.muted_until && *change.muted_until && **change.muted_until <= m_clock.now())
        return invalid("muted_until is in the past");
    if (change.muted_until && change.status != Status::muted && before.status != Status::muted)
        return invalid("muted_until goes with status muted");
    std::string title;
    if (change.title) {
        title = plain_line(*change.title, 200);
        if (title.empty()) return invalid("title is empty");
    }
    std::optional<std::string> assignee_name;
    if (change.assignee && *change.assignee) {
        const auto member = TRY(m_access.spaces.find_member(before.space_id, access::UserId(**change.assignee)));
        if (!member)
            return invalid("assignee is not a member of the space: give the id of one (`hone member list` shows them)");
        assignee_name = member->email;
    }
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (change.status) {
            const auto until = change.muted_until.value_or(std::nullopt);
            TRY(transaction.execute(
                "UPDATE issues SET status = ?, reason = ?, muted_until = ?, status_at = ? WHERE id = ?",
                name_of(*change.status), reason, until, now, id));
            TRY(note(transaction, id, caller.name, "status",
                     arrow(name_of(before.status), name_of(*change.status)) + (reason.empty() ? "" : ": " + reason)));
        }
        if (change.severity) {
            TRY(transaction.execute("UPDATE issues SET severity = ?, severity_by_person = 1 WHERE id = ?",
                                    name_of(*change.severity), id));
            TRY(note(transaction, id, caller.name, "severity",
                     arrow(name_of(before.severity), name_of(*change.severity))));
        }
        if (change.title) {
            TRY(transaction.execute("UPDATE issues SET title = ?, title_by_person = 1 WHERE id = ?", title, id));
            TRY(note(transaction, id, caller.name, "title", arrow(before.title, title)));
        }
        if (change.assignee && *change.assignee != before.assignee) {
            TRY(transaction.execute("UPDATE issues SET assignee = ?, assignee_name = ? WHERE id = ?", *change.assignee,
                                    assignee_name, id));
            TRY(note(transaction, id, caller.name, "assignee",
                     arrow(before.assignee_name.value_or("nobody"), assignee_name.value_or("nobody"))));
        }
        TRY(transaction.execute("UPDATE issues SET updated_at = ? WHERE id = ?", now, id));
        TRY(rescore(transaction, id));
        return m_access.audit.record(transaction, caller,
                                     {"issue_update",
                                      before.space_id,
                                      id.text(),
                                      {{"status", change.status ? name_of(*change.status) : ""}, {"reason", reason}}});
    }));
    return find(Caller::system(), id);
}

Result<Issue> Issues::merge(const Caller& caller, const IssueId& id, const IssueId& other) {
    const Issue into = TRY(find(caller, id, Permission::issue_write));
    const Issue from = TRY(find(caller, other, Permission::issue_write));
    if (id == other) return invalid("an issue cannot be merged into itself");
    if (into.project_id != from.project_id) return invalid("issues of different projects cannot be merged");
    if (into.merged_into || from.merged_into) return conflict("one of them is a part of another issue already");
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE issue_fingerprints SET issue_id = ? WHERE issue_id = ?", id, other));
        TRY(transaction.execute("UPDATE issue_comments SET issue_id = ? WHERE issue_id = ?", id, other));
        TRY(transaction.execute("UPDATE issues SET merged_into = ?, status = 'resolved', reason = ?, status_at = ?, "
                                "updated_at = ? WHERE id = ? AND merged_into IS NULL",
                                id, "merged into " + id.text(), now, now, other));
        TRY(transaction.execute(
            "UPDATE issues SET matches = matches + ?, first_seen = CASE WHEN first_seen < ? THEN first_seen ELSE ? "
            "END, last_seen = CASE WHEN last_seen > ? THEN last_seen ELSE ? END, traces = CASE WHEN traces > ? THEN "
            "traces ELSE ? END, updated_at = ? WHERE id = ?",
            from.matches, from.first_seen, from.first_seen, from.last_seen, from.last_seen, from.traces, from.traces,
            now, id));
        TRY(note(transaction, id, caller.name, "merged", from.title + " (" + other.text() + ") is a part of it now"));
        TRY(note(transaction, other, caller.name, "merged", "into " + into.title + " (" + id.text() + ")"));
        TRY(rescore(transaction, id));
        return m_access.audit.record(transaction, caller,
                                     {"issue_merge", into.space_id, id.text(), {{"other", other.text()}}});
    }));
    return find(Caller::system(), id);
}

Result<Issue> Issues::split(const Caller& caller, const IssueId& id, const std::string& fingerprint) {
    const Issue from = TRY(find(caller, id, Permission::issue_write));
    const Time now = m_clock.now();
    const IssueId made = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<IssueId> {
        const auto rows = TRY(transaction.query(
            "SELECT detector, title, filter, traces, last_seen, narrower FROM issue_fingerprints WHERE issue_id = ? "
            "AND fingerprint = ?",
            id, fingerprint));
        if (rows.empty()) return not_found("fingerprint " + std::string(truncate_utf8(fingerprint, 60)) + " in it");
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM issue_fingerprints WHERE issue_id = ?", id));
        if (count.front().integer(0) < 2) return conflict("it has only one fingerprint; there is nothing to split");
        TRY(transaction.execute("DELETE FROM issue_fingerprints WHERE issue_id = ? AND fingerprint = ?", id,
                                fingerprint));
        Issue issue;
        issue.id = make_id<IssueTag>(m_clock);
        issue.space_id = from.space_id;
        issue.project_id = from.project_id;
        issue.fingerprint = fingerprint;
        issue.detector = parse_enum<Detector>(rows.front().text(0)).value_or(Detector::reported);
        issue.title = rows.front().text(1);
        issue.explanation = "Split from " + id.text() + "; the next scan that finds it adds details.";
        issue.severity = from.severity;
        issue.filter = rows.front().text(2);
        issue.traces = rows.front().integer(3);
        issue.confidence = from.confidence;
        issue.matches = 1;
        issue.first_seen = from.first_seen;
        issue.last_seen = rows.front().time(4);
        issue.created_at = issue.updated_at = now;
        issue.score_terms = score_terms(issue, now - issue.first_seen);
        issue.score = score_of(issue.score_terms);
        TRY(create(transaction, issue, rows.front().optional_text(5)));
        // What is left keeps going under another of its fingerprints.
        if (from.fingerprint == fingerprint) {
            const auto rest = TRY(transaction.query(
                "SELECT fingerprint, detector, title, filter FROM issue_fingerprints WHERE issue_id = ? ORDER BY "
                "traces DESC, fingerprint LIMIT 1",
                id));
            TRY(transaction.execute("UPDATE issues SET fingerprint = ?, detector = ?, title = ?, filter = ? WHERE id = "
                                    "?",
                                    rest.front().text(0), rest.front().text(1), rest.front().text(2),
                                    rest.front().text(3), id));
        }
        TRY(note(transaction, id, caller.name, "split", issue.title + " is " + issue.id.text() + " now"));
        TRY(note(transaction, issue.id, caller.name, "split", "from " + id.text()));
        TRY(m_access.audit.record(transaction, caller,
                                  {"issue_split", from.space_id, id.text(), {{"made", issue.id.text()}}}));
        return issue.id;
    }));
    return find(Caller::system(), made);
}

Result<Page<IssueComment>> Issues::comments(const Caller& caller, const IssueId& id, const PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query("SELECT id, author_name, words, created_at FROM issue_comments WHERE "
                                           "issue_id = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?",
                                           id, after, after, page.limit + 1));
    std::vector<IssueComment> all;
    for (const auto& row : rows) all.push_back({row.id<CommentTag>(0), row.text(1), row.text(2), row.time(3)});
    return access::make_page(std::move(all), page, [](const IssueComment& comment) { return comment.id.text(); });
}

Result<IssueComment> Issues::comment(const Caller& caller, const IssueId& id, const std::string& wanted) {
    const Issue issue = TRY(find(caller, id, Permission::issue_write));
    const std::string words = TRY(checked_words("text", wanted, longest_comment));
    if (words.empty()) return invalid("text is empty");
    const IssueComment made{make_id<CommentTag>(m_clock), caller.name, words, m_clock.now()};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO issue_comments (id, issue_id, author, author_name, words, created_at) "
                                "VALUES (?, ?, ?, ?, ?, ?)",
                                made.id, id, caller.actor(), caller.name, words, made.created_at));
        TRY(transaction.execute("UPDATE issues SET updated_at = ? WHERE id = ?", made.created_at, id));
        return m_access.audit.record(transaction, caller, {"issue_comment", issue.space_id, id.text(), {}});
    }));
    return made;
}

Result<Page<Change>> Issues::history(const Caller& caller, const IssueId& id, const PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query("SELECT id, created_at, who, what, detail FROM issue_history WHERE issue_id "
                                           "= ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?",
                                           id, after, after, page.limit + 1));
    std::vector<std::pair<std::string, Change>> all;
    for (const auto& row : rows)
        all.emplace_back(row.text(0), Change{row.time(1), row.text(2), row.text(3), row.text(4)});
    auto paged = access::make_page(std::move(all), page, [](const auto& entry) { return entry.first; });
    Page<Change> made;
    made.next_cursor = paged.next_cursor;
    for (auto& [key, change] : paged.data) made.data.push_back(std::move(change));
    return made;
}

Result<std::vector<VolumePoint>> Issues::volume(const Caller& caller, const IssueId& id, Time after) const {
    const Issue issue = TRY(find(caller, id));
    const auto rows = TRY(m_database.query(
        "SELECT v.hour, SUM(v.traces) FROM issue_volume v JOIN issue_fingerprints f ON f.project_id = v.project_id AND "
        "f.fingerprint = v.fingerprint WHERE f.issue_id = ? AND v.hour >= ? GROUP BY v.hour ORDER BY v.hour",
        id, after));
    std::vector<VolumePoint> points;
    for (const auto& row : rows) points.push_back({row.time(0), row.integer(1)});
    return points;
}

Result<std::vector<SeverityVolume>> Issues::project_volume(const ProjectId& project, Time after) const {
    const auto rows = TRY(m_database.query(
        "SELECT v.hour, i.severity, SUM(v.traces) FROM issue_volume v JOIN issue_fingerprints f ON f.project_id = "
        "v.project_id AND f.fingerprint = v.fingerprint JOIN issues i ON i.id = f.issue_id WHERE v.project_id = ? AND "
        "v.hour >= ? AND i.status NOT IN ('muted', 'dismissed') GROUP BY v.hour, i.severity ORDER BY v.hour",
        project, after));
    std::vector<SeverityVolume> points;
    for (const auto& row : rows) {
        if (points.empty() || points.back().time != row.time(0)) points.push_back({row.time(0)});
        SeverityVolume& point = points.back();
        int64_t* const parts[] = {&point.low, &point.medium, &point.high, &point.critical};
        *parts[static_cast<size_t>(parse_enum<Severity>(row.text(1)).value_or(Severity::medium))] += row.integer(2);
    }
    return points;
}

Result<> Issues::run_started(sql::Transaction& transaction, const Issue& issue, std::string_view kind,
                             const std::string& run, const std::string& who) const {
    const Time now = m_clock.now();
    TRY(transaction.execute("INSERT INTO issue_runs (run_id, issue_id, kind, status_before, is_over, created_at) "
                            "VALUES (?, ?, ?, ?, 0, ?)",
                            run, issue.id, kind, name_of(issue.status), now));
    if (kind == "investigate")
        TRY(transaction.execute("UPDATE issues SET investigation_run = ?, status = CASE WHEN status = 'open' THEN "
                                "'investigating' ELSE status END, updated_at = ? WHERE id = ?",
                                run, now, issue.id));
    else
        TRY(transaction.execute("UPDATE issues SET fix_run = ?, updated_at = ? WHERE id = ?", run, now, issue.id));
    return note(transaction, issue.id, who, kind == "investigate" ? "investigation" : "fix", "started " + run);
}

Result<> Issues::investigated(const IssueId& id, const std::string& artifact, const std::string& run) {
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT investigation_id FROM issues WHERE id = ?", id));
        if (rows.empty()) return not_found("issue " + id.text());
        if (rows.front().optional_text(0) == artifact) return {};
        const bool is_first = rows.front().is_null(0);
        TRY(transaction.execute("UPDATE issues SET investigation_id = ?, investigation_run = ?, investigated_at = ?, "
                                "updated_at = ? WHERE id = ?",
                                artifact, run, now, now, id));
        return note(transaction, id, run, "investigation",
                    (is_first ? "written: " : "replaced by a newer one: ") + artifact);
    });
}

Result<> Issues::run_over(const IssueId& id, const std::string& run, std::string_view kind, bool has_fix,
                          const std::string& how) {
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows =
            TRY(transaction.query("SELECT status_before FROM issue_runs WHERE run_id = ? AND is_over = 0", run));
        if (rows.empty()) return {};
        TRY(transaction.execute("UPDATE issue_runs SET is_over = 1 WHERE run_id = ?", run));
        if (kind == "investigate")
            TRY(transaction.execute("UPDATE issues SET status = 'open', updated_at = ? WHERE id = ? AND status = "
                                    "'investigating'",
                                    now, id));
        else if (has_fix)
            TRY(transaction.execute("UPDATE issues SET status = 'fix_proposed', status_at = ?, updated_at = ? WHERE id "
                                    "= ? AND status IN ('open', 'investigating')",
                                    now, now, id));
        return note(transaction, id, run, kind == "investigate" ? "investigation" : "fix", how);
    });
}

Result<int64_t> Issues::settle_fixes() {
    const auto rows = TRY(m_database.query(
        "SELECT id, status_at FROM issues WHERE status = 'fix_proposed' AND merged_into IS NULL LIMIT 10000"));
    std::map<std::string, Time> proposed;
    for (const sql::Row& row : rows) proposed.emplace(row.text(0), row.time(1));
    std::vector<std::string> ids;
    for (const auto& [id, status_at] : proposed) ids.push_back(id);
    int64_t settled = 0;
    for (const review::PullRequest& ended : TRY(review::ended_fixes(m_database, ids))) {
        if (ended.updated_at < proposed[ended.fix_of]) continue; // of an earlier fix
        IssueChange change;
        change.status = ended.state == review::PullRequestState::merged ? Status::resolved : Status::open;
        change.reason = "pull request " + std::string(name_of(ended.state)) + ": " + ended.url;
        TRY(update(Caller::system(), IssueId(ended.fix_of), change));
        ++settled;
    }
    return settled;
}

Result<> Issues::monitor_made(const Caller& caller, const IssueId& id, const std::string& monitor) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE issues SET monitor_id = ?, updated_at = ? WHERE id = ?", monitor, m_clock.now(),
                                id));
        return note(transaction, id, caller.name, "monitor", "made " + monitor);
    });
}

Result<> Issues::evaluator_made(const Caller& caller, const IssueId& id, const std::string& evaluator) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE issues SET evaluator_id = ?, updated_at = ? WHERE id = ?", evaluator,
                                m_clock.now(), id));
        return note(transaction, id, caller.name, "evaluator", "made " + evaluator);
    });
}

Result<bool> Issues::claim_forge_issue(const IssueId& id) {
    const Time now = m_clock.now();
    const int64_t claimed = TRY(m_database.execute(
        "UPDATE issues SET forge_claimed_at = ? WHERE id = ? AND forge_issue IS NULL AND (forge_claimed_at IS NULL OR "
        "forge_claimed_at < ?)",
        now, id, now - std::chrono::minutes(5)));
    return claimed > 0;
}

Result<> Issues::forge_issue_linked(const Caller& caller, const IssueId& id, const std::string& address,
                                    const std::string& how) {
    const Issue issue = TRY(find(Caller::system(), id));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE issues SET forge_issue = ?, forge_claimed_at = NULL, updated_at = ? WHERE id "
                                "= ?",
                                address.empty() ? std::nullopt : std::optional(address), m_clock.now(), id));
        if (how.empty()) return {};
        TRY(note(transaction, id, caller.name, "forge_issue", how));
        return m_access.audit.record(transaction, caller, {"issue_forge", issue.space_id, id.text(), {{"what", how}}});
    });
}

} // namespace hone::signal
