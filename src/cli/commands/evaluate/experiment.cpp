// Experiments: lists, comparisons, and the gate for continuous integration.
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/evaluate/comparison_report.h"
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
    return show_list(context, path_of("/v1/datasets", {context.value_or_empty("DATASET"), "experiments"}),
                     space_query(context), experiment_columns(),
                     "No experiments. Phoenix' clients create them: docs/evaluate.md shows how.");
}

Result<> show_experiment(Context& context) {
    return show_record(context, TRY(context.remote.get(experiment_path(context))), experiment_columns());
}

Result<> write_report(const Context& context, std::string_view option, const std::string& text) {
    const auto file = context.parsed.value(option);
    if (!file) return {};
    const auto written = write_file(*file, text, 0644);
    if (!written.ok()) return context.fail(Exit::failure, written.error().message);
    return {};
}

Result<> compare_experiments(Context& context) {
    Query query = space_query(context);
    query.emplace_back("base", context.value_or_empty("BASE"));
    query.emplace_back("other", context.value_or_empty("OTHER"));
    query.emplace_back("dataset", context.value_or_empty("--dataset"));
    query.emplace_back("margin", context.value_or_empty("--margin"));
    for (const std::string& name : context.parsed.all("--lower")) query.emplace_back("lower_is_better", name);
    query.emplace_back("limit", "20");
    const json::Value found = TRY(context.remote.get("/v1/experiments/compare", std::move(query)));
    TRY(write_report(context, "--markdown", comparison_markdown(found)));
    TRY(write_report(context, "--junit", comparison_junit(found)));
    if (context.json())
        print_json(context, found);
    else
        context.console.print(comparison_text(found));
    if (context.value_or_empty("--fail-on") != "regression") return {};
    const json::Value* gate = found.is_object() ? found.get_object().if_contains("gate") : nullptr;
    if (gate != nullptr && text_of(*gate, "verdict") == "passed") return {};
    return context.fail(Exit::gate_failed, "the gate failed: " + first_reason(found));
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
    return {
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
         .options = {{.name = "--dataset", .value = "DATASET", .doc = "Dataset, to find experiments by tag or name."},
                     {.name = "--fail-on",
                      .value = "WHAT",
                      .doc = "regression: end with status 10 when the gate fails.",
                      .choices = {"regression"}},
                     {.name = "--margin",
                      .value = "NUMBER",
                      .doc = "A smaller drop of a mean passes the gate. Default: 0.01."},
                     {.name = "--lower",
                      .value = "NAME",
                      .doc = "Evals whose score should fall, such as latency.",
                      .repeated = true},
                     {.name = "--markdown", .value = "FILE", .doc = "Write the result as Markdown."},
                     {.name = "--junit", .value = "FILE", .doc = "Write the result as JUnit XML."}},
         .details = "Example: hone experiment compare baseline candidate --dataset shop-tickets --fail-on regression "
                    "--markdown comment.md --junit evals.xml",
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
}

} // namespace hone::cli
