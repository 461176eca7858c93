// The server itself: version and settings, backup, the OpenAPI document.
#include "api/core/documents.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct RoleInfo {
    access::Role role = access::Role::viewer;
    std::string doc;
    std::vector<std::string> permissions;
    static constexpr std::tuple fields{
        Field{"role", &RoleInfo::role, ""},
        Field{"doc", &RoleInfo::doc, ""},
        Field{"permissions", &RoleInfo::permissions, ""},
    };
};

struct PermissionInfo {
    std::string name;
    std::string doc;
    bool installation = false;
    static constexpr std::tuple fields{
        Field{"name", &PermissionInfo::name, ""},
        Field{"doc", &PermissionInfo::doc, ""},
        Field{"installation", &PermissionInfo::installation, "Held by installation owners only."},
    };
};

struct ServerInfo {
    std::string version;
    Time started_at{};
    int64_t schema_version = 0;
    std::string database;
    int64_t data_dir_bytes = 0;
    std::vector<RoleInfo> roles;
    std::vector<PermissionInfo> permissions;
    std::vector<SettingView> settings;
    static constexpr std::tuple fields{
        Field{"version", &ServerInfo::version, ""},
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

Result<One<ServerInfo>> get_server(const Call& call) {
    const Installation& installation = call.services.installation;
    ServerInfo info;
    info.version = installation.version();
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

Result<net::Response> get_openapi(const Call& call) {
    return net::json_response(200, json::print(openapi(call.services.installation.version())));
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route server_table[] = {
    route<get_server>("GET", "/v1/server", login, "Version, roles, permissions; settings for installation owners."),
    route<list_licenses>("GET", "/v1/licenses", login, "Libraries that are part of Hone, and their licenses."),
    route<list_storage>("GET", "/v1/storage/spaces", need(user_manage), "Disk used by each space."),
    route<get_backup>("GET", "/v1/backup", need(backup_create),
                      "A backup of the database, spans and evals, for `hone restore`.")
        .raw("application/zstd"),
    route<get_openapi>("GET", "/openapi.json", guest, "This document.").raw("application/json"),
};

} // namespace

std::span<const Route> server_routes() {
    return server_table;
}

} // namespace hone::api
