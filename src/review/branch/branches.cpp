#include "review/branch/branches.h"

#include "base/log.h"
#include "base/text.h"
#include "review/branch/replays.h"
#include "sql/columns.h"

#include <fmt/format.h>
#include <set>

namespace hone::review {

namespace {

template <class T>
constexpr auto list_column(std::string_view name, std::vector<T> Revision::*member) {
    return sql::Column{name, sql::Converted{[member](Revision& revision, const sql::Row& row, size_t at) -> Result<> {
                           revision.*member = TRY(json::read<std::vector<T>>(row.text(at)));
                           return {};
                       }}};
}

constexpr Pack revision_columns{
    sql::Column{"revision", &Revision::revision},
    sql::Column{"base_commit", &Revision::base_commit},
    sql::Column{"head_commit", &Revision::head_commit},
    sql::Column{"state", &Revision::state, RevisionState::failed},
    sql::Column{"error", &Revision::error},
    sql::Column{"title", &Revision::title},
    list_column("commits", &Revision::commits),
    sql::Column{"files", &Revision::files},
    sql::Column{"additions", &Revision::additions},
    sql::Column{"deletions", &Revision::deletions},
    list_column("flags", &Revision::flags),
    sql::Column{"blocking_flags", &Revision::blocking_flags},
    sql::Column{"verification", &Revision::verification, VerificationState::none},
    list_column("verification_results", &Revision::verification_results),
    sql::Column{"pushed_at", &Revision::pushed_at},
    sql::Column{"ready_at", &Revision::ready_at},
    sql::Column{"diff_digest", &Revision::diff_digest},
    sql::Column{"patch_digest", &Revision::patch_digest},
};
constexpr int64_t most_revisions = 200;
constexpr int64_t most_branch_attempts = 3;

Result<Revision> revision_of(const sql::Row& row) {
    return sql::read<Revision>(revision_columns, row);
}

// "hone/run_…/fix" of the repository shop is shown as shop/fix.
std::string artifact_name(const forge::Push& push) {
    std::string rest = push.branch;
    if (const std::string prefix = "hone/" + push.run + "/"; rest.starts_with(prefix))
        rest = rest.substr(prefix.size());
    return std::string(truncate_utf8(push.repo_name + "/" + rest, 200));
}

std::string lost_with(const std::string& server) {
    return "the commits are on the server " + server + ", which is lost: they wait until it is started again";
}

std::string lost_results(const std::string& server) {
    VerificationResult failed;
    failed.name = "verification";
    failed.branch = VerificationRun{std::nullopt, false, 0, lost_with(server)};
    return json::write(std::vector{failed});
}

} // namespace

Result<> Branches::pushed(const forge::Push& push) {
    const RunFacts facts = TRY(m_runs.facts(push.run));
    const Time now = m_clock.now();
    const ArtifactId fresh = make_id<ArtifactTag>(m_clock);
    struct Outcome {
        ArtifactId artifact;
        int64_t revision;
    };
    const Outcome made = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<Outcome> {
        const auto same = TRY(transaction.query(
            "SELECT b.artifact_id, b.revision, a.review, r.head_commit FROM review_branches b JOIN artifacts a ON a.id "
            "= "
            "b.artifact_id JOIN review_revisions r ON r.artifact_id = b.artifact_id AND r.revision = b.revision "
            "WHERE b.run_id = ? AND b.repo_id = ? AND b.branch = ?",
            push.run, push.repo, push.branch));
        Outcome outcome{fresh, 1};
        if (same.empty()) {
            TRY(m_artifacts.add_branch(transaction,
                                       {fresh, facts.space, facts.project, push.run, artifact_name(push)}));
            TRY(transaction.execute(
                "INSERT INTO review_branches (artifact_id, run_id, repo_id, repo_name, branch, revision, "
                "starter, fix_of, policy, automatic) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
                fresh, push.run, push.repo, push.repo_name, push.branch, facts.starter, facts.fix_of,
                json::write(facts.policy), facts.approved ? 1 : 0));
        } else {
            outcome = {same.front().id<ArtifactTag>(0), same.front().integer(1) + 1};
            if (same.front().text(2) == name_of(ReviewState::rejected))
                return conflict("this branch was rejected by a reviewer; push another one");
            if (same.front().text(3) == push.head_commit) return Outcome{outcome.artifact, 0};
            if (outcome.revision > most_revisions) return too_large("a branch has at most 200 revisions");
            TRY(m_artifacts.reopen(transaction, outcome.artifact));
            TRY(transaction.execute("UPDATE review_branches SET revision = ?, policy = ? WHERE artifact_id = ?",
                                    outcome.revision, json::write(facts.policy), outcome.artifact));
        }
        TRY(transaction.execute(
            "INSERT INTO review_revisions (artifact_id, revision, base_commit, head_commit, state, error, title, "
            "commits, files, additions, deletions, flags, blocking_flags, diff_digest, patch_digest, verification, "
            "verification_results, attempts, pushed_at, server) VALUES (?, ?, ?, ?, 'pending', '', '', '[]', 0, 0, 0, "
            "'[]', 0, '', '', ?, '[]', 0, ?, ?)",
            outcome.artifact, outcome.revision, push.base_commit, push.head_commit,
            name_of(facts.policy.verification.value.empty() ? VerificationState::none : VerificationState::pending),
            now, m_server));
        if (*facts.policy.require_replayed) {
            ReplaySettings settings = replay_settings(*facts.policy.replay, facts.fix_of);
            settings.automatic = true;
            TRY(Replays::enqueue(transaction, outcome.artifact, outcome.revision, settings, "policy of the preset",
                                 now));
        }
        return outcome;
    }));
    if (made.revision == 0) return {}; // the same commit again
    TRY(m_runs.note(push.run, made.artifact,
                    made.revision == 1 ? "branch: " + push.branch
                                       : fmt::format("branch: {}, revision {}", push.branch, made.revision)));
    if (m_listener) m_listener();
    return {};
}

Result<Branch> Branches::find(const ArtifactId& artifact) const {
    const auto rows = TRY(m_database.query("SELECT run_id, repo_id, repo_name, branch, revision, starter, fix_of, "
                                           "policy FROM review_branches WHERE artifact_id "
                                           "= ?",
                                           artifact));
    if (rows.empty()) return not_found("a branch for " + artifact.text());
    const sql::Row row = rows.front();
    auto policy = TRY(json::read<ReviewPolicy>(row.text(7)));
    return Branch{artifact,       row.text(0), row.text(1), row.text(2),      row.text(3),
                  row.integer(4), row.text(5), row.text(6), std::move(policy)};
}

Result<std::vector<Revision>> Branches::revisions(const ArtifactId& artifact) const {
    const auto rows =
        TRY(m_database.query("SELECT " + sql::names(revision_columns) +
                                 " FROM review_revisions WHERE artifact_id = ? ORDER BY revision LIMIT 200",
                             artifact));
    std::vector<Revision> revisions;
    for (const auto& row : rows) revisions.push_back(TRY(revision_of(row)));
    return revisions;
}

Result<Revision> Branches::revision(const ArtifactId& artifact, int64_t number) const {
    const auto rows = TRY(m_database.query(
        "SELECT " + sql::names(revision_columns) +
            " FROM review_revisions WHERE artifact_id = ? AND (revision = ? OR ? = 0) ORDER BY revision DESC LIMIT 1",
        artifact, number, number));
    if (rows.empty())
        return not_found(number == 0 ? "a branch for " + artifact.text() : fmt::format("revision {}", number));
    return revision_of(rows.front());
}

Result<Diff> Branches::diff(const Revision& revision) const {
    if (revision.state == RevisionState::pending)
        return conflict("the diff is not ready yet; try again in a few seconds");
    if (revision.state == RevisionState::failed) return conflict("there is no diff: " + revision.error);
    return parse_diff(TRY(m_artifacts.content_of(revision.diff_digest)));
}

Result<std::string> Branches::patch(const Revision& revision) const {
    if (revision.state != RevisionState::ready) return conflict("the diff is not ready yet");
    if (revision.patch_digest.empty()) return not_found("a patch (it is too large to be kept)");
    return m_artifacts.content_of(revision.patch_digest);
}

Result<std::optional<Branches::Waiting>> Branches::next(const std::string& condition) const {
    const auto rows = TRY(m_database.query("SELECT artifact_id, revision FROM review_revisions WHERE " + condition +
                                               " AND (? = '' OR server IN ('', ?)) ORDER BY pushed_at LIMIT 1",
                                           m_server, m_server));
    if (rows.empty()) return std::optional<Waiting>();
    return std::optional(Waiting{rows.front().id<ArtifactTag>(0), rows.front().integer(1)});
}

Result<std::optional<Branches::Waiting>> Branches::next_pending() const {
    return next("state = 'pending'");
}

Result<std::optional<Branches::Waiting>> Branches::next_unverified() const {
    return next("verification = 'pending' AND state = 'ready'");
}

Result<> Branches::inspected(const Waiting& which, const Inspected& found) {
    const Branch branch = TRY(find(which.artifact));
    const std::vector<Flag> flags = find_flags(found, branch.policy);
    int64_t blocking = 0;
    for (const Flag& flag : flags) blocking += flag.blocking;
    const std::string diff_digest = TRY(m_artifacts.keep_content(found.diff_text));
    const std::string patch_digest = found.patch.empty() ? std::string() : TRY(m_artifacts.keep_content(found.patch));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "UPDATE review_revisions SET state = 'ready', error = '', title = ?, commits = ?, files = ?, additions = "
            "?, deletions = ?, flags = ?, blocking_flags = ?, diff_digest = ?, patch_digest = ?, ready_at = ? WHERE "
            "artifact_id = ? AND revision = ?",
            found.title, json::write(found.commits), static_cast<int64_t>(found.diff.files.size()),
            found.diff.additions, found.diff.deletions, json::write(flags), blocking, diff_digest, patch_digest,
            m_clock.now(), which.artifact, which.revision));
        const std::string& shown = patch_digest.empty() ? diff_digest : patch_digest;
        const size_t bytes = patch_digest.empty() ? found.diff_text.size() : found.patch.size();
        if (branch.revision == which.revision)
            TRY(m_artifacts.describe_branch(transaction, which.artifact, found.title, shown,
                                            static_cast<int64_t>(bytes)));
        return {};
    });
}

Result<> Branches::not_inspected(const Waiting& which, const std::string& why, bool again) {
    log(Level::warning, "branch not inspected",
        {{"artifact", which.artifact.text()}, {"revision", which.revision}, {"why", why}});
    TRY(m_database.execute("UPDATE review_revisions SET attempts = attempts + 1, error = ?, state = CASE WHEN ? = 1 "
                           "AND attempts + 1 < ? THEN 'pending' ELSE 'failed' END WHERE artifact_id = ? AND revision "
                           "= ?",
                           std::string(truncate_utf8(repair_utf8(why), 2000)), again ? 1 : 0, most_branch_attempts,
                           which.artifact, which.revision));
    return {};
}

Result<> Branches::verifying(const Waiting& which) {
    TRY(m_database.execute(
        "UPDATE review_revisions SET verification = 'running' WHERE artifact_id = ? AND revision = ?", which.artifact,
        which.revision));
    return {};
}

Result<> Branches::verified(const Waiting& which, VerificationState state,
                            const std::vector<VerificationResult>& results) {
    TRY(m_database.execute("UPDATE review_revisions SET verification = ?, verification_results = ? WHERE artifact_id = "
                           "? AND revision = ?",
                           name_of(state), json::write(results), which.artifact, which.revision));
    return {};
}

Result<> Branches::require_here(const ArtifactId& artifact, int64_t revision) const {
    if (m_server.empty()) return {};
    const auto rows = TRY(m_database.query("SELECT server FROM review_revisions WHERE artifact_id = ? AND revision = ? "
                                           "AND server NOT IN ('', ?)",
                                           artifact, revision, m_server));
    if (rows.empty()) return {};
    return conflict("the commits of revision " + std::to_string(revision) + " are on the server " +
                    rows.front().text(0) + ": send the request to its address (`hone server list`)");
}

Result<> Branches::verify_again() {
    TRY(m_database.execute(
        "UPDATE review_revisions SET verification = 'pending' WHERE verification = 'running' AND (? = "
        "'' OR server IN ('', ?))",
        m_server, m_server));
    return {};
}
Result<> Branches::restart() {
    TRY(verify_again());
    if (m_server.empty()) return {};
    TRY(m_database.execute("UPDATE review_revisions SET state = 'pending', error = '', attempts = 0 WHERE state = "
                           "'failed' AND server = ? AND error = ?",
                           m_server, lost_with(m_server)));
    TRY(m_database.execute("UPDATE review_revisions SET verification = 'pending', verification_results = '[]' WHERE "
                           "verification = 'failed' AND server = ? AND verification_results = ?",
                           m_server, lost_results(m_server)));
    return {};
}

Result<> Branches::fail_lost() {
    if (m_server.empty()) return {};
    std::set<std::string> known{"", m_server};
    for (std::string& other : TRY(m_others())) known.insert(std::move(other));
    const auto rows = TRY(m_database.query("SELECT DISTINCT server FROM review_revisions WHERE state = 'pending' OR "
                                           "(state = 'ready' AND verification IN ('pending', 'running'))"));
    for (const auto& row : rows) {
        const std::string server = row.text(0);
        if (known.contains(server)) continue;
        log(Level::warning, "branches wait for a lost server", {{"server", server}});
        TRY(m_database.execute("UPDATE review_revisions SET state = 'failed', error = ? WHERE state = 'pending' AND "
                               "server = ?",
                               lost_with(server), server));
        TRY(m_database.execute("UPDATE review_revisions SET verification = 'failed', verification_results = ? WHERE "
                               "state = 'ready' AND verification IN ('pending', 'running') AND server = ?",
                               lost_results(server), server));
    }
    return {};
}

Result<std::map<std::string, int64_t>> newest_revisions(sql::Database& database, std::span<const Artifact> artifacts) {
    std::map<std::string, int64_t> found;
    std::vector<sql::Value> ids;
    for (const Artifact& artifact : artifacts)
        if (artifact.kind == ArtifactKind::branch) ids.push_back(sql::to_value(artifact.id));
    if (ids.empty()) return found;
    const auto rows = TRY(database.run_query(
        "SELECT artifact_id, revision FROM review_branches WHERE artifact_id IN (" + sql::marks(ids.size()) + ")",
        ids));
    for (const auto& row : rows) found[row.text(0)] = row.integer(1);
    return found;
}

} // namespace hone::review
