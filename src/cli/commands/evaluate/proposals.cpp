// Examples that workers propose for a dataset, and the decisions about them.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

Columns proposal_columns() {
    return {
        {.title = "id", .field = "id"},          {.title = "input", .field = "input"},
        {.title = "output", .field = "output"},  {.title = "reason", .field = "reason"},
        {.title = "by", .field = "proposed_by"}, {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

std::string proposals_path(const Context& context, const std::string& part = "") {
    std::vector<std::string> path{context.value_or_empty("DATASET"), "proposals"};
    if (!part.empty()) path.push_back(part);
    return path_of("/v1/datasets", path);
}

Result<> list_proposals(Context& context) {
    Query query = space_query(context);
    if (const auto state = context.parsed.value("--state")) query.emplace_back("state", *state);
    return show_list(context, proposals_path(context), std::move(query), proposal_columns(),
                     "No proposals. Workers propose examples with the tool propose_examples.");
}

// The given ids, or those of all that wait.
Result<json::Array> chosen_proposals(const Context& context) {
    json::Array ids;
    for (const std::string& id : context.parsed.all("--id")) ids.push_back(json::Value(id));
    if (!ids.empty() && context.parsed.has("--all")) return context.usage("give --id or --all, not both");
    if (!ids.empty()) return ids;
    if (!context.parsed.has("--all")) return context.usage("give --id PROPOSAL, or --all for those that wait");
    constexpr size_t most_at_once = 200;
    const Items waiting = TRY(context.remote.list(proposals_path(context), space_query(context), most_at_once));
    for (const json::Value& one : waiting.items) ids.push_back(json::Value(text_of(one, "id")));
    if (ids.empty()) return context.fail(Exit::not_found, "no proposal waits");
    return ids;
}

Result<> accept_proposals(Context& context) {
    const json::Array ids = TRY(chosen_proposals(context));
    const json::Value made =
        TRY(context.remote.post(proposals_path(context, "accept"), json::Object{{"ids", ids}}, space_query(context)));
    return show_done(context, made, fmt::format("Added {} examples.", number_of(made, "examples")));
}

Result<> reject_proposals(Context& context) {
    const json::Array ids = TRY(chosen_proposals(context));
    const json::Value made =
        TRY(context.remote.post(proposals_path(context, "reject"), json::Object{{"ids", ids}}, space_query(context)));
    return show_done(context, made, fmt::format("Rejected {} proposals.", ids.size()));
}

} // namespace

std::vector<Command> proposal_commands() {
    const Argument dataset{.name = "DATASET", .doc = "Id or name of the dataset."};
    const std::vector<Option> choice{
        {.name = "--id", .value = "PROPOSAL", .doc = "Id of a proposal.", .repeated = true},
        {.name = "--all", .value = "", .doc = "All that wait, up to 200."},
    };
    return {
        {.path = "dataset proposals",
         .summary = "List the examples that workers propose for a dataset.",
         .arguments = {dataset},
         .options = {{.name = "--state",
                      .value = "STATE",
                      .doc = "Default: pending.",
                      .choices = {"pending", "accepted", "rejected"}}},
         .lists = true,
         .run = list_proposals},
        {.path = "dataset accept",
         .summary = "Add proposed examples to the dataset.",
         .arguments = {dataset},
         .options = choice,
         .run = accept_proposals},
        {.path = "dataset reject",
         .summary = "Reject proposed examples.",
         .arguments = {dataset},
         .options = choice,
         .run = reject_proposals},
    };
}

} // namespace hone::cli
