// A branch under review and its revisions: each push of the same branch is one. Plain values, declared once; any
// thread.
#pragma once

#include "access/caller.h"
#include "review/artifacts.h"
#include "review/branch/flags.h"

namespace hone::review {

// pending: the diff is being made; failed: it could not be made, see the error.
enum class RevisionState { pending, ready, failed };
constexpr auto enum_names(RevisionState) {
    return std::array{EnumName{RevisionState::pending, "pending"}, EnumName{RevisionState::ready, "ready"},
                      EnumName{RevisionState::failed, "failed"}};
}

// green: every command is well on the branch; red: one is not; failed: they could not be run.
enum class VerificationState { none, pending, running, green, red, failed };
constexpr auto enum_names(VerificationState) {
    return std::array{EnumName{VerificationState::none, "none"},       EnumName{VerificationState::pending, "pending"},
                      EnumName{VerificationState::running, "running"}, EnumName{VerificationState::green, "green"},
                      EnumName{VerificationState::red, "red"},         EnumName{VerificationState::failed, "failed"}};
}

// One command on one commit.
struct VerificationRun {
    std::optional<int64_t> exit_code;
    bool timed_out = false;
    int64_t duration_ms = 0;
    std::string output;
    static constexpr Pack fields{
        Field{"exit_code", &VerificationRun::exit_code, "0: passed; null: it did not exit by itself."},
        Field{"timed_out", &VerificationRun::timed_out, "It exceeded its time limit."},
        Field{"duration_ms", &VerificationRun::duration_ms, "Duration in milliseconds."},
        Field{"output", &VerificationRun::output, "End of its output."},
    };
};

struct VerificationResult {
    std::string name;
    std::string command;
    std::optional<VerificationRun> base;
    std::optional<VerificationRun> branch;
    static constexpr Pack fields{
        Field{"name", &VerificationResult::name, "Name in the preset."},
        Field{"command", &VerificationResult::command, "The command."},
        Field{"base", &VerificationResult::base, "Result on the base commit of the branch."},
        Field{"branch", &VerificationResult::branch, "Result on the branch."},
    };
};

struct Revision {
    int64_t revision = 1;
    std::string base_commit;
    std::string head_commit;
    RevisionState state = RevisionState::pending;
    std::string error;
    std::string title;
    std::vector<Commit> commits;
    int64_t files = 0;
    int64_t additions = 0;
    int64_t deletions = 0;
    std::vector<Flag> flags;
    int64_t blocking_flags = 0;
    VerificationState verification = VerificationState::none;
    std::vector<VerificationResult> verification_results;
    Time pushed_at{};
    std::optional<Time> ready_at;
    std::string diff_digest;  // content of artifacts
    std::string patch_digest; // the same; empty: too large
    static constexpr Pack fields{
        Field{"revision", &Revision::revision, "Number, from 1; each push of the branch creates one."},
        Field{"base_commit", &Revision::base_commit, "Commit that the branch starts from."},
        Field{"head_commit", &Revision::head_commit, "Newest commit."},
        Field{"state", &Revision::state, "State of its diff."},
        Field{"error", &Revision::error, "Why it has no diff."},
        Field{"title", &Revision::title, "First line of the first commit's message."},
        Field{"commits", &Revision::commits, "Commits, oldest first, at most 100."},
        Field{"files", &Revision::files, "Number of changed files."},
        Field{"additions", &Revision::additions, "Added lines."},
        Field{"deletions", &Revision::deletions, "Deleted lines."},
        Field{"flags", &Revision::flags, "Flags, blocking ones first."},
        Field{"blocking_flags", &Revision::blocking_flags, "Flags that an approval must allow explicitly."},
        Field{"verification", &Revision::verification, "Result of the verification."},
        Field{"verification_results", &Revision::verification_results,
              "Results of each command on the base and on the branch."},
        Field{"pushed_at", &Revision::pushed_at, "Time of the push."},
        Field{"ready_at", &Revision::ready_at, "Time at which the diff was ready."},
    };
};

struct Branch {
    ArtifactId artifact_id;
    std::string run_id;
    std::string repo_id;
    std::string repo_name;
    std::string branch;
    int64_t revision = 1; // the newest
    std::string starter;  // principal who started the run
    std::string fix_of;
    ReviewPolicy policy;
    static constexpr Pack fields{
        Field{"artifact_id", &Branch::artifact_id, "Artifact of the branch."},
        Field{"run_id", &Branch::run_id, "Run that pushed it."},
        Field{"repo_id", &Branch::repo_id, "Id of the repository."},
        Field{"repo_name", &Branch::repo_name, "Name of the repository."},
        Field{"branch", &Branch::branch, "Name of the branch."},
        Field{"revision", &Branch::revision, "Newest revision."},
        Field{"fix_of", &Branch::fix_of, "Issue that it fixes; empty: none."},
        Field{"policy", &Branch::policy, "The preset's review policy."},
    };
};

} // namespace hone::review
