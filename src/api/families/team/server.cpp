// The server itself: version and settings, backup, the OpenAPI document.
#include "api/core/documents.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "base/program.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct RoleInfo {
    access::Role role = access::Role::viewer;
    std::string doc;
    std::vector<std::string> permissions;
    static constexpr Pack fields{
        Field{"role", &RoleInfo::role, ""},
        Field{"doc", &RoleInfo::doc, ""},
        Field{"permissions", &RoleInfo::permissions, ""},
    };
};

struct PermissionInfo {
    std::string name;
    std::string doc;
    bool installation = false;
    static constexpr Pack fields{
        Field{"name", &PermissionInfo::name, ""},
        Field{"doc", &PermissionInfo::doc, ""},
        Field{"installation", &PermissionInfo::installation, "Held by installation owners only."},
    };
};

struct VersionChange {
    std::string version;
    std::string previous;
    Time since{};
    static constexpr Pack fields{
        Field{"version", &VersionChange::version, ""},
        Field{"previous", &VersionChange::previous, "The version that served before; empty: none was recorded."},
        Field{"since", &VersionChange::since, "Its first start."},
    };
};

struct ServerInfo {
    std::string version;
    bool program_replaced = false;
    std::vector<VersionChange> versions;
    Time started_at{};
    int64_t schema_version = 0;
    std::string database;
    int64_t data_dir_bytes = 0;
    std::vector<RoleInfo> roles;
    std::vector<PermissionInfo> permissions;
    std::vector<SettingView> settings;
    static constexpr Pack fields{
        Field{"version", &ServerInfo::version, ""},
        Field{"program_replaced", &ServerInfo::program_replaced,
              "The program on the disk is another one than the one that runs: a restart completes the upgrade."},
        Field{"versions", &ServerInfo::versions,
              "The versions that served, newest first, at most 20; for installation owners, empty for others."},
        Field{"started_at", &ServerInfo::started_at, ""},
        Field{"schema_version", &ServerInfo::schema_version, ""},
        Field{"database", &ServerInfo::database, "sqlite or postgres."},
        Field{"data_dir_bytes", &ServerInfo::data_dir_bytes, "Disk used by the data directory."},
        Field{"roles", &ServerInfo::roles, ""},
        Field{"permissions", &ServerInfo::permissions, ""},
        Field{"settings", &ServerInfo::settings, "For installation owners; empty for others."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// The audit log records them; those who cannot read all of it see none.
std::vector<VersionChange> version_changes(const Call& call) {
    std::vector<VersionChange> changes;
    access::AuditFilter filter;
    filter.action = "version_change";
    const auto entries = call.access().audit.list(call.caller, {}, filter, {20, {}});
    if (!entries.ok()) return changes;
    for (const access::AuditEntry& entry : entries.value().data) {
        const json::Value* from = entry.details.is_object() ? entry.details.get_object().if_contains("from") : nullptr;
        const std::string previous(from && from->is_string() ? std::string_view(from->get_string()) : "");
        changes.push_back({entry.target, previous, entry.time});
    }
    return changes;
}

} // namespace

Result<One<ServerInfo>> get_server(const Call& call) {
    const Installation& installation = call.services.installation;
    ServerInfo info;
    info.version = installation.version();
    info.program_replaced = program_was_replaced();
    info.versions = version_changes(call);
    info.started_at = installation.started_at();
    info.schema_version = installation.schema_version();
    info.database = installation.database_engine();
    info.data_dir_bytes = installation.data_dir_bytes();
    for (const auto& role : enum_names(access::Role{}))
        info.roles.push_back(
            {role.value, std::string(access::role_doc(role.value)), access::permissions_of(role.value).names()});
    for (const auto& row : access::permission_table())
        info.permissions.push_back({std::string(name_of(row.permission)), std::string(row.doc), row.installation});
    info.settings = installation.settings(call.caller);
    return One<ServerInfo>{std::move(info)};
}

Result<List<LicenseView>> list_licenses(const Call& call) {
    return List<LicenseView>{call.services.installation.licenses(), {}};
}

Result<List<SpaceStorage>> list_storage(const Call& call, const PageQuery& query) {
    const access::PageRequest page = TRY(page_of(query.limit, query.cursor));
    const std::string after = TRY(page.after());
    const auto place = [](const SpaceStorage& row) { return row.space_id ? row.space_id->text() : "~"; };
    std::vector<SpaceStorage> rows = TRY(call.services.installation.storage(call.caller));
    std::erase_if(rows, [&](const SpaceStorage& row) { return place(row) <= after; });
    if (rows.size() > static_cast<size_t>(page.limit) + 1) rows.resize(static_cast<size_t>(page.limit) + 1);
    return access::make_page(std::move(rows), page, place);
}

Result<net::Response> get_backup(const Call& call) {
    net::Response response;
    response.stream = TRY(call.services.installation.backup(call.caller));
    response.content_type = "application/zstd";
    response.set_header("Content-Disposition", "attachment; filename=\"hone-backup.tar.zst\"");
    return response;
}

Result<One<StoredBackup>> store_backup(const Call& call) {
    return One<StoredBackup>{TRY(call.services.installation.store_backup(call.caller))};
}

Result<List<StoredBackup>> list_backups(const Call& call, const PageQuery& query) {
    const access::PageRequest page = TRY(page_of(query.limit, query.cursor));
    const std::string after = TRY(page.after());
    std::vector<StoredBackup> all = TRY(call.services.installation.stored_backups(call.caller));
    // Newest first, by name.
    std::erase_if(all, [&](const StoredBackup& one) { return !after.empty() && one.name >= after; });
    if (all.size() > static_cast<size_t>(page.limit) + 1) all.resize(static_cast<size_t>(page.limit) + 1);
    return access::make_page(std::move(all), page, [](const StoredBackup& one) { return one.name; });
}

Result<List<ServerView>> list_servers(const Call& call) {
    return List<ServerView>{TRY(call.services.installation.servers(call.caller)), {}};
}

Result<List<FindingView>> get_diagnosis(const Call& call) {
    return List<FindingView>{TRY(call.services.installation.diagnosis(call.caller)), {}};
}

Result<One<ClusterCredentialView>> get_cluster_credential(const Call& call) {
    return One<ClusterCredentialView>{TRY(call.services.installation.cluster_credential(call.caller))};
}

Result<One<ClusterCredentialView>> set_cluster_credential(const Call& call, const SetClusterCredential& body) {
    return One<ClusterCredentialView>{TRY(call.services.installation.set_cluster_credential(call.caller, body))};
}

Result<NoContent> remove_cluster_credential(const Call& call) {
    TRY(call.services.installation.remove_cluster_credential(call.caller));
    return NoContent{};
}

Result<One<CapacityView>> get_capacity(const Call& call) {
    return One<CapacityView>{TRY(call.services.installation.capacity(call.caller))};
}

Result<net::Response> get_openapi(const Call& call) {
    return net::json_response(200, json::print(openapi(call.services.installation.version())));
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route server_table[] = {
    route<get_server>("GET", "/v1/server", login, "Version, roles, permissions; settings for installation owners."),
    route<list_servers>("GET", "/v1/servers", need(user_manage), "Servers that share the database, with their roles."),
    route<get_diagnosis>("GET", "/v1/diagnosis", need(user_manage),
                         "What is slow, full, late or misconfigured on this server."),
    route<get_capacity>("GET", "/v1/capacity", need(user_manage), "Spans per day, disk and cost of model calls."),
    route<get_cluster_credential>("GET", "/v1/cluster/credential", need(user_manage),
                                  "What the stored credentials for a Kubernetes cluster are for; never themselves."),
    route<set_cluster_credential>("PUT", "/v1/cluster/credential", need(user_manage),
                                  "Store credentials for a Kubernetes cluster, encrypted."),
    route<remove_cluster_credential>("DELETE", "/v1/cluster/credential", need(user_manage),
                                     "Delete the stored credentials for a Kubernetes cluster."),
    route<list_licenses>("GET", "/v1/licenses", login, "Libraries that are part of Hone, and their licenses."),
    route<list_storage>("GET", "/v1/storage/spaces", need(user_manage), "Disk used by each space."),
    route<get_backup>("GET", "/v1/backup", need(backup_create),
                      "A backup of the database, spans and evals, for `hone restore`.")
        .raw("application/zstd"),
    route<store_backup>("POST", "/v1/backups", need(backup_create),
                        "Write a backup to the object store; the response comes when it is complete."),
    route<list_backups>("GET", "/v1/backups", need(backup_create), "Backups in the object store, newest first."),
    route<get_openapi>("GET", "/openapi.json", guest, "This document.").raw("application/json"),
};

} // namespace

std::span<const Route> server_routes() {
    return server_table;
}

} // namespace hone::api
