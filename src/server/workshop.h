// Everything about workers, built in order: secrets, skills, budgets, gateway, broker, runs, dispatcher. Where the
// machine cannot isolate a process there is no dispatcher: presets, skills and old runs can be seen, new runs wait in
// the queue and say why.
#pragma once

#include "api/run_services.h"
#include "api/spans.h"
#include "base/metrics.h"
#include "broker/broker.h"
#include "broker/gateway/gateway.h"
#include "broker/gateway/model_spans.h"
#include "run/worker/dispatcher.h"
#include "secret/vault.h"
#include "server/repositories.h"
#include "skill/skills.h"

namespace hone::server {

struct WorkshopParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    telemetry::Telemetry& telemetry;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate
    std::string data_directory = {};
    std::string extra_ca_file = {};
    std::string price_lines = {}; // telemetry/span/prices.h; beside the built-in ones
    run::Places places = {};
    Repositories* repositories = nullptr; // null: workers have none
};

class Workshop final : private run::SettingsCheck,
                       private run::WorkerSkills,
                       private run::SpanSink,
                       private skill::SkillUse {
public:
    static Result<std::unique_ptr<Workshop>> open(const WorkshopParts& parts, skill::Skills& skills,
                                                  secret::Vault& vault);
    ~Workshop() override;

    api::RunServices& runs() { return m_services; }
    broker::UsageLedger& usage() { return m_ledger; }
    broker::Budgets& budgets() { return m_budgets; }
    // Once the API listens at `address` ("127.0.0.1:7070"): workers reach it through the gateway.
    Result<> start(const std::string& address);
    void metrics(MetricsWriter& out) const;

private:
    Workshop(const WorkshopParts& parts, skill::Skills& skills, secret::Vault& vault);

    // run::SettingsCheck
    Result<> check(const access::Caller& caller, const access::SpaceId& space, const run::Settings& settings) override;
    // run::WorkerSkills
    Result<skill::Grant> grant(const access::SpaceId& space, const std::vector<std::string>& skills) override;
    Result<std::vector<run::SkillFolder>> folders(const access::SpaceId& space,
                                                  const std::vector<std::string>& skills) override;
    std::shared_ptr<broker::SecretOpener> opener(const access::SpaceId& space, const run::RunId& run) override;
    Result<std::shared_ptr<const crypto::SecretBytes>> seed(const access::SpaceId& space,
                                                            const run::RunId& run) override;
    void delete_seed(const run::RunId& run) override;
    // run::SpanSink
    void take(otlp::Batch& batch, const access::SpaceId& space) override;
    // skill::SkillUse
    Result<std::vector<skill::Use>> uses_of(const std::string& skill_id) const override;

    const WorkshopParts m_parts;
    skill::Skills& m_skills;
    secret::Vault& m_vault;
    broker::UsageLedger m_ledger;
    broker::Budgets m_budgets;
    telemetry::Prices m_prices; // as they are after `open`
    broker::ModelSpans m_model_spans;
    api::RunServices m_services;
    run::RunStore m_run_store;
    std::optional<sandbox::Store> m_store;
    std::unique_ptr<broker::GatewayUpstream> m_upstream;
    std::unique_ptr<broker::Gateway> m_gateway;
    std::unique_ptr<broker::Dialer> m_dialer;
    std::unique_ptr<broker::Broker> m_broker;
    std::optional<run::WorkerServices> m_worker_services;
    std::unique_ptr<run::Dispatcher> m_dispatcher; // last: its threads use what stands above
};

} // namespace hone::server
