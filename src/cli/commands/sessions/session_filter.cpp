#include "cli/commands/sessions/session_filter.h"

#include "cli/remote/view.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

std::vector<Option> run_filter_options() {
    return {
        {.name = "--project", .value = "PROJECT", .doc = "Only runs of this project.", .short_name = "-p"},
        {.name = "--preset", .value = "PRESET", .doc = "Only runs of this preset."},
        {.name = "--state",
         .value = "STATE",
         .doc = "Only runs in this state.",
         .choices = {"queued", "preparing", "running", "waiting", "succeeded", "failed", "cancelled", "timed_out",
                     "budget_stopped", "lost"},
         .repeated = true},
        {.name = "--origin",
         .value = "ORIGIN",
         .doc = "Only runs started by a person, or by a trigger.",
         .choices = {"session", "automation"}},
        {.name = "--after",
         .value = "TIME",
         .doc = "Only runs created after this time, or within a duration: --after 2h."},
        {.name = "--before", .value = "TIME", .doc = "Only runs created before this time."},
        {.name = "--automation", .value = "AUTOMATION", .doc = "Only runs of this automation; its id."},
        provider_option("Only runs of this provider."),
        {.name = "--harness", .value = "HARNESS", .doc = "Only runs with this harness."},
        {.name = "--person", .value = "NAME", .doc = "Only runs that this person or key started."},
        {.name = "--title", .value = "TEXT", .doc = "Only runs with this text in their title."},
        {.name = "--cost-from", .value = "DOLLARS", .doc = "Only runs that cost at least this much."},
        {.name = "--cost-to", .value = "DOLLARS", .doc = "Only runs that cost at most this much."},
    };
}

Result<Query> run_filter_query(const Context& context) {
    Query query = space_query(context);
    if (const auto preset = context.parsed.value("--preset")) {
        const json::Value found = TRY(context.remote.get(path_of("/v1/presets", {*preset}), space_query(context)));
        query.emplace_back("preset", text_of(found, "id"));
    }
    std::string states;
    for (const auto& state : context.parsed.all("--state")) states += (states.empty() ? "" : ",") + state;
    query.emplace_back("state", states);
    for (const auto& [option, name] : {std::pair("--project", "project"),
                                       {"--origin", "origin"},
                                       {"--automation", "automation"},
                                       {"--provider", "provider"},
                                       {"--harness", "harness"},
                                       {"--person", "person"},
                                       {"--title", "title"}})
        query.emplace_back(name, context.value_or_empty(option));
    for (const auto& [option, name] : {std::pair("--after", "after"), {"--before", "before"}})
        query.emplace_back(name, TRY(moment(context, option)));
    json::Object costs;
    TRY(set_dollars(context, "--cost-from", "cost_from", costs));
    TRY(set_dollars(context, "--cost-to", "cost_to", costs));
    for (const auto& cost : costs) query.emplace_back(std::string(cost.key()), json::print(cost.value()));
    return query;
}

} // namespace hone::cli
