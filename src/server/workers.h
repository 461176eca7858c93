// Workers as the server has them, built in order: budgets, gateway, broker, runs, dispatcher. Where the machine cannot
// isolate a process there is no dispatcher: presets, skills and old runs can be read, new runs wait in the queue.
#pragma once

#include "base/metrics.h"
#include "broker/broker.h"
#include "broker/gateway/gateway.h"
#include "broker/gateway/model_spans.h"
#include "forge/setup/setup.h"
#include "run/run_services.h"
#include "run/settings/skill_check.h"
#include "run/worker/dispatcher.h"
#include "server/adapters/run_adapters.h"
#include "server/adapters/worker_skills.h"
#include "server/evaluation/model_calls.h"
#include "server/repositories.h"
#include "telemetry/telemetry.h"

namespace hone::server {

struct WorkerParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    telemetry::Telemetry& telemetry;
    skill::Skills& skills;
    secret::Vault& vault;
    sandbox::Provider* provider = nullptr; // null: this machine cannot isolate
    std::string data_directory = {};
    std::string extra_ca_file = {};
    std::string private_hosts = {};  // broker/egress/private_host.h
    std::string upstream_proxy = {}; // broker/wire/dial.h
    std::string without_proxy = {};
    std::string price_lines = {}; // telemetry/span/prices.h; beside the built-in ones
    run::Places places = {};
    SharedPlaces* shared_places = nullptr; // of runs and lanes of experiments
    run::Ceilings ceilings = {};
    broker::PackageMirrors mirrors = {};
    Repositories* repositories = nullptr; // null: workers have none
};

class Workers {
public:
    static Result<std::unique_ptr<Workers>> open(const WorkerParts& parts);

    run::RunServices& runs() { return m_services; }
    broker::UsageLedger& usage() { return m_ledger; }
    broker::Budgets& budgets() { return m_budgets; }
    evaluate::ModelCalls& models() { return m_model_calls; }
    // Once the API listens at `address` ("127.0.0.1:7070"): workers reach it through the gateway.
    Result<> start(const std::string& address);
    void metrics(MetricsWriter& out) const;
    // The name of this server in the rows of its runs.
    static Result<std::string> server_name(sql::Database& database, const std::string& data_directory,
                                           const Clock& clock);

private:
    explicit Workers(const WorkerParts& parts);
    Result<> start_broker(const std::string& address);

    const WorkerParts m_parts;
    broker::UsageLedger m_ledger;
    broker::Budgets m_budgets;
    telemetry::Prices m_prices; // unchanged after `open`
    broker::ModelSpans m_model_spans;
    run::SpacePolicies m_policies;
    run::SkillCheck m_check;
    run::RunServices m_services;
    run::RunStore m_run_store;
    VaultWorkerSkills m_skills;
    IngestSpanSink m_spans;
    PresetSkillUse m_skill_use;
    GatewayModelCalls m_model_calls;
    std::optional<sandbox::Store> m_store;
    std::unique_ptr<broker::GatewayUpstream> m_upstream;
    std::unique_ptr<broker::Gateway> m_gateway;
    std::unique_ptr<broker::Dialer> m_dialer;
    std::unique_ptr<broker::Broker> m_broker;
    std::optional<run::BuildNetworks> m_networks;
    std::optional<forge::Setup> m_setup;
    std::optional<run::WorkerServices> m_worker_services;
    std::unique_ptr<run::Dispatcher> m_dispatcher; // last: its threads use what stands above
};

} // namespace hone::server
