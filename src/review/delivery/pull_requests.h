// The rows of pull requests: the outbox that approvals write into, what is known of each since, and what happened to
// it. Delivery carries them out. One row per pull request: merged, closed, cancelled and abandoned ones are history;
// the next approval of the branch gets a row of its own. A closed one that a person reopens is open again. Thread-safe.
#pragma once

#include "review/branch/revision.h"
#include "review/delivery/pull_request.h"

#include <set>

namespace hone::review {

struct PullRequestFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<std::string> repo{};    // id or name
    std::optional<std::string> run{};
    std::optional<std::string> fix_of{};
    std::optional<PullRequestState> state{};
};

// An event that is to be stored; its id and time are given then.
struct NewPullRequestEvent {
    PullRequestEventKind kind = PullRequestEventKind::approved;
    std::string message{};
};

class PullRequests {
public:
    PullRequests(sql::Database& database, const Clock& clock, access::Access& access)
        : m_database(database),
          m_clock(clock),
          m_access(access) {}
    // Several servers: the name of this one. Once, before pull requests are delivered.
    void set_server(std::string server) { m_server = std::move(server); }

    // Newest first; as visible as their projects.
    Result<access::Page<PullRequest>> list(const access::Caller& caller, const access::SpaceId& space,
                                           const PullRequestFilter& filter, const access::PageRequest& page) const;
    Result<PullRequest> find(const access::Caller& caller, const PullRequestId& id,
                             access::Permission permission = access::Permission::run_read) const;
    // Oldest first.
    Result<access::Page<PullRequestEvent>> events(const access::Caller& caller, const PullRequestId& id,
                                                  const access::PageRequest& page) const;
    // The newest one of a branch. Without a permission check.
    Result<std::optional<PullRequest>> of_artifact(const ArtifactId& artifact) const;
    Result<std::vector<PullRequest>> all_of_artifact(const ArtifactId& artifact) const; // oldest first
    // Polls it immediately, also when it failed or is closed.
    Result<PullRequest> wake(const access::Caller& caller, const PullRequestId& id);
    // Withdraws what was approved and not delivered: a pull request that is not open yet, or the update of an open one.
    // The branch waits for a review again. Conflict: there is nothing to withdraw.
    Result<PullRequest> cancel(const access::Caller& caller, const PullRequestId& id);
    // No longer follows one that is not over: its repository was deleted, or it will not be merged. Nothing changes on
    // the forge.
    Result<PullRequest> abandon(const access::Caller& caller, const PullRequestId& id);

    // Within the transaction of the approval. Conflict: the issue has an open one already, or the repository has as
    // many as it may.
    static Result<> enqueue(sql::Transaction& transaction, const Clock& clock, const Artifact& artifact,
                            const Branch& branch, const Revision& revision);

    // The next one that is due on a host that is not in `without`: what people approved before what is polled. One that
    // is to be pushed is due on the server that has its commits.
    Result<std::optional<PullRequest>> next_due(const std::set<std::string>& without) const;
    // Of several servers that found the same one due, one carries it; false: another one does. It is due again after
    // two minutes, unless an update sets another time: the server may be killed.
    Result<bool> claim(const PullRequest& due);
    Result<> set_host(const std::string& repo_id, const std::string& host);
    // Those of a repository are polled as soon as possible: that one, or with number 0 all open ones.
    Result<> wake_open(const std::string& repo_id, int64_t number);
    // How many of a repository are not over.
    Result<std::vector<PullRequest>> unfinished_of_repo(const std::string& repo_id) const;
    // The repository has another address now: what is not over is read there, and what failed because of it is retried.
    Result<> repo_moved(const std::string& repo_id);
    // The repository is removed: its pull requests are no longer followed.
    Result<> abandon_repo(const access::Caller& caller, const std::string& repo_id);
    // Everything that may have changed; the id and what it belongs to stay. An update that came in between (a later
    // approval, a cancellation) is not overwritten: then nothing is stored and false is returned. `successor`: what was
    // approved and is not in this pull request, which is over, gets a new row.
    Result<bool> update(const PullRequest& changed, Time seen_updated_at,
                        const std::vector<NewPullRequestEvent>& events = {}, bool successor = false);
    Result<> add_event(const PullRequestId& id, const NewPullRequestEvent& event);

private:
    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    std::string m_server; // empty: there is no other
};

// Pull requests for these issues that were merged or closed, in the order in which they changed.
Result<std::vector<PullRequest>> ended_fixes(sql::Database& database, std::span<const std::string> issues);

// What happened to pull requests since a time, oldest first: for notices.
struct PullRequestNews {
    PullRequest pull_request;
    PullRequestEvent event;
};
Result<std::vector<PullRequestNews>> pull_request_news(sql::Database& database, Time since, int64_t limit);

} // namespace hone::review
