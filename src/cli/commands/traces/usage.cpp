#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

#include <charconv>
#include <cmath>

namespace hone::cli {

namespace {

Columns usage_columns(std::string_view group) {
    return {
        {.title = group, .field = "group"},
        {.title = "calls", .field = "calls", .kind = Kind::count},
        {.title = "failed", .field = "failed_calls", .kind = Kind::count},
        {.title = "input", .field = "input_tokens", .kind = Kind::count},
        {.title = "cache read", .field = "cache_read_tokens", .kind = Kind::count},
        {.title = "cache write", .field = "cache_write_tokens", .kind = Kind::count},
        {.title = "output", .field = "output_tokens", .kind = Kind::count},
        {.title = "reasoning", .field = "reasoning_tokens", .kind = Kind::count},
        {.title = "tokens", .field = "total_tokens", .kind = Kind::count},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
    };
}

Result<> show_usage(Context& context) {
    const std::string group = context.parsed.value("--by").value_or("day");
    Query query = space_query(context);
    query.emplace_back("group_by", group);
    for (const auto* name : {"from", "to", "run", "model"})
        query.emplace_back(name, context.value_or_empty("--" + std::string(name)));
    return show_list(context, "/v1/model_usage", std::move(query), usage_columns(group),
                     "No model calls of runs in this range. hone usage --from DAY shows earlier days.");
}

Columns budget_columns() {
    return {
        {.title = "tokens per day", .field = "tokens_per_day", .kind = Kind::number, .absent = "no limit"},
        {.title = "cost per day", .field = "cost_micro_usd_per_day", .kind = Kind::money, .absent = "no limit"},
        {.title = "soft limit %", .field = "soft_percent", .kind = Kind::number},
        {.title = "span content", .field = "capture"},
    };
}

Result<std::string> budget_path(const Context& context) {
    return path_of("/v1/spaces", {TRY(current_space(context)), "budget"});
}

Result<> show_budget(Context& context) {
    const std::string path = TRY(budget_path(context));
    return show_record(context, TRY(context.remote.get(path)), budget_columns());
}

// "2.50" -> 2500000
Result<int64_t> micro_dollars(const std::string& text) {
    double dollars = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dollars);
    if (error != std::errc() || end != text.data() + text.size() || !(dollars >= 0) || dollars > 1e9)
        return invalid("not an amount in dollars: " + text.substr(0, 40));
    return std::llround(dollars * 1e6);
}

Result<> set_budget(Context& context) {
    const auto tokens = context.parsed.value("--tokens-per-day"), cost = context.parsed.value("--cost-per-day");
    const auto percent = context.parsed.value("--soft-percent"), capture = context.parsed.value("--capture");
    if (!tokens && !cost && !percent && !capture)
        return context.usage("nothing to change: give --tokens-per-day, --cost-per-day, --soft-percent or --capture");
    const std::string path = TRY(budget_path(context));
    json::Value budget = TRY(context.remote.get(path));
    if (!budget.is_object()) return internal("the server's response has no budget");
    json::Object& body = budget.get_object();
    if (tokens)
        body["tokens_per_day"] = *tokens == "none" ? json::Value(nullptr) : json::Value(TRY(parse_integer(*tokens)));
    if (cost)
        body["cost_micro_usd_per_day"] =
            *cost == "none" ? json::Value(nullptr) : json::Value(TRY(micro_dollars(*cost)));
    if (percent) body["soft_percent"] = TRY(parse_integer(*percent));
    if (capture) body["capture"] = *capture;
    return show_record(context, TRY(context.remote.put(path, std::move(budget))), budget_columns());
}

} // namespace

std::vector<Command> usage_commands() {
    return {
        {.path = "usage",
         .summary = "Show tokens and cost of the model calls of the space.",
         .options = {{.name = "--by",
                      .value = "GROUP",
                      .doc = "One row per day (default), model, run, automation or project.",
                      .choices = {"day", "model", "run", "automation", "project"}},
                     {.name = "--from",
                      .value = "DAY",
                      .doc = "First day (UTC), such as 2026-11-01. Default: 30 days ago."},
                     {.name = "--to", .value = "DAY", .doc = "Last day. Default: today."},
                     {.name = "--run", .value = "RUN", .doc = "Only calls of this run."},
                     {.name = "--model", .value = "MODEL", .doc = "Only calls of this model."}},
         .details = "The gateway counts the tokens that the provider reports for each model call of a worker.",
         .lists = true,
         .run = show_usage},
        {.path = "budget show", .summary = "Show the daily budget of model calls of the space.", .run = show_budget},
        {.path = "budget set",
         .summary = "Set the daily budget of model calls of the space.",
         .options =
             {{.name = "--tokens-per-day", .value = "N", .doc = "Tokens of all calls; none: no limit."},
              {.name = "--cost-per-day", .value = "USD", .doc = "Dollars of all calls, such as 12.50; none: no limit."},
              {.name = "--soft-percent",
               .value = "N",
               .doc = "From this share of the budget on, workers get a notice to finish. Default: 80."},
              {.name = "--capture",
               .value = "HOW",
               .doc = "Maximum content of model call spans: full (default), metadata (no texts) or none (no spans). "
                      "Presets can allow less.",
               .choices = {"full", "metadata", "none"}}},
         .details = "Days are UTC. When the budget is used up, runs of the space end as budget_stopped.\n"
                    "Example: hone budget set --cost-per-day 20 --capture metadata",
         .run = set_budget},
    };
}

} // namespace hone::cli
