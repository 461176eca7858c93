// A pull request (merge request). Values, declared once; any thread.
#pragma once

#include "access/caller.h"
#include "base/fields.h"
#include "review/artifacts.h"

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
    failed,      // failed permanently; see `error`, `sync` retries
};
constexpr auto enum_names(PullRequestState) {
    using enum PullRequestState;
    return std::array{EnumName{queued, "queued"}, EnumName{pushed, "pushed"}, EnumName{open, "open"},
                      EnumName{merged, "merged"}, EnumName{closed, "closed"}, EnumName{only_pushed, "only_pushed"},
                      EnumName{failed, "failed"}};
}

struct PullRequest {
    PullRequestId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    ArtifactId artifact_id;
    std::string run_id;
    std::string repo_id;
    std::string repo_name;
    std::string fix_of;
    std::string forge;
    std::string branch;
    std::string target;
    int64_t revision = 0;
    PullRequestState state = PullRequestState::queued;
    std::optional<int64_t> number;
    std::string url;
    std::string title;
    bool draft = true;
    std::string head_commit;
    std::string checks;
    std::string forge_review;
    std::string error;
    int64_t attempts = 0;
    Time next_try_at{};
    Time created_at{};
    Time updated_at{};
    std::optional<Time> polled_at;
    std::optional<Time> merged_at;
    std::string etag;
    std::string told_until;
    static constexpr std::tuple fields{
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
        Field{"revision", &PullRequest::revision, "Revision that was approved."},
        Field{"state", &PullRequest::state, "State of the pull request."},
        Field{"number", &PullRequest::number, "Number on the forge."},
        Field{"url", &PullRequest::url, "Page on the forge."},
        Field{"title", &PullRequest::title, "Title."},
        Field{"draft", &PullRequest::draft, "It is a draft."},
        Field{"head_commit", &PullRequest::head_commit, "Newest commit on the forge."},
        Field{"checks", &PullRequest::checks, "State of the forge's checks: passed, failed, running; empty: none."},
        Field{"forge_review", &PullRequest::forge_review,
              "Review state on the forge: approved, changes_requested; empty: none."},
        Field{"error", &PullRequest::error, "The last error."},
        Field{"attempts", &PullRequest::attempts, "Failed attempts in a row."},
        Field{"next_try_at", &PullRequest::next_try_at, "Time of the next poll of the forge."},
        Field{"created_at", &PullRequest::created_at, "Time at which the branch was approved."},
        Field{"updated_at", &PullRequest::updated_at, "Time of the last change."},
        Field{"polled_at", &PullRequest::polled_at, "Time of the last poll of the forge."},
        Field{"merged_at", &PullRequest::merged_at, "Time of the merge."},
    };
};

} // namespace hone::review
