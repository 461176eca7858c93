#include "server/workshop.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/seal.h"
#include "harness/catalog.h"
#include "server/beside_program.h"

#include <fmt/format.h>
#include <unistd.h>

namespace hone::server {

namespace {

// Servers that share a database must not take up each other's runs; the name stays through restarts.
Result<std::string> server_name(const WorkshopParts& parts) {
    if (parts.database.engine() == sql::Engine::sqlite) return std::string("local");
    const std::string path = parts.data_directory + "/server_name";
    if (!file_exists(path)) TRY(write_file(path, "server_" + make_ulid(parts.clock.now())));
    return read_file(path, 100);
}

// Opens secrets for one run.
class RunSecrets final : public broker::SecretOpener {
public:
    RunSecrets(secret::Vault& vault, access::SpaceId space, run::RunId run)
        : m_vault(vault),
          m_space(std::move(space)),
          m_run(std::move(run)) {}
    Result<crypto::SecretBytes> open(const std::string& secret_id) override {
        return m_vault.open(m_space, secret_id, m_run.text());
    }

private:
    secret::Vault& m_vault;
    const access::SpaceId m_space;
    const run::RunId m_run;
};

} // namespace

Workshop::Workshop(const WorkshopParts& parts, skill::Skills& skills, secret::Vault& vault)
    : m_parts(parts),
      m_skills(skills),
      m_vault(vault),
      m_ledger(parts.database),
      m_budgets(parts.database, m_ledger, parts.access.audit, parts.clock),
      m_prices(telemetry::Prices::built_in()),
      m_model_spans(parts.telemetry.ingester()),
      m_services(parts.database, parts.clock, parts.access, *this, parts.data_directory),
      m_run_store(parts.database, parts.clock, m_services.transcript) {}

Workshop::~Workshop() = default;

Result<std::unique_ptr<Workshop>> Workshop::open(const WorkshopParts& parts, skill::Skills& skills,
                                                 secret::Vault& vault) {
    std::unique_ptr<Workshop> workshop(new Workshop(parts, skills, vault));
    TRY(workshop->m_prices.add(parts.price_lines));
    skills.add_use(*workshop);
    return workshop;
}

Result<> Workshop::start(const std::string& address) {
    if (m_parts.provider == nullptr) return {};
    m_store = TRY(sandbox::Store::open(m_parts.data_directory));
    m_upstream = TRY(broker::local_upstream(address));
    m_gateway = std::make_unique<broker::Gateway>(broker::GatewayOptions{}, m_budgets, m_prices, m_parts.clock,
                                                  &m_model_spans, m_upstream.get());
    broker::DialerOptions options;
    options.extra_ca_file = m_parts.extra_ca_file;
    m_dialer = TRY(broker::Dialer::create(options));
    m_broker = TRY(broker::Broker::start({}, *m_dialer, m_parts.clock, m_gateway.get()));
    if (m_parts.repositories != nullptr) {
        m_gateway->set_git(m_parts.repositories);
        m_parts.repositories->connect(*m_broker);
    }
    m_worker_services.emplace(run::WorkerServices{
        m_parts.clock, m_parts.access, m_run_store, *m_parts.provider, *m_store, *m_broker, *m_gateway, m_ledger, *this,
        m_services.egress, *this, m_services.harnesses, m_parts.data_directory, beside_program("hone-inside"),
        beside_program("playbooks"), ::geteuid() == 0,
        m_parts.repositories != nullptr ? m_parts.repositories->supply() : nullptr});
    m_dispatcher = std::make_unique<run::Dispatcher>(run::DispatcherOptions{TRY(server_name(m_parts)), m_parts.places},
                                                     *m_worker_services);
    m_services.runs.set_listener(*m_dispatcher);
    return m_dispatcher->start();
}

void Workshop::metrics(MetricsWriter& out) const {
    const run::Dispatcher::Count count = m_dispatcher ? m_dispatcher->count() : run::Dispatcher::Count{};
    out.gauge("runs_live", "Runs that have a worker now.", count.live);
    out.gauge("run_queue_looked_at_seconds", "When the queue of runs was last read.",
              static_cast<double>(to_ns(count.queue_read_at)) / 1e9);
    out.counter("model_usage_rows_lost_total", "Model calls whose usage could not be stored.", m_ledger.lost());
}

Result<> Workshop::check(const access::Caller& caller, const access::SpaceId& space, const run::Settings& settings) {
    const skill::Grant grant = TRY(m_skills.resolve(caller, space, *settings.skills));
    const harness::Harness* harness = harness::find(settings.harness);
    if (harness == nullptr || harness->protocols.empty()) return {};
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (harness::speaks(*harness, endpoint.protocol)) return {};
    return invalid(
        fmt::format("harness {} needs a model skill with an endpoint that speaks {}: make one (the page Skills, or "
                    "hone skill create --type model) and add it to the skills",
                    harness->name, harness->protocols));
}

Result<skill::Grant> Workshop::grant(const access::SpaceId& space, const std::vector<std::string>& skills) {
    return m_skills.resolve(access::Caller::system(), space, skills);
}

Result<std::vector<run::SkillFolder>> Workshop::folders(const access::SpaceId& space,
                                                        const std::vector<std::string>& skills) {
    std::vector<run::SkillFolder> folders;
    for (const std::string& id : skills) {
        const skill::Skill found = TRY(m_skills.find(access::Caller::system(), space, id));
        if (!found.folder) continue;
        run::SkillFolder folder;
        folder.name = found.folder->name;
        for (const skill::FolderFile& file : TRY(m_skills.folder_files(found.folder->hash)))
            folder.files.push_back({file.path, file.content, file.executable});
        folders.push_back(std::move(folder));
    }
    return folders;
}

std::shared_ptr<broker::SecretOpener> Workshop::opener(const access::SpaceId& space, const run::RunId& run) {
    return std::make_shared<RunSecrets>(m_vault, space, run);
}

Result<std::shared_ptr<const crypto::SecretBytes>> Workshop::seed(const access::SpaceId& space, const run::RunId& run) {
    const secret::Scope scope{space};
    auto kept = m_vault.reveal(scope, run.text(), "seed", "the run's certificates");
    if (kept.ok()) return std::make_shared<const crypto::SecretBytes>(std::move(kept).value());
    if (kept.error().code != Code::not_found) return kept.error();
    auto made = std::make_shared<const crypto::SecretBytes>(crypto::random_secret(32));
    TRY(m_parts.database.write([&](sql::Transaction& transaction) -> Result<> {
        return m_vault.keep(transaction, scope, run.text(), "seed", *made);
    }));
    return made;
}

void Workshop::delete_seed(const run::RunId& run) {
    const auto forgotten = m_parts.database.write(
        [&](sql::Transaction& transaction) -> Result<> { return m_vault.forget(transaction, run.text()); });
    if (!forgotten.ok())
        log(Level::warning, "the seed of a run is still there",
            {{"run", run.text()}, {"why", forgotten.error().message}});
}

void Workshop::take(otlp::Batch& batch, const access::SpaceId& space) {
    const auto taken = m_parts.telemetry.ingester().take(batch, space.text(), run::runs_project);
    if (!taken.ok()) log(Level::warning, "spans of a run were not kept", {{"why", taken.error().message}});
}

Result<std::vector<skill::Use>> Workshop::uses_of(const std::string& skill_id) const {
    std::vector<skill::Use> uses;
    for (const run::Presets::Named& preset : TRY(m_services.presets.using_skill(skill_id)))
        uses.push_back({"preset", preset.id.text(), preset.name});
    return uses;
}

} // namespace hone::server
