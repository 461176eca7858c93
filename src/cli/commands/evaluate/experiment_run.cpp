// Experiments that the server runs: start one, watch it, compare it with a baseline; stop and resume.
#include "base/text.h"
#include "cli/commands/evaluate/comparison_report.h"
#include "cli/commands/evaluate/experiment_gate.h"
#include "cli/remote/progress.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <thread>

namespace hone::cli {

namespace {

constexpr size_t largest_file = 2 << 20;

Columns task_columns() {
    return {
        {.title = "state", .field = "state"},
        {.title = "reason", .field = "reason"},
        {.title = "task", .field = "task.kind"},
        {.title = "commit", .field = "commit_name"},
        {.title = "expected runs", .field = "expected_runs", .kind = Kind::count},
        {.title = "runs", .field = "successful_runs", .kind = Kind::count},
        {.title = "failed runs", .field = "failed_runs", .kind = Kind::count},
        {.title = "prompt", .field = "task.prompt"},
        {.title = "model", .field = "task.model"},
        {.title = "tokens", .field = "spent_tokens", .kind = Kind::count},
        {.title = "cost", .field = "spent_micro_usd", .kind = Kind::money},
        {.title = "not replayed", .field = "not_replayed", .kind = Kind::count},
        {.title = "concurrency", .field = "concurrency", .kind = Kind::number},
        {.title = "started by", .field = "started_by"},
        {.title = "started", .field = "started_at", .kind = Kind::time},
        {.title = "ended", .field = "ended_at", .kind = Kind::time},
        {.title = "experiment", .field = "experiment_id"},
    };
}

Columns replay_columns() {
    return {
        {.title = "example", .field = "example_id"},
        {.title = "trace", .field = "source_trace"},
        {.title = "tools", .field = "tools"},
        {.title = "tool results", .field = "tool_results", .kind = Kind::count},
        {.title = "not replayed because", .field = "reason"},
    };
}

// FILE, or PATH=FILE for another name in the working directory of the command.
Result<json::Object> files_of(const Context& context) {
    json::Object files;
    for (const std::string& given : context.parsed.all("--file")) {
        const size_t equals = given.find('=');
        const std::string file = equals == std::string::npos ? given : given.substr(equals + 1);
        std::string path = equals == std::string::npos ? file : given.substr(0, equals);
        if (equals == std::string::npos && path.rfind('/') != std::string::npos)
            path = path.substr(path.rfind('/') + 1);
        Input input = TRY(Input::open(context, file));
        const std::string content = TRY(input.read_all(largest_file));
        if (!is_valid_utf8(content)) return context.usage(file + " is not a text file");
        files[path] = content;
    }
    return files;
}

// NAME=VALUE of an invocation parameter: JSON, or a text without quotes.
Result<json::Object> parameters_of(const Context& context) {
    json::Object parameters;
    for (const std::string& pair : context.parsed.all("--parameter")) {
        const size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return context.usage("--parameter needs NAME=VALUE, such as temperature=0");
        auto value = json::parse(pair.substr(equals + 1));
        parameters[pair.substr(0, equals)] =
            value.ok() ? std::move(value).value() : json::Value(pair.substr(equals + 1));
    }
    return parameters;
}

Result<json::Object> task_of(const Context& context) {
    json::Object task;
    const auto command = context.parsed.value("--command");
    const auto url = context.parsed.value("--address");
    const auto prompt = context.parsed.value("--prompt");
    const bool is_replay = context.parsed.has("--replay");
    const int given_tasks = (command ? 1 : 0) + (url ? 1 : 0) + (prompt ? 1 : 0);
    if (given_tasks > 1) return context.usage("give one of --command, --address and --prompt");
    if (is_replay && prompt) return context.usage("--replay belongs to --command or --address");
    if (given_tasks == 0 && !is_replay)
        return context.usage("give what runs an example: --command 'python3 run.py', --address URL, --prompt NAME, or "
                             "--replay for recorded traces");
    task["kind"] = is_replay ? "replay" : command ? "command" : url ? "http" : "prompt";
    if (const auto tools = context.parsed.value("--tools")) {
        if (!is_replay) return context.usage("--tools belongs to --replay");
        task["replay_tools"] = *tools;
    }
    if (command) task["command"] = *command;
    if (url) task["url"] = *url;
    if (prompt) task["prompt"] = *prompt;
    for (const auto& [option, key] : {std::pair{"--model", "model"}, {"--provider", "provider"}, {"--skill", "skill"}})
        if (const auto value = context.parsed.value(option)) {
            if (!prompt) return context.usage(std::string(option) + " needs --prompt");
            task[key] = *value;
        }
    json::Object parameters = TRY(parameters_of(context));
    if (!parameters.empty() && !prompt) return context.usage("--parameter needs --prompt");
    if (!parameters.empty()) task["parameters"] = std::move(parameters);
    json::Object files = TRY(files_of(context));
    if (!files.empty()) task["files"] = std::move(files);
    for (const auto& [option, key] : {std::pair{"--repo", "repo"}, {"--ref", "ref"}, {"--image", "image"}})
        if (const auto given = context.parsed.value(option)) task[key] = *given;
    json::Object env;
    for (const std::string& pair : context.parsed.all("--env")) {
        const size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) return context.usage("--env needs NAME=VALUE");
        env[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    if (!env.empty()) task["env"] = std::move(env);
    if (context.parsed.has("--last-line")) task["last_line"] = true;
    if (const auto timeout = context.parsed.value("--run-timeout")) {
        const auto ns = parse_duration_ns(*timeout);
        if (!ns.ok()) return context.usage("--run-timeout: " + ns.error().message);
        task["timeout_ms"] = ns.value() / 1'000'000;
    }
    return task;
}

bool is_working(const json::Value& task) {
    const std::string state = text_of(task, "state");
    return state == "queued" || state == "running";
}

int64_t evals_in(const json::Value& task, const char* field) {
    int64_t sum = 0;
    if (const json::Value* list = member(task, "evaluators"); list != nullptr && list->is_array())
        for (const json::Value& one : list->get_array()) sum += number_of(one, field);
    return sum;
}

// Polls until it is over. The server runs it: ending this program does not stop it.
Result<json::Value> watch(const Context& context, const std::string& path) {
    Progress progress(context, "runs and evals", count_text);
    for (;;) {
        json::Value task = TRY(context.remote.get(path + "/task"));
        const json::Value* list = member(task, "evaluators");
        const int64_t evaluators =
            list != nullptr && list->is_array() ? static_cast<int64_t>(list->get_array().size()) : 0;
        const int64_t expected = number_of(task, "expected_runs");
        const int64_t done = number_of(task, "successful_runs") + number_of(task, "failed_runs") +
                             evals_in(task, "evals") + evals_in(task, "failed_evals");
        progress.set_whole(static_cast<uint64_t>(expected * (1 + evaluators)));
        if (static_cast<uint64_t>(done) > progress.amount())
            progress.add(static_cast<uint64_t>(done) - progress.amount());
        if (!is_working(task)) return task;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
}

std::string summary(const json::Value& task) {
    std::string text =
        fmt::format("{}: {} of {} runs, {} failed", text_of(task, "state"), number_of(task, "successful_runs"),
                    number_of(task, "expected_runs"), number_of(task, "failed_runs"));
    if (const int64_t left = number_of(task, "not_replayed"); left > 0)
        text += fmt::format("; {} examples could not be replayed", left);
    if (const json::Value* list = member(task, "evaluators"); list != nullptr && list->is_array())
        for (const json::Value& one : list->get_array())
            text += fmt::format("; {}@{}: {} evals, {} failed", text_of(one, "name"), number_of(one, "number"),
                                number_of(one, "evals"), number_of(one, "failed_evals"));
    if (number_of(task, "spent_tokens") > 0)
        text += fmt::format("; {} tokens, {}", number_of(task, "spent_tokens"),
                            money_text(number_of(task, "spent_micro_usd")));
    return safe_line(text);
}

// --min NAME=NUMBER against the means of the experiment.
Result<> check_minimums(const Context& context, const json::Value& means) {
    for (const std::string& wanted : context.parsed.all("--min")) {
        const size_t equals = wanted.rfind('=');
        const std::string name = wanted.substr(0, equals);
        const auto least =
            equals == std::string::npos ? Result<json::Value>(invalid("")) : json::parse(wanted.substr(equals + 1));
        if (!least.ok() || !least.value().is_number())
            return context.usage("--min needs NAME=NUMBER, such as correct=0.9");
        const json::Value* found = nullptr;
        if (const json::Value* metrics = member(means, "metrics"); metrics != nullptr && metrics->is_array())
            for (const json::Value& metric : metrics->get_array())
                if (text_of(metric, "name") == name) found = &metric;
        const json::Value* mean = found == nullptr ? nullptr : member(*found, "other_mean");
        if (mean == nullptr || !mean->is_number())
            return context.fail(Exit::gate_failed, "the experiment has no scores named " + name);
        if (mean->to_number<double>() < least.value().to_number<double>())
            return context.fail(Exit::gate_failed, fmt::format("the mean of {} is {:.4f}, below {}", name,
                                                               mean->to_number<double>(), wanted.substr(equals + 1)));
    }
    return {};
}

// After the end: what it shows, and whether continuous integration fails.
Result<> conclude(const Context& context, const std::string& id, const std::string& dataset, const json::Value& task) {
    const std::string baseline = context.value_or_empty("--baseline");
    json::Value comparison;
    if (!baseline.empty()) comparison = TRY(compare_with(context, baseline, id, dataset));
    if (context.json())
        print_json(context, json::Object{{"task", task}, {"comparison", comparison}});
    else
        context.print(summary(task) + (baseline.empty() ? "" : "\n" + comparison_text(comparison)));
    if (const std::string state = text_of(task, "state"); state != "done")
        return context.fail(Exit::failure, "the experiment is " + state + ": " + text_of(task, "reason"),
                            "hone experiment resume " + id + " runs what is missing or failed");
    if (context.value_or_empty("--fail-on") == "error" &&
        number_of(task, "failed_runs") + evals_in(task, "failed_evals") > 0)
        return context.fail(Exit::gate_failed, summary(task));
    if (!baseline.empty()) TRY(apply_gate(context, comparison));
    if (!context.parsed.all("--min").empty()) {
        Query query = space_query(context);
        query.emplace_back("base", id);
        query.emplace_back("other", id);
        query.emplace_back("limit", "0");
        TRY(check_minimums(context, TRY(context.remote.get("/v1/experiments/compare", std::move(query)))));
    }
    if (const auto tag = context.parsed.value("--tag"))
        TRY(context.remote.post(path_of("/v1/experiments", {id, "tags"}), json::Object{{"name", *tag}}));
    return {};
}

Result<> run_experiment(Context& context) {
    const std::string dataset = context.value_or_empty("DATASET");
    const bool compares = context.parsed.value("--baseline").has_value();
    if (!compares && (context.value_or_empty("--fail-on") == "regression" || context.parsed.value("--markdown") ||
                      context.parsed.value("--junit")))
        return context.usage(
            "--fail-on regression, --markdown and --junit need --baseline: an experiment to compare with");
    json::Object body;
    body["task"] = TRY(task_of(context));
    json::Array evaluators;
    for (const std::string& name : context.parsed.all("--evaluator")) evaluators.push_back(json::Value(name));
    if (!evaluators.empty()) body["evaluators"] = std::move(evaluators);
    if (const auto lanes = TRY(context.integer("--concurrency", 1))) body["concurrency"] = *lanes;
    TRY(set_seconds(context, "--budget", "budget_seconds", body));
    TRY(set_dollars(context, "--max-cost", "budget_micro_usd", body));
    json::Object made;
    if (const auto name = context.parsed.value("--name")) made["name"] = *name;
    if (const auto repetitions = TRY(context.integer("--repeat", 1))) made["repetitions"] = *repetitions;
    if (const auto version = context.parsed.value("--version")) made["version_id"] = *version;
    json::Array splits;
    for (const std::string& split : context.parsed.all("--split")) splits.push_back(json::Value(split));
    if (!splits.empty()) made["splits"] = std::move(splits);
    const json::Value experiment = TRY(
        context.remote.post(path_of("/v1/datasets", {dataset, "experiments"}), std::move(made), space_query(context)));
    const std::string id = text_of(experiment, "id");
    const std::string path = path_of("/v1/experiments", {id});
    const auto started = context.remote.post(path + "/start", std::move(body));
    if (!started.ok()) {
        // Nothing was run: leave no empty experiment behind.
        const Explanation why = context.explanation;
        static_cast<void>(context.remote.remove(path, {{"delete_project", "true"}}));
        context.explanation = why;
        return started.error();
    }
    if (context.parsed.has("--detach")) return show_done(context, started.value(), "Started experiment " + id + ".");
    return conclude(context, id, dataset, TRY(watch(context, path)));
}

std::string task_path(const Context& context, const char* what) {
    return path_of("/v1/experiments", {context.value_or_empty("EXPERIMENT"), what});
}

Result<> show_task(Context& context) {
    return show_record(context, TRY(context.remote.get(task_path(context, "task"))), task_columns());
}

Result<> list_replays(Context& context) {
    Query query;
    if (context.parsed.has("--not-replayed")) query.emplace_back("not_replayed", "true");
    return show_list(context, task_path(context, "replays"), std::move(query), replay_columns(),
                     "Nothing was replayed. Replay recorded traces:\n  hone experiment run shop-tickets --replay "
                     "--command 'python3 run.py' --tools recorded");
}

Result<> stop_experiment(Context& context) {
    const json::Value task = TRY(context.remote.post(task_path(context, "stop"), json::Object{}));
    return show_done(context, task, "Stopped. " + summary(task));
}

Result<> resume_experiment(Context& context) {
    json::Object limits;
    TRY(set_seconds(context, "--budget", "budget_seconds", limits));
    TRY(set_dollars(context, "--max-cost", "budget_micro_usd", limits));
    Query query;
    for (const auto& limit : limits)
        query.emplace_back(std::string(std::string_view(limit.key())), std::to_string(limit.value().as_int64()));
    json::Value task = TRY(context.remote.post(task_path(context, "resume"), json::Object{}, std::move(query)));
    if (context.parsed.has("--detach")) return show_done(context, task, "Resumed. " + summary(task));
    task = TRY(watch(context, path_of("/v1/experiments", {context.value_or_empty("EXPERIMENT")})));
    TRY(show_done(context, task, summary(task)));
    if (text_of(task, "state") != "done")
        return context.fail(Exit::failure,
                            "the experiment is " + text_of(task, "state") + ": " + text_of(task, "reason"));
    return {};
}

Result<> evaluate_experiment(Context& context) {
    json::Array evaluators;
    for (const std::string& name : context.parsed.all("--evaluator")) evaluators.push_back(json::Value(name));
    if (evaluators.empty()) return context.usage("give at least one --evaluator");
    const std::string id = context.value_or_empty("EXPERIMENT");
    TRY(context.remote.post(task_path(context, "start"),
                            json::Object{{"task", json::Object{{"kind", "evaluate"}}}, {"evaluators", evaluators}}));
    const json::Value task = TRY(watch(context, path_of("/v1/experiments", {id})));
    TRY(show_done(context, task, summary(task)));
    if (text_of(task, "state") != "done")
        return context.fail(Exit::failure,
                            "the experiment is " + text_of(task, "state") + ": " + text_of(task, "reason"));
    return {};
}

} // namespace

std::vector<Command> experiment_run_commands() {
    const Argument experiment{.name = "EXPERIMENT", .doc = "Id of the experiment."};
    const Option evaluator{.name = "--evaluator",
                           .value = "NAME",
                           .doc = "Evaluator of the outputs, by name or id; NAME@3 for version 3.",
                           .repeated = true};
    const Option budget{.name = "--budget", .value = "DURATION", .doc = "Stop when it has run for this long."};
    const Option max_cost{
        .name = "--max-cost", .value = "USD", .doc = "Stop when its model calls have cost this much, in US dollars."};
    const Option detach{.name = "--detach", .value = "", .doc = "Do not wait until it is done."};
    return {
        {.path = "experiment run",
         .summary = "Run the examples of a dataset on the server, evaluate the outputs, compare with a baseline.",
         .arguments = {{.name = "DATASET", .doc = "Id or name of the dataset."}},
         .options =
             with(gate_options(),
                  {{.name = "--command",
                    .value = "COMMAND",
                    .doc = "Shell command in a sandbox without network: JSON on stdin, JSON on stdout."},
                   {.name = "--file",
                    .value = "FILE",
                    .doc = "Text file for the command, in its working directory; PATH=FILE for another name.",
                    .repeated = true},
                   {.name = "--repo", .value = "REPO", .doc = "Registered repository whose files the command gets."},
                   {.name = "--ref", .value = "REF", .doc = "Branch, tag or commit. Default: the repository's."},
                   {.name = "--image", .value = "IMAGE", .doc = "Image of the sandbox. Default: host."},
                   {.name = "--env", .value = "NAME=VALUE", .doc = "Variable of the command.", .repeated = true},
                   {.name = "--last-line", .value = "", .doc = "Only the last line of stdout is the output."},
                   {.name = "--address", .value = "URL", .doc = "Send each example by POST instead."},
                   {.name = "--prompt",
                    .value = "NAME",
                    .doc = "Send each example to a model with this prompt: NAME, NAME@TAG or NAME:VERSION."},
                   {.name = "--model", .value = "MODEL", .doc = "Model. Default: that of the prompt."},
                   {.name = "--provider",
                    .value = "PROVIDER",
                    .doc = "Provider of the model, such as ANTHROPIC. Default: that of the prompt."},
                   {.name = "--skill",
                    .value = "SKILL",
                    .doc = "Model skill. Default: the one of the space that offers the model."},
                   {.name = "--parameter",
                    .value = "NAME=VALUE",
                    .doc = "Invocation parameter of the model, such as temperature=0; null removes one.",
                    .repeated = true},
                   {.name = "--replay",
                    .value = "",
                    .doc = "Run the recorded trace of each example again, with its recorded input, through --command "
                           "or --address; without both, the recorded outputs are evaluated."},
                   {.name = "--tools",
                    .value = "recorded|live",
                    .doc = "Of --replay: give the recorded results of tools, or let the application call them."},
                   {.name = "--run-timeout", .value = "DURATION", .doc = "Time of one run. Default: 2m."},
                   evaluator,
                   {.name = "--name", .value = "NAME", .doc = "Name of the experiment."},
                   {.name = "--repeat", .value = "NUMBER", .doc = "Runs of each example. Default: 1."},
                   {.name = "--split", .value = "NAME", .doc = "Only examples of this split.", .repeated = true},
                   {.name = "--version", .value = "VERSION", .doc = "Dataset version. Default: the newest."},
                   {.name = "--concurrency", .value = "NUMBER", .doc = "Runs at the same time. Default: 4."},
                   budget,
                   max_cost,
                   {.name = "--baseline",
                    .value = "EXPERIMENT",
                    .doc = "Tag, name or id of the experiment to compare with."},
                   {.name = "--min",
                    .value = "NAME=NUMBER",
                    .doc = "End with status 10 when the mean of these evals is lower.",
                    .repeated = true},
                   {.name = "--tag", .value = "TAG", .doc = "Tag the experiment when nothing failed."},
                   detach}),
         .details = "Example: hone experiment run shop-tickets --command 'python3 run.py' --file run.py --evaluator "
                    "exact --repeat 3 --baseline baseline --fail-on regression --markdown comment.md --junit evals.xml",
         .run = run_experiment},
        {.path = "experiment evaluate",
         .summary = "Evaluate the runs of an experiment that a client made.",
         .arguments = {experiment},
         .options = {evaluator},
         .run = evaluate_experiment},
        {.path = "experiment status",
         .summary = "Show how far an experiment is that the server runs.",
         .arguments = {experiment},
         .run = show_task},
        {.path = "experiment replays",
         .summary = "List what an experiment replayed of each example, and why it could not.",
         .arguments = {experiment},
         .options = {{.name = "--not-replayed", .value = "", .doc = "Only examples that could not be replayed."}},
         .lists = true,
         .run = list_replays},
        {.path = "experiment stop",
         .summary = "Stop an experiment; runs that have begun are finished.",
         .arguments = {experiment},
         .run = stop_experiment},
        {.path = "experiment resume",
         .summary = "Run what is missing or failed of an experiment.",
         .arguments = {experiment},
         .options = {budget, max_cost, detach},
         .run = resume_experiment},
    };
}

} // namespace hone::cli
