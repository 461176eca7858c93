// signal::ForgeIssues over repositories and delivery: opens an issue on the forge of a space's repository for a person
// who requests it from an issue of Signal. Thread-safe.
#pragma once

#include "forge/repos.h"
#include "review/delivery/delivery.h"
#include "signal/signal.h"

#include <functional>

namespace hone::server {

class IssueForge final : public signal::ForgeIssues {
public:
    // `delivery`: null while this server cannot reach forges. `public_url`: links back begin with it; empty: none.
    IssueForge(forge::Repos& repos, std::function<review::Delivery*()> delivery, std::string public_url)
        : m_repos(repos),
          m_delivery(std::move(delivery)),
          m_public_url(std::move(public_url)) {}

    Result<std::string> open_issue(const access::Caller& caller, const signal::Issue& issue, const std::string& repo,
                                   const std::string& title, const std::string& body) override;

private:
    forge::Repos& m_repos;
    const std::function<review::Delivery*()> m_delivery;
    const std::string m_public_url;
};

} // namespace hone::server
