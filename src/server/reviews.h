// Reviews as the server runs them: inspects pushed branches, verifies them, delivers approved ones to forges. Built in
// order; its threads live from `start` to the end of the object.
#pragma once

#include "base/duty.h"
#include "review/branch/verifier.h"
#include "review/delivery/delivery.h"
#include "run/outputs/outputs.h"
#include "server/adapters/forge_http.h"
#include "server/adapters/review_sources.h"
#include "server/repositories.h"

namespace hone::server {

struct ReviewParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    run::RunServices& runs;
    skill::Skills& skills;
    secret::Vault& vault;
    Repositories& repositories;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate; branches cannot be inspected
    std::string data_directory = {};
    std::string extra_ca_file = {};
    std::string public_url = {};       // links in pull requests begin with it; empty: there are none
    telemetry::Spans* spans = nullptr; // where approved labels go
    std::string upstream_proxy = {};   // egress_proxy
    std::string without_proxy = {};    // egress_no_proxy
    // Several servers: the name of this one, and the others that are not lost. Empty: there is no other.
    std::string server = {};
    review::Branches::OtherServers others = {};
};

class ReviewDuties {
public:
    explicit ReviewDuties(const ReviewParts& parts);
    ~ReviewDuties();

    run::ReviewServices& services() { return m_services; }
    // Once the repositories are connected.
    Result<> start();
    // Null before `start` and where nothing can be isolated.
    review::Delivery* delivery() { return m_delivery ? &*m_delivery : nullptr; }

private:
    void make_duties();
    // The commits that people pushed to a pull request's branch, for the worker of the run.
    Result<> bring_commits(const review::PullRequest& one);

    const ReviewParts m_parts;
    run::LabelPublisher m_label_publisher;
    run::ReviewServices m_services;
    SkillForgeHttp m_http;
    IssueContexts m_contexts;
    std::optional<sandbox::Store> m_store;
    std::optional<QuarantineRepos> m_repos;
    std::optional<review::Inspector> m_inspector;
    std::optional<forge::Setup> m_setup;
    std::optional<review::Verifier> m_verifier;
    std::optional<review::Delivery> m_delivery;
    // Last: their threads use what stands above.
    std::optional<Duty> m_inspecting;
    std::optional<Duty> m_verifying;
    std::optional<Duty> m_delivering;
    std::optional<Duty> m_publishing;
};

} // namespace hone::server
