// For people who run Hone: the servers that share its database, a diagnosis of one, its capacity.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

namespace hone::cli {

namespace {

Columns server_columns() {
    return {
        {.title = "name", .field = "name", .kind = Kind::id},
        {.title = "live", .field = "live", .kind = Kind::yes_no},
        {.title = "roles", .field = "roles"},
        {.title = "version", .field = "version"},
        {.title = "address", .field = "address"},
        {.title = "started", .field = "started_at", .kind = Kind::time},
        {.title = "lease until", .field = "lease_until", .kind = Kind::time},
        {.title = "spans in", .field = "span_store", .only_single = true},
        {.title = "objects in", .field = "object_store", .only_single = true},
    };
}

Columns capacity_columns() {
    return {
        {.title = "spans", .field = "spans", .kind = Kind::number},
        {.title = "size", .field = "spans_bytes", .kind = Kind::bytes},
        {.title = "size of a span", .field = "bytes_per_span", .kind = Kind::bytes},
        {.title = "days with spans", .field = "days_with_spans", .kind = Kind::number},
        {.title = "spans a day", .field = "spans_per_day", .kind = Kind::number},
        {.title = "disk a day", .field = "span_bytes_per_day", .kind = Kind::bytes},
        {.title = "disk", .field = "disk_bytes", .kind = Kind::bytes},
        {.title = "free", .field = "disk_free_bytes", .kind = Kind::bytes},
        {.title = "days until full", .field = "days_until_full", .kind = Kind::number},
        {.title = "model calls a day", .field = "model_calls_per_day", .kind = Kind::number},
        {.title = "cost a day", .field = "model_cost_micro_usd_per_day", .kind = Kind::money},
    };
}

Result<> list_servers(Context& context) {
    const json::Value servers = TRY(context.remote.get("/v1/servers"));
    return show_rows(context, servers, server_columns(), "No server has joined yet.");
}

Result<> show_capacity(Context& context) {
    const json::Value capacity = TRY(context.remote.get("/v1/capacity"));
    return show_record(context, capacity, capacity_columns());
}

void print_check(const Context& context, const json::Value& finding) {
    Console& console = context.console;
    const std::string state = text_of(finding, "state");
    const Style style = state == "ok" ? Style::green : state == "warning" ? Style::yellow : Style::red;
    console.print(console.paint(style, safe_line(state)) + std::string(9 - std::min<size_t>(8, state.size()), ' ') +
                  console.paint(Style::bold, safe_line(text_of(finding, "name"))) + ": " +
                  safe_line(text_of(finding, "detail")) + "\n");
    if (const std::string advice = text_of(finding, "advice"); !advice.empty())
        console.print("         " + safe_line(advice) + "\n");
}

// Exit code 1 when there is a problem, for scripts.
Result<> diagnose_server(Context& context) {
    const json::Value findings = TRY(context.remote.get("/v1/diagnosis"));
    size_t problems = 0;
    if (context.json()) print_json(context, findings);
    if (findings.is_array())
        for (const json::Value& finding : findings.get_array()) {
            problems += text_of(finding, "state") == "problem" ? 1 : 0;
            if (!context.json()) print_check(context, finding);
        }
    if (problems == 0) return {};
    return context.fail(Exit::failure,
                        std::to_string(problems) + (problems == 1 ? " problem" : " problems") + " found");
}

} // namespace

std::vector<Command> operations_commands() {
    return {{.path = "doctor",
             .summary = "Show what is slow, full, late or misconfigured on the server.",
             .details =
                 "Checks the database, the span store, the object store, the clock, the lease, waiting spans, their "
                 "parts and merges, disk, scheduler, refused requests, TLS, backups, secrets, and the roles and "
                 "stores of the other servers of the database. Exit code 1 when there is a problem.\n"
                 "For the machine, without a server: hone check.",
             .run = diagnose_server},
            {.path = "server list",
             .summary = "List the servers that share the database, with their roles.",
             .run = list_servers},
            {.path = "storage capacity",
             .summary = "Show spans per day, disk and cost of model calls, and when the disk is full at this rate.",
             .run = show_capacity}};
}

} // namespace hone::cli
