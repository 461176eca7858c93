#include "cli/commands/loop/judge_options.h"

#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

constexpr size_t largest_prompt_file = 1 << 20;

Result<std::string> text_file(const Context& context, const std::string& file) {
    Input input = TRY(Input::open(context, file));
    std::string text = TRY(input.read_all(largest_prompt_file));
    if (!is_valid_utf8(text)) return context.usage(file + " is not a text file");
    return text;
}

// A text is the message of the user; a file .json has the list of messages.
Result<json::Value> messages_in(const Context& context, const std::string& file) {
    const std::string text = TRY(text_file(context, file));
    if (!file.ends_with(".json")) return json::Value(json::Array{json::Object{{"role", "user"}, {"content", text}}});
    auto messages = json::parse(text);
    if (!messages.ok()) return context.usage(file + ": " + messages.error().message);
    return messages;
}

Result<> set_model(const Context& context, json::Object& llm, bool is_new) {
    json::Object model{{"name", context.value_or_empty("--model")}};
    if (is_new && !context.parsed.value("--model")) return context.usage("an evaluator with a model needs --model");
    if (const auto skill = context.parsed.value("--skill")) model["skill"] = *skill;
    if (const auto provider = context.parsed.value("--provider")) model["provider"] = *provider;
    llm["model"] = std::move(model);
    if (const auto votes = TRY(context.integer("--votes", 1))) llm["votes"] = *votes;
    if (context.parsed.has("--no-cache")) llm["cache"] = false;
    if (context.parsed.has("--no-explanation")) llm["explain"] = false;
    if (context.parsed.has("--compares")) llm["pairwise"] = true;
    return {};
}

bool gives_output(const Context& context) {
    return context.parsed.has("--text") || context.parsed.value("--labels") || context.parsed.value("--range");
}

// The definition of a built-in evaluator with the model and the output of the options.
Result<json::Object> builtin_of(const Context& context, const std::string& name) {
    for (const json::Value& one : TRY(context.remote.list_whole("/v1/evaluator_builtins", {})).items) {
        if (text_of(one, "name") != name) continue;
        const std::string kind = text_of(one, "kind");
        const json::Value* definition = member(one, "definition");
        if (definition == nullptr || !definition->is_object()) break;
        if (kind == "rule") {
            json::Object body = definition->get_object();
            body["kind"] = kind;
            body["project"] = TRY(span_project(context));
            return body;
        }
        json::Object made = definition->get_object();
        if (kind == "llm") TRY(set_model(context, made, true));
        if (gives_output(context)) made["output"] = TRY(output_config(context));
        json::Object mapping = TRY(mapping_of(context));
        if (!mapping.empty()) made["mapping"] = std::move(mapping);
        json::Object body{{"kind", kind}, {"description", text_of(one, "description")}};
        body[kind] = std::move(made);
        return body;
    }
    return context.fail(Exit::not_found, "no built-in evaluator is named " + name,
                        "hone evaluator builtin lists all of them");
}

} // namespace

std::vector<Option> judge_options() {
    return {
        {.name = "--prompt",
         .value = "FILE",
         .doc = "A model evaluates: text of the message with variables such as {{input}}, or .json with messages."},
        {.name = "--model", .value = "MODEL", .doc = "Model of --prompt and --builtin."},
        {.name = "--skill", .value = "SKILL", .doc = "Model skill. Default: the one that offers the model."},
        {.name = "--provider", .value = "PROVIDER", .doc = "Provider, such as OPENAI. Default: of the skill."},
        {.name = "--votes", .value = "NUMBER", .doc = "Calls for one verdict: 1, 3 or 5. Default: 1."},
        {.name = "--no-cache", .value = "", .doc = "Do not use stored verdicts of equal documents."},
        {.name = "--no-explanation", .value = "", .doc = "The model explains nothing, which costs less."},
        {.name = "--compares",
         .value = "",
         .doc = "Of --prompt: it compares the outputs {{a}} and {{b}} of two experiments."},
        {.name = "--builtin", .value = "NAME", .doc = "Start from a built-in evaluator."},
        {.name = "--instructions", .value = "FILE", .doc = "An agent evaluates: what it checks. Needs --preset."},
        {.name = "--preset", .value = "PRESET", .doc = "Preset of the agent's runs."},
        {.name = "--remote", .value = "URL", .doc = "A service evaluates: it gets the document by a signed POST."},
        {.name = "--labels", .value = "LABELS", .doc = "Labels of the verdict, with scores: pass=1,fail=0."},
        {.name = "--range", .value = "RANGE", .doc = "The verdict is a number in this range: 0..1."},
        {.name = "--text", .value = "", .doc = "The verdict is any text. Without these three: true or false."},
        {.name = "--map",
         .value = "NAME=PATH",
         .doc = "Argument or variable, from a place in the document: text=output.text.",
         .repeated = true},
    };
}

Result<std::optional<json::Object>> judge_of(const Context& context) {
    const auto prompt = context.parsed.value("--prompt");
    const auto builtin = context.parsed.value("--builtin");
    const auto instructions = context.parsed.value("--instructions");
    const auto remote = context.parsed.value("--remote");
    const int given = prompt.has_value() + builtin.has_value() + instructions.has_value() + remote.has_value();
    if (given > 1) return context.usage("give one of --prompt, --builtin, --instructions and --remote");
    if (given == 0) return std::optional<json::Object>();
    if (builtin) return std::optional(TRY(builtin_of(context, *builtin)));
    json::Object definition;
    std::string kind;
    if (prompt) {
        kind = "llm";
        definition["messages"] = TRY(messages_in(context, *prompt));
        TRY(set_model(context, definition, true));
    } else if (instructions) {
        kind = "agent";
        if (!context.parsed.value("--preset")) return context.usage("--instructions needs --preset");
        definition["preset"] = context.value_or_empty("--preset");
        definition["instructions"] = TRY(text_file(context, *instructions));
    } else {
        kind = "remote";
        definition["url"] = *remote;
    }
    definition["output"] = TRY(output_config(context));
    json::Object mapping = TRY(mapping_of(context));
    if (!mapping.empty()) definition["mapping"] = std::move(mapping);
    json::Object body{{"kind", kind}};
    body[kind] = std::move(definition);
    return std::optional(std::move(body));
}

// --labels pass=1,fail=0,unclear | --range 0..1 | --text; boolean without any of them.
Result<json::Object> output_config(const Context& context) {
    const auto labels = context.parsed.value("--labels");
    const auto range = context.parsed.value("--range");
    if (labels.has_value() + range.has_value() + context.parsed.has("--text") > 1)
        return context.usage("give one of --labels, --range and --text");
    if (context.parsed.has("--text")) return json::Object{{"type", "text"}};
    if (range) {
        json::Object config{{"type", "numeric"}};
        const size_t dots = range->find("..");
        if (dots == std::string::npos) return context.usage("--range needs MINIMUM..MAXIMUM, such as 0..1");
        for (const auto& [key, text] :
             {std::pair{"minimum", range->substr(0, dots)}, {"maximum", range->substr(dots + 2)}}) {
            if (text.empty()) continue;
            const auto number = json::parse(text);
            if (!number.ok() || !number.value().is_number())
                return context.usage("--range: " + text + " is not a number");
            config[key] = number.value();
        }
        return config;
    }
    if (!labels) return json::Object{{"type", "boolean"}};
    json::Array values;
    for (const std::string_view one : split(*labels, ',')) {
        const size_t equals = one.rfind('=');
        json::Object value{{"label", trim(one.substr(0, equals))}};
        if (equals != std::string_view::npos) {
            const auto score = json::parse(trim(one.substr(equals + 1)));
            if (!score.ok() || !score.value().is_number())
                return context.usage("--labels needs LABEL=SCORE, such as pass=1,fail=0");
            value["score"] = score.value();
        }
        values.push_back(std::move(value));
    }
    return json::Object{{"type", "categorical"}, {"values", std::move(values)}};
}

Result<json::Object> mapping_of(const Context& context) {
    json::Object mapping;
    for (const std::string& pair : context.parsed.all("--map")) {
        const size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return context.usage("--map needs NAME=PATH, such as text=output.text");
        mapping[pair.substr(0, equals)] = json::Object{{"path", pair.substr(equals + 1)}};
    }
    return mapping;
}

Result<json::Value> make_signing_secret(const Context& context, const std::string& evaluator_id) {
    return context.remote.post(path_of("/v1/evaluators", {evaluator_id, "signing_secret"}), json::Object{});
}

} // namespace hone::cli
