// A branch under review and its revisions: each push of the same branch is one. Plain values, declared once; any
// thread.
#pragma once

#include "access/caller.h"
#include "review/artifacts.h"
#include "review/flags.h"

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
    static constexpr std::tuple fields{
        Field{"exit_code", &VerificationRun::exit_code, "0 is green; null: it did not end by itself."},
        Field{"timed_out", &VerificationRun::timed_out, "It took longer than allowed."},
        Field{"duration_ms", &VerificationRun::duration_ms, "How long it took."},
        Field{"output", &VerificationRun::output, "The end of what it printed."},
    };
};

struct VerificationResult {
    std::string name;
    std::string command;
    std::optional<VerificationRun> base;
    std::optional<VerificationRun> branch;
    static constexpr std::tuple fields{
        Field{"name", &VerificationResult::name, "As the preset calls it."},
        Field{"command", &VerificationResult::command, "What was run."},
        Field{"base", &VerificationResult::base, "On the commit that the branch left from."},
        Field{"branch", &VerificationResult::branch, "On the branch."},
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
    static constexpr std::tuple fields{
        Field{"revision", &Revision::revision, "From 1; each push of the branch is one."},
        Field{"base_commit", &Revision::base_commit, "Where the branch left what was cloned."},
        Field{"head_commit", &Revision::head_commit, "Its newest commit."},
        Field{"state", &Revision::state, "Whether its diff is there."},
        Field{"error", &Revision::error, "Why it is not."},
        Field{"title", &Revision::title, "First line of the first commit's message."},
        Field{"commits", &Revision::commits, "Oldest first, at most 100."},
        Field{"files", &Revision::files, "Changed files."},
        Field{"additions", &Revision::additions, "Added lines."},
        Field{"deletions", &Revision::deletions, "Deleted lines."},
        Field{"flags", &Revision::flags, "What must not be overlooked, blocking ones first."},
        Field{"blocking_flags", &Revision::blocking_flags, "Flags that an approval must allow explicitly."},
        Field{"verification", &Revision::verification, "What came of the preset's commands."},
        Field{"verification_results", &Revision::verification_results, "Each command on the base and on the branch."},
        Field{"pushed_at", &Revision::pushed_at, "When the worker pushed it."},
        Field{"ready_at", &Revision::ready_at, "When its diff was there."},
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
    static constexpr std::tuple fields{
        Field{"artifact_id", &Branch::artifact_id, "Artifact that stands for it."},
        Field{"run_id", &Branch::run_id, "Run that pushed it."},
        Field{"repo_id", &Branch::repo_id, "Repository."},
        Field{"repo_name", &Branch::repo_name, "Its name."},
        Field{"branch", &Branch::branch, "Name of the branch."},
        Field{"revision", &Branch::revision, "Newest revision."},
        Field{"fix_of", &Branch::fix_of, "Issue that it is to fix; empty: none."},
        Field{"policy", &Branch::policy, "The preset's review policy."},
    };
};

} // namespace hone::review
