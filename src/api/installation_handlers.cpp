#include "api/handlers.h"
#include "api/routes.h"

namespace hone::api {

namespace {

Result<std::optional<access::SpaceId>> audit_space(const Call& call, const std::optional<std::string>& space,
                                                   const std::optional<AuditScope>& scope) {
    if (scope == AuditScope::installation) {
        if (space) return invalid("space and scope=installation exclude each other");
        return std::optional<access::SpaceId>();
    }
    return std::optional(TRY(call.access().spaces.choose(call.caller, space)));
}

// The audit log as JSON lines, a page at a time.
class AuditSource final : public net::BodySource {
public:
    AuditSource(const access::AuditLog& audit, access::Caller caller, std::optional<access::SpaceId> space,
                std::vector<access::AuditEntry> first)
        : m_audit(audit),
          m_caller(std::move(caller)),
          m_space(std::move(space)),
          m_page(std::move(first)) {}

    Result<std::string> next() override {
        std::string lines;
        for (const auto& entry : m_page) {
            lines += json::write(entry) + "\n";
            m_seq = entry.seq;
        }
        if (!m_page.empty()) m_page = TRY(m_audit.entries_after(m_caller, m_space, m_seq, rows));
        return lines;
    }

    static constexpr int64_t rows = 500;

private:
    const access::AuditLog& m_audit;
    const access::Caller m_caller;
    const std::optional<access::SpaceId> m_space;
    std::vector<access::AuditEntry> m_page;
    int64_t m_seq = 0;
};

} // namespace

Result<List<access::AuditEntry>> list_audit(const Call& call, const ListAudit& query) {
    const auto space = TRY(audit_space(call, query.space, query.scope));
    const access::AuditFilter filter{query.actor, query.action, query.target, query.after, query.before};
    return call.access().audit.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<net::Response> export_audit(const Call& call, const ExportAudit& query) {
    const auto space = TRY(audit_space(call, query.space, query.scope));
    // The first page is read here, so that a refusal is a proper error and not a broken download.
    auto first = TRY(call.access().audit.entries_after(call.caller, space, 0, AuditSource::rows));
    net::Response response;
    response.content_type = "application/x-ndjson";
    response.set_header("Content-Disposition", "attachment; filename=\"audit.jsonl\"");
    response.stream = std::make_unique<AuditSource>(call.access().audit, call.caller, space, std::move(first));
    return response;
}

Result<One<access::AuditVerification>> verify_audit(const Call& call) {
    return One<access::AuditVerification>{TRY(call.access().audit.verify(call.caller))};
}

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
    if (call.caller.permissions_of_installation().has(access::Permission::user_manage))
        info.settings = installation.settings();
    return One<ServerInfo>{std::move(info)};
}

Result<net::Response> get_backup(const Call& call) {
    TRY(call.caller.require(access::Permission::backup_create));
    net::Response response;
    response.stream = TRY(call.services.installation.backup(call.caller));
    response.content_type = "application/zstd";
    response.set_header("Content-Disposition", "attachment; filename=\"hone-backup.tar.zst\"");
    return response;
}

Result<net::Response> get_openapi(const Call& call) {
    return net::json_response(200, json::print(openapi(call.services.installation.version())));
}

} // namespace hone::api
