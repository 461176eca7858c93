// Clients for pull requests on forges: GitHub (also Enterprise Server), Gitea and Forgejo through one REST client with
// a base address, GitLab beside it. Plain git servers have none. A Client is made for one repository and a few calls,
// on one thread; it keeps no connection and no credential.
#pragma once

#include "base/fields.h"
#include "base/mutex.h"
#include "forge/cause.h"
#include "forge/git.h"
#include "net/client/client.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hone::forge {

enum class ForgeKind { plain, github, gitea, gitlab };
constexpr auto enum_names(ForgeKind) {
    return std::array{EnumName{ForgeKind::plain, "plain"}, EnumName{ForgeKind::github, "github"},
                      EnumName{ForgeKind::gitea, "gitea"}, EnumName{ForgeKind::gitlab, "gitlab"}};
}

// Sends requests to a forge on behalf of a space. The server implements it: it finds the credential of
// `remote.skill_id` for the address, puts it in, records that it was used, and connects only to addresses that are
// allowed.
class ForgeHttp {
public:
    virtual ~ForgeHttp() = default;
    virtual Result<net::ClientResponse> send(const Remote& remote, net::ClientRequest request) = 0;
};

struct NewPullRequest {
    std::string title;
    std::string body;
    std::string head; // branch
    std::string base; // branch
    bool draft = true;
    std::vector<std::string> labels;
    std::vector<std::string> reviewers;
};

// State of a pull request on the forge.
struct ForgePullRequest {
    int64_t number = 0;
    std::string url;
    std::string title;
    std::string body;
    std::string base; // branch
    std::string head_commit;
    std::string author;
    std::string mergeable; // yes, conflicts; empty: the forge does not know
    bool open = false;
    bool merged = false;
    bool draft = false;
    std::optional<Time> merged_at;
    std::string etag;
};

// One check of continuous integration: a check run, a job of a pipeline, a commit status. Hostile text.
struct ForgeCheck {
    std::string id; // of the job whose log the forge has; empty: it has none
    std::string name;
    std::string result;  // passed, failed, running, skipped
    std::string summary; // one line
    std::string url;
};
// failed, running, passed; empty: there are no checks.
std::string result_of(const std::vector<ForgeCheck>& checks);

// What people and machines say there.
struct ForgeOpinion {
    std::vector<ForgeCheck> checks; // of the newest commit; about 100 at most
    std::string review;             // approved, changes_requested; empty: nothing
};

// Something a person wrote there; hostile text.
struct ForgeComment {
    std::string id; // text order is time order
    std::string author;
    std::string path;
    std::optional<int64_t> line;
    std::string body;
    bool automatic = false;    // of a bot, as far as the forge marks them
    int64_t author_id = 0;     // at GitLab
    std::string association{}; // of the author with the repository, at GitHub
};

// A commit of a pull request.
struct ForgeCommit {
    std::string id;
    std::string author;
    std::string title;
};

// The repository, as the forge describes it to the credential of the skill.
struct ForgeRepository {
    std::string path; // owner/repository
    std::string url;  // address to clone it from
    std::string default_branch;
    bool archived = false;
    bool empty = false;
    bool can_push = false;
    bool moved = false; // the forge has it at another path than the one that was requested
};

// What a token is needed for beside git.
enum class ForgeScope { pull_requests, labels, comments, checks };
constexpr auto enum_names(ForgeScope) {
    return std::array{EnumName{ForgeScope::pull_requests, "pull_requests"}, EnumName{ForgeScope::labels, "labels"},
                      EnumName{ForgeScope::comments, "comments"}, EnumName{ForgeScope::checks, "checks"}};
}

struct ForgeIssue {
    int64_t number = 0;
    std::string url;
};

class Client {
public:
    virtual ~Client() = default;
    // Open ones only; nothing when there is none.
    virtual Result<std::optional<ForgePullRequest>> find(const std::string& head) = 0;
    // Conflict: there is one already.
    virtual Result<ForgePullRequest> create(const NewPullRequest& wanted) = 0;
    virtual Result<> update(int64_t number, const std::string& body) = 0;
    // Labels and reviewers, each also when the other fails; the pull request stands without them. Returns what is
    // missing: labels that the forge does not have.
    virtual Result<std::vector<std::string>> decorate(int64_t number, const NewPullRequest& wanted) = 0;
    // Nothing: it is as it was when it had this etag.
    virtual Result<std::optional<ForgePullRequest>> get(int64_t number, const std::string& etag) = 0;
    virtual Result<ForgeOpinion> opinion(const ForgePullRequest& about) = 0;
    // What the check with an id printed when it ran on this commit. not_found: the forge has no log of it. too_large:
    // it has more than 16 MiB.
    virtual Result<std::string> check_log(const ForgeCheck& check, const std::string& commit) = 0;
    // Those after the one with this id; empty: all. About 100 at most; the lines of one review share its id.
    virtual Result<std::vector<ForgeComment>> comments(int64_t number, const std::string& after) = 0;
    // Oldest first; about 250 at most.
    virtual Result<std::vector<ForgeCommit>> commits(int64_t number) = 0;
    // Follows one redirect of a repository that moved on the same host.
    virtual Result<ForgeRepository> repository() = 0;
    // The name of the credential's own account; empty: the token may not read it.
    virtual Result<std::string> account() = 0;
    // Whether the author of a comment can write to the repository.
    virtual Result<bool> can_write(const ForgeComment& comment) = 0;
    // Tries something that the token needs a scope for: reads one page, and changes what does not exist (number 0), so
    // that nothing changes. `branch` is one that the repository has.
    virtual Result<> try_scope(ForgeScope scope, const std::string& branch) = 0;
    virtual Result<ForgeIssue> create_issue(const std::string& title, const std::string& body,
                                            const std::vector<std::string>& labels) = 0;

    // When a call failed with Code::busy: how long the forge wants to be left alone.
    Duration retry_after() const { return m_retry_after; }
    // Why the last call that failed did.
    const Diagnosis& diagnosis() const { return m_diagnosis; }
    // A GET was redirected on the same host, and followed: the repository has another address.
    bool was_redirected() const { return m_redirected; }

protected:
    Duration m_retry_after{};
    Diagnosis m_diagnosis;
    bool m_redirected = false;
};

struct ForgePlace {
    ForgeKind kind = ForgeKind::plain;
    std::string api;  // https://api.github.com, without a slash at the end
    std::string path; // owner/repository; groups too at GitLab
};

// Which forge a repository's address belongs to: by well-known names, else by requests to the host, also below the
// first parts of the path.
Result<ForgePlace> find_forge(ForgeHttp& http, const Remote& remote);

// The same, remembered for each address, so that a forge is recognised once. Thread-safe.
class ForgeFinder {
public:
    explicit ForgeFinder(ForgeHttp& http) : m_http(http) {}
    Result<ForgePlace> find(const Remote& remote);
    void forget(const std::string& url);

private:
    ForgeHttp& m_http;
    Mutex m_mutex;
    std::map<std::string, ForgePlace> m_places GUARDED_BY(m_mutex);
};

// Reads from the forge why git failed: the repository as the credential sees it, or why there is no response.
Diagnosis diagnose(ForgeHttp& http, ForgeFinder& finder, const Remote& remote, const Diagnosis& known);
// Null for `plain`.
std::unique_ptr<Client> make_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place);

} // namespace hone::forge
