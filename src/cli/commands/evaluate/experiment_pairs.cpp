// Pairwise comparisons: a model compares the outputs of two experiments; the pairs, and what a person prefers.
#include "base/text.h"
#include "cli/commands/evaluate/experiment_gate.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <thread>

namespace hone::cli {

namespace {

Columns pair_columns() {
    return {
        {.title = "example", .field = "example_id"},
        {.title = "repetition", .field = "repetition", .kind = Kind::number},
        {.title = "better", .field = "winner"},
        {.title = "base first", .field = "first_label"},
        {.title = "other first", .field = "swapped_label"},
        {.title = "explanation", .field = "explanation"},
        {.title = "error", .field = "error"},
    };
}

std::string pair_task_path(const Context& context, const char* what) {
    return path_of("/v1/pair_tasks", {context.value_or_empty("PAIRTASK"), what});
}

// Polls until it is over. The server works on it: ending this program does not stop it.
Result<json::Value> watch_pairs(const Context& context, const std::string& path) {
    Progress progress(context, "pairs", count_text);
    for (;;) {
        json::Value task = TRY(context.remote.get(path));
        const auto done = static_cast<uint64_t>(number_of(task, "done") + number_of(task, "failed"));
        progress.set_whole(static_cast<uint64_t>(number_of(task, "expected")));
        if (done > progress.amount()) progress.add(done - progress.amount());
        const std::string state = text_of(task, "state");
        if (state != "queued" && state != "running") return task;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
}

Result<> list_pairs(Context& context) {
    Query query;
    if (const auto winner = context.parsed.value("--better")) query.emplace_back("winner", *winner);
    return show_list(context, pair_task_path(context, "pairs"), std::move(query), pair_columns(),
                     "No pairs have verdicts.");
}

Result<> prefer_output(Context& context) {
    json::Object body{{"example", context.value_or_empty("EXAMPLE")}, {"winner", context.value_or_empty("WINNER")}};
    if (const auto repetition = TRY(context.integer("--repetition", 1))) body["repetition"] = *repetition;
    const json::Value made = TRY(context.remote.post(pair_task_path(context, "labels"), std::move(body)));
    return show_done(context, made, "Stored: " + context.value_or_empty("WINNER") + ".");
}

Result<> resume_pairs(Context& context) {
    json::Object limits;
    TRY(set_dollars(context, "--max-cost", "budget_micro_usd", limits));
    Query query;
    if (const json::Value* cost = limits.if_contains("budget_micro_usd"))
        query.emplace_back("budget_micro_usd", std::to_string(cost->as_int64()));
    if (const auto tokens = TRY(context.integer("--max-tokens", 1)))
        query.emplace_back("budget_tokens", std::to_string(*tokens));
    TRY(context.remote.post(pair_task_path(context, "resume"), json::Object{}, std::move(query)));
    const json::Value task = TRY(watch_pairs(context, path_of("/v1/pair_tasks", {context.value_or_empty("PAIRTASK")})));
    TRY(show_done(context, task,
                  fmt::format("{}: {} of {} pairs, {} failed", text_of(task, "state"), number_of(task, "done"),
                              number_of(task, "expected"), number_of(task, "failed"))));
    if (text_of(task, "state") != "done")
        return context.fail(Exit::failure,
                            "the comparison is " + text_of(task, "state") + ": " + text_of(task, "reason"));
    return {};
}

} // namespace

std::vector<Option> pairwise_options() {
    return {{.name = "--pairwise",
             .value = "EVALUATOR",
             .doc = "Let this pairwise evaluator compare both outputs of each example first, in both orders."},
            {.name = "--max-tokens", .value = "NUMBER", .doc = "Of --pairwise: stop after this many tokens."},
            {.name = "--max-cost", .value = "USD", .doc = "Of --pairwise: stop at this cost, in US dollars."}};
}

Result<> compare_pairs(const Context& context, const std::string& base, const std::string& other,
                       const std::string& dataset) {
    const auto evaluator = context.parsed.value("--pairwise");
    if (!evaluator) {
        if (context.parsed.value("--max-tokens") || context.parsed.value("--max-cost"))
            return context.usage("--max-tokens and --max-cost need --pairwise");
        return {};
    }
    json::Object body{{"base", base}, {"other", other}, {"evaluator", *evaluator}};
    if (!dataset.empty()) body["dataset"] = dataset;
    if (const auto tokens = TRY(context.integer("--max-tokens", 1))) body["budget_tokens"] = *tokens;
    TRY(set_dollars(context, "--max-cost", "budget_micro_usd", body));
    const json::Value started = TRY(context.remote.post("/v1/pair_tasks", std::move(body), space_query(context)));
    const std::string id = text_of(started, "id");
    const json::Value task = TRY(watch_pairs(context, path_of("/v1/pair_tasks", {id})));
    if (text_of(task, "state") == "done") return {};
    return context.fail(Exit::failure, "the comparison is " + text_of(task, "state") + ": " + text_of(task, "reason"),
                        "hone experiment resume-pairs " + id + " compares what is missing or failed");
}

std::vector<Command> experiment_pair_commands() {
    const Argument task{.name = "PAIRTASK", .doc = "Id of the pairwise comparison, as `experiment compare` shows it."};
    return {
        {.path = "experiment pairs",
         .summary = "List the pairs of a pairwise comparison with the verdicts in both orders.",
         .arguments = {task},
         .options = {{.name = "--better",
                      .value = "WHICH",
                      .doc = "Only these pairs.",
                      .choices = {"base", "other", "tie", "inconsistent", "undecided"}}},
         .lists = true,
         .run = list_pairs},
        {.path = "experiment prefer",
         .summary = "State which output of a compared pair you prefer; the comparison shows the agreement.",
         .arguments = {task,
                       {.name = "EXAMPLE", .doc = "Id of the example."},
                       {.name = "WINNER", .doc = "base, other or tie."}},
         .options = {{.name = "--repetition", .value = "NUMBER", .doc = "Repetition. Default: 1."}},
         .run = prefer_output},
        {.path = "experiment resume-pairs",
         .summary = "Compare the pairs of a pairwise comparison that are missing or failed.",
         .arguments = {task},
         .options = {{.name = "--max-tokens", .value = "NUMBER", .doc = "New limit of its tokens."},
                     {.name = "--max-cost", .value = "USD", .doc = "New limit of its cost, in US dollars."}},
         .run = resume_pairs},
    };
}

} // namespace hone::cli
