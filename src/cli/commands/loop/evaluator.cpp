// Evaluators: rules that evaluate new spans without a model; code, models, agents and remote services that evaluate
// documents.
#include "cli/commands/loop/evaluator.h"

#include "base/text.h"
#include "cli/commands/loop/judge_options.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
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
        {.title = "kind", .field = "kind"},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "condition", .field = "condition"},
        {.title = "filter", .field = "filter", .absent = "all spans", .only_single = true},
        {.title = "label", .field = "label"},
        {.title = "other label", .field = "other_label", .only_single = true},
        {.title = "of traces %", .field = "sample_percent", .kind = Kind::number, .only_single = true},
        {.title = "evaluated", .field = "judged", .kind = Kind::count},
        {.title = "matched", .field = "matched", .kind = Kind::count},
        {.title = "pass rate", .field = "pass_rate.rate", .kind = Kind::number},
        {.title = "from", .field = "pass_rate.low", .kind = Kind::number},
        {.title = "to", .field = "pass_rate.high", .kind = Kind::number},
        {.title = "last run", .field = "last_at", .kind = Kind::time, .absent = "never"},
        {.title = "problem", .field = "problem"},
        {.title = "issue", .field = "issue_id", .kind = Kind::id, .only_single = true},
        {.title = "version", .field = "revision", .kind = Kind::number},
        {.title = "language", .field = "code.language", .only_single = true},
        {.title = "model", .field = "llm.model.name", .only_single = true},
        {.title = "votes", .field = "llm.votes", .kind = Kind::number, .only_single = true},
        {.title = "preset", .field = "agent.preset", .only_single = true},
        {.title = "address", .field = "remote.url", .only_single = true},
        {.title = "signing secret", .field = "signing_secret", .only_single = true},
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

Result<std::string> language_of(const Context& context, const std::string& file) {
    if (const auto given = context.parsed.value("--language")) return *given;
    for (const auto& [ending, language] :
         {std::pair{".py", "python"}, {".js", "node"}, {".mjs", "node"}, {".sh", "shell"}})
        if (file.ends_with(ending)) return std::string(language);
    return context.usage("the language is not clear from the name of the file: give --language");
}

// The definition that the options of code give; nothing without --code.
Result<std::optional<json::Object>> code_of(const Context& context) {
    const auto file = context.parsed.value("--code");
    if (!file) return std::optional<json::Object>();
    Input input = TRY(Input::open(context, *file));
    json::Object code;
    code["language"] = TRY(language_of(context, *file));
    const std::string source = TRY(input.read_all(1 << 20));
    if (!is_valid_utf8(source)) return context.usage(*file + " is not a text file");
    code["source"] = source;
    code["output"] = TRY(output_config(context));
    json::Object mapping = TRY(mapping_of(context));
    if (!mapping.empty()) code["mapping"] = std::move(mapping);
    if (const auto timeout = context.parsed.value("--item-timeout")) {
        const auto ns = parse_duration_ns(*timeout);
        if (!ns.ok()) return context.usage("--item-timeout: " + ns.error().message);
        code["timeout_ms"] = ns.value() / 1'000'000;
    }
    json::Object dependencies;
    for (const auto& [option, key] : {std::pair{"--pip", "pip"}, {"--npm", "npm"}}) {
        json::Array packages;
        for (const std::string& package : context.parsed.all(option)) packages.push_back(json::Value(package));
        if (!packages.empty()) dependencies[key] = std::move(packages);
    }
    if (const auto script = context.parsed.value("--setup")) {
        Input setup = TRY(Input::open(context, *script));
        const std::string text = TRY(setup.read_all(1 << 20));
        if (!is_valid_utf8(text)) return context.usage(*script + " is not a text file");
        dependencies["setup"] = text;
    }
    if (!dependencies.empty()) code["dependencies"] = std::move(dependencies);
    return std::optional(std::move(code));
}

std::vector<Option> joined(std::vector<Option> first, const std::vector<Option>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::vector<Option> code_options() {
    return {
        {.name = "--code", .value = "FILE", .doc = "Code for runs of experiments instead of a rule over spans."},
        {.name = "--language",
         .value = "LANGUAGE",
         .doc = "Language of the code. Default: from the file name.",
         .choices = {"python", "node", "shell"}},
        {.name = "--item-timeout", .value = "DURATION", .doc = "Time of the code for one run. Default: 10s."},
        {.name = "--pip",
         .value = "PACKAGE",
         .doc = "Package of the code, such as numpy==2.1.0, from the server's evaluator_packages_dir.",
         .repeated = true},
        {.name = "--npm",
         .value = "PACKAGE",
         .doc = "Package of the code with its version, such as ajv@8.17.1, from the same folder.",
         .repeated = true},
        {.name = "--setup", .value = "FILE", .doc = "Shell script that prepares what the code needs, once."},
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
    auto code = TRY(code_of(context));
    auto judge = TRY(judge_of(context));
    if (code && judge) return context.usage("give one of --code, --prompt, --builtin, --instructions and --remote");
    json::Object body;
    if (code || judge) {
        body = judge ? std::move(*judge) : json::Object{{"kind", "code"}, {"code", std::move(*code)}};
        body["name"] = context.value_or_empty("NAME");
        if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    } else {
        body = TRY(new_rule(context));
    }
    json::Value made = TRY(context.remote.post("/v1/evaluators", std::move(body), space_query(context)));
    if (text_of(made, "kind") == "remote") {
        const json::Value secret = TRY(make_signing_secret(context, text_of(made, "id")));
        made.get_object()["signing_secret"] = text_of(secret, "signing_secret");
    }
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
    if (auto code = TRY(code_of(context))) body["code"] = std::move(*code);
    if (auto judge = TRY(judge_of(context)))
        for (const std::string_view kind : {"llm", "agent", "remote"})
            if (const json::Value* definition = judge->if_contains(kind)) body[kind] = *definition;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    const json::Value changed = TRY(context.remote.patch(TRY(evaluator_path(context)), std::move(body)));
    return show_done(context, changed, "Changed evaluator " + text_of(changed, "name") + ".");
}

Result<> list_evaluator_versions(Context& context) {
    const Columns columns{
        {.title = "version", .field = "number", .kind = Kind::number},
        {.title = "kind", .field = "kind"},
        {.title = "by", .field = "created_by"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "hash", .field = "content_hash"},
    };
    return show_list(context, TRY(evaluator_path(context)) + "/versions", {}, columns, "No versions.");
}

// The documents of a file, each a line of JSON, in requests of 20.
Result<> test_evaluator(Context& context) {
    const std::string path = TRY(evaluator_path(context)) + "/test";
    Input input = TRY(Input::open(context, context.value_or_empty("FILE")));
    json::Array documents, results;
    const auto send = [&]() -> Result<> {
        json::Object body{{"documents", documents}};
        if (const auto version = TRY(context.integer("--version", 1))) body["version"] = *version;
        const Reply reply =
            TRY(context.remote.call({.method = "POST", .path = path, .body = json::Value(std::move(body))}));
        if (reply.data.is_array())
            for (const json::Value& one : reply.data.get_array()) results.push_back(one);
        documents.clear();
        return {};
    };
    for (int64_t line = 1;; ++line) {
        const auto text = TRY(input.read_line(5 << 20));
        if (!text) break;
        if (trim(*text).empty()) continue;
        auto document = json::parse(*text);
        if (!document.ok())
            return context.fail(Exit::refused, fmt::format("line {}: {}", line, document.error().message));
        documents.push_back(std::move(document).value());
        if (documents.size() == 20) TRY(send());
    }
    if (!documents.empty()) TRY(send());
    if (context.json()) {
        print_json(context, results);
        return {};
    }
    for (size_t i = 0; i < results.size(); ++i) {
        const json::Value* verdict = member(results[i], "verdict");
        const std::string error = text_of(results[i], "error");
        context.print(safe_line(fmt::format(
            "{}  {}", i + 1, error.empty() && verdict != nullptr ? json::print(*verdict) : "error: " + error)));
    }
    return {};
}

Result<> renew_signing_secret(Context& context) {
    const json::Value evaluator = TRY(context.remote.get(TRY(evaluator_path(context))));
    const json::Value made = TRY(make_signing_secret(context, text_of(evaluator, "id")));
    return show_done(context, made,
                     "Signing secret, shown only now; requests are signed with it: " + text_of(made, "signing_secret"));
}

Result<> list_builtins(Context& context) {
    const Columns columns{
        {.title = "name", .field = "name"},
        {.title = "kind", .field = "kind"},
        {.title = "target", .field = "target"},
        {.title = "description", .field = "description"},
    };
    return show_list(context, "/v1/evaluator_builtins", {}, columns, "No built-in evaluators.");
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
         .summary = "List the evaluators: rules over new spans; code, models, agents and services for documents.",
         .options = {project},
         .lists = true,
         .run = list_evaluators},
        {.path = "evaluator show",
         .summary = "Show an evaluator and its counts.",
         .arguments = {evaluator_argument},
         .run = show_evaluator},
        {.path = "evaluator create",
         .summary = "Create a rule that evaluates new spans, or code, a model, an agent or a remote service that "
                    "evaluates documents.",
         .arguments = {{.name = "NAME", .doc = "Name of the evals that it writes."}},
         .options = with(joined(joined(rule_options(), code_options()), judge_options()), {project_option()}),
         .details = "Examples: hone evaluator create exact --code exact.py --labels pass=1,fail=0\n"
                    "hone evaluator create polite --prompt polite.txt --model gpt-4o --labels polite=1,rude=0\n"
                    "hone evaluator create correct --builtin correctness --model gpt-4o --votes 3\n"
                    "hone evaluator create slow_tools --project shop --filter 'kind = tool' --condition "
                    "'latency > 5s' --label slow --else ok --backfill 24",
         .run = create_evaluator},
        {.path = "evaluator preview",
         .summary = "Show the result of a rule for the last 24 hours, without storing it.",
         .options = with(rule_options(), {project_option()}),
         .details = "Example: hone evaluator preview --project shop --condition 'output ~ \"I cannot help\"'",
         .run = preview_evaluator},
        {.path = "evaluator update",
         .summary = "Change an evaluator; this makes a version. Options that are not given keep their values.",
         .arguments = {evaluator_argument},
         .options = with(joined(joined(rule_options(), code_options()), judge_options()), {enable, disable}),
         .run = update_evaluator},
        {.path = "evaluator versions",
         .summary = "List the versions of an evaluator.",
         .arguments = {evaluator_argument},
         .lists = true,
         .run = list_evaluator_versions},
        {.path = "evaluator test",
         .summary = "Apply an evaluator to documents of a file, without storing the results.",
         .arguments = {evaluator_argument,
                       {.name = "FILE",
                        .doc = "One JSON document with input, output and reference on each line; - is "
                               "standard input."}},
         .options = {{.name = "--version", .value = "NUMBER", .doc = "Version of the evaluator. Default: the newest."}},
         .run = test_evaluator},
        {.path = "evaluator builtin",
         .summary = "List the built-in evaluators that `hone evaluator create --builtin` can start from.",
         .lists = true,
         .run = list_builtins},
        {.path = "evaluator secret",
         .summary = "Make a new signing secret of a remote evaluator; the one before is no longer used.",
         .arguments = {evaluator_argument},
         .run = renew_signing_secret},
        {.path = "evaluator delete",
         .summary = "Delete an evaluator with its versions. Its evals are kept.",
         .arguments = {evaluator_argument},
         .destructive = true,
         .run = delete_evaluator},
    };
}

} // namespace hone::cli
