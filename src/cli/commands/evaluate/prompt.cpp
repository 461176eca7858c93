// Prompts: versions and tags, protected tags, and one call of a model with a prompt.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"
#include "net/http/sse.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

const Argument prompt_argument{.name = "PROMPT", .doc = "Name or id of the prompt."};

Columns prompt_columns() {
    return {
        {.title = "name", .field = "name"},
        {.title = "description", .field = "description"},
        {.title = "id", .field = "id"},
    };
}

Columns version_columns() {
    return {
        {.title = "version", .field = "number", .kind = Kind::number},
        {.title = "model", .field = "content.model_name"},
        {.title = "provider", .field = "content.model_provider"},
        {.title = "tags", .field = "tags"},
        {.title = "by", .field = "created_by"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "id", .field = "id"},
    };
}

Columns move_columns() {
    return {
        {.title = "time", .field = "moved_at", .kind = Kind::time},
        {.title = "tag", .field = "tag"},
        {.title = "from version", .field = "from_version", .kind = Kind::number},
        {.title = "to version", .field = "to_version", .kind = Kind::number},
        {.title = "by", .field = "moved_by"},
    };
}

Columns protected_columns() {
    return {
        {.title = "tag", .field = "name"},
        {.title = "protected by", .field = "created_by"},
        {.title = "since", .field = "created_at", .kind = Kind::time},
    };
}

Columns prompt_trace_columns() {
    return {
        {.title = "started", .field = "started_at", .kind = Kind::time},
        {.title = "version", .field = "version_number", .kind = Kind::number},
        {.title = "project", .field = "project_name"},
        {.title = "span", .field = "name"},
        {.title = "spans", .field = "spans", .kind = Kind::number},
        {.title = "trace", .field = "trace_id"},
    };
}

std::string prompt_path(const Context& context, const char* part) {
    return path_of("/v1/prompts", {context.value_or_empty("PROMPT"), part});
}

Result<> list_prompts(Context& context) {
    return show_list(context, "/v1/prompts", space_query(context), prompt_columns(),
                     "No prompts. Create one with a client of Phoenix, in the playground, or with POST /v1/prompts.");
}

Result<> list_prompt_versions(Context& context) {
    return show_list(context, prompt_path(context, "version_rows"), space_query(context), version_columns(),
                     "The prompt has no versions.");
}

Result<> list_prompt_traces(Context& context) {
    Query query = space_query(context);
    for (const auto& [option, name] : {std::pair{"--days", "days"}, {"--most", "limit"}})
        if (const auto value = context.parsed.value(option)) query.push_back({name, *value});
    return show_list(context, prompt_path(context, "traces"), query, prompt_trace_columns(),
                     "No trace of this time names a version of the prompt in prompt.id or "
                     "llm.prompt_template.version.");
}

Result<> list_tag_moves(Context& context) {
    Query query = space_query(context);
    if (const auto tag = context.parsed.value("--tag")) query.push_back({"tag", *tag});
    return show_list(context, prompt_path(context, "tag_history"), query, move_columns(),
                     "No tag of the prompt was set yet.");
}

// The version of the prompt with this number.
Result<json::Value> find_version(const Context& context, int64_t number) {
    const Items versions = TRY(context.remote.list(prompt_path(context, "version_rows"), space_query(context), {}));
    for (const json::Value& version : versions.items)
        if (number_of(version, "number") == number) return version;
    return context.fail(Exit::not_found, fmt::format("the prompt has no version {}", number));
}

Result<> tag_version(Context& context) {
    const auto number = parse_integer(context.value_or_empty("VERSION"));
    if (!number.ok() || number.value() < 1) return context.usage("VERSION must be the number of a version");
    const json::Value version = TRY(find_version(context, number.value()));
    const std::string tag = context.value_or_empty("TAG");
    const json::Value made = TRY(context.remote.post(path_of("/v1/prompt_versions", {text_of(version, "id"), "tags"}),
                                                     json::Object{{"name", tag}}));
    return show_done(context, made, fmt::format("{} points at version {}.", safe_line(tag), number.value()));
}

Result<> untag_version(Context& context) {
    const std::string tag = context.value_or_empty("TAG");
    const Items versions = TRY(context.remote.list(prompt_path(context, "version_rows"), space_query(context), {}));
    for (const json::Value& version : versions.items) {
        const json::Value* tags = member(version, "tags");
        if (tags == nullptr || !tags->is_array()) continue;
        for (const json::Value& one : tags->get_array())
            if (one.is_string() && std::string_view(one.get_string()) == tag) {
                const json::Value gone =
                    TRY(context.remote.remove(path_of("/v1/prompt_versions", {text_of(version, "id"), "tags", tag})));
                return show_done(context, gone, "Removed the tag " + safe_line(tag) + ".");
            }
    }
    return context.fail(Exit::not_found, "no version of the prompt has the tag " + safe_line(tag));
}

Result<> list_protected(Context& context) {
    return show_list(context, "/v1/protected_prompt_tags", space_query(context), protected_columns(),
                     "No tag is protected. Protect one:\n  hone prompt protect production");
}

Result<> protect_tag(Context& context) {
    const json::Value made = TRY(context.remote.post(
        "/v1/protected_prompt_tags", json::Object{{"name", context.value_or_empty("TAG")}}, space_query(context)));
    return show_done(context, made, "Only members with space_update can move " + text_of(made, "name") + " now.");
}

Result<> unprotect_tag(Context& context) {
    const std::string tag = context.value_or_empty("TAG");
    const json::Value gone =
        TRY(context.remote.remove(path_of("/v1/protected_prompt_tags", {tag}), space_query(context)));
    return show_done(context, gone, safe_line(tag) + " is not protected any more.");
}

// NAME=VALUE: JSON where it is an object or a list, else the text.
Result<json::Object> variables_of(const Context& context) {
    json::Object variables;
    for (const std::string& pair : context.parsed.all("--var")) {
        const size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) return context.usage("--var needs NAME=VALUE");
        const std::string text = pair.substr(equals + 1);
        const bool is_structure = text.starts_with("{") || text.starts_with("[");
        auto value = is_structure ? json::parse(text) : Result<json::Value>(json::Value(text));
        variables[pair.substr(0, equals)] = value.ok() ? std::move(value).value() : json::Value(text);
    }
    return variables;
}

Result<> run_prompt(Context& context) {
    json::Object body{{"prompt", context.value_or_empty("PROMPT")}};
    for (const auto& [option, key] :
         {std::pair{"--model", "model"}, {"--provider", "provider"}, {"--skill", "skill"}, {"--project", "project"}})
        if (const auto value = context.parsed.value(option)) body[key] = *value;
    body["variables"] = TRY(variables_of(context));
    Call call{"POST", "/v1/playground/run", space_query(context), json::Value(std::move(body)), {}};
    net::EventParser parser;
    std::optional<json::Value> reply;
    std::string problem = "the stream ended without a reply";
    const auto take = [&](net::ServerEvent&& event) -> Result<> {
        const json::Value data = TRY(json::parse(event.data));
        if (event.event == "text" && !context.json()) context.console.print(safe_block(text_of(data, "text")));
        if (event.event == "done") reply = data;
        if (event.event == "error") problem = text_of(data, "message");
        return {};
    };
    TRY(context.remote.stream(call, "text/event-stream",
                              [&](std::string_view bytes) { return parser.feed(bytes, take); }));
    if (!reply) return context.fail(Exit::failure, safe_line(problem));
    if (context.json()) {
        print_json(context, *reply);
        return {};
    }
    context.console.print("\n");
    if (const json::Value* calls = member(*reply, "tool_calls"); calls != nullptr && calls->is_array())
        for (const json::Value& one : calls->get_array())
            context.print(safe_line(text_of(one, "name") + " " + text_of(one, "arguments")));
    const json::Value* cost = member(*reply, "cost_micro_usd");
    const int64_t estimated = number_of(*reply, "estimated_tokens");
    context.print(safe_line(
        fmt::format("{}: {} tokens in, {} out{}, {}, {} ms", text_of(*reply, "model"),
                    number_of(*reply, "input_tokens"), number_of(*reply, "output_tokens"),
                    estimated > 0 ? fmt::format(", {} not reported (estimated)", estimated) : "",
                    cost != nullptr && cost->is_number() ? money_text(number_of(*reply, "cost_micro_usd")) : "no price",
                    number_of(*reply, "duration_ms"))));
    return {};
}

} // namespace

std::vector<Command> prompt_commands() {
    const Argument tag{.name = "TAG", .doc = "Letters in lower case, digits, - and _."};
    return {
        {.path = "prompt list", .summary = "List the prompts of the space.", .lists = true, .run = list_prompts},
        {.path = "prompt versions",
         .summary = "List the versions of a prompt with their tags.",
         .arguments = {prompt_argument},
         .lists = true,
         .run = list_prompt_versions},
        {.path = "prompt traces",
         .summary = "List the traces whose spans name a version of the prompt, newest first.",
         .arguments = {prompt_argument},
         .options = {{.name = "--days", .value = "DAYS", .doc = "Spans of the last days, 1 to 90. Default: 7."},
                     {.name = "--most", .value = "COUNT", .doc = "Traces to list, 1 to 1000. Default: 50."}},
         .run = list_prompt_traces},
        {.path = "prompt run",
         .summary = "Send a prompt to a model and print the response as it arrives.",
         .arguments = {{.name = "PROMPT", .doc = "NAME, NAME@TAG, NAME:VERSION, or the id of a version."}},
         .options = {{.name = "--var", .value = "NAME=VALUE", .doc = "Variable of the template.", .repeated = true},
                     {.name = "--model", .value = "MODEL", .doc = "Model. Default: that of the prompt."},
                     {.name = "--provider", .value = "PROVIDER", .doc = "Provider. Default: that of the prompt."},
                     {.name = "--skill",
                      .value = "SKILL",
                      .doc = "Model skill. Default: the one of the space that offers the model."},
                     {.name = "--project",
                      .value = "PROJECT",
                      .doc = "Project that gets the trace. Default: hone-playground, which lists do not show."}},
         .details = "Example: hone prompt run support-reply@production --var text='Where is my order?'",
         .run = run_prompt},
        {.path = "prompt tag",
         .summary = "Give a version a tag; another version of the prompt loses it.",
         .arguments = {prompt_argument, {.name = "VERSION", .doc = "Number of the version."}, tag},
         .run = tag_version},
        {.path = "prompt untag",
         .summary = "Remove a tag of a prompt.",
         .arguments = {prompt_argument, tag},
         .run = untag_version},
        {.path = "prompt tag-history",
         .summary = "List who moved the tags of a prompt, from which version to which, newest first.",
         .arguments = {prompt_argument},
         .options = {{.name = "--tag", .value = "TAG", .doc = "Only moves of this tag."}},
         .lists = true,
         .run = list_tag_moves},
        {.path = "prompt protected",
         .summary = "List the tags that only members with space_update can move.",
         .run = list_protected},
        {.path = "prompt protect",
         .summary = "Protect a tag in all prompts of the space.",
         .arguments = {tag},
         .run = protect_tag},
        {.path = "prompt unprotect",
         .summary = "End the protection of a tag.",
         .arguments = {tag},
         .run = unprotect_tag},
    };
}

} // namespace hone::cli
