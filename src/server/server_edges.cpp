// How a server is reached: the HTTP edge with the API, OTLP over HTTP and gRPC, and what it sends about itself.
#include "base/file.h"
#include "base/log.h"
#include "server/server.h"
#include "ui/ui.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hone::server {

namespace {

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

// Exporters of this machine use plain HTTP unless they are configured otherwise.
bool wants_otlp_tls(const config::Config& config, std::string_view address) {
    return !config.tls_key_file.empty() && !address.starts_with("127.") && !address.starts_with("[::1]") &&
           !address.starts_with("localhost:");
}

} // namespace

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
    m_role_edge.emplace(*m_api, m_roles);
    m_edge = TRY(net::Server::start(std::move(options), *m_role_edge));
    if (!m_roles.api) TRY(open_local_edge());
    m_url = (m_config.tls_key_file.empty() ? "http://" : "https://") + m_edge->addresses().front();
    m_sweeper->start();
    return {};
}

// Workers of a server that does not serve the API use it all the same, on this machine only.
Result<> Server::open_local_edge() {
    net::ServerOptions options = edge_options();
    options.edge_threads = 1;
    options.listen = {{"127.0.0.1:0", "", ""}};
    m_local_edge = TRY(net::Server::start(std::move(options), *m_api));
    return {};
}

Result<> Server::open_self_telemetry() {
    if (m_config.telemetry_endpoint.empty()) return {};
    SelfTelemetryOptions options;
    options.endpoint = m_config.telemetry_endpoint;
    while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
    if (!options.endpoint.starts_with("http://") && !options.endpoint.starts_with("https://"))
        return invalid("telemetry_endpoint must be an address of OTLP/HTTP, such as http://collector:4318, not " +
                       m_config.telemetry_endpoint);
    options.headers = TRY(parse_telemetry_headers(m_config.telemetry_headers));
    options.ca_file = m_config.telemetry_ca_file;
    options.server = m_membership->name();
    options.version = server::version;
    options.metrics_interval = m_config.telemetry_interval;
    options.metrics = [this] {
        net::Request request;
        request.method = "GET";
        request.path = "/metrics";
        return m_api->handle(std::move(request)).body;
    };
    m_self_telemetry.emplace(std::move(options), m_clock);
    return {};
}

Result<> Server::open_otlp() {
    if (!m_roles.ingest) return {};
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

} // namespace hone::server
