// Runs a preset's verification commands on the base and on the branch, each in a fresh sandbox without network that is
// made as the run's own was. One thread (Duty).
#pragma once

#include "review/branch/inspector.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

namespace hone::review {

class Verifier {
public:
    Verifier(Branches& branches, RunSource& runs, RepoSource& repos, sandbox::Provider& provider,
             const sandbox::Store& store)
        : m_branches(branches),
          m_runs(runs),
          m_repos(repos),
          m_provider(provider),
          m_store(store) {}

    // Takes the oldest revision that waits; false: none does.
    Result<bool> step();

private:
    // One result per command.
    Result<std::vector<VerificationRun>> run_on(const std::string& commit, const RunFacts& facts,
                                                const RepoPlace& place) const;

    Branches& m_branches;
    RunSource& m_runs;
    RepoSource& m_repos;
    sandbox::Provider& m_provider;
    const sandbox::Store& m_store;
};

} // namespace hone::review
