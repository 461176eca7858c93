// What a worker gets before its harness starts: the repositories of its preset, registered when they are new, fetched
// when they are old, opened for its run. Thread-safe.
#pragma once

#include "forge/push/quarantine.h"

namespace hone::forge {

struct Wanted {
    access::SpaceId space;
    std::string run;
    std::string url;
    std::string ref;                 // branch, tag or commit; empty: the repository's own choice
    std::vector<std::string> skills; // of the run: one of them may have a credential for the forge
    std::function<bool()> stopped{}; // true: the caller no longer waits
};

struct Supplied {
    Repo repo;
    RunRepo checkout;
    std::vector<GitMount> mounts; // where a sandbox finds its objects, and the path there
    std::string directory;
    std::string warning; // what the worker's transcript should say; empty: nothing
};

// A branch of an agent that works elsewhere: a git bundle, or a patch when there is none.
struct Offer {
    std::string bundle{};
    Patch patch{};
};

class Supply {
public:
    Supply(Repos& repos, Mirrors& mirrors, Quarantine& quarantine, const skill::Skills& skills)
        : m_repos(repos),
          m_mirrors(mirrors),
          m_quarantine(quarantine),
          m_skills(skills) {}

    // A fetch that fails is only a warning when an earlier one brought something.
    Result<Supplied> supply(const Wanted& wanted);

    // Takes the offer as a push of the run. Opens the repository for the run at its first one; the mirror is fetched
    // when it is old, since the agent cloned from the forge. Returns what the agent should know.
    Result<std::string> receive(const Wanted& wanted, const Offer& offer);

private:
    std::optional<std::string> skill_for(const Wanted& wanted) const;

    Repos& m_repos;
    Mirrors& m_mirrors;
    Quarantine& m_quarantine;
    const skill::Skills& m_skills;
};

} // namespace hone::forge
