#include "server/adapters/issue_forge.h"

#include "base/text.h"

namespace hone::server {

Result<std::string> IssueForge::open_issue(const access::Caller& caller, const signal::Issue& issue,
                                           const std::string& repo, const std::string& title, const std::string& body) {
    review::Delivery* const delivery = m_delivery();
    if (delivery == nullptr) return unavailable("this server cannot reach a forge");
    TRY(caller.require(access::Permission::repo_read, issue.space_id));
    const bool is_address = repo.find("://") != std::string::npos;
    const forge::Repo found = is_address
                                  ? TRY(m_repos.find_or_create(issue.space_id, repo, std::nullopt, caller.name))
                                  : TRY(m_repos.find(caller, issue.space_id, repo, access::Permission::repo_read));
    forge::Remote remote;
    remote.space = found.space_id;
    remote.url = found.url;
    remote.skill_id = found.skill_id.value_or("");
    remote.allow_private = found.allow_private;
    remote.purpose = issue.id.text();
    std::string text = body;
    if (std::string home = m_public_url; !home.empty()) {
        while (home.ends_with('/')) home.pop_back();
        text += "\n\n" + home + "/s/" + percent_encode(issue.space_id.text()) + "/projects/" + issue.project_id.text() +
                "/signal/" + issue.id.text();
    }
    return TRY(delivery->open_issue(remote, title, text, {})).url;
}

} // namespace hone::server
