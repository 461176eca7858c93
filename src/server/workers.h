// Workers as the server has them, built in order: budgets, gateway, broker, runs, dispatcher. Where the machine cannot
// isolate a process there is no dispatcher: presets, skills and old runs can be read, new runs wait in the queue.
#pragma once

#include "base/metrics.h"
#include "broker/broker.h"
#include "broker/gateway/gateway.h"
#include "broker/gateway/model_spans.h"
#include "forge/setup/setup.h"
#include "run/managed/managed_worker.h"
#include "run/run_services.h"
#include "run/settings/skill_check.h"
#include "run/worker/dispatcher.h"
#include "sandbox/provider/no_provider.h"
#include "server/adapters/managed_links.h"
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
    sandbox::Provider* pods = nullptr;     // of a cluster; null: none is connected
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
    Repositories* repositories = nullptr;                          // null: workers have none
    std::function<Result<std::vector<std::string>>()> others = {}; // run/worker/dispatcher.h
    bool claims = true;
};

// Passes changed runs on to each backend.
class BothListeners final : public run::RunListener {
public:
    void add(run::RunListener& listener) { m_listeners.push_back(&listener); }
    void run_changed(const run::RunId& run) override {
        for (run::RunListener* listener : m_listeners) listener->run_changed(run);
    }

private:
    std::vector<run::RunListener*> m_listeners;
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
    // Before the end of the server: no run begins any more.
    void stop_claiming();
    void metrics(MetricsWriter& out) const;
    // The name of this server in the rows of its runs.
    static Result<std::string> server_name(sql::Database& database, const std::string& data_directory,
                                           const Clock& clock);

private:
    explicit Workers(const WorkerParts& parts);
    Result<> start_broker(const std::string& address);
    Result<> start_sandboxes(const std::string& server);
    run::DispatcherOptions dispatcher_options(const std::string& server) const;
    Result<> start_managed(const std::string& address, const std::string& server);

    const WorkerParts m_parts;
    broker::UsageLedger m_ledger;
    broker::Budgets m_budgets;
    telemetry::Prices m_prices; // unchanged after `open`
    broker::ModelSpans m_model_spans;
    run::SpacePolicies m_policies;
    run::Providers m_providers; // unchanged after `open`
    run::SkillCheck m_check;
    run::RunServices m_services;
    run::RunStore m_run_store;
    VaultWorkerSkills m_skills;
    IngestSpanSink m_spans;
    PresetSkillUse m_skill_use;
    GatewayModelCalls m_model_calls;
    std::optional<sandbox::Store> m_store;
    sandbox::NoProvider m_no_provider{"this server cannot isolate workers, only pods of its cluster can; `hone check` "
                                      "states why"};
    std::unique_ptr<broker::GatewayUpstream> m_upstream;
    std::unique_ptr<broker::Gateway> m_gateway;
    std::unique_ptr<broker::Dialer> m_dialer;
    std::unique_ptr<broker::Broker> m_broker;
    std::optional<run::BuildNetworks> m_networks;
    std::optional<forge::Setup> m_setup;
    std::optional<run::WorkerServices> m_worker_services;
    std::optional<VaultManagedLinks> m_managed_links;
    run::SessionStore m_managed_sessions;
    std::optional<run::ManagedServices> m_managed_services;
    BothListeners m_listeners;
    // Last: their threads use what stands above.
    std::unique_ptr<run::Dispatcher> m_managed_dispatcher;
    std::unique_ptr<run::Dispatcher> m_dispatcher;
    std::optional<Duty> m_managed_duty;
};

} // namespace hone::server
