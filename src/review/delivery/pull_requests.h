// The rows of pull requests: the outbox that approvals write into, and what is known of each since. Delivery carries
// them out. Thread-safe.
#pragma once

#include "review/branch/revision.h"
#include "review/delivery/pull_request.h"

namespace hone::review {

struct PullRequestFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<std::string> repo{};    // id or name
    std::optional<std::string> run{};
    std::optional<std::string> fix_of{};
    std::optional<PullRequestState> state{};
};

class PullRequests {
public:
    PullRequests(sql::Database& database, const Clock& clock, access::Access& access)
        : m_database(database),
          m_clock(clock),
          m_access(access) {}

    // Newest first; as visible as their projects.
    Result<access::Page<PullRequest>> list(const access::Caller& caller, const access::SpaceId& space,
                                           const PullRequestFilter& filter, const access::PageRequest& page) const;
    Result<PullRequest> find(const access::Caller& caller, const PullRequestId& id,
                             access::Permission permission = access::Permission::run_read) const;
    // Without a permission check.
    Result<std::optional<PullRequest>> of_artifact(const ArtifactId& artifact) const;
    // Polls it immediately, also when it failed.
    Result<PullRequest> wake(const access::Caller& caller, const PullRequestId& id);

    // Within the transaction of the approval. Conflict: the issue has an open one already, or the repository has as
    // many as it may.
    static Result<> enqueue(sql::Transaction& transaction, const Clock& clock, const Artifact& artifact,
                            const Branch& branch, const Revision& revision);

    // The next one that is due, if any.
    Result<std::optional<PullRequest>> next_due() const;
    // Open ones of a repository are polled as soon as possible: that one, or with number 0 all.
    Result<> wake_open(const std::string& repo_id, int64_t number);
    // Everything that may have changed; the id and what it belongs to stay. An update that came in between (a later
    // approval) is not overwritten: then nothing is stored and false is returned.
    Result<bool> update(const PullRequest& changed, Time seen_updated_at);

private:
    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
};

// Pull requests for these issues that were merged or closed, in the order in which they changed.
Result<std::vector<PullRequest>> ended_fixes(sql::Database& database, std::span<const std::string> issues);

} // namespace hone::review
