// Clients for pull requests on forges: GitHub (also Enterprise Server), Gitea and Forgejo through one REST client with
// a base address, GitLab beside it. Plain git servers have none. A Client is made for one repository and a few calls,
// on one thread; it keeps no connection and no credential.
#pragma once

#include "base/fields.h"
#include "forge/git.h"
#include "net/client/client.h"

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
    std::string head_commit;
    bool open = false;
    bool merged = false;
    bool draft = false;
    std::optional<Time> merged_at;
    std::string etag;
};

// What people and machines say there.
struct ForgeOpinion {
    std::string checks; // passed, failed, running; empty: none
    std::string review; // approved, changes_requested; empty: nothing
};

// Something a person wrote there; hostile text.
struct ForgeComment {
    std::string id; // text order is time order
    std::string author;
    std::string path;
    std::optional<int64_t> line;
    std::string body;
};

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
    virtual Result<> update(int64_t number, const std::string& title, const std::string& body) = 0;
    // Labels and reviewers; the pull request stands without them.
    virtual Result<> decorate(int64_t number, const NewPullRequest& wanted) = 0;
    // Nothing: it is as it was when it had this etag.
    virtual Result<std::optional<ForgePullRequest>> get(int64_t number, const std::string& etag) = 0;
    virtual Result<ForgeOpinion> opinion(const ForgePullRequest& about) = 0;
    // Those after the one with this id; empty: all. About 100 at most; the lines of one review share its id.
    virtual Result<std::vector<ForgeComment>> comments(int64_t number, const std::string& after) = 0;
    virtual Result<ForgeIssue> create_issue(const std::string& title, const std::string& body,
                                            const std::vector<std::string>& labels) = 0;

    // When a call failed with Code::busy: how long the forge wants to be left alone.
    Duration retry_after() const { return m_retry_after; }

protected:
    Duration m_retry_after{};
};

struct ForgePlace {
    ForgeKind kind = ForgeKind::plain;
    std::string api;  // https://api.github.com, without a slash at the end
    std::string path; // owner/repository; groups too at GitLab
};

// Which forge a repository's address belongs to: by well-known names, else by a request to the host.
Result<ForgePlace> find_forge(ForgeHttp& http, const Remote& remote);
// Null for `plain`.
std::unique_ptr<Client> make_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place);

} // namespace hone::forge
