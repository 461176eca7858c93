// What comes after an approval: the branch goes to its repository with the credential of the repository's skill, a
// pull request is opened, and its state is followed until it is over. Every step can be repeated after a crash without
// doing anything twice: a push of what is there changes nothing, and an open pull request of the same branch is taken
// over instead of opening another. One thread carries it out (Duty).
#pragma once

#include "forge/clients/forge.h"
#include "review/branch/inspector.h"
#include "review/delivery/pull_request_body.h"
#include "review/delivery/pull_requests.h"

namespace hone::review {

// What the server adds to a pull request.
class PullRequestContextSource {
public:
    virtual ~PullRequestContextSource() = default;
    virtual Result<PullRequestContext> context(const PullRequest& about) = 0;
    // It was merged or closed on the forge: the issue is watched from now on.
    virtual void ended(const PullRequest& about) = 0;
};

struct DeliveryParts {
    sql::Database& database;
    const Clock& clock;
    Artifacts& artifacts;
    Branches& branches;
    PullRequests& pull_requests;
    RunSource& runs;
    RepoSource& repos;
    const forge::Git& git;
    forge::ForgeHttp& http;
    PullRequestContextSource& contexts;
    std::string directory; // for short-lived files
};

class Delivery {
public:
    explicit Delivery(const DeliveryParts& parts) : m_parts(parts) {}

    // Takes the next pull request that is due one step further; false: none is.
    Result<bool> step();
    // For an issue: opens one on the forge of a repository that the run has.
    Result<forge::ForgeIssue> open_issue(const forge::Remote& remote, const std::string& title, const std::string& body,
                                         const std::vector<std::string>& labels);

private:
    Result<> carry(PullRequest& one, Duration& retry_after);
    Result<> push(PullRequest& one);
    Result<> open(PullRequest& one, Duration& retry_after);
    Result<> follow(PullRequest& one, Duration& retry_after);
    Result<> send_comments(PullRequest& one, forge::Client& client);
    Result<std::vector<std::string>> approvers(const PullRequest& one) const;
    Result<> take_local(const std::string& brought, const RepoPlace& place, const std::string& branch,
                        const std::string& head) const;

    const DeliveryParts m_parts;
};

} // namespace hone::review
