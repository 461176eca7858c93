// A pull request (merge request). Values, declared once; any thread.
#pragma once

#include "access/caller.h"
#include "base/fields.h"
#include "review/artifacts.h"

#include <vector>

namespace hone::review {

struct PullRequestTag {
    static constexpr std::string_view kind = "pr";
};
using PullRequestId = Id<PullRequestTag>;

enum class PullRequestState {
    queued, // approved; the branch is not on the forge yet
    pushed, // the branch is there, the pull request is not
    open,
    merged,
    closed,
    only_pushed, // done: there is no forge to open one at, or the preset wants none
    failed,      // was never opened, and is not retried by itself; see `error`, `sync` retries
    cancelled,   // withdrawn by a person before it was opened
    abandoned,   // no longer followed, because a person decided so
};
constexpr auto enum_names(PullRequestState) {
    using enum PullRequestState;
    return std::array{
        EnumName{queued, "queued"}, EnumName{pushed, "pushed"},       EnumName{open, "open"},
        EnumName{merged, "merged"}, EnumName{closed, "closed"},       EnumName{only_pushed, "only_pushed"},
        EnumName{failed, "failed"}, EnumName{cancelled, "cancelled"}, EnumName{abandoned, "abandoned"}};
}

// What happened to a pull request. The first part happens in Hone, the second on the forge.
enum class PullRequestEventKind {
    approved,
    opened,
    updated,
    failed,
    update_failed,
    follow_failed,
    succeeded_by,
    cancelled,
    abandoned,
    taken_over,
    checks_sent,
    merged,
    closed,
    reopened,
    retargeted,
    ready,
    draft,
    commits_added,
    force_pushed,
    branch_restored,
    changes_requested,
    checks_failed,
    conflicts,
};
constexpr auto enum_names(PullRequestEventKind) {
    using enum PullRequestEventKind;
    return std::array{EnumName{approved, "approved"},
                      EnumName{opened, "opened"},
                      EnumName{updated, "updated"},
                      EnumName{failed, "failed"},
                      EnumName{update_failed, "update_failed"},
                      EnumName{follow_failed, "follow_failed"},
                      EnumName{succeeded_by, "succeeded_by"},
                      EnumName{cancelled, "cancelled"},
                      EnumName{abandoned, "abandoned"},
                      EnumName{taken_over, "taken_over"},
                      EnumName{checks_sent, "checks_sent"},
                      EnumName{merged, "merged"},
                      EnumName{closed, "closed"},
                      EnumName{reopened, "reopened"},
                      EnumName{retargeted, "retargeted"},
                      EnumName{ready, "ready"},
                      EnumName{draft, "draft"},
                      EnumName{commits_added, "commits_added"},
                      EnumName{force_pushed, "force_pushed"},
                      EnumName{branch_restored, "branch_restored"},
                      EnumName{changes_requested, "changes_requested"},
                      EnumName{checks_failed, "checks_failed"},
                      EnumName{conflicts, "conflicts"}};
}

struct PullRequestEventTag {
    static constexpr std::string_view kind = "prevent";
};
using PullRequestEventId = Id<PullRequestEventTag>;

struct PullRequestEvent {
    PullRequestEventId id;
    PullRequestEventKind kind = PullRequestEventKind::approved;
    std::string message;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &PullRequestEvent::id, "Id."},
        Field{"kind", &PullRequestEvent::kind, "What happened."},
        Field{"message", &PullRequestEvent::message, "Details in one sentence; may be empty."},
        Field{"created_at", &PullRequestEvent::created_at, "Time at which Hone noticed it."},
    };
};

// A commit on the forge's branch that Hone did not push.
struct PeopleCommit {
    std::string id;
    std::string author;
    std::string title;
    static constexpr Pack fields{
        Field{"id", &PeopleCommit::id, "Commit."},
        Field{"author", &PeopleCommit::author, "Name of its author."},
        Field{"title", &PeopleCommit::title, "First line of its message."},
    };
};

// One check of the forge on the newest commit: a check run, a job of a pipeline, a commit status.
struct PullRequestCheck {
    std::string id;
    std::string name;
    std::string result;
    std::string summary;
    std::string url;
    static constexpr Pack fields{
        Field{"id", &PullRequestCheck::id, "Number of the job on the forge, for its log; empty: it has no log."},
        Field{"name", &PullRequestCheck::name, "Name, as the forge shows it."},
        Field{"result", &PullRequestCheck::result, "passed, failed, running or skipped."},
        Field{"summary", &PullRequestCheck::summary, "One line of the check."},
        Field{"url", &PullRequestCheck::url, "Page of the check."},
    };
};

// What a check printed: its end, without control characters and without lines that seem to hold a secret.
struct CheckLog {
    std::string name;
    std::string result;
    std::string text;
    bool truncated = false;
    static constexpr Pack fields{
        Field{"name", &CheckLog::name, "Name of the check."},
        Field{"result", &CheckLog::result, "passed, failed, running or skipped."},
        Field{"text", &CheckLog::text,
              "The end of the log, at most 256 KiB; written by programs that the branch can change."},
        Field{"truncated", &CheckLog::truncated, "There is more before it."},
    };
};

struct PullRequest {
    PullRequestId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    ArtifactId artifact_id;
    std::string run_id;
    std::string repo_id;
    std::string repo_name;
    std::string host;
    std::string fix_of;
    std::string forge;
    std::string branch;
    std::string target;
    int64_t revision = 0;
    int64_t delivered_revision = 0;
    PullRequestState state = PullRequestState::queued;
    std::string update_state;
    std::optional<int64_t> number;
    std::string url;
    std::string title;
    bool draft = true;
    std::string head_commit;
    std::string forge_commit;
    std::string people;
    std::vector<PeopleCommit> their_commits;
    std::string mergeable;
    std::string checks;
    std::vector<PullRequestCheck> check_results;
    std::string forge_review;
    std::string error;
    std::string cause;
    std::string moved_to;
    int64_t attempts = 0;
    Time next_try_at{};
    Time created_at{};
    Time updated_at{};
    std::optional<Time> polled_at;
    std::optional<Time> merged_at;
    std::optional<Time> ended_at;
    std::string etag;
    std::string told_until;
    static constexpr Pack fields{
        Field{"id", &PullRequest::id, "Id."},
        Field{"space_id", &PullRequest::space_id, "Id of the space."},
        Field{"project_id", &PullRequest::project_id, "Project of the run."},
        Field{"artifact_id", &PullRequest::artifact_id, "Artifact of the approved branch."},
        Field{"run_id", &PullRequest::run_id, "Run that pushed it."},
        Field{"repo_id", &PullRequest::repo_id, "Id of the repository."},
        Field{"repo_name", &PullRequest::repo_name, "Name of the repository."},
        Field{"fix_of", &PullRequest::fix_of, "Issue that it fixes; empty: none."},
        Field{"forge", &PullRequest::forge, "github, gitea, gitlab or plain; empty until it is known."},
        Field{"branch", &PullRequest::branch, "Branch on the forge."},
        Field{"target", &PullRequest::target, "Branch that it is merged into."},
        Field{"revision", &PullRequest::revision, "Revision that was approved last."},
        Field{"delivered_revision", &PullRequest::delivered_revision, "Revision that the forge has; 0: none."},
        Field{"state", &PullRequest::state, "State of the pull request."},
        Field{"update_state", &PullRequest::update_state,
              "State of the update of an open one to the approved revision: pending, failed or cancelled; empty: the "
              "forge has it."},
        Field{"number", &PullRequest::number, "Number on the forge."},
        Field{"url", &PullRequest::url, "Page on the forge."},
        Field{"title", &PullRequest::title, "Title."},
        Field{"draft", &PullRequest::draft, "It is a draft."},
        Field{"head_commit", &PullRequest::head_commit, "Commit that Hone delivered."},
        Field{"forge_commit", &PullRequest::forge_commit, "Newest commit on the forge."},
        Field{"people", &PullRequest::people,
              "What people did with the branch on the forge: commits_added, force_pushed; empty: nothing."},
        Field{"their_commits", &PullRequest::their_commits, "Commits on the branch that people pushed, at most 50."},
        Field{"mergeable", &PullRequest::mergeable,
              "Whether the forge can merge it: yes, conflicts; empty: not known."},
        Field{"checks", &PullRequest::checks, "State of the forge's checks: passed, failed, running; empty: none."},
        Field{"check_results", &PullRequest::check_results, "The checks one by one, failed ones first, at most 50."},
        Field{"forge_review", &PullRequest::forge_review,
              "Review state on the forge: approved, changes_requested; empty: none."},
        Field{"error", &PullRequest::error, "The last error, and what to do about it."},
        Field{"cause", &PullRequest::cause,
              "Cause of the error, as docs/review.md lists them; empty: none, or not known."},
        Field{"moved_to", &PullRequest::moved_to, "New address of a repository that moved; empty: it did not."},
        Field{"attempts", &PullRequest::attempts, "Failed attempts in a row."},
        Field{"next_try_at", &PullRequest::next_try_at, "Time of the next poll of the forge."},
        Field{"created_at", &PullRequest::created_at, "Time at which the branch was approved."},
        Field{"updated_at", &PullRequest::updated_at, "Time of the last change."},
        Field{"polled_at", &PullRequest::polled_at, "Time of the last poll of the forge."},
        Field{"merged_at", &PullRequest::merged_at, "Time of the merge."},
        Field{"ended_at", &PullRequest::ended_at, "Time at which it was merged, closed, cancelled or abandoned."},
    };
};

} // namespace hone::review
