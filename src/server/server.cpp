#include "server/server.h"

#include "base/file.h"
#include "base/log.h"
#include "broker/wire/authority.h"
#include "objects/owner.h"
#include "server/membership/contracts.h"
#include "server/object_storage.h"
#include "server/operations/password_logins.h"
#include "signal/run_issues.h"
#include "sql/migrate.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace hone::server {

const char* const version = HONE_VERSION;

namespace {

std::string database_url(const config::Config& config) {
    return config.database_url.empty() ? "sqlite:" + config.data_dir + "/hone.db" : config.database_url;
}

// A file with the system's authorities and those of a file; empty: the system's store is enough.
std::string authorities_with(const std::string& extra_file, const std::string& directory) {
    if (extra_file.empty()) return "";
    const auto extra = read_file(extra_file);
    const std::string bundle = directory + "/sign-on-authorities.pem";
    if (!extra.ok() || !write_file(bundle, broker::system_authorities() + "\n" + extra.value(), 0600).ok()) {
        log(Level::warning, "egress_ca_file is not trusted for single sign-on", {{"file", extra_file}});
        return "";
    }
    return bundle;
}

// The value is in the memory that /proc/PID/environ shows: it is overwritten there, not only unset.
crypto::SecretBytes take_from_environment(const char* name) {
    char* value = std::getenv(name);
    if (value == nullptr) return {};
    crypto::SecretBytes taken{std::string_view(value)};
    explicit_bzero(value, std::strlen(value));
    ::unsetenv(name);
    return taken;
}

// The addresses in one order, without a user: equal for servers that use the same ones.
std::string span_store_of(const std::string& clickhouse_url) {
    std::set<std::string> addresses;
    for (const std::string_view part : split(clickhouse_url, ',')) {
        std::string address(trim(part));
        const size_t host = address.find("://"), at = address.find('@');
        if (host != address.npos && at != address.npos) address.erase(host + 3, at - host - 2);
        addresses.insert(address);
    }
    std::string list;
    for (const std::string& address : addresses) list += (list.empty() ? "" : ",") + address;
    return list;
}

// What a server that was killed left behind: its address, and half a backup as large as the database.
void remove_leftovers(const std::string& data_dir) {
    ::unlink((data_dir + "/addresses.json").c_str());
    std::error_code failed;
    std::vector<std::filesystem::path> copies;
    for (std::filesystem::directory_iterator at(data_dir, failed), end; !failed && at != end; at.increment(failed))
        if (const std::string name = at->path().filename();
            name.starts_with("backup-") && name.find(".tmp") != name.npos)
            copies.push_back(at->path());
    for (const auto& copy : copies) std::filesystem::remove_all(copy, failed);
}

} // namespace

Server::Server(config::Loaded loaded, const Clock& clock)
    : m_loaded(std::move(loaded)),
      m_config(m_loaded.config),
      m_clock(clock),
      m_started_at(clock.now()) {}

Result<std::unique_ptr<Server>> Server::start(config::Loaded loaded, const Clock& clock,
                                              const std::optional<std::string>& admin_password,
                                              const std::function<void()>& before_duties) {
    std::unique_ptr<Server> server(new Server(std::move(loaded), clock));
    TRY(server->open_data(admin_password));
    TRY(server->open_spans());
    TRY(server->open_repositories());
    TRY(server->open_workers());
    TRY(server->open_improvement());
    TRY(server->open_storage());
    TRY(server->open_self_telemetry());
    TRY(server->open_edge());
    TRY(server->open_otlp());
    // Before the first run is claimed: the others must know whose it is.
    TRY(server->m_membership->start(server->m_config.public_url.empty() ? server->m_url : server->m_config.public_url));
    if (before_duties) before_duties();
    TRY(server->start_duties());
    TRY(server->write_addresses());
    return server;
}

Result<> Server::start_duties() {
    if (m_self_telemetry) m_self_telemetry->start();
    const net::Server& api = m_local_edge ? *m_local_edge : *m_edge;
    TRY(m_workers->start(api.addresses().back()));
    m_storage->start();
    m_exports->start();
    if (m_roles.worker) {
        TRY(m_reviews->start());
        TRY(m_evaluate->runner.start());
        m_evaluate->eval_runner.start();
        m_evaluate->pair_runner.start();
    }
    if (m_roles.scheduler) {
        m_automations->start();
        m_signal->start();
        m_replaying->start();
        // Only one server at a time has a database of its own: leases are those of one that was killed.
        if (m_database->engine() == sql::Engine::sqlite) TRY(m_evaluate->calibrations.end_leases());
        m_people->start();
        m_monitors->start();
    }
    return {};
}

Result<> Server::open_membership() {
    MembershipOptions options;
    options.name = TRY(Workers::server_name(*m_database, m_config.data_dir, m_clock));
    options.version = server::version;
    options.schema_version = m_schema_version;
    options.roles = m_roles.text();
    options.span_store =
        m_config.clickhouse_url.empty() ? "its own engine, " + options.name : span_store_of(m_config.clickhouse_url);
    // Files below the data directory are for one server, whatever they are called.
    options.object_store = m_config.object_store == "file" ? "its own disk, " + options.name : m_objects->description();
    options.lost_after = m_config.server_lost_after;
    options.on_replaced = [] { ::kill(::getpid(), SIGTERM); };
    m_membership.emplace(*m_database, m_clock, std::move(options));
    return {};
}

// A migration that older programs do not survive waits until they have stopped.
Result<> Server::check_migrations() const {
    return check_contracts(*m_database, m_clock, TRY(sql::pending_migrations(*m_database)));
}

Result<> Server::open_data(const std::optional<std::string>& admin_password) {
    m_roles = TRY(Roles::parse(m_config.roles));
    TRY(make_directories(m_config.data_dir, 0700));
    m_lock = TRY(sql::DirectoryLock::acquire(m_config.data_dir));
    remove_leftovers(m_config.data_dir);
    // Before the first child: none of them inherits the key.
    m_environment_key = take_from_environment("HONE_MASTER_KEY");
    m_environment_old_key = take_from_environment("HONE_MASTER_KEY_OLD");
    m_objects = TRY(objects::open_store(
        object_store_settings(m_config),
        m_config.object_store.starts_with("s3:") ? take_store_environment() : process_environment(), m_clock));
    // First of all: the spawner is a child of a process that is still small and has no thread.
    m_sandboxes = TRY(open_sandboxes(m_config.data_dir, m_config.sandbox_ready, m_no_sandboxes));
    sql::Options options;
    options.url = database_url(m_config);
    m_database = TRY(sql::Database::open(options));
    TRY(check_migrations());
    m_schema_version = TRY(sql::migrate(*m_database, m_clock));
    const auto accounts = TRY(password_accounts(m_config.password_logins));
    access::Policy policy;
    policy.login = {m_config.login_session_lifetime, m_config.login_attempts, m_config.login_lockout, accounts,
                    m_config.second_factor_required == "true"};
    policy.invite_lifetime = m_config.invite_lifetime;
    m_access.emplace(*m_database, m_clock, policy);
    TRY(open_membership());
    TRY(open_secrets());
    m_first_start = TRY(m_access->first_start(admin_password));
    if (const std::string why = password_login_problems(*m_database, m_config); !why.empty())
        log(Level::warning, "password_logins can lock people out", {{"why", why}});
    TRY(m_access->note_version(server::version));
    m_sandbox_audit.emplace(m_access->audit, m_config.data_dir + "/sandbox");
    m_sandbox_audit->start();
    return {};
}

// The key that encrypts secrets is made at the first start, so that a backup of it can be taken before it protects
// anything, and is refused when others could read it.
Result<> Server::open_secrets() {
    secret::MasterKeyOptions options;
    const bool own_file = m_config.master_key_file.empty();
    options.file = own_file ? m_config.data_dir + "/master.key" : m_config.master_key_file;
    // A new key beside secrets of another one (a restored backup) would only hide what is missing.
    options.create_file = own_file && !TRY(secret::Vault::has_data_keys(*m_database));
    options.command = m_config.master_key_command;
    options.value = std::move(m_environment_key);
    options.old_value = std::move(m_environment_old_key);
    m_master_keys = TRY(secret::MasterKeys::open(std::move(options)));
    m_vault.emplace(*m_database, m_clock, m_access->audit, *m_master_keys);
    TRY(m_vault->start());
    skill::Hygiene hygiene;
    hygiene.old_after = std::chrono::hours(24 * m_config.secret_old_days);
    hygiene.unused_after = std::chrono::hours(24 * m_config.secret_unused_days);
    m_skills.emplace(*m_database, m_clock, *m_access, *m_vault, hygiene);
    m_notices = TRY(NoticeDuties::open(*m_database, m_clock, *m_access, *m_vault, m_config));
    m_account_mail.emplace(m_clock, m_notices->smtp(), m_config.public_url);
    open_identities();
    return {};
}

void Server::open_identities() {
    identity::IdentityOptions options;
    options.public_url = m_config.public_url;
    while (options.public_url.ends_with('/')) options.public_url.pop_back();
    options.lifetime = m_config.sign_on_lifetime;
    options.outgoing.allow_private = m_config.sign_on_private_addresses == "true";
    options.outgoing.ca_file = authorities_with(m_config.egress_ca_file, m_config.data_dir);
    options.outgoing.proxy = m_config.egress_proxy;
    for (const std::string_view part : split(m_config.egress_no_proxy, ',')) {
        if (trim(part).empty()) continue;
        options.outgoing.without_proxy.emplace_back(trim(part)); // the host, and all names below it
        options.outgoing.without_proxy.push_back("." + std::string(trim(part)));
    }
    m_identities.emplace(*m_database, m_clock, *m_access, *m_vault, options);
    m_access->logins.set_break_glass_listener([this](const access::Caller& caller) {
        const auto spaces = m_access->spaces.of_installation_owners(100);
        if (!spaces.ok()) return;
        for (const access::SpaceId& space : spaces.value()) {
            const auto sent = m_notices->notices().notify(
                {space,
                 {},
                 notice::Kind::break_glass_login,
                 "Break-glass login: " + caller.name,
                 caller.name + " logged in with a password from " + caller.peer +
                     ". On this installation passwords are for emergencies; others use single sign-on.",
                 "/settings/audit"});
            if (!sent.ok())
                log(Level::warning, "notice of a break-glass login not sent", {{"why", sent.error().message}});
        }
    });
}

Result<> Server::open_repositories() {
    RepositoriesParts repositories{*m_database, m_clock,           *m_access,        *m_skills,
                                   *m_vault,    m_sandboxes.get(), m_config.data_dir};
    repositories.mirrors.most_bytes = m_config.git_mirror_bytes.count;
    repositories.quarantine.push_bytes = m_config.git_push_bytes.count;
    repositories.quarantine.push_objects = m_config.git_push_objects;
    repositories.quarantine.push_files = m_config.git_push_files;
    repositories.quarantine.push_file_bytes = m_config.git_push_file_bytes.count;
    repositories.quarantine.most_bytes = m_config.git_run_bytes.count;
    m_repositories = TRY(Repositories::open(repositories));
    m_skill_source.emplace(m_repositories->repos(), m_repositories->mirrors(), m_repositories->git(),
                           m_config.data_dir);
    m_skills->set_source(*m_skill_source);
    return {};
}

Result<> Server::share_layers() {
    if (m_config.object_store == "file" || (!m_sandboxes && !m_cluster)) return {};
    const sandbox::Store store = TRY(sandbox::Store::open(m_config.data_dir));
    const std::string key = TRY(share_layer_key(*m_database, *m_vault, store));
    m_layer_objects.emplace(*m_objects, store, key);
    for (sandbox::Provider* provider : {m_sandboxes.get(), m_cluster.get()})
        if (provider != nullptr) provider->set_layer_exchange(&*m_layer_objects);
    m_layer_objects->start();
    return {};
}

Result<> Server::open_workers() {
    WorkerParts parts{*m_database, m_clock, *m_access, *m_telemetry, *m_skills, *m_vault};
    parts.provider = m_sandboxes.get();
    m_cluster_credentials.emplace(*m_database, m_clock, *m_vault, m_access->audit);
    m_cluster = TRY(open_cluster(m_config, m_clock, *m_cluster_credentials));
    parts.pods = m_cluster.get();
    parts.data_directory = m_config.data_dir;
    parts.extra_ca_file = m_config.egress_ca_file;
    parts.private_hosts = m_config.egress_private_hosts;
    parts.upstream_proxy = m_config.egress_proxy;
    parts.without_proxy = m_config.egress_no_proxy;
    if (!m_config.prices_file.empty()) parts.price_lines = TRY(read_file(m_config.prices_file, 1 << 20));
    parts.places = {m_config.run_places, m_config.run_places_per_space};
    m_places.emplace(m_config.run_places);
    parts.shared_places = &*m_places;
    parts.ceilings = {m_config.run_max_memory.count, static_cast<double>(m_config.run_max_cpus),
                      m_config.run_max_pids,         m_config.run_max_disk.count,
                      m_config.run_max_minutes,      m_config.run_default_tokens};
    parts.mirrors = TRY(broker::PackageMirrors::of(m_config));
    parts.repositories = m_repositories.get();
    parts.claims = m_roles.worker;
    if (m_database->engine() == sql::Engine::postgres) parts.others = [this] { return m_membership->others(); };
    m_workers = TRY(Workers::open(parts));
    TRY(share_layers());
    const std::string owner = m_config.object_store == "file" ? "" : TRY(objects::owner_of(m_config.data_dir));
    if (!owner.empty()) m_workers->runs().artifacts.set_store(*m_objects, owner);
    m_exports.emplace(ExportParts{*m_objects, *m_access, m_clock, m_config.export_lifetime, owner});
    m_reviews = std::make_unique<ReviewDuties>(ReviewParts{
        *m_database, m_clock, *m_access, m_workers->runs(), *m_skills, *m_vault, *m_repositories, m_sandboxes.get(),
        m_config.data_dir, m_config.egress_ca_file, m_config.public_url, &*m_spans, m_config.egress_proxy,
        m_config.egress_no_proxy, m_database->engine() == sql::Engine::postgres ? m_membership->name() : std::string(),
        [this] { return m_membership->others(); }});
    m_outputs.emplace(m_workers->runs(), m_reviews->services());
    return {};
}

// What starts runs by itself and reports on traces: automations, Signal, monitors.
Result<> Server::open_improvement() {
    run::RunServices& runs = m_workers->runs();
    m_automations.emplace(AutomationParts{*m_database, m_clock, *m_access, runs.runs, runs.presets, m_workers->usage(),
                                          *m_master_keys, *m_telemetry});
    m_automations->set_notices(m_notices->notices());
    m_task_sources.emplace(
        m_repositories->repos(), m_repositories->mirrors(), m_repositories->git(), m_repositories->quarantine(),
        TRY(broker::parse_private_hosts(m_config.egress_private_hosts)), m_config.data_dir, m_workers->models());
    m_evaluator_secrets.emplace(*m_database, *m_vault, *m_task_sources);
    m_evaluator_runs.emplace(*m_database, m_clock, *m_access, runs.runs, runs.presets, *m_skills);
    m_artifact_files.emplace(runs.artifacts);
    m_evaluate.emplace(*m_database, m_clock, *m_access,
                       evaluate::EvaluateParts{m_sandboxes.get(), &*m_task_sources, &*m_spans,
                                               m_config.data_dir + "/experiments", m_config.evaluator_packages_dir,
                                               &*m_places, &*m_evaluator_runs, &*m_evaluator_secrets,
                                               &m_notices->notices(), &*m_artifact_files});
    m_signal.emplace(signal::Parts{*m_database, m_clock, *m_access, runs.runs, runs.presets, runs.artifacts,
                                   m_telemetry.get(), &m_notices->notices(), &m_automations->automations()});
    run::ReviewServices& reviews = m_reviews->services();
    m_fix_replays.emplace(signal::FixReplayParts{*m_database, m_clock, *m_access, *m_evaluate, m_signal->evaluators,
                                                 m_signal->issues, runs.artifacts, reviews.branches, reviews, &*m_spans,
                                                 m_membership->name()});
    m_replaying.emplace(DutyOptions{"replays of fixes", std::chrono::seconds(5)},
                        [this] { return m_fix_replays->step(); });
    m_fix_replays->set_listener([this] { m_replaying->wake(); });
    m_people.emplace(*m_evaluate, m_notices->notices(), m_membership->name());
    m_issue_forge.emplace(
        m_repositories->repos(), [this] { return m_reviews->delivery(); }, m_config.public_url);
    m_signal->set_forge_issues(*m_issue_forge);
    m_reviews->services().set_issue_of_run(
        [this](const std::string& run) { return signal::issue_fixed_by(*m_database, run); });
    m_monitors.emplace(*m_database, m_clock, *m_access, *m_telemetry, m_workers->usage(), *m_notices,
                       m_automations->automations(), *m_signal);
    return {};
}

Result<> Server::open_storage() {
    const std::string server = TRY(Workers::server_name(*m_database, m_config.data_dir, m_clock));
    const run::StorageLimits limits = TRY(storage_limits(m_config));
    m_storage =
        TRY(StorageDuty::open({*m_database, m_clock, *m_access, m_workers->runs(), *m_repositories, m_sandboxes.get(),
                               m_cluster.get(), *m_spans, *m_vault, m_config.data_dir, server, limits}));
    return {};
}

DemoParts Server::demo_parts() {
    run::RunServices& runs = m_workers->runs();
    return {*m_database,
            m_clock,
            *m_access,
            *m_telemetry,
            runs.runs,
            runs.presets,
            *m_skills,
            *m_signal,
            m_automations->automations(),
            m_monitors->monitors(),
            runs.artifacts,
            *m_evaluate,
            *m_fix_replays,
            *m_spans,
            m_repositories->git(),
            m_no_sandboxes,
            m_url,
            m_config.data_dir};
}

Result<> Server::open_spans() {
    m_trace_projects.emplace(*m_access, *m_database, m_clock, m_config.retention_days);
    telemetry::TelemetryOptions options;
    options.directory = m_config.data_dir + "/telemetry";
    options.clickhouse_url = m_config.clickhouse_url;
    options.clickhouse_user = m_config.clickhouse_user;
    options.clickhouse_password = m_config.clickhouse_password;
    options.clickhouse_ca_file = m_config.clickhouse_ca_file;
    options.clickhouse_reader_user = m_config.clickhouse_reader_user;
    options.clickhouse_reader_password = m_config.clickhouse_reader_password;
    options.clickhouse_cluster = m_config.clickhouse_cluster;
    options.engine.library = m_config.engine_library;
    options.engine.unconfined = m_config.engine_unconfined == "true";
    options.engine.memory_bytes = m_config.engine_memory.count;
    options.engine.idle_stop = m_config.engine_idle_stop;
    options.wal.cap_bytes = static_cast<size_t>(m_config.span_log_limit.count);
    if (m_config.object_store != "file" && m_config.span_log_object_limit.count > 0) {
        m_log_archive.emplace(*m_objects, TRY(objects::owner_of(m_config.data_dir)));
        options.wal.archive = &*m_log_archive;
        options.wal.archive_bytes = static_cast<size_t>(m_config.span_log_object_limit.count);
    }
    options.loader.wait_limit = m_config.span_wait_limit;
    if (m_database->engine() == sql::Engine::postgres) { // others may share it
        options.shared_database = &*m_database;
        options.server = m_membership->name();
    }
    if (!m_config.prices_file.empty()) options.price_lines = TRY(read_file(m_config.prices_file, 1 << 20));
    const bool embedded = m_config.clickhouse_url.empty();
    const std::string engine_directory = embedded ? options.directory + "/engine" : "";
    m_telemetry = TRY(telemetry::Telemetry::open(std::move(options), *m_trace_projects, m_clock));
    m_spans.emplace(*m_telemetry, *m_trace_projects, *m_access, m_clock);
    m_span_duties.emplace(*m_access, *m_spans, m_clock, engine_directory);
    m_access->projects.add_data_owner(*m_span_duties);
    return {};
}

Server::~Server() {
    if (m_edge) ::unlink((m_config.data_dir + "/addresses.json").c_str());
}

void Server::drain() {
    ::unlink((m_config.data_dir + "/addresses.json").c_str()); // new clients must not find it
    m_is_draining = true;
    m_workers->stop_claiming();
    // One after the other: a sender of traces repeats what got no response.
    if (m_otlp_grpc) m_otlp_grpc->drain(m_config.drain_timeout);
    bool complete = !m_otlp_edge || m_otlp_edge->drain(m_config.drain_timeout);
    complete = m_edge->drain(m_config.drain_timeout) && complete;
    if (!complete) log(Level::warning, "requests were interrupted at the end of drain_timeout");
    if (m_local_edge) m_local_edge->drain(m_config.drain_timeout);
    m_membership->leave();
}

Result<> Server::reload() {
    TRY(m_edge->reload_tls());
    return m_otlp_edge ? m_otlp_edge->reload_tls() : Result<>();
}

} // namespace hone::server
