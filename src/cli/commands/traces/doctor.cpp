// What arrives in a project but is not understood, and what to change in the sender.
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include "base/text.h"

namespace hone::cli {

namespace {

const json::Array& list_in(const json::Value& object, std::string_view field) {
    static const json::Array none;
    const json::Value* list = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    return list != nullptr && list->is_array() ? list->get_array() : none;
}

double share_in(const json::Value& object) {
    const json::Value* share = object.is_object() ? object.get_object().if_contains("share") : nullptr;
    if (share != nullptr && share->is_double()) return share->get_double();
    return share != nullptr && share->is_int64() ? static_cast<double>(share->get_int64()) : 0;
}

std::string listed_names(const json::Value& object, std::string_view field) {
    std::string text;
    for (const auto& name : list_in(object, field))
        if (name.is_string() && !name.get_string().empty())
            text += (text.empty() ? "" : ", ") + safe_line(name.get_string());
    return text;
}

void print_finding(const Context& context, const json::Value& finding) {
    Console& console = context.console;
    const bool is_problem = text_of(finding, "severity") == "problem";
    console.print("\n" + console.paint(is_problem ? Style::red : Style::yellow, is_problem ? "problem" : "notice") +
                  "  " + console.paint(Style::bold, safe_line(text_of(finding, "title"))) + ": " +
                  count_text(number_of(finding, "count")) + " (" + share_text(share_in(finding)) + ")\n");
    console.print("  " + safe_line(text_of(finding, "explanation")) + "\n");
    if (const std::string services = listed_names(finding, "services"); !services.empty())
        console.print("  Services: " + services + "\n");
    if (const std::string scopes = listed_names(finding, "scopes"); !scopes.empty())
        console.print("  Instrumentations: " + scopes + "\n");
    const std::string fix = text_of(finding, "fix");
    for (const std::string_view line : split(fix, '\n')) console.print("  Change: " + safe_line(line) + "\n");
    if (const std::string filter = text_of(finding, "filter"); !filter.empty())
        console.print("  Spans:  hone spans -q '" + safe_line(filter) + "'\n");
}

void print_diagnosis(const Context& context, const json::Value& diagnosis) {
    Console& console = context.console;
    const int64_t spans = number_of(diagnosis, "spans");
    console.print(safe_line(text_of(diagnosis, "after").substr(0, 19)) + " to " +
                  safe_line(text_of(diagnosis, "before").substr(0, 19)) + ": " + count_text(spans) + " spans, " +
                  count_text(number_of(diagnosis, "calls")) + " model calls. Attributes of " +
                  count_text(number_of(diagnosis, "sampled")) + " spans were read.\n");
    std::string conventions;
    for (const auto& convention : list_in(diagnosis, "conventions"))
        conventions += (conventions.empty() ? "" : ", ") + safe_line(text_of(convention, "name")) + " " +
                       share_text(share_in(convention));
    if (!conventions.empty()) console.print("Conventions: " + conventions + "\n");
    if (list_in(diagnosis, "findings").empty())
        console.print(spans == 0 ? "No spans in this range. docs/send-traces.md shows how to send them.\n"
                                 : "Everything that arrives is understood.\n");
    for (const auto& finding : list_in(diagnosis, "findings")) print_finding(context, finding);
    const auto& unknown = list_in(diagnosis, "unknown_attributes");
    if (unknown.empty()) return;
    console.print("\nAttributes about models that no convention names:\n");
    for (const auto& attribute : unknown)
        console.print("  " + safe_line(text_of(attribute, "key")) + "  " + count_text(number_of(attribute, "spans")) +
                      " spans\n");
}

Result<> diagnose_traces(Context& context) {
    Query query = space_query(context);
    query.emplace_back("after", TRY(moment(context, "--after")));
    query.emplace_back("before", TRY(moment(context, "--before")));
    query.emplace_back("filter", context.value_or_empty("--filter"));
    const std::string path = path_of("/v1/projects", {context.value_or_empty("PROJECT"), "trace_diagnosis"});
    const json::Value diagnosis = TRY(context.remote.get(path, std::move(query)));
    if (context.json())
        print_json(context, diagnosis);
    else
        print_diagnosis(context, diagnosis);
    return {};
}

} // namespace

std::vector<Command> doctor_commands() {
    return {{.path = "doctor traces",
             .summary = "Show what arrives in a project but is not understood, and what to change in the sender.",
             .arguments = {{.name = "PROJECT", .doc = "Id or name of the project."}},
             .options = {{.name = "--filter",
                          .value = "FILTER",
                          .doc = "Only spans that match. hone fields lists the fields.",
                          .short_name = "-q"},
                         {.name = "--after",
                          .value = "TIME",
                          .doc = "Start of the range: a time, or a duration before now such as 2h. Default: 24h."},
                         {.name = "--before", .value = "TIME", .doc = "End of the range. Default: now."}},
             .details = "Counts cover the whole range; attributes are read from its newest spans, at most 1000.\n"
                        "Example: hone doctor traces shop --after 2h",
             .run = diagnose_traces}};
}

} // namespace hone::cli
