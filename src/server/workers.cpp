#include "server/workers.h"

#include "base/file.h"
#include "run/managed/left_over.h"
#include "server/beside_program.h"

#include <algorithm>

namespace hone::server {

namespace {

constexpr int64_t most_managed = 64; // sessions of agent providers at the same time
constexpr int64_t most_managed_per_space = 16;

// By how this installation has set up its cluster.
std::vector<run::Lack> lacks_of_pods(sandbox::Provider& pods) {
    const sandbox::Capabilities capabilities = pods.capabilities();
    std::vector<run::Lack> lacks;
    if (!capabilities.threads)
        lacks.push_back({run::capability::kept_workspace,
                         "the workspace and the home end with the pod, because kubernetes_storage_class is not set"});
    if (std::ranges::count(capabilities.tiers, sandbox::Tier::gvisor) == 0)
        lacks.push_back({"sandbox.minimum_tier", "kubernetes_runtime_class is not set"});
    return lacks;
}

} // namespace

// Servers that share a database must not resume each other's runs; the name stays through restarts.
Result<std::string> Workers::server_name(sql::Database& database, const std::string& data_directory,
                                         const Clock& clock) {
    if (database.engine() == sql::Engine::sqlite) return std::string("local");
    const std::string path = data_directory + "/server_name";
    if (!file_exists(path)) TRY(write_file(path, "server_" + make_ulid(clock.now())));
    return read_file(path, 100);
}

Workers::Workers(const WorkerParts& parts)
    : m_parts(parts),
      m_ledger(parts.database),
      m_budgets(parts.database, m_ledger, parts.access.audit, parts.clock),
      m_prices(telemetry::Prices::built_in()),
      m_model_spans(parts.telemetry.ingester()),
      m_policies(parts.database, parts.clock, parts.access.audit, parts.ceilings),
      m_check(parts.skills, m_policies, m_providers, parts.provider),
      m_services(parts.database, parts.clock, parts.access, m_check, m_policies, m_providers, parts.data_directory),
      m_run_store(parts.database, parts.clock, m_services.transcript),
      m_skills(parts.database, parts.skills, parts.vault,
               parts.repositories != nullptr ? &parts.repositories->repos() : nullptr),
      m_spans(parts.telemetry.ingester()),
      m_skill_use(m_services.presets),
      m_model_calls(parts.skills, parts.vault, parts.access.audit, m_ledger, parts.clock),
      m_managed_sessions(parts.database, parts.clock, m_services.transcript) {}

Result<std::unique_ptr<Workers>> Workers::open(const WorkerParts& parts) {
    std::unique_ptr<Workers> workers(new Workers(parts));
    TRY(workers->m_prices.add(parts.price_lines));
    if (parts.pods != nullptr) workers->m_providers.add(run::RunProvider::kubernetes, lacks_of_pods(*parts.pods));
    workers->m_policies.set_mirrors(parts.mirrors);
    parts.skills.add_use(workers->m_skill_use);
    workers->m_providers.add(run::RunProvider::claude_managed);
    workers->m_check.set_rules(run::RunProvider::claude_managed,
                               {[&consents = workers->m_services.consents](const auto& space, const auto& settings,
                                                                           const auto& grant) -> Result<> {
                                    const run::ManagedPlan plan = TRY(run::plan_managed(settings, grant));
                                    return consents.require(space, plan.endpoint.base_url);
                                },
                                [](const auto& settings, const auto& grant) -> std::vector<std::string> {
                                    const auto plan = run::plan_managed(settings, grant);
                                    return plan.ok() ? run::what_leaves(plan.value()) : std::vector<std::string>();
                                }});
    workers->m_services.presets.set_vault(parts.vault);
    workers->m_services.runs.set_vault(parts.vault);
    return workers;
}

Result<> Workers::start(const std::string& address) {
    TRY(start_broker(address)); // also without workers: experiments and the playground call models
    const std::string server = TRY(server_name(m_parts.database, m_parts.data_directory, m_parts.clock));
    if (m_parts.provider != nullptr || m_parts.pods != nullptr) TRY(start_sandboxes(server));
    TRY(start_managed(address, server));
    m_services.runs.set_listener(m_listeners);
    if (m_dispatcher) TRY(m_dispatcher->start());
    return m_managed_dispatcher->start();
}

run::DispatcherOptions Workers::dispatcher_options(const std::string& server) const {
    run::DispatcherOptions options;
    options.server = server;
    options.others = m_parts.others;
    options.claims = m_parts.claims;
    return options;
}

Result<> Workers::start_managed(const std::string& address, const std::string& server) {
    m_managed_links.emplace(m_parts.vault, m_parts.access.audit, address,
                            ManagedLinkOptions{m_parts.extra_ca_file, m_parts.data_directory, m_parts.upstream_proxy,
                                               m_parts.without_proxy});
    m_managed_services.emplace(run::ManagedServices{
        m_parts.clock, m_parts.access, m_run_store, m_managed_sessions, m_skills, m_spans, m_prices, m_budgets,
        m_ledger, m_services.consents, *m_managed_links, server + " " + make_ulid(m_parts.clock.now()),
        m_parts.repositories != nullptr ? m_parts.repositories->supply() : nullptr});
    run::DispatcherParts parts{
        m_run_store, m_parts.clock,
        [this](const run::RunId& run) { return std::make_unique<run::ManagedWorker>(*m_managed_services, run); },
        [](const std::vector<run::RunId>&) { return Result<>(); },
        [this](const std::string& own, const std::vector<std::string>& others) {
            return m_run_store.adopt(own, others);
        }};
    // They need no processor of this machine: only a connection each.
    run::DispatcherOptions options = dispatcher_options(server);
    options.places = {most_managed, most_managed_per_space, run::Backend::managed};
    m_managed_dispatcher = std::make_unique<run::Dispatcher>(std::move(options), std::move(parts));
    m_listeners.add(*m_managed_dispatcher);
    m_managed_duty.emplace(DutyOptions{"managed sessions", std::chrono::minutes(1)}, [this]() -> Result<> {
        const auto others = m_parts.others ? TRY(m_parts.others()) : std::vector<std::string>();
        return run::stop_left_over(*m_managed_services, others);
    });
    m_managed_duty->start();
    return {};
}

Result<> Workers::start_sandboxes(const std::string& server) {
    m_store = TRY(sandbox::Store::open(m_parts.data_directory));
    sandbox::Provider& local = m_parts.provider != nullptr ? *m_parts.provider : m_no_provider;
    m_networks.emplace(*m_broker, m_services.egress, m_skills, m_policies.mirrors(), m_parts.clock,
                       m_parts.data_directory);
    m_networks->remove_leftovers();
    m_services.build_networks = &*m_networks;
    if (m_parts.repositories != nullptr && m_parts.repositories->git() != nullptr)
        m_setup.emplace(*m_parts.repositories->git(), local, *m_store);
    m_worker_services.emplace(
        run::WorkerServices{m_parts.clock,
                            m_parts.access,
                            m_run_store,
                            local,
                            m_parts.pods,
                            *m_store,
                            *m_broker,
                            *m_gateway,
                            m_ledger,
                            m_skills,
                            m_services.egress,
                            m_spans,
                            m_services.harnesses,
                            m_parts.data_directory,
                            beside_program("hone-inside"),
                            beside_program("playbooks"),
                            m_parts.repositories != nullptr ? m_parts.repositories->supply() : nullptr,
                            &m_policies,
                            m_setup ? &*m_setup : nullptr,
                            &*m_networks,
                            &m_services.uploads});
    m_services.files.connect(local, m_parts.pods);
    m_services.installer.connect(local, m_parts.others);
    run::DispatcherOptions options = dispatcher_options(server);
    options.places = m_parts.places;
    options.shared = m_parts.shared_places;
    m_dispatcher = std::make_unique<run::Dispatcher>(std::move(options), *m_worker_services);
    if (m_parts.shared_places != nullptr)
        m_parts.shared_places->set_runs([this, server] { return m_run_store.executing_or_due(server, m_parts.places); },
                                        [this] { m_dispatcher->wake(); });
    m_listeners.add(*m_dispatcher);
    return {};
}

void Workers::stop_claiming() {
    if (m_dispatcher) m_dispatcher->stop_claiming();
    if (m_managed_dispatcher) m_managed_dispatcher->stop_claiming();
}

Result<> Workers::start_broker(const std::string& address) {
    m_upstream = TRY(broker::local_upstream(address));
    m_gateway = std::make_unique<broker::Gateway>(broker::GatewayOptions{}, m_budgets, m_prices, m_parts.clock,
                                                  &m_model_spans, m_upstream.get());
    broker::DialerOptions options;
    options.extra_ca_file = m_parts.extra_ca_file;
    options.proxy = TRY(broker::parse_upstream_proxy(m_parts.upstream_proxy, m_parts.without_proxy));
    m_dialer = TRY(broker::Dialer::create(options));
    broker::BrokerOptions broker_options;
    broker_options.private_hosts = TRY(broker::parse_private_hosts(m_parts.private_hosts));
    m_broker = TRY(broker::Broker::start(std::move(broker_options), *m_dialer, m_parts.clock, m_gateway.get()));
    m_model_calls.connect(*m_broker, *m_gateway, *m_dialer);
    if (m_parts.repositories == nullptr || m_parts.provider == nullptr) return {};
    m_gateway->set_git(m_parts.repositories->gateway_git());
    m_parts.repositories->connect(*m_broker);
    return {};
}

void Workers::metrics(MetricsWriter& out) const {
    const run::Dispatcher::Count count = m_dispatcher ? m_dispatcher->count() : run::Dispatcher::Count{};
    out.gauge("runs_live", "Runs that have a worker now.", count.live);
    out.gauge("run_queue_looked_at_seconds", "When the queue of runs was last read.",
              static_cast<double>(to_ns(count.queue_read_at)) / 1e9);
    out.counter("model_usage_rows_lost_total", "Model calls whose usage could not be stored.", m_ledger.lost());
}

} // namespace hone::server
