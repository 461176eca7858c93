#include "cli/remote/download.h"
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

Columns audit_columns() {
    return {
        {.title = "seq", .field = "seq", .kind = Kind::number},
        {.title = "time", .field = "time", .kind = Kind::time},
        {.title = "actor", .field = "actor_name"},
        {.title = "action", .field = "action"},
        {.title = "target", .field = "target", .kind = Kind::id},
        {.title = "ip address", .field = "peer"},
        {.title = "details", .field = "details"},
    };
}

Result<Query> audit_query(const Context& context) {
    Query query = space_query(context);
    for (const auto* name : {"actor", "action", "target", "scope"})
        query.emplace_back(name, context.value_or_empty("--" + std::string(name)));
    query.emplace_back("after", TRY(moment(context, "--after")));
    query.emplace_back("before", TRY(moment(context, "--before")));
    return query;
}

Result<> list_audit(Context& context) {
    return show_list(context, "/v1/audit", TRY(audit_query(context)), audit_columns(),
                     "No entries match. Without filters, hone audit list shows the newest entries.");
}

Result<> verify_audit(Context& context) {
    const json::Value result = TRY(context.remote.get("/v1/audit/verify"));
    const json::Value* ok = result.is_object() ? result.get_object().if_contains("ok") : nullptr;
    const bool is_intact = ok != nullptr && ok->is_bool() && ok->get_bool();
    TRY(show_record(context, result,
                    {{.title = "intact", .field = "ok", .kind = Kind::yes_no},
                     {.title = "entries", .field = "entries", .kind = Kind::number},
                     {.title = "head hash", .field = "head_hash"},
                     {.title = "first broken entry", .field = "first_bad_seq", .kind = Kind::number, .absent = "none"},
                     {.title = "message", .field = "message"}}));
    if (is_intact) return {};
    return context.fail(Exit::failure, "the audit log has been changed or damaged",
                        "compare with the last hone audit export or backup");
}

Result<> export_audit(Context& context) {
    Query query = TRY(audit_query(context));
    const std::string format = context.value_or_empty("--format");
    query.emplace_back("format", format);
    const Call call{.path = "/v1/audit/export", .query = std::move(query)};
    const std::string file = context.parsed.value("--output").value_or("-");
    const std::string type = format == "csv" ? "text/csv" : "application/x-ndjson";
    if (file != "-") return download_to_file(context, call, type, file);
    return download_to_console(context, call, type);
}

const std::vector<Option> audit_filters{
    {.name = "--actor", .value = "ID", .doc = "Only actions of this user or key."},
    {.name = "--action", .value = "ACTION", .doc = "Only this action, such as project_create."},
    {.name = "--target", .value = "ID", .doc = "Only actions on this target."},
    {.name = "--after", .value = "TIME", .doc = "Only entries after this time, or within a duration: --after 2h."},
    {.name = "--before", .value = "TIME", .doc = "Only entries before this time."},
    {.name = "--scope",
     .value = "SCOPE",
     .doc = "installation: over all spaces, for installation owners.",
     .choices = {"installation"}}};

} // namespace

std::vector<Command> audit_commands() {
    return {
        {.path = "audit list",
         .summary = "List the entries of the audit log, newest first.",
         .options = audit_filters,
         .lists = true,
         .run = list_audit},
        {.path = "audit verify",
         .summary = "Check the hash chain of the whole log; exit code 1 when it is broken.",
         .run = verify_audit},
        {.path = "audit export",
         .summary = "Write the entries of the space as JSON lines or CSV, oldest first.",
         .options = with(audit_filters, {{.name = "--format",
                                          .value = "FORMAT",
                                          .doc = "jsonl or csv; jsonl if not given.",
                                          .choices = {"jsonl", "csv"}},
                                         {.name = "--output",
                                          .value = "FILE",
                                          .doc = "File to write. Default: standard output.",
                                          .short_name = "-o"}}),
         .run = export_audit},
    };
}

} // namespace hone::cli
