// Evaluators: rules that evaluate new spans without a model.
#include "cli/commands/loop/evaluator.h"

#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

const Argument evaluator_argument{.name = "EVALUATOR", .doc = "Id or name of the evaluator."};

Columns evaluator_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "condition", .field = "condition"},
        {.title = "filter", .field = "filter", .absent = "all spans", .only_single = true},
        {.title = "label", .field = "label"},
        {.title = "other label", .field = "other_label", .only_single = true},
        {.title = "of traces %", .field = "sample_percent", .kind = Kind::number, .only_single = true},
        {.title = "evaluated", .field = "judged", .kind = Kind::count},
        {.title = "matched", .field = "matched", .kind = Kind::count},
        {.title = "last run", .field = "last_at", .kind = Kind::time, .absent = "never"},
        {.title = "problem", .field = "problem"},
        {.title = "issue", .field = "issue_id", .kind = Kind::id, .only_single = true},
        {.title = "revision", .field = "revision", .kind = Kind::number, .only_single = true},
        {.title = "created by", .field = "created_by", .only_single = true},
        {.title = "description", .field = "description", .only_single = true},
    };
}

Query in_project(const Context& context) {
    Query query = space_query(context);
    query.emplace_back("project", context.value_or_empty("--project"));
    return query;
}

// By id, or by a name that only one has.
Result<std::string> evaluator_path(const Context& context) {
    const std::string wanted = context.value_or_empty("EVALUATOR");
    if (wanted.starts_with("evaluator_")) return path_of("/v1/evaluators", {wanted});
    std::string found;
    for (const json::Value& one : TRY(context.remote.list_whole("/v1/evaluators", in_project(context))).items) {
        if (text_of(one, "name") != wanted) continue;
        if (!found.empty()) return context.usage("several projects have an evaluator " + wanted + ": give its id");
        found = text_of(one, "id");
    }
    if (found.empty())
        return context.fail(Exit::not_found, "evaluator " + wanted + " not found",
                            "hone evaluator list shows all evaluators");
    return path_of("/v1/evaluators", {found});
}

Result<> set_rule(const Context& context, json::Object& body) {
    for (const auto& [option, key] : {std::pair{"--condition", "condition"},
                                      {"--filter", "filter"},
                                      {"--label", "label"},
                                      {"--else", "other_label"},
                                      {"--description", "description"}})
        if (const auto given = context.parsed.value(option)) body[key] = *given;
    TRY(set_number(context, "--score", "score", body));
    TRY(set_number(context, "--else-score", "other_score", body));
    if (const auto percent = TRY(context.integer("--sample", 1))) body["sample_percent"] = *percent;
    if (const auto hours = TRY(context.integer("--backfill", 0))) body["backfill_hours"] = *hours;
    return {};
}

std::vector<Option> rule_options() {
    return {
        {.name = "--condition", .value = "FILTER", .doc = "Spans that match, such as 'status = error'."},
        {.name = "--filter", .value = "FILTER", .doc = "Spans that it evaluates, such as 'kind = tool'. Default: all."},
        {.name = "--label", .value = "LABEL", .doc = "Label of spans that match. Default: fail."},
        {.name = "--score", .value = "NUMBER", .doc = "Score of spans that match."},
        {.name = "--else",
         .value = "LABEL",
         .doc = "Label of evaluated spans that do not match. Without it they get no eval."},
        {.name = "--else-score", .value = "NUMBER", .doc = "Score of evaluated spans that do not match."},
        {.name = "--sample", .value = "PERCENT", .doc = "Percent of traces that it evaluates. Default: 100."},
        {.name = "--backfill", .value = "HOURS", .doc = "Also evaluate the spans of this many past hours."},
        {.name = "--description", .value = "TEXT", .doc = "Description."},
    };
}

Result<> list_evaluators(Context& context) {
    return show_list(context, "/v1/evaluators", in_project(context), evaluator_columns(),
                     "No evaluators. Create one:\n  hone evaluator create slow_tools --project shop --filter 'kind = "
                     "tool' --condition 'latency > 5s' --else ok");
}

Result<> show_evaluator(Context& context) {
    return show_record(context, TRY(context.remote.get(TRY(evaluator_path(context)))), evaluator_columns());
}

Result<json::Object> new_rule(const Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    body["project"] = TRY(span_project(context));
    TRY(set_rule(context, body));
    if (!body.contains("condition")) return context.usage("an evaluator needs a condition: give --condition");
    return body;
}

Result<> create_evaluator(Context& context) {
    json::Object body = TRY(new_rule(context));
    const json::Value made = TRY(context.remote.post("/v1/evaluators", std::move(body), space_query(context)));
    return show_record(context, made, evaluator_columns());
}

Result<> preview_evaluator(Context& context) {
    json::Object body = TRY(new_rule(context));
    body["name"] = "preview";
    const json::Value seen = TRY(context.remote.post("/v1/evaluator_preview", std::move(body), space_query(context)));
    return show_done(context, seen,
                     fmt::format("In the last {} hours it would have evaluated {} spans; {} match.",
                                 number_of(seen, "hours"), number_of(seen, "spans"), number_of(seen, "matched")));
}

Result<> update_evaluator(Context& context) {
    json::Object body;
    TRY(set_rule(context, body));
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    const json::Value changed = TRY(context.remote.patch(TRY(evaluator_path(context)), std::move(body)));
    return show_done(context, changed, "Changed evaluator " + text_of(changed, "name") + ".");
}

Result<> delete_evaluator(Context& context) {
    const std::string path = TRY(evaluator_path(context));
    const json::Value before = TRY(context.remote.get(path));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The evaluator " + name + " is deleted. Its evals are kept.", name));
    const json::Value gone = TRY(context.remote.remove(path));
    return show_done(context, gone, "Deleted evaluator " + name + ".");
}

} // namespace

std::vector<Command> evaluator_commands() {
    const Option project{.name = "--project", .value = "PROJECT", .doc = "Only evaluators of this project."};
    const Option enable{.name = "--enable", .value = "", .doc = "Turn it on: new spans are evaluated."};
    const Option disable{
        .name = "--disable", .value = "", .doc = "Turn it off: no spans are evaluated until it is enabled."};
    return {
        {.path = "evaluator list",
         .summary = "List the rules that evaluate new spans.",
         .options = {project},
         .lists = true,
         .run = list_evaluators},
        {.path = "evaluator show",
         .summary = "Show a rule and its counts.",
         .arguments = {evaluator_argument},
         .run = show_evaluator},
        {.path = "evaluator create",
         .summary = "Create a rule that evaluates new spans and writes evals, without a model.",
         .arguments = {{.name = "NAME", .doc = "Name of the evals that it writes; unique in the project."}},
         .options = with(rule_options(), {project_option()}),
         .details = "Example: hone evaluator create slow_tools --project shop --filter 'kind = tool' --condition "
                    "'latency > 5s' --label slow --else ok --backfill 24",
         .run = create_evaluator},
        {.path = "evaluator preview",
         .summary = "Show the result of a rule for the last 24 hours, without storing it.",
         .options = with(rule_options(), {project_option()}),
         .details = "Example: hone evaluator preview --project shop --condition 'output ~ \"I cannot help\"'",
         .run = preview_evaluator},
        {.path = "evaluator update",
         .summary = "Change a rule. Options that are not given keep their values.",
         .arguments = {evaluator_argument},
         .options = with(rule_options(), {enable, disable}),
         .run = update_evaluator},
        {.path = "evaluator delete",
         .summary = "Delete a rule. Its evals are kept.",
         .arguments = {evaluator_argument},
         .destructive = true,
         .run = delete_evaluator},
    };
}

} // namespace hone::cli
