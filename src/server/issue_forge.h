// Opens issues on the forges of a space's repositories for people who ask for it from an issue of Signal. Stands
// between signal/, which knows the issue, and the review desk, which speaks to forges. Thread-safe.
#pragma once

#include "server/review_desk.h"
#include "signal/signal.h"

namespace hone::server {

class IssueForge final : public signal::ForgeDoor {
public:
    // `public_url`: links back begin with it; empty: there are none.
    IssueForge(Repositories& repositories, ReviewDesk& desk, std::string public_url)
        : m_repositories(repositories),
          m_desk(desk),
          m_public_url(std::move(public_url)) {}

    Result<std::string> open_issue(const access::Caller& caller, const signal::Issue& issue, const std::string& repo,
                                   const std::string& title, const std::string& body) override;

private:
    Repositories& m_repositories;
    ReviewDesk& m_desk;
    const std::string m_public_url;
};

} // namespace hone::server
