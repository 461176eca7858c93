#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

Result<> explain(Context& context) {
    Query query = space_query(context);
    query.emplace_back("url", context.value_or_empty("URL"));
    for (const char* name : {"method", "preset", "mode"})
        if (const auto value = context.parsed.value("--" + std::string(name))) query.emplace_back(name, *value);
    for (const char* name : {"skill", "allow"})
        for (const std::string& value : context.parsed.all("--" + std::string(name))) query.emplace_back(name, value);
    const json::Value told = TRY(context.remote.get("/v1/broker/explain", query));
    return show_record(context, told,
                       {{.title = "request", .field = "method"},
                        {.title = "to", .field = "url"},
                        {.title = "allowed", .field = "allowed", .kind = Kind::yes_no},
                        {.title = "rule", .field = "rule"},
                        {.title = "reason", .field = "reason"},
                        {.title = "inspected", .field = "inspected", .kind = Kind::yes_no},
                        {.title = "secrets", .field = "secrets", .kind = Kind::list, .absent = "none"}});
}

} // namespace

std::vector<Command> broker_commands() {
    return {{
        .path = "broker explain",
        .summary = "Show whether a run can send a request, why, and with which secret.",
        .arguments = {{.name = "URL", .doc = "URL of the request."}},
        .options = {{.name = "--method", .value = "METHOD", .doc = "Method of the request. Default: GET."},
                    {.name = "--preset",
                     .value = "PRESET",
                     .doc = "Id or name of the run's preset: its network, skills and hosts."},
                    {.name = "--mode",
                     .value = "MODE",
                     .doc = "Network of the run. Default: that of the preset, or allowlist.",
                     .choices = {"none", "allowlist", "open"}},
                    {.name = "--skill",
                     .value = "SKILL",
                     .doc = "Id or name of an additional skill of the run.",
                     .repeated = true},
                    {.name = "--allow", .value = "HOST", .doc = "Additional host, as in a preset.", .repeated = true}},
        .details = "Nothing is sent.\n\n  hone broker explain https://api.github.com/repos/a/b --preset analyst\n"
                   "  hone broker explain https://api.github.com/repos/a/b --method PUT --skill forge",
        .run = explain,
    }};
}

} // namespace hone::cli
