// What people say about artifacts: comments on lines, threads, viewed marks, decisions; and the inbox of artifacts
// that wait for a review. A branch is approved when as many people as its preset requires have approved the same
// revision; what an approval sets in motion (a pull request) is recorded in the same transaction. Thread-safe.
#pragma once

#include "review/branch/branches.h"
#include "review/branch/replay.h"
#include "review/delivery/pull_request.h"

namespace hone::review {

struct CommentTag {
    static constexpr std::string_view kind = "comment";
};
using CommentId = Id<CommentTag>;
struct DecisionTag {
    static constexpr std::string_view kind = "decision";
};
using DecisionId = Id<DecisionTag>;

enum class Side { before, after };
constexpr auto enum_names(Side) {
    return std::array{EnumName{Side::before, "old"}, EnumName{Side::after, "new"}};
}

struct Comment {
    CommentId id;
    ArtifactId artifact_id;
    std::optional<CommentId> reply_to;
    int64_t revision = 0;
    std::string path;
    Side side = Side::after;
    std::optional<int64_t> line;
    std::string body;
    std::string author;
    std::optional<std::string> resolved_by;
    std::optional<Time> resolved_at;
    std::optional<Time> told_at;
    Time created_at{};
    std::optional<Time> edited_at;
    bool mine = false;
    static constexpr Pack fields{
        Field{"id", &Comment::id, "Id."},
        Field{"artifact_id", &Comment::artifact_id, "Artifact that it belongs to."},
        Field{"reply_to", &Comment::reply_to, "First comment of its thread; null: it is the first."},
        Field{"revision", &Comment::revision, "Revision that the lines belong to; 0 for artifacts without revisions."},
        Field{"path", &Comment::path, "File; empty: the whole artifact."},
        Field{"side", &Comment::side, "File before or after the change."},
        Field{"line", &Comment::line, "Line of that file; null: the whole file."},
        Field{"body", &Comment::body, "Markdown."},
        Field{"author", &Comment::author, "Name of the author."},
        Field{"resolved_by", &Comment::resolved_by, "Name of the user who resolved the thread."},
        Field{"resolved_at", &Comment::resolved_at, "Time at which the thread was resolved; set on its first comment."},
        Field{"told_at", &Comment::told_at, "Time at which it was sent to the session."},
        Field{"created_at", &Comment::created_at, "Time of creation."},
        Field{"edited_at", &Comment::edited_at, "Time of the last change."},
        Field{"mine", &Comment::mine, "The caller wrote it."},
    };
};

struct NewComment {
    std::optional<std::string> reply_to{};
    std::optional<int64_t> revision{};
    std::optional<std::string> path{};
    std::optional<Side> side{};
    std::optional<int64_t> line{};
    std::string body{};
    static constexpr Pack fields{
        Field{"reply_to", &NewComment::reply_to, "Id of a comment whose thread it replies to."},
        Field{"revision", &NewComment::revision, "The newest one if not given."},
        Field{"path", &NewComment::path, "File as the diff names it; not given: the whole artifact."},
        Field{"side", &NewComment::side, "`old` or `new`; `new` if not given."},
        Field{"line", &NewComment::line, "Line of that file."},
        Field{"body", &NewComment::body, "Markdown, at most 10,000 bytes."},
    };
};

struct Decision {
    DecisionId id;
    int64_t revision = 0;
    ReviewState decision = ReviewState::pending;
    std::string reviewer;
    std::string comment;
    bool allow_protected = false;
    bool counts = false;
    Time created_at{};
    std::optional<Time> withdrawn_at;
    std::string principal; // user, or service key
    static constexpr Pack fields{
        Field{"id", &Decision::id, "Id."},
        Field{"revision", &Decision::revision, "Revision that was reviewed."},
        Field{"decision", &Decision::decision, "approved, rejected or changes_requested."},
        Field{"reviewer", &Decision::reviewer, "Name of the reviewer."},
        Field{"comment", &Decision::comment, "Comment."},
        Field{"allow_protected", &Decision::allow_protected, "Blocking flags were allowed."},
        Field{"counts", &Decision::counts, "It is an approval of the newest revision."},
        Field{"created_at", &Decision::created_at, "Time of the review."},
        Field{"withdrawn_at", &Decision::withdrawn_at,
              "Time at which the delivery that it started was cancelled; it no longer counts."},
    };
};

struct Decide {
    std::optional<std::string> comment{};
    std::optional<int64_t> revision{};
    std::optional<std::string> digest{};
    json::Defaulted<bool> allow_protected = false;
    static constexpr Pack fields{
        Field{"comment", &Decide::comment, "Needed when changes are requested and no line has a comment."},
        Field{"revision", &Decide::revision,
              "Of a branch: the revision that was reviewed. Needed to approve; a newer revision is a conflict."},
        Field{"digest", &Decide::digest,
              "Digest of the artifact when it was reviewed. Needed to approve any artifact but a branch; changed "
              "content is a conflict."},
        Field{"allow_protected", &Decide::allow_protected, "Allows blocking flags; only for approvals."},
    };
};

// One line of the inbox.
struct ReviewItem {
    Artifact artifact;
    std::optional<std::string> repo_name;
    std::optional<std::string> branch;
    std::optional<int64_t> revision;
    std::optional<int64_t> files;
    std::optional<int64_t> additions;
    std::optional<int64_t> deletions;
    std::optional<int64_t> blocking_flags;
    std::optional<RevisionState> diff_state;
    std::optional<VerificationState> verification;
    int64_t open_comments = 0;
    std::optional<PullRequestState> pull_request;
    static constexpr Pack fields{
        Field{"artifact", &ReviewItem::artifact, "The artifact."},
        Field{"repo_name", &ReviewItem::repo_name, "Of a branch: name of the repository."},
        Field{"branch", &ReviewItem::branch, "Of a branch: its name."},
        Field{"revision", &ReviewItem::revision, "Of a branch: newest revision."},
        Field{"files", &ReviewItem::files, "Of a branch: changed files."},
        Field{"additions", &ReviewItem::additions, "Of a branch: added lines."},
        Field{"deletions", &ReviewItem::deletions, "Of a branch: deleted lines."},
        Field{"blocking_flags", &ReviewItem::blocking_flags, "Of a branch: number of blocking flags."},
        Field{"diff_state", &ReviewItem::diff_state, "Of a branch: state of its diff."},
        Field{"verification", &ReviewItem::verification, "Of a branch: result of the verification."},
        Field{"open_comments", &ReviewItem::open_comments, "Number of unresolved threads."},
        Field{"pull_request", &ReviewItem::pull_request, "State of its pull request."},
    };
};

struct ReviewCount {
    ArtifactKind kind = ArtifactKind::file;
    ReviewState review = ReviewState::pending;
    int64_t count = 0;
    static constexpr Pack fields{
        Field{"kind", &ReviewCount::kind, "Kind of artifact."},
        Field{"review", &ReviewCount::review, "State of the review."},
        Field{"count", &ReviewCount::count, "Number of artifacts."},
    };
};

// Everything about one artifact's review but its diff.
struct ReviewView {
    Artifact artifact;
    std::optional<Branch> branch;
    std::vector<Revision> revisions;
    std::vector<Decision> decisions;
    int64_t approvals = 0;
    int64_t approvals_needed = 1;
    int64_t open_comments = 0;
    std::optional<std::string> cannot_approve;
    std::optional<BranchReplay> replay;
    std::optional<PullRequest> pull_request;
    std::vector<PullRequest> earlier_pull_requests;
    static constexpr Pack fields{
        Field{"artifact", &ReviewView::artifact, "The artifact under review."},
        Field{"branch", &ReviewView::branch, "The branch, when the artifact is one."},
        Field{"revisions", &ReviewView::revisions, "Revisions of the branch, oldest first."},
        Field{"decisions", &ReviewView::decisions, "All decisions, oldest first."},
        Field{"approvals", &ReviewView::approvals, "Number of approvals of the newest revision that count."},
        Field{"approvals_needed", &ReviewView::approvals_needed, "Number of approvals needed."},
        Field{"open_comments", &ReviewView::open_comments, "Number of unresolved threads."},
        Field{"cannot_approve", &ReviewView::cannot_approve,
              "Why the caller cannot approve it now; null: the caller can."},
        Field{"replay", &ReviewView::replay, "Replay of the newest revision; null: none was started."},
        Field{"pull_request", &ReviewView::pull_request, "Newest pull request of the approved branch."},
        Field{"earlier_pull_requests", &ReviewView::earlier_pull_requests,
              "Pull requests of the same branch that are over, oldest first."},
    };
};

class Reviews {
public:
    Reviews(sql::Database& database, const Clock& clock, access::Access& access, Artifacts& artifacts,
            Branches& branches, RunSource& runs)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_artifacts(artifacts),
          m_branches(branches),
          m_runs(runs) {}
    // Called after an approval that sets a pull request in motion. Once, before requests come.
    void set_listener(std::function<void()> listener) { m_listener = std::move(listener); }

    Result<access::Page<ReviewItem>> list(const access::Caller& caller, const access::SpaceId& space,
                                          const ArtifactFilter& filter, const access::PageRequest& page) const;
    Result<std::vector<ReviewCount>> counts(const access::Caller& caller, const access::SpaceId& space) const;
    Result<ReviewView> find(const access::Caller& caller, const ArtifactId& id) const;

    // Oldest first.
    Result<access::Page<Comment>> comments(const access::Caller& caller, const ArtifactId& id,
                                           const access::PageRequest& page) const;
    Result<Comment> comment(const access::Caller& caller, const ArtifactId& id, const NewComment& wanted);
    // Only its author changes a comment's text; every reviewer closes and opens threads.
    Result<Comment> change_comment(const access::Caller& caller, const ArtifactId& id, const CommentId& comment,
                                   const std::optional<std::string>& body, std::optional<bool> resolved);

    // Paths that this person marked as viewed in the newest revision or in one where the file was the same.
    Result<std::vector<std::string>> viewed(const access::Caller& caller, const ArtifactId& id) const;
    Result<> set_viewed(const access::Caller& caller, const ArtifactId& id, const std::string& path, bool viewed);

    // Approves one branch whose preset wants no person, if nothing about it is flagged and it is verified; false: there
    // is none.
    Result<bool> approve_automatic();

    // Of any artifact. An approval names the revision or digest that it approves; conflict when there is a newer one. A
    // branch that needs further approvals stays pending. Approved labels go into the outbox, in the same transaction.
    Result<Artifact> decide(const access::Caller& caller, const ArtifactId& id, ReviewState decision,
                            const Decide& wanted);

private:
    // The comment of a reviewer.
    struct Made {
        ReviewState decision;
        std::string comment;
        bool allow_protected;
        std::string reviewer; // name
    };
    Result<> insert_decision(sql::Transaction& transaction, const access::Caller& caller, const ArtifactId& id,
                             int64_t revision, const Made& made);
    Result<> check_approval(const access::Caller& caller, const Artifact& artifact, const Branch& branch,
                            const Revision& revision, bool allow_protected) const;
    // True when this was the last approval that was missing.
    Result<bool> write_decision(sql::Transaction& transaction, const access::Caller& caller, const Artifact& artifact,
                                const Branch& branch, const Revision& revision, const Made& made);
    Result<Artifact> decide_branch(const access::Caller& caller, const Artifact& artifact, ReviewState decision,
                                   const Decide& wanted, const std::string& said);
    Result<std::optional<std::string>> why_not(const access::Caller& caller, const Artifact& artifact,
                                               const Branch& branch, const Revision& revision) const;
    Result<std::vector<Comment>> untold(const ArtifactId& id) const;
    // The e-mail address of the person, also when they use a personal key; else the caller's name.
    std::string name_of_person(const access::Caller& caller) const;
    // The person behind a principal: for a service key the person who created it.
    std::string person_behind(std::string principal) const;
    Result<> send_changes(const access::Caller& caller, const Artifact& artifact, const std::string& comment);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Artifacts& m_artifacts;
    Branches& m_branches;
    RunSource& m_runs;
    std::function<void()> m_listener;
};

} // namespace hone::review
