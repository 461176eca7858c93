// The audit log.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "json/json.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

enum class AuditScope { space, installation };
constexpr auto enum_names(AuditScope) {
    return std::array{EnumName{AuditScope::space, "space"}, EnumName{AuditScope::installation, "installation"}};
}

struct ListAudit {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<AuditScope> scope;
    std::optional<std::string> actor;
    std::optional<std::string> action;
    std::optional<std::string> target;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListAudit::space, "Id or name of the space; the caller's first one if not given."},
        Field{"scope", &ListAudit::scope,
              "installation: all entries, also those without a space; for installation owners."},
        Field{"actor", &ListAudit::actor, "Id or name of the user, key or run."},
        Field{"action", &ListAudit::action, "project_create, or all of a resource: project_*."},
        Field{"target", &ListAudit::target, "Id of the changed object."},
        Field{"after", &ListAudit::after, "Entries at or after this time."},
        Field{"before", &ListAudit::before, "Entries before this time."},
        Field{"limit", &ListAudit::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListAudit::cursor, "next_cursor of the previous response."},
    };
};

enum class AuditFormat { jsonl, csv };
constexpr auto enum_names(AuditFormat) {
    return std::array{EnumName{AuditFormat::jsonl, "jsonl"}, EnumName{AuditFormat::csv, "csv"}};
}

struct ExportAudit {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<AuditScope> scope;
    std::optional<std::string> actor;
    std::optional<std::string> action;
    std::optional<std::string> target;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<AuditFormat> format;
    static constexpr Pack fields{
        Field{"space", &ExportAudit::space, "Id or name of the space; the caller's first one if not given."},
        Field{"scope", &ExportAudit::scope,
              "installation: all entries, also those without a space; for installation owners."},
        Field{"actor", &ExportAudit::actor, "Id or name of the user, key or run."},
        Field{"action", &ExportAudit::action, "project_create, or all of a resource: project_*."},
        Field{"target", &ExportAudit::target, "Id of the changed object."},
        Field{"after", &ExportAudit::after, "Entries at or after this time."},
        Field{"before", &ExportAudit::before, "Entries before this time."},
        Field{"format", &ExportAudit::format, "jsonl (JSON lines) or csv; jsonl if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<std::optional<access::SpaceId>> audit_space(const Call& call, const std::optional<std::string>& space,
                                                   const std::optional<AuditScope>& scope) {
    if (scope == AuditScope::installation) {
        if (space) return invalid("space and scope=installation exclude each other");
        return std::optional<access::SpaceId>();
    }
    return std::optional(TRY(space_of(call, space)));
}

// A cell of CSV (RFC 4180). A spreadsheet takes text that begins like a formula for one; an apostrophe prevents it.
std::string csv_cell(const json::Value& value) {
    std::string text = value.is_string() ? std::string(value.get_string()) : value.is_null() ? "" : json::print(value);
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos && value.is_string())
        text.insert(0, "'");
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csv_line(const json::Object& object, bool names) {
    std::string line;
    for (const auto& member : object) {
        if (!line.empty()) line += ',';
        line += names ? std::string(member.key()) : csv_cell(member.value());
    }
    return line + "\r\n";
}

// The audit log as JSON lines or CSV, a page at a time.
class AuditSource final : public net::BodySource {
public:
    AuditSource(const access::AuditLog& audit, access::Caller caller, std::optional<access::SpaceId> space,
                access::AuditFilter filter, AuditFormat format, std::vector<access::AuditEntry> first)
        : m_audit(audit),
          m_caller(std::move(caller)),
          m_space(std::move(space)),
          m_filter(std::move(filter)),
          m_format(format),
          m_page(std::move(first)) {}

    Result<std::string> next() override {
        std::string lines;
        // The names of the columns are there even if no entry is.
        if (m_format == AuditFormat::csv && !m_has_begun)
            lines = csv_line(json::to_value(access::AuditEntry{}).get_object(), true);
        m_has_begun = true;
        for (const auto& entry : m_page) {
            const json::Value value = json::to_value(entry);
            lines += m_format == AuditFormat::csv ? csv_line(value.get_object(), false) : json::print(value) + "\n";
            m_seq = entry.seq;
        }
        if (!m_page.empty()) m_page = TRY(m_audit.entries_after(m_caller, m_space, m_seq, rows, m_filter));
        return lines;
    }

    static constexpr int64_t rows = 500;

private:
    const access::AuditLog& m_audit;
    const access::Caller m_caller;
    const std::optional<access::SpaceId> m_space;
    const access::AuditFilter m_filter;
    const AuditFormat m_format;
    bool m_has_begun = false;
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
    const access::AuditFilter filter{query.actor, query.action, query.target, query.after, query.before};
    const AuditFormat format = query.format.value_or(AuditFormat::jsonl);
    auto first = TRY(call.access().audit.entries_after(call.caller, space, 0, AuditSource::rows, filter));
    net::Response response;
    response.content_type = format == AuditFormat::csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
    response.set_header("Content-Disposition", "attachment; filename=\"audit." + std::string(name_of(format)) + "\"");
    response.stream =
        std::make_unique<AuditSource>(call.access().audit, call.caller, space, filter, format, std::move(first));
    return response;
}

Result<One<access::AuditVerification>> verify_audit(const Call& call) {
    return One<access::AuditVerification>{TRY(call.access().audit.verify(call.caller))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route audit_table[] = {
    route<list_audit>("GET", "/v1/audit", need(audit_read), "Audit log, newest first."),
    route<export_audit>("GET", "/v1/audit/export", need(audit_read), "Audit log as JSON lines or CSV, oldest first.")
        .raw("application/x-ndjson, text/csv"),
    route<verify_audit>("GET", "/v1/audit/verify", need(audit_verify), "Check the hash chain of the audit log."),
};

} // namespace

std::span<const Route> audit_routes() {
    return audit_table;
}

} // namespace hone::api
