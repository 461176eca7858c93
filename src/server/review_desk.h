// Everything about reviews that needs more than the database: looking into pushed branches, verifying them, pushing
// what was approved, speaking to forges. Stands between review/ and forge/, broker/, skill/, which do not know each
// other. Its threads live from `start` to the end of the object.
#pragma once

#include "api/review_services.h"
#include "base/duty.h"
#include "broker/wire/dial.h"
#include "net/http/url.h"
#include "review/delivery.h"
#include "review/verifier.h"
#include "server/repositories.h"

namespace hone::server {

struct ReviewDeskParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    api::RunServices& runs;
    skill::Skills& skills;
    secret::Vault& vault;
    Repositories& repositories;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate; branches cannot be looked into
    std::string data_directory = {};
    std::string extra_ca_file = {};
    std::string public_url = {}; // links in pull requests begin with it; empty: there are none
};

class ReviewDesk final : private review::RepoSource, private review::StorySource, private forge::ForgeHttp {
public:
    explicit ReviewDesk(const ReviewDeskParts& parts);
    ~ReviewDesk() override;

    api::ReviewServices& services() { return m_services; }
    // Once the repositories are connected.
    Result<> start();
    // Null before `start` and where nothing can be isolated.
    review::Delivery* delivery() { return m_delivery ? &*m_delivery : nullptr; }

private:
    // review::RepoSource
    Result<review::RepoPlace> place(const std::string& run, const std::string& repo) override;
    // review::StorySource
    Result<review::Story> story(const review::PullRequest& about) override;
    void ended(const review::PullRequest& about) override;
    // forge::ForgeHttp
    Result<net::ClientResponse> send(const forge::Remote& remote, net::ClientRequest request) override;
    Result<> authorize(const forge::Remote& remote, const net::Url& url, net::ClientRequest& request);

    const ReviewDeskParts m_parts;
    api::ReviewServices m_services;
    const std::unique_ptr<broker::Resolver> m_resolver;
    const broker::AddressCheck m_check;
    net::HttpClient m_http;
    std::optional<sandbox::Store> m_store;
    std::optional<review::Inspector> m_inspector;
    std::optional<review::Verifier> m_verifier;
    std::optional<review::Delivery> m_delivery;
    // Last: their threads use what stands above.
    std::optional<Duty> m_inspecting;
    std::optional<Duty> m_verifying;
    std::optional<Duty> m_delivering;
};

} // namespace hone::server
