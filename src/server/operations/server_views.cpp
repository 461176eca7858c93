// What an administrator sees and does: readiness, metrics, settings, backups, the servers, their diagnosis and
// capacity.
#include "server/backup/backup.h"
#include "server/backup/stored_backups.h"
#include "server/operations/capacity.h"
#include "server/operations/diagnosis.h"
#include "server/server.h"

#include <filesystem>
#include <sys/stat.h>

namespace hone::server {

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
    if (m_is_draining) return "the server is stopping";
    if (std::string why = m_membership->not_ready(); !why.empty()) return why;
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
    m_membership->metrics(out);
    if (m_self_telemetry) m_self_telemetry->metrics(out);
    return out.text();
}

Result<std::unique_ptr<net::BodySource>> Server::backup(const access::Caller& caller) {
    TRY(caller.require(access::Permission::backup_create));
    auto source =
        TRY(open_backup(*m_database, m_telemetry.get(), m_config.data_dir, m_clock, m_schema_version, server::version));
    TRY(m_access->audit.record(caller, {"backup_create", {}, "installation"}));
    return source;
}

Result<api::StoredBackup> Server::store_backup(const access::Caller& caller) {
    TRY(caller.require(access::Permission::backup_create));
    if (m_is_storing_backup.exchange(true)) return busy("a backup is being written to the object store already");
    const auto stored = [&]() -> Result<api::StoredBackup> {
        const auto source = TRY(backup(caller));
        return server::store_backup(*m_objects, *source, m_clock.now());
    }();
    m_is_storing_backup = false;
    return stored;
}

Result<std::vector<api::ServerView>> Server::servers(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    return server_views(m_membership->servers());
}

Result<std::vector<api::FindingView>> Server::diagnosis(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    return diagnose({*m_database, m_clock, m_config, *m_membership, *m_telemetry, m_span_duties->merges(),
                     m_automations->scheduler(), *m_skills, *m_objects, m_sandboxes.get(), m_no_sandboxes,
                     m_edge->counts(), m_roles});
}

Result<api::CapacityView> Server::capacity(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    TRY(m_spans->store());
    return measure_capacity({*m_access, m_clock, m_spans->retention, m_workers->usage(), m_config.data_dir,
                             m_config.clickhouse_url.empty()});
}

Result<api::ClusterCredentialView> Server::cluster_credential(const access::Caller& caller) {
    TRY(caller.require(access::Permission::user_manage));
    api::ClusterCredentialView view;
    view.in_use = m_config.kubernetes_kubeconfig == sealed_kubeconfig;
    const auto stored = TRY(m_cluster_credentials->stored());
    if (!stored) return view;
    const auto access = TRY(m_cluster_credentials->find());
    view.stored = true;
    view.server = access->server;
    view.name_space = access->name_space;
    view.context = stored->context;
    view.kind = access->client_certificate.empty() ? "token" : "client certificate";
    view.set_at = stored->set_at;
    return view;
}

Result<api::ClusterCredentialView> Server::set_cluster_credential(const access::Caller& caller,
                                                                  const api::SetClusterCredential& body) {
    TRY(m_cluster_credentials->set(caller, body.kubeconfig, body.context.value_or("")));
    return cluster_credential(caller);
}

Result<> Server::remove_cluster_credential(const access::Caller& caller) {
    return m_cluster_credentials->remove(caller);
}

Result<std::vector<api::StoredBackup>> Server::stored_backups(const access::Caller& caller) {
    TRY(caller.require(access::Permission::backup_create));
    return server::stored_backups(*m_objects);
}

} // namespace hone::server
