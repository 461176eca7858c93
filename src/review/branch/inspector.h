// Inspects pushed branches: commits, diff and patch, made by git in a sandbox from the run's quarantine. Used by the
// background duty for each revision, and by requests that compare two revisions. Thread-safe.
#pragma once

#include "forge/git.h"
#include "review/branch/branches.h"

namespace hone::review {

// Where a branch lies and where it would go. The server implements it over forge/.
struct RepoPlace {
    access::SpaceId space;
    std::string url;
    std::string default_branch; // "main"
    std::string skill_id;       // whose credential pushes; empty: none
    bool allow_private = false;
    // The run's quarantine with everything it needs, and its path inside the sandbox.
    std::vector<forge::GitMount> mounts;
    std::string directory;
    // Of a repository of this server: where it lies on the host; empty: it is on a forge.
    std::string local_path;
};
class RepoSource {
public:
    virtual ~RepoSource() = default;
    virtual Result<RepoPlace> place(const std::string& run, const std::string& repo) = 0;
};

class Inspector {
public:
    // `directory`: for short-lived files.
    Inspector(Branches& branches, RepoSource& repos, const forge::Git& git, const Clock& clock, std::string directory)
        : m_branches(branches),
          m_repos(repos),
          m_git(git),
          m_clock(clock),
          m_directory(std::move(directory)) {}

    // Takes the oldest revision that waits; false: none does.
    Result<bool> step();
    // What changed from one revision to another: what a reviewer who saw the first has not seen.
    Result<Diff> interdiff(const ArtifactId& artifact, int64_t from, int64_t to) const;

private:
    Result<Inspected> inspect(const Branch& branch, const Revision& revision) const;

    Branches& m_branches;
    RepoSource& m_repos;
    const forge::Git& m_git;
    const Clock& m_clock;
    const std::string m_directory;
};

// Commits as `git log -z --format=%H%x1f%an <%ae>%x1f%B` prints them, newest first; at most `most`, oldest first.
std::vector<Commit> parse_commits(std::string_view text, size_t most);

} // namespace hone::review
