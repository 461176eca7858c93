#include "server/workers.h"

#include "base/file.h"
#include "server/beside_program.h"

#include <unistd.h>

namespace hone::server {

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
      m_check(parts.skills, m_policies, parts.provider),
      m_services(parts.database, parts.clock, parts.access, m_check, m_policies, parts.data_directory),
      m_run_store(parts.database, parts.clock, m_services.transcript),
      m_skills(parts.database, parts.skills, parts.vault,
               parts.repositories != nullptr ? &parts.repositories->repos() : nullptr),
      m_spans(parts.telemetry.ingester()),
      m_skill_use(m_services.presets),
      m_model_calls(parts.skills, parts.vault, parts.access.audit, m_ledger, parts.clock) {}

Result<std::unique_ptr<Workers>> Workers::open(const WorkerParts& parts) {
    std::unique_ptr<Workers> workers(new Workers(parts));
    TRY(workers->m_prices.add(parts.price_lines));
    workers->m_policies.set_mirrors(parts.mirrors);
    parts.skills.add_use(workers->m_skill_use);
    workers->m_services.presets.set_vault(parts.vault);
    workers->m_services.runs.set_vault(parts.vault);
    return workers;
}

Result<> Workers::start(const std::string& address) {
    TRY(start_broker(address)); // also without workers: experiments and the playground call models
    if (m_parts.provider == nullptr) return {};
    m_store = TRY(sandbox::Store::open(m_parts.data_directory));
    m_networks.emplace(*m_broker, m_services.egress, m_skills, m_policies.mirrors(), m_parts.clock,
                       m_parts.data_directory);
    m_networks->remove_leftovers();
    m_services.build_networks = &*m_networks;
    if (m_parts.repositories != nullptr && m_parts.repositories->git() != nullptr)
        m_setup.emplace(*m_parts.repositories->git(), *m_parts.provider, *m_store);
    m_worker_services.emplace(
        run::WorkerServices{m_parts.clock,
                            m_parts.access,
                            m_run_store,
                            *m_parts.provider,
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
                            ::geteuid() == 0,
                            m_parts.repositories != nullptr ? m_parts.repositories->supply() : nullptr,
                            &m_policies,
                            m_setup ? &*m_setup : nullptr,
                            &*m_networks,
                            &m_services.uploads});
    m_services.files.connect(*m_parts.provider, *m_store, ::geteuid() == 0);
    const std::string server = TRY(server_name(m_parts.database, m_parts.data_directory, m_parts.clock));
    m_dispatcher = std::make_unique<run::Dispatcher>(
        run::DispatcherOptions{server, m_parts.places, m_parts.shared_places}, *m_worker_services);
    if (m_parts.shared_places != nullptr)
        m_parts.shared_places->set_runs([this, server] { return m_run_store.executing_or_due(server, m_parts.places); },
                                        [this] { m_dispatcher->wake(); });
    m_services.runs.set_listener(*m_dispatcher);
    return m_dispatcher->start();
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
    m_model_calls.connect(*m_broker, *m_gateway);
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
