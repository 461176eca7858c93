// What comes after an approval: the branch goes to its repository with the credential of the repository's skill, a
// pull request is opened, and its state is followed until it is over. Every step can be repeated after a crash without
// doing anything twice: a push of what is there changes nothing, and an open pull request of the same branch is taken
// over instead of opening another. What people do on the forge is theirs: their commits, their description and their
// decisions are never overwritten.
// Forges are independent: `step` serves each host by one thread at a time, waits longer for a host that fails, and
// takes approved branches before polls. Several threads call `step` (Duty).
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

enum class CheckResult { passed, failed, skipped };
constexpr auto enum_names(CheckResult) {
    return std::array{EnumName{CheckResult::passed, "passed"}, EnumName{CheckResult::failed, "failed"},
                      EnumName{CheckResult::skipped, "skipped"}};
}

// One thing that the credential of a repository is needed for.
struct RepoCheck {
    std::string name;
    CheckResult result = CheckResult::skipped;
    std::string message;
    static constexpr Pack fields{
        Field{"name", &RepoCheck::name,
              "read, forge, repository, push, pull_requests, labels, comments, checks or webhook."},
        Field{"result", &RepoCheck::result, "passed, failed or skipped."},
        Field{"message", &RepoCheck::message, "What was found, and what to do."},
    };
};

class Delivery {
public:
    explicit Delivery(const DeliveryParts& parts) : m_parts(parts), m_finder(parts.http) {}

    // Takes the next pull request that is due one step further; false: none is, or their hosts are being served.
    Result<bool> step();
    // For an issue: opens one on the forge of a repository that the run has.
    Result<forge::ForgeIssue> open_issue(const forge::Remote& remote, const std::string& title, const std::string& body,
                                         const std::vector<std::string>& labels);
    // Tries what the credential of a repository is needed for, without changing anything on the forge.
    Result<std::vector<RepoCheck>> check(const forge::Remote& remote);
    // What people wrote on the forge, read now; about 100 at most.
    Result<std::vector<forge::ForgeComment>> comments(const PullRequest& one);
    // What a check of the forge printed, read now.
    Result<CheckLog> check_log(const PullRequest& one, const PullRequestCheck& check);
    // Which forge an address belongs to, and why git fails with it.
    forge::ForgeFinder& finder() { return m_finder; }

private:
    // One attempt to take a pull request further, and what it found.
    struct Attempt {
        Duration retry_after{};
        forge::Diagnosis diagnosis{};
        std::vector<NewPullRequestEvent> events{};
        bool over = false;      // was merged or closed while it was open here
        bool successor = false; // what was approved is not in it
        bool host_failed = false;
    };
    struct Place {
        Branch branch;
        RepoPlace repo;
        forge::Remote remote;
    };

    Result<std::optional<PullRequest>> take();
    Result<std::string> host_of(const PullRequest& one);
    void release(const std::string& host, bool failed);
    Result<> record(PullRequest one, Time seen, const Result<>& carried, Attempt& attempt);

    Result<> carry(PullRequest& one, Attempt& attempt);
    Result<> try_git(const forge::Remote& remote, bool writes);
    Result<Place> place_of(const PullRequest& one, Attempt& attempt);
    Result<std::unique_ptr<forge::Client>> client_of(PullRequest& one, const Place& place, Attempt& attempt);
    Result<> push(PullRequest& one, Attempt& attempt);
    Result<> explain_push(const Place& place, const forge::GitOutput& output, Attempt& attempt);
    Result<> open(PullRequest& one, Attempt& attempt);
    Result<> open_at(PullRequest& one, const Place& place, forge::Client& client, Attempt& attempt);
    Result<> update(PullRequest& one, Attempt& attempt);
    Result<> update_body(PullRequest& one, const Branch& branch, forge::Client& client,
                         const forge::ForgePullRequest& there);
    Result<> follow(PullRequest& one, Attempt& attempt);
    Result<> notice_changes(PullRequest& one, const forge::ForgePullRequest& seen, forge::Client& client,
                            Attempt& attempt);
    Result<> notice_commits(PullRequest& one, const forge::ForgePullRequest& seen, forge::Client& client,
                            Attempt& attempt);
    void take_state(PullRequest& one, const forge::ForgePullRequest& seen, Attempt& attempt) const;
    static void take_checks(PullRequest& one, const std::vector<forge::ForgeCheck>& checks, Attempt& attempt);
    Result<> send_comments(PullRequest& one, const Branch& branch, forge::Client& client);
    Result<std::string> body_of(const PullRequest& one, const Branch& branch);
    Result<std::vector<std::string>> approvers(const PullRequest& one) const;
    Result<std::vector<std::string>> own_commits(const PullRequest& one) const;
    Result<> take_local(const std::string& brought, const RepoPlace& place, const std::string& branch,
                        const std::string& head) const;

    // How long a host that failed is left alone.
    struct Rest {
        int64_t failures = 0;
        Time until{};
    };

    const DeliveryParts m_parts;
    forge::ForgeFinder m_finder;
    Mutex m_mutex;
    std::set<std::string> m_busy GUARDED_BY(m_mutex); // hosts
    std::map<std::string, Rest> m_resting GUARDED_BY(m_mutex);
};

} // namespace hone::review
