// What review/ needs of repositories and issues, for which review/ has interfaces. Thread-safe.
#pragma once

#include "forge/push/quarantine.h"
#include "review/artifacts.h"
#include "review/branch/inspector.h"
#include "review/delivery/delivery.h"

namespace hone::server {

// Where a run's copy of a repository is.
class QuarantineRepos final : public review::RepoSource {
public:
    QuarantineRepos(const forge::Repos& repos, forge::Quarantine& quarantine)
        : m_repos(repos),
          m_quarantine(quarantine) {}

    Result<review::RepoPlace> place(const std::string& run, const std::string& repo) override;

private:
    const forge::Repos& m_repos;
    forge::Quarantine& m_quarantine;
};

// What a pull request states about its cause: the issue and its investigation; else what the run itself wrote about it.
class IssueContexts final : public review::PullRequestContextSource {
public:
    // `public_url`: links in pull requests begin with it; empty: there are none.
    IssueContexts(sql::Database& database, const review::Artifacts& artifacts, review::RunSource& runs,
                  const std::string& public_url);

    Result<review::PullRequestContext> context(const review::PullRequest& about) override;
    void ended(const review::PullRequest& about) override;

private:
    sql::Database& m_database;
    const review::Artifacts& m_artifacts;
    review::RunSource& m_runs;
    std::string m_public_url; // without a slash at its end
};

} // namespace hone::server
