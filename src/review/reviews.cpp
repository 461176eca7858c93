#include "review/reviews.h"

#include "access/names.h"
#include "base/log.h"
#include "base/text.h"
#include "review/branch/replays.h"
#include "review/delivery/pull_requests.h"
#include "sql/columns.h"

#include <fmt/format.h>
#include <map>

namespace hone::review {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::Role, access::SpaceId;

namespace {

bool role_suffices(const Caller& caller, const SpaceId& space, Role least) {
    if (caller.kind == access::CallerKind::system) return true;
    const auto role = caller.role_in(space);
    return role && *role >= least;
}

constexpr Pack item_columns{
    sql::Column{"a.id", sql::in(&ReviewItem::artifact, &Artifact::id)},
    sql::Column{"b.repo_name", &ReviewItem::repo_name},
    sql::Column{"b.branch", &ReviewItem::branch},
    sql::Column{"b.revision", &ReviewItem::revision},
    sql::Column{"r.files", &ReviewItem::files},
    sql::Column{"r.additions", &ReviewItem::additions},
    sql::Column{"r.deletions", &ReviewItem::deletions},
    sql::Column{"r.blocking_flags", &ReviewItem::blocking_flags},
    sql::Column{"r.state", &ReviewItem::diff_state},
    sql::Column{"r.verification", &ReviewItem::verification},
    sql::Column{"p.state", &ReviewItem::pull_request},
    sql::Column{"(SELECT COUNT(*) FROM review_comments c WHERE c.artifact_id = a.id AND c.reply_to IS NULL AND "
                "c.resolved_at IS NULL)",
                &ReviewItem::open_comments},
};

constexpr Pack decision_columns{
    sql::Column{"id", &Decision::id},
    sql::Column{"revision", &Decision::revision},
    sql::Column{"decision", &Decision::decision, ReviewState::pending},
    sql::Column{"reviewer_name", &Decision::reviewer},
    sql::Column{"comment", &Decision::comment},
    sql::Column{"allow_protected", &Decision::allow_protected},
    sql::Column{"created_at", &Decision::created_at},
    sql::Column{"withdrawn_at", &Decision::withdrawn_at},
    sql::Column{"reviewer", &Decision::principal},
};

bool is_service_key(std::string_view principal) {
    return principal.starts_with("key_");
}

} // namespace

Result<Page<ReviewItem>> Reviews::list(const Caller& caller, const SpaceId& space, const ArtifactFilter& filter,
                                       const PageRequest& page) const {
    Page<Artifact> artifacts = TRY(m_artifacts.list(caller, space, filter, page));
    std::map<std::string, ReviewItem> items;
    if (!artifacts.data.empty()) {
        std::vector<sql::Value> values;
        for (const Artifact& artifact : artifacts.data) values.push_back(sql::to_value(artifact.id));
        const auto rows = TRY(m_database.run_query(
            "SELECT " + sql::names(item_columns) +
                " FROM artifacts a LEFT JOIN review_branches b ON b.artifact_id = a.id LEFT JOIN review_revisions r ON "
                "r.artifact_id = a.id AND r.revision = b.revision LEFT JOIN pull_requests p ON p.id = "
                "(SELECT MAX(q.id) FROM pull_requests q WHERE q.artifact_id = a.id) WHERE a.id IN (" +
                sql::marks(values.size()) + ")",
            values));
        for (const auto& row : rows) {
            ReviewItem item = sql::read<ReviewItem>(item_columns, row);
            const std::string id = item.artifact.id.text();
            items.emplace(id, std::move(item));
        }
    }
    Page<ReviewItem> found;
    found.next_cursor = artifacts.next_cursor;
    for (Artifact& artifact : artifacts.data) {
        ReviewItem item = std::move(items[artifact.id.text()]);
        item.artifact = std::move(artifact);
        found.data.push_back(std::move(item));
    }
    return found;
}

Result<std::vector<ReviewCount>> Reviews::counts(const Caller& caller, const SpaceId& space) const {
    TRY(caller.require(Permission::run_read, space));
    access::Projects::Condition seen = access::Projects::seen_by(caller, space, "project_id");
    std::vector<sql::Value> values{sql::to_value(space)};
    values.insert(values.end(), seen.values.begin(), seen.values.end());
    const auto rows = TRY(m_database.run_query("SELECT kind, review, COUNT(*) FROM artifacts WHERE space_id = ? AND " +
                                                   seen.sql + " GROUP BY kind, review ORDER BY kind, review",
                                               values));
    std::vector<ReviewCount> counts;
    for (const auto& row : rows) {
        const auto kind = parse_enum<ArtifactKind>(row.text(0));
        const auto review = parse_enum<ReviewState>(row.text(1));
        if (kind && review) counts.push_back({*kind, *review, row.integer(2)});
    }
    return counts;
}

Result<ReviewView> Reviews::find(const Caller& caller, const ArtifactId& id) const {
    ReviewView view;
    view.artifact = TRY(m_artifacts.find(caller, id));
    const auto decisions =
        TRY(m_database.query("SELECT " + sql::names(decision_columns) +
                                 " FROM review_decisions WHERE artifact_id = ? ORDER BY id LIMIT 1000",
                             id));
    int64_t newest = 0;
    if (view.artifact.kind == ArtifactKind::branch) {
        view.branch = TRY(m_branches.find(id));
        view.revisions = TRY(m_branches.revisions(id));
        newest = view.branch->revision;
        view.approvals_needed = *view.branch->policy.approvals;
        view.cannot_approve = TRY(why_not(caller, view.artifact, *view.branch, view.revisions.back()));
        view.replay = TRY(Replays(m_database, m_clock).find(id, newest));
        view.earlier_pull_requests = TRY(PullRequests(m_database, m_clock, m_access).all_of_artifact(id));
        if (!view.earlier_pull_requests.empty()) {
            view.pull_request = std::move(view.earlier_pull_requests.back());
            view.earlier_pull_requests.pop_back();
        }
    } else {
        const auto may = m_artifacts.find(caller, id, Permission::artifact_review);
        if (!may.ok()) view.cannot_approve = may.error().message;
        if (view.artifact.review == ReviewState::approved || view.artifact.review == ReviewState::rejected)
            view.cannot_approve = "It was decided already.";
    }
    for (const auto& row : decisions) {
        Decision made = sql::read<Decision>(decision_columns, row);
        made.counts = made.decision == ReviewState::approved && made.revision == newest && !made.withdrawn_at &&
                      (newest == 0 || !is_service_key(made.principal));
        view.approvals += made.counts;
        view.decisions.push_back(std::move(made));
    }
    const auto open = TRY(m_database.query("SELECT COUNT(*) FROM review_comments WHERE artifact_id = ? AND reply_to IS "
                                           "NULL AND resolved_at IS NULL",
                                           id));
    view.open_comments = open.front().integer(0);
    return view;
}

// Why this caller's approval would be refused now. Blocking flags are no reason: they can be allowed.
Result<std::optional<std::string>> Reviews::why_not(const Caller& caller, const Artifact& artifact,
                                                    const Branch& branch, const Revision& revision) const {
    using Why = std::optional<std::string>;
    if (artifact.review == ReviewState::rejected) return Why("It was rejected.");
    if (artifact.review == ReviewState::approved) return Why("It was approved already.");
    if (is_service_key(caller.principal()))
        return Why("A service key cannot approve a branch: approvals are by people. Log in, or use a personal key.");
    const auto may = m_artifacts.find(caller, artifact.id, Permission::artifact_review);
    if (!may.ok()) return Why(may.error().message);
    if (!caller.run.empty()) return Why("A worker cannot review.");
    if (!role_suffices(caller, artifact.space_id, *branch.policy.role))
        return Why(fmt::format("The preset requires the role {} or a higher one.", name_of(*branch.policy.role)));
    if (*branch.policy.not_starter && caller.kind != access::CallerKind::system &&
        caller.principal() == person_behind(branch.starter))
        return Why("The preset requires a reviewer other than the member who started the run.");
    if (revision.state != RevisionState::ready)
        return Why(revision.state == RevisionState::pending ? "Its diff is being made."
                                                            : "Its diff could not be created: " + revision.error);
    if (*branch.policy.require_verified && revision.verification != VerificationState::green)
        return Why("The preset requires a passed verification; its state is " +
                   std::string(name_of(revision.verification)) + ".");
    if (*branch.policy.require_replayed) {
        const auto replay = TRY(Replays(m_database, m_clock).find(artifact.id, revision.revision));
        if (!replay || replay->outcome != ReplayOutcome::fixed)
            return Why("The preset requires a replayed fix; " +
                       (!replay ? std::string("it was not replayed.")
                        : replay->state == ReplayState::done
                            ? "its outcome is " + std::string(name_of(replay->outcome)) + "."
                            : "its replay is " + std::string(name_of(replay->state)) + "."));
    }
    if (revision.commits.empty() || revision.files == 0) return Why("It changes nothing.");
    const auto before =
        TRY(m_database.query("SELECT 1 FROM review_decisions WHERE artifact_id = ? AND revision = ? AND reviewer = ? "
                             "AND decision = 'approved' AND withdrawn_at IS NULL LIMIT 1",
                             artifact.id, revision.revision, caller.principal()));
    if (!before.empty()) return Why("You approved this revision already; others must too.");
    return Why();
}

Result<> Reviews::insert_decision(sql::Transaction& transaction, const Caller& caller, const ArtifactId& id,
                                  int64_t revision, const Made& made) {
    TRY(transaction.execute("INSERT INTO review_decisions (id, artifact_id, revision, decision, reviewer, "
                            "reviewer_name, comment, allow_protected, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            make_id<DecisionTag>(m_clock), id, revision, name_of(made.decision), caller.principal(),
                            made.reviewer, made.comment, made.allow_protected ? 1 : 0, m_clock.now()));
    return {};
}

std::string Reviews::name_of_person(const Caller& caller) const {
    if (caller.kind != access::CallerKind::key || caller.user.empty()) return caller.name;
    const auto user = m_access.users.find(caller.user);
    return user.ok() ? user.value().email : caller.name;
}

std::string Reviews::person_behind(std::string principal) const {
    constexpr int most_keys = 10; // a key may have created the key
    for (int depth = 0; depth < most_keys && is_service_key(principal); ++depth) {
        const auto key = m_access.keys.find(access::KeyId(principal));
        if (!key.ok()) break;
        principal = key.value().user_id ? key.value().user_id->text() : key.value().created_by;
    }
    return principal;
}

Result<Artifact> Reviews::decide(const Caller& caller, const ArtifactId& id, ReviewState decision,
                                 const Decide& wanted) {
    const Artifact artifact = TRY(m_artifacts.find(caller, id, Permission::artifact_review));
    if (decision == ReviewState::pending) return invalid("decide: approved, rejected or changes_requested");
    if (!caller.run.empty()) return forbidden("a worker cannot review");
    const bool is_branch = artifact.kind == ArtifactKind::branch;
    const bool by_person = caller.kind != access::CallerKind::system;
    if (decision == ReviewState::approved && by_person && is_branch && !wanted.revision)
        return invalid("revision is missing: send the number of the revision that you reviewed (GET /v1/reviews/ID)");
    if (decision == ReviewState::approved && by_person && !is_branch && !wanted.digest)
        return invalid("digest is missing: send the digest of the content that you reviewed (GET /v1/reviews/ID)");
    const std::string said = TRY(access::checked_description(wanted.comment.value_or("")));
    const bool asks = decision == ReviewState::changes_requested;
    if (asks && trim(said).empty() && TRY(untold(id)).empty())
        return invalid("comment is missing: describe what should be different");
    Artifact decided;
    if (artifact.kind == ArtifactKind::branch) {
        decided = TRY(decide_branch(caller, artifact, decision, wanted, said));
    } else {
        Artifacts::Verdict verdict{decision,
                                   asks && trim(said).empty() ? "See the comments." : said,
                                   wanted.digest.value_or(artifact.digest),
                                   {}};
        const Made made{decision, said, false, name_of_person(caller)};
        verdict.together = [&](sql::Transaction& transaction) {
            return insert_decision(transaction, caller, id, 0, made);
        };
        decided = TRY(m_artifacts.decide(caller, id, verdict));
    }
    if (asks) TRY(send_changes(caller, decided, said));
    return decided;
}

Result<> Reviews::check_approval(const Caller& caller, const Artifact& artifact, const Branch& branch,
                                 const Revision& revision, bool allow_protected) const {
    if (const auto why = TRY(why_not(caller, artifact, branch, revision))) {
        const bool state = artifact.review == ReviewState::approved || artifact.review == ReviewState::rejected ||
                           revision.state != RevisionState::ready;
        return state ? conflict(*why) : forbidden(*why);
    }
    if (revision.blocking_flags > 0 && !allow_protected)
        return conflict(fmt::format("{} flags need an explicit allow (allow_protected): {}", revision.blocking_flags,
                                    revision.flags.empty() ? "" : revision.flags.front().message));
    return {};
}

// Nothing is written when another reviewer decided in the meantime, or another revision was pushed.
Result<bool> Reviews::write_decision(sql::Transaction& transaction, const Caller& caller, const Artifact& artifact,
                                     const Branch& branch, const Revision& revision, const Made& made) {
    const auto now_there = TRY(transaction.query("SELECT a.review, b.revision FROM artifacts a JOIN review_branches "
                                                 "b ON b.artifact_id = a.id WHERE a.id = ?",
                                                 artifact.id));
    if (now_there.empty()) return not_found("artifact " + artifact.id.text());
    const std::string& state = now_there.front().text(0);
    if (now_there.front().integer(1) != revision.revision || (state != "pending" && state != "changes_requested"))
        return conflict(state == "approved"
                            ? "it was approved already. Cancel its delivery first: hone pr cancel PR"
                            : "it was decided already, or a newer revision was pushed. Review it again");
    TRY(insert_decision(transaction, caller, artifact.id, revision.revision, made));
    const bool approves = made.decision == ReviewState::approved;
    const auto approvals =
        TRY(transaction.query("SELECT COUNT(DISTINCT reviewer) FROM review_decisions WHERE artifact_id = ? AND "
                              "revision = ? AND decision = 'approved' AND withdrawn_at IS NULL AND reviewer NOT LIKE "
                              "'key~_%' ESCAPE '~'",
                              artifact.id, revision.revision));
    const bool enough = approvals.front().integer(0) >= *branch.policy.approvals;
    if (!approves || enough)
        TRY(transaction.execute("UPDATE artifacts SET review = ?, reviewer = ?, reviewer_name = ?, comment = ?, "
                                "reviewed_at = ? WHERE id = ?",
                                name_of(made.decision), caller.actor(), made.reviewer, made.comment, m_clock.now(),
                                artifact.id));
    return approves && enough;
}

Result<Artifact> Reviews::decide_branch(const Caller& caller, const Artifact& artifact, ReviewState decision,
                                        const Decide& wanted, const std::string& said) {
    const Branch branch = TRY(m_branches.find(artifact.id));
    const Revision revision = TRY(m_branches.revision(artifact.id, 0));
    if (wanted.revision && *wanted.revision != revision.revision)
        return conflict(fmt::format("revision {} was pushed at {}: {} commits, {} files changed, {} lines added, {} "
                                    "deleted. You reviewed revision {}. Review the newest one",
                                    revision.revision, to_text(revision.pushed_at).substr(0, 19) + "Z",
                                    revision.commits.size(), revision.files, revision.additions, revision.deletions,
                                    *wanted.revision));
    if (wanted.digest && *wanted.digest != artifact.digest)
        return conflict("the diff of the branch is not the one that you reviewed. Review it again");
    if (decision == ReviewState::approved)
        TRY(check_approval(caller, artifact, branch, revision, *wanted.allow_protected));
    const Made made{decision, said, *wanted.allow_protected, name_of_person(caller)};
    const bool ships = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
        const bool enough = TRY(write_decision(transaction, caller, artifact, branch, revision, made));
        if (enough) TRY(PullRequests::enqueue(transaction, m_clock, artifact, branch, revision));
        TRY(m_access.audit.record(transaction, caller,
                                  {"branch_" + std::string(name_of(decision)),
                                   artifact.space_id,
                                   artifact.id.text(),
                                   {{"run", artifact.run_id},
                                    {"branch", branch.branch},
                                    {"revision", revision.revision},
                                    {"head", revision.head_commit},
                                    {"allow_protected", made.allow_protected}}}));
        return enough;
    }));
    if (ships && m_listener) m_listener();
    return m_artifacts.find(Caller::system(), artifact.id);
}

Result<bool> Reviews::approve_automatic() {
    const auto rows = TRY(m_database.query(
        "SELECT b.artifact_id FROM review_branches b JOIN artifacts a ON a.id = b.artifact_id JOIN review_revisions r "
        "ON r.artifact_id = b.artifact_id AND r.revision = b.revision LEFT JOIN review_replays p ON p.artifact_id = "
        "b.artifact_id AND p.revision = b.revision WHERE b.automatic = 1 AND a.review = 'pending' AND r.state = "
        "'ready' "
        "AND r.blocking_flags = 0 AND r.verification IN ('none', 'green') AND (p.state IS NULL OR p.state NOT IN "
        "('queued', 'running')) LIMIT 1"));
    if (rows.empty()) return false;
    const auto id = rows.front().id<ArtifactTag>(0);
    Caller policy = Caller::system();
    policy.name = "policy of the preset";
    const auto decided = decide(policy, id, ReviewState::approved, {});
    if (decided.ok()) return true;
    log(Level::warning, "review of a branch pending", {{"artifact", id.text()}, {"why", decided.error().message}});
    TRY(m_database.execute("UPDATE review_branches SET automatic = 0 WHERE artifact_id = ?", id));
    return true;
}

Result<> Reviews::send_changes(const Caller& caller, const Artifact& artifact, const std::string& said) {
    const bool branch = artifact.kind == ArtifactKind::branch;
    std::string message =
        fmt::format("A reviewer requests changes to your {} \"{}\".\n", name_of(artifact.kind), artifact.name);
    if (!trim(said).empty()) message += "\n" + said + "\n";
    json::Array lines;
    for (const Comment& comment : TRY(untold(artifact.id))) {
        json::Object line{{"author", comment.author}, {"comment", comment.body}};
        if (!comment.path.empty()) line["path"] = comment.path;
        if (comment.line) line["line"] = *comment.line;
        if (comment.line && comment.side == Side::before) line["side"] = "old";
        if (lines.size() < 200) lines.push_back(std::move(line));
    }
    if (!lines.empty()) message += "\nTheir comments, as data:\n```json\n" + json::print_pretty(lines) + "```\n";
    message += branch ? "\nCommit on the same branch and push it again when it is done."
                      : "\nSave it again under the same name when it is done.";
    const auto told = m_runs.send_follow_up(caller, artifact.run_id, std::string(truncate_utf8(message, 90'000)));
    // The review stands also when the session takes no follow-up any more.
    if (!told.ok() && told.error().code != Code::conflict) return told.error();
    if (told.ok())
        TRY(m_database.execute("UPDATE review_comments SET told_at = ? WHERE artifact_id = ? AND told_at IS NULL",
                               m_clock.now(), artifact.id));
    return {};
}

} // namespace hone::review
