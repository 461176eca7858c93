#include "server/server.h"

#include "access/names.h"
#include "base/file.h"
#include "base/log.h"
#include "broker/wire/authority.h"
#include "otlp/simdjson_library.h"
#include "server/backup/backup.h"
#include "signal/run_issues.h"
#include "sql/migrate.h"
#include "ui/ui.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::server {

const char* const version = HONE_VERSION;

namespace {

std::string database_url(const config::Config& config) {
    return config.database_url.empty() ? "sqlite:" + config.data_dir + "/hone.db" : config.database_url;
}

// Ten thousand idle connections need as many descriptors; the soft limit is often 1,024.
void raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// A core dump of a server would hold what passes through its memory: requests with secrets, responses of models. Also
// where dumps go to a program, which no limit of their size prevents, they hold registers and no memory.
void keep_memory_out_of_core_dumps() {
    const Fd filter(::open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC));
    if (!filter.is_open() || ::write(filter.get(), "0", 1) != 1)
        log(Level::warning, "a core dump of this server would contain its memory", {{"errno", errno}});
    rlimit limit{};
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

// "all", or addresses. An empty list would lock out all users without a provider.
Result<std::optional<std::vector<std::string>>> password_accounts(const std::string& setting) {
    if (setting == "all") return std::optional<std::vector<std::string>>();
    std::vector<std::string> accounts;
    for (const std::string_view part : split(setting, ',')) {
        const auto email = access::checked_email(trim(part));
        if (!email.ok()) return invalid("password_logins must be `all` or e-mail addresses separated by commas");
        accounts.push_back(email.value());
    }
    return std::optional(std::move(accounts));
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

// Exporters of this machine use plain HTTP unless they are configured otherwise.
bool wants_otlp_tls(const config::Config& config, std::string_view address) {
    return !config.tls_key_file.empty() && !address.starts_with("127.") && !address.starts_with("[::1]") &&
           !address.starts_with("localhost:");
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
                                              const std::optional<std::string>& admin_password) {
    std::unique_ptr<Server> server(new Server(std::move(loaded), clock));
    TRY(server->open_data(admin_password));
    TRY(otlp::load_simdjson());
    TRY(server->open_spans());
    TRY(server->open_repositories());
    TRY(server->open_workers());
    TRY(server->open_improvement());
    TRY(server->open_storage());
    TRY(server->open_edge());
    TRY(server->open_otlp());
    TRY(server->m_workers->start(server->m_edge->addresses().back()));
    TRY(server->m_reviews->start());
    server->m_automations->start();
    server->m_storage->start();
    server->m_signal->start();
    TRY(server->m_evaluate->runner.start());
    server->m_evaluate->eval_runner.start();
    server->m_replaying->start();
    server->m_people->start();
    server->m_monitors->start();
    TRY(server->write_addresses());
    return server;
}

Result<> Server::open_data(const std::optional<std::string>& admin_password) {
    TRY(make_directories(m_config.data_dir, 0700));
    m_lock = TRY(sql::DirectoryLock::acquire(m_config.data_dir));
    remove_leftovers(m_config.data_dir);
    // Before the first child: none of them inherits the key.
    m_environment_key = take_from_environment("HONE_MASTER_KEY");
    m_environment_old_key = take_from_environment("HONE_MASTER_KEY_OLD");
    // First of all: the spawner is a child of a process that is still small and has no thread.
    m_sandboxes = TRY(open_sandboxes(m_config.data_dir, m_config.sandbox_ready, m_no_sandboxes));
    sql::Options options;
    options.url = database_url(m_config);
    m_database = TRY(sql::Database::open(options));
    m_schema_version = TRY(sql::migrate(*m_database, m_clock));
    const auto accounts = TRY(password_accounts(m_config.password_logins));
    access::Policy policy;
    policy.login = {m_config.login_session_lifetime, m_config.login_attempts, m_config.login_lockout, accounts,
                    m_config.second_factor_required == "true"};
    policy.invite_lifetime = m_config.invite_lifetime;
    m_access.emplace(*m_database, m_clock, policy);
    TRY(open_secrets());
    m_first_start = TRY(m_access->first_start(admin_password));
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

Result<> Server::open_workers() {
    WorkerParts parts{*m_database, m_clock, *m_access, *m_telemetry, *m_skills, *m_vault};
    parts.provider = m_sandboxes.get();
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
    m_workers = TRY(Workers::open(parts));
    m_reviews = std::make_unique<ReviewDuties>(
        ReviewParts{*m_database, m_clock, *m_access, m_workers->runs(), *m_skills, *m_vault, *m_repositories,
                    m_sandboxes.get(), m_config.data_dir, m_config.egress_ca_file, m_config.public_url, &*m_spans,
                    m_config.egress_proxy, m_config.egress_no_proxy});
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
    m_evaluator_runs.emplace(*m_database, m_clock, *m_access, runs.runs, runs.presets);
    m_evaluate.emplace(*m_database, m_clock, *m_access,
                       evaluate::EvaluateParts{m_sandboxes.get(), &*m_task_sources, &*m_spans,
                                               m_config.data_dir + "/experiments", m_config.evaluator_packages_dir,
                                               &*m_places, &*m_evaluator_runs, &*m_evaluator_secrets,
                                               &m_notices->notices()});
    m_signal.emplace(signal::Parts{*m_database, m_clock, *m_access, runs.runs, runs.presets, runs.artifacts,
                                   m_telemetry.get(), &m_notices->notices(), &m_automations->automations()});
    run::ReviewServices& reviews = m_reviews->services();
    m_fix_replays.emplace(signal::FixReplayParts{*m_database, m_clock, *m_access, *m_evaluate, m_signal->evaluators,
                                                 m_signal->issues, runs.artifacts, reviews.branches, reviews,
                                                 &*m_spans});
    m_replaying.emplace(DutyOptions{"replays of fixes", std::chrono::seconds(5)},
                        [this] { return m_fix_replays->step(); });
    m_fix_replays->set_listener([this] { m_replaying->wake(); });
    m_people.emplace(*m_evaluate, m_notices->notices());
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
    m_storage = TRY(StorageDuty::open({*m_database, m_clock, *m_access, m_workers->runs(), *m_repositories,
                                       m_sandboxes.get(), *m_spans, *m_vault, m_config.data_dir, server, limits}));
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
    options.engine.library = m_config.engine_library;
    options.engine.unconfined = m_config.engine_unconfined == "true";
    options.engine.memory_bytes = m_config.engine_memory.count;
    options.engine.idle_stop = m_config.engine_idle_stop;
    options.wal.cap_bytes = static_cast<size_t>(m_config.span_log_limit.count);
    options.loader.wait_limit = m_config.span_wait_limit;
    if (!m_config.prices_file.empty()) options.price_lines = TRY(read_file(m_config.prices_file, 1 << 20));
    const bool embedded = m_config.clickhouse_url.empty();
    const std::string engine_directory = embedded ? options.directory + "/engine" : "";
    m_telemetry = TRY(telemetry::Telemetry::open(std::move(options), *m_trace_projects, m_clock));
    m_spans.emplace(*m_telemetry, *m_trace_projects, *m_access, m_clock);
    m_span_duties.emplace(*m_access, *m_spans, m_clock, engine_directory);
    m_access->projects.add_data_owner(*m_span_duties);
    return {};
}

net::ServerOptions Server::edge_options() const {
    net::ServerOptions options;
    options.edge_threads = static_cast<unsigned>(m_config.edge_threads);
    options.lanes[static_cast<size_t>(net::Lane::control)] = {static_cast<unsigned>(m_config.control_threads),
                                                              static_cast<size_t>(m_config.control_queue)};
    options.lanes[static_cast<size_t>(net::Lane::query)].threads = static_cast<unsigned>(m_config.query_threads);
    options.lanes[static_cast<size_t>(net::Lane::ingest)].threads = static_cast<unsigned>(m_config.ingest_threads);
    options.limits.max_connections = static_cast<size_t>(m_config.max_connections);
    options.limits.max_connections_per_peer = static_cast<size_t>(m_config.max_connections_per_peer);
    options.limits.body_bytes = static_cast<size_t>(m_config.body_limit.count);
    options.limits.header_timeout = m_config.request_timeout;
    options.limits.body_timeout = m_config.request_timeout;
    options.limits.idle_timeout = m_config.keep_alive;
    options.clock = &m_clock;
    return options;
}

Result<> Server::open_edge() {
    raise_descriptor_limit();
    keep_memory_out_of_core_dumps();
    net::StaticFiles ui = m_config.ui_dir.empty() ? net::StaticFiles::embedded(ui::files())
                                                  : net::StaticFiles::directory(m_config.ui_dir);
    api::ApiOptions api_options;
    api_options.requests_per_minute = m_config.requests_per_minute;
    api_options.body_limit = static_cast<size_t>(m_config.body_limit.count);
    m_space_storage.emplace(
        SpaceStorageParts{m_clock, *m_access, *m_spans, m_workers->runs(), m_repositories->repos(), m_config.data_dir});
    m_api.emplace(api::Services{.access = *m_access,
                                .clock = m_clock,
                                .installation = *this,
                                .identities = *m_identities,
                                .spans = *m_spans,
                                .run = m_workers->runs(),
                                .review = m_reviews->services(),
                                .outputs = *m_outputs,
                                .storage = m_storage->storage(),
                                .skills = *m_skills,
                                .vault = *m_vault,
                                .usage = m_workers->usage(),
                                .budgets = m_workers->budgets(),
                                .automations = m_automations->automations(),
                                .scheduler = m_automations->scheduler(),
                                .monitors = m_monitors->monitors(),
                                .notices = m_notices->notices(),
                                .destinations = m_notices->destinations(),
                                .sender = m_notices->sender(),
                                .signal = *m_signal,
                                .fix_replays = *m_fix_replays,
                                .evaluate = *m_evaluate,
                                .repos = m_repositories->catalog(),
                                .forge_hooks = m_repositories->hooks()},
                  std::move(ui), api_options);
    m_span_duties->keep([this]() -> Result<std::map<std::string, std::vector<std::string>>> {
        auto kept = TRY(m_evaluate->datasets.source_traces());
        for (auto& [project, traces] : TRY(m_signal->issues.evidence_traces()))
            kept[project].insert(kept[project].end(), traces.begin(), traces.end());
        return kept;
    });
    m_sweeper.emplace(*m_access, *m_span_duties, *m_vault, *m_monitors, *m_identities);

    net::ServerOptions options = edge_options();
    const auto proxy_header =
        m_config.proxy_header == "forwarded" ? net::ProxyHeader::forwarded : net::ProxyHeader::x_forwarded;
    options.limits.trusted_proxies = TRY(net::TrustedProxies::parse(m_config.trusted_proxies, proxy_header));
    options.listen = {{m_config.listen, m_config.tls_certificate_file, m_config.tls_key_file}};
    // Workers reach the API through the gateway, which uses plain HTTP to this machine only.
    if (!m_config.tls_key_file.empty()) options.listen.push_back({"127.0.0.1:0", "", ""});
    m_edge = TRY(net::Server::start(std::move(options), *m_api));
    m_url = (m_config.tls_key_file.empty() ? "http://" : "https://") + m_edge->addresses().front();
    m_sweeper->start();
    return {};
}

Result<> Server::open_otlp() {
    std::optional<access::SpaceId> open_space;
    if (m_config.otlp_open == "true") {
        const auto space = m_access->spaces.find(access::Caller::system(), "default");
        if (!space.ok()) return invalid("otlp_open needs a space named default");
        open_space = space.value().id;
    }
    m_otlp_handler.emplace(*m_api, open_space);
    if (!m_config.otlp_http_listen.empty()) TRY(open_otlp_http());
    if (!m_config.otlp_grpc_listen.empty()) TRY(open_otlp_grpc());
    return {};
}

// A default address is not required; where another program has it (often a collector), the API still takes traces.
Result<> Server::without_default(std::string_view setting, const Error& error) const {
    if (m_loaded.sources.contains(setting))
        return Error{error.code, std::string(setting) + ": " + error.message, error.trail};
    log(Level::warning, "the default address for traces is in use; POST /v1/traces of the API receives them",
        {{"setting", setting}, {"why", error.message}});
    return {};
}

// A server of its own, so that a flood of traces takes no thread and no connection from the API.
Result<> Server::open_otlp_http() {
    net::ServerOptions options = edge_options();
    options.edge_threads = 1;
    options.lanes[static_cast<size_t>(net::Lane::control)] = {1, 16};
    options.lanes[static_cast<size_t>(net::Lane::query)] = {1, 16};
    const bool tls = wants_otlp_tls(m_config, m_config.otlp_http_listen);
    options.listen = {
        {m_config.otlp_http_listen, tls ? m_config.tls_certificate_file : "", tls ? m_config.tls_key_file : ""}};
    auto started = net::Server::start(std::move(options), *m_otlp_handler);
    if (!started.ok()) return without_default("otlp_http_listen", started.error());
    m_otlp_edge = std::move(started).value();
    m_otlp_url = (tls ? "https://" : "http://") + m_otlp_edge->addresses().front();
    return {};
}

Result<> Server::open_otlp_grpc() {
    const bool tls = wants_otlp_tls(m_config, m_config.otlp_grpc_listen);
    grpc_bytes::GrpcOptions options;
    options.address = m_config.otlp_grpc_listen;
    if (tls) options.certificate_file = m_config.tls_certificate_file, options.key_file = m_config.tls_key_file;
    options.threads = static_cast<unsigned>(m_config.ingest_threads);
    options.largest_message = static_cast<int>(telemetry::Ingest::body_limit);
    auto started = grpc_bytes::GrpcServer::start(
        options, [this](const grpc_bytes::GrpcCall& call) { return handle_grpc(*m_otlp_handler, call, m_clock); });
    if (!started.ok()) return without_default("otlp_grpc_listen", started.error());
    m_otlp_grpc = std::move(started).value();
    m_otlp_grpc_url = (tls ? "https://" : "http://") + m_otlp_grpc->address();
    return {};
}

Result<> Server::write_addresses() const {
    json::Object addresses{{"http", m_url}, {"pid", int64_t{::getpid()}}};
    // For commands on this machine, which cannot know whose name the certificate has.
    if (!m_config.tls_key_file.empty()) addresses["http_local"] = "http://" + m_edge->addresses().back();
    if (!m_otlp_url.empty()) addresses["otlp_http"] = m_otlp_url;
    if (!m_otlp_grpc_url.empty()) addresses["otlp_grpc"] = m_otlp_grpc_url;
    // And under the names of the settings, as those are written: what port 0 became.
    addresses["listen"] = m_edge->addresses().front();
    if (m_otlp_edge) addresses["otlp_http_listen"] = m_otlp_edge->addresses().front();
    if (m_otlp_grpc) addresses["otlp_grpc_listen"] = m_otlp_grpc->address();
    return write_file(m_config.data_dir + "/addresses.json", json::print(addresses) + "\n", 0644);
}

Server::~Server() {
    if (m_edge) ::unlink((m_config.data_dir + "/addresses.json").c_str());
}

void Server::drain() {
    ::unlink((m_config.data_dir + "/addresses.json").c_str()); // new clients must not find it
    // One after the other: a sender of traces repeats what got no response.
    if (m_otlp_grpc) m_otlp_grpc->drain(m_config.drain_timeout);
    bool complete = !m_otlp_edge || m_otlp_edge->drain(m_config.drain_timeout);
    complete = m_edge->drain(m_config.drain_timeout) && complete;
    if (!complete) log(Level::warning, "requests were interrupted at the end of drain_timeout");
}

Result<> Server::reload() {
    TRY(m_edge->reload_tls());
    return m_otlp_edge ? m_otlp_edge->reload_tls() : Result<>();
}

std::string Server::database_engine() const {
    return m_database->engine() == sql::Engine::sqlite ? "sqlite" : "postgres";
}

int64_t Server::data_dir_bytes() const {
    int64_t bytes = 0;
    std::error_code failed;
    for (std::filesystem::recursive_directory_iterator
             at(m_config.data_dir, std::filesystem::directory_options::skip_permission_denied, failed),
         end;
         !failed && at != end; at.increment(failed)) {
        // What is on disk: the volumes of sandboxes are mostly holes. A file may be gone meanwhile.
        struct stat found {};
        if (lstat(at->path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) bytes += found.st_blocks * int64_t{512};
    }
    return bytes;
}

std::vector<api::SettingView> Server::settings(const access::Caller& caller) const {
    std::vector<api::SettingView> views;
    if (!caller.permissions_of_installation().has(access::Permission::user_manage)) return views;
    for (const auto& setting : config::settings()) {
        const auto source = m_loaded.sources.find(setting.name);
        std::string value = setting.get(m_config);
        if (setting.secret && !value.empty()) value = "••••";
        views.push_back(
            {std::string(setting.name), std::string(setting.doc), std::move(value),
             config::source_name(source == m_loaded.sources.end() ? config::Source::built_in : source->second)});
    }
    return views;
}

std::string Server::not_ready() const {
    const auto rows = m_database->query("SELECT 1");
    return rows.ok() ? "" : "the database does not respond: " + rows.error().message;
}

std::string Server::metrics() const {
    const net::ServerCounts counts = m_edge->counts();
    MetricsWriter out;
    out.gauge("start_time_seconds", "When this server started.", static_cast<double>(to_ns(m_started_at)) / 1e9);
    out.counter("connections_accepted_total", "Connections accepted.", counts.connections_accepted);
    out.counter("connections_refused_total", "Connections over a limit.", counts.connections_refused);
    out.gauge("connections_open", "Connections open now.", counts.connections_open);
    out.counter("edge_requests_total", "Requests whose header was valid.", counts.requests);
    out.counter("edge_bad_requests_total", "Requests refused by the edge as malformed or over a limit.",
                counts.requests_bad);
    out.counter("edge_busy_requests_total", "Requests refused because a queue was full.", counts.requests_busy);
    out.counter("edge_abandoned_requests_total", "Span queries cancelled because their client disconnected.",
                counts.requests_abandoned);
    out.gauge("event_streams_open", "Live event streams.", counts.event_streams);
    out.counter("received_bytes_total", "Bytes read from sockets.", counts.bytes_in);
    out.counter("sent_bytes_total", "Bytes written to sockets.", counts.bytes_out);
    out.gauge("control_queue_length", "API requests waiting for a thread.",
              counts.lanes[static_cast<size_t>(net::Lane::control)].queued);
    const auto& queries = counts.lanes[static_cast<size_t>(net::Lane::query)];
    out.gauge("query_queue_length", "Span queries waiting for a thread.", queries.queued);
    out.gauge("queries_running", "Span queries that a thread works on.", queries.running);
    if (const auto secrets = m_skills->hygiene(); secrets.ok()) {
        out.family(MetricKind::gauge, "secrets", "Secrets by what their owner should check.");
        out.sample({{"state", "all"}}, secrets.value().secrets);
        out.sample({{"state", "old"}}, secrets.value().old);
        out.sample({{"state", "unused"}}, secrets.value().unused);
        out.sample({{"state", "env"}}, secrets.value().env);
    }
    m_span_duties->metrics(out);
    m_workers->metrics(out);
    m_storage->storage().metrics(out);
    m_automations->metrics(out);
    m_signal->metrics(out);
    m_monitors->metrics(out);
    return out.text();
}

Result<std::unique_ptr<net::BodySource>> Server::backup(const access::Caller& caller) {
    TRY(caller.require(access::Permission::backup_create));
    auto source =
        TRY(open_backup(*m_database, m_telemetry.get(), m_config.data_dir, m_clock, m_schema_version, server::version));
    TRY(m_access->audit.record(caller, {"backup_create", {}, "installation"}));
    return source;
}

} // namespace hone::server
