// Experiments: lists, comparisons, and the gate for continuous integration.
#include "base/text.h"
#include "cli/commands/evaluate/comparison_report.h"
#include "cli/commands/evaluate/experiment_gate.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

const Argument experiment_argument{.name = "EXPERIMENT", .doc = "Id of the experiment."};

Columns experiment_columns() {
    return {
        {.title = "name", .field = "name"},
        {.title = "version", .field = "dataset_version", .kind = Kind::number},
        {.title = "examples", .field = "example_count", .kind = Kind::count},
        {.title = "repetitions", .field = "repetitions", .kind = Kind::number},
        {.title = "runs", .field = "successful_run_count", .kind = Kind::count},
        {.title = "failed", .field = "failed_run_count", .kind = Kind::count},
        {.title = "missing", .field = "missing_run_count", .kind = Kind::count},
        {.title = "by", .field = "created_by"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "project of traces", .field = "project_name", .only_single = true},
        {.title = "description", .field = "description", .only_single = true},
        {.title = "id", .field = "id"},
    };
}

std::string experiment_path(const Context& context, std::vector<std::string> rest = {}) {
    rest.insert(rest.begin(), context.value_or_empty("EXPERIMENT"));
    return path_of("/v1/experiments", rest);
}

Result<> list_experiments(Context& context) {
    return show_list(
        context, path_of("/v1/datasets", {context.value_or_empty("DATASET"), "experiments"}), space_query(context),
        experiment_columns(),
        "No experiments. Run one:\n  hone experiment run shop-tickets --command 'python3 run.py' --file run.py");
}

Result<> show_experiment(Context& context) {
    return show_record(context, TRY(context.remote.get(experiment_path(context))), experiment_columns());
}

std::vector<Option> compare_options() {
    std::vector<Option> options = gate_options();
    for (const Option& option : pairwise_options()) options.push_back(option);
    return options;
}

Result<> compare_experiments(Context& context) {
    const std::string base = context.value_or_empty("BASE"), other = context.value_or_empty("OTHER");
    const std::string dataset = context.value_or_empty("--dataset");
    TRY(compare_pairs(context, base, other, dataset));
    const json::Value found = TRY(compare_with(context, base, other, dataset));
    if (context.json())
        print_json(context, found);
    else
        context.console.print(comparison_text(found));
    return apply_gate(context, found);
}

Result<> tag_experiment(Context& context) {
    const json::Value made = TRY(
        context.remote.post(experiment_path(context, {"tags"}), json::Object{{"name", context.value_or_empty("TAG")}}));
    return show_done(context, made, "Tagged as " + text_of(made, "name") + ".");
}

Result<> delete_experiment(Context& context) {
    const json::Value before = TRY(context.remote.get(experiment_path(context)));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The experiment " + name + " with its runs, evals and traces is deleted.", name));
    const json::Value gone = TRY(context.remote.remove(experiment_path(context), {{"delete_project", "true"}}));
    return show_done(context, gone, "Deleted experiment " + name + ".");
}

} // namespace

std::vector<Command> experiment_commands() {
    std::vector<Command> commands{
        {.path = "experiment list",
         .summary = "List the experiments on a dataset.",
         .arguments = {{.name = "DATASET", .doc = "Id or name of the dataset."}},
         .lists = true,
         .run = list_experiments},
        {.path = "experiment show",
         .summary = "Show an experiment and its counts.",
         .arguments = {experiment_argument},
         .run = show_experiment},
        {.path = "experiment compare",
         .summary = "Compare two experiments by their common examples, with intervals and tests.",
         .arguments = {{.name = "BASE", .doc = "Id of the first experiment; with --dataset also a tag or a name."},
                       {.name = "OTHER", .doc = "Id of the second experiment; with --dataset also a tag or a name."}},
         .options =
             with(compare_options(),
                  {{.name = "--dataset", .value = "DATASET", .doc = "Dataset, to find experiments by tag or name."}}),
         .details = "Example: hone experiment compare baseline candidate --dataset shop-tickets --fail-on regression "
                    "--markdown comment.md --junit evals.xml\n"
                    "         hone experiment compare baseline candidate --dataset shop-tickets --pairwise better "
                    "--max-cost 1",
         .run = compare_experiments},
        {.path = "experiment tag",
         .summary = "Give an experiment a tag, such as baseline; another experiment of the dataset loses it.",
         .arguments = {experiment_argument, {.name = "TAG", .doc = "Letters in lower case, digits, - and _."}},
         .run = tag_experiment},
        {.path = "experiment delete",
         .summary = "Delete an experiment with its runs, evals and traces.",
         .arguments = {experiment_argument},
         .destructive = true,
         .run = delete_experiment},
    };
    for (Command& command : experiment_run_commands()) commands.push_back(std::move(command));
    for (Command& command : experiment_pair_commands()) commands.push_back(std::move(command));
    return commands;
}

} // namespace hone::cli
