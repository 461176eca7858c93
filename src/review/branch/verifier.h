// Runs a preset's verification commands on the base and on the branch, each in a fresh sandbox that is made as the
// run's own was: the same layers, home and search path. Its network is that of setup: none, or the hosts that the
// preset allows for it. One thread (Duty).
#pragma once

#include "forge/setup/setup.h"
#include "review/branch/inspector.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

namespace hone::review {

class Verifier {
public:
    // `setup` may be null: nothing is installed for repositories.
    Verifier(Branches& branches, RunSource& runs, RepoSource& repos, sandbox::Provider& provider,
             const sandbox::Store& store, const forge::Setup* setup = nullptr)
        : m_branches(branches),
          m_runs(runs),
          m_repos(repos),
          m_provider(provider),
          m_store(store),
          m_setup(setup) {}

    // Takes the oldest revision that waits; false: none does.
    Result<bool> step();

private:
    Result<bool> verify_next();
    // One side of a verification: what to install, and where from.
    struct Side {
        std::string commit;       // that is checked out
        std::string setup_commit; // whose files setup uses
        std::string origin;       // forge::SetupWanted
        forge::SetupPlan plan;
    };
    struct Ran {
        std::optional<VerificationRun> setup; // none: there is nothing to install
        std::vector<VerificationRun> commands;
    };

    Result<std::vector<VerificationResult>> verify(const Branch& branch, const Revision& revision) const;
    forge::SetupWanted setup_of(const Branch& branch, const RunFacts& facts, const RepoPlace& place,
                                const std::string& commit) const;
    // Adds the layers of the init script and of setup.
    Result<std::optional<VerificationRun>> add_layers(const Side& side, const Branch& branch, const RunFacts& facts,
                                                      const RepoPlace& place, sandbox::SandboxSpec& spec) const;
    Result<Ran> run_on(const Side& side, const Branch& branch, const RunFacts& facts, const RepoPlace& place) const;

    Branches& m_branches;
    RunSource& m_runs;
    RepoSource& m_repos;
    sandbox::Provider& m_provider;
    const sandbox::Store& m_store;
    const forge::Setup* m_setup;
    bool m_has_failed = false; // the step before
};

} // namespace hone::review
