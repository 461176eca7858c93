#include "base/file.h"
#include "base/text.h"
#include "cli/commands/skills/skill_declared.h"
#include "cli/commands/skills/skill_export.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/secret_input.h"

#include <filesystem>

namespace hone::cli {

namespace {

constexpr size_t largest_folder = 4 << 20;
const Argument skill_argument{.name = "SKILL", .doc = "Id or name of the skill."};
const Option variable_option{.name = "--var", .value = "NAME=VALUE", .doc = "Set a plain variable.", .repeated = true};
const Option secret_option{.name = "--secret",
                           .value = "NAME",
                           .doc = "Set a secret: prompts for it, or reads a line of standard input.",
                           .repeated = true};
const Option exposure_option{.name = "--expose",
                             .value = "NAME=HOW",
                             .doc = "brokered: workers cannot read the secret (default); env: it is in the "
                                    "environment of workers.",
                             .repeated = true};
const Option env_option{.name = "--env-file", .value = "FILE", .doc = "Read variables and secrets from a .env file."};
const Option git_url_option{
    .name = "--git-url",
    .value = "URL",
    .doc = "Repository with the folder of a custom skill. It is fetched now, and later with hone skill fetch."};
const Option git_ref_option{.name = "--git-ref", .value = "REF", .doc = "Branch, tag or commit of the repository."};
const Option git_path_option{.name = "--git-path", .value = "DIR", .doc = "Folder in the repository with SKILL.md."};
const Option bind_option{.name = "--bind",
                         .value = "NAME=URL",
                         .doc = "Declare a secret of a custom skill and an address it may be sent to: "
                                "KEY=https://api.example.com/v1, or with methods \"KEY=GET,HEAD https://…\". Repeat it "
                                "for more addresses.",
                         .repeated = true};
const Option header_option{.name = "--header",
                           .value = "NAME=TEXT",
                           .doc = "How a declared secret is sent: \"KEY=authorization: Bearer {}\". Default: in the "
                                  "header where the worker puts its placeholder.",
                           .repeated = true};
const Option declare_option{.name = "--declare",
                            .value = "NAME=DEFAULT",
                            .doc = "Declare a plain variable of a custom skill.",
                            .repeated = true};
const Option allow_option{.name = "--allow",
                          .value = "URL",
                          .doc = "Address that workers can reach through a custom skill without a secret.",
                          .repeated = true};
const Option folder_option{.name = "--folder", .value = "DIR", .doc = "Folder with SKILL.md, of a custom skill."};

Columns skill_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "type", .field = "type"},
        {.title = "scope", .field = "scope"},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "missing", .field = "missing", .kind = Kind::list},
        {.title = "warnings", .field = "warnings", .kind = Kind::list, .only_single = true},
        {.title = "description", .field = "description", .only_single = true},
        {.title = "git", .field = "git.url", .only_single = true},
        {.title = "commit", .field = "git.commit", .only_single = true},
        {.title = "folder", .field = "folder.name", .only_single = true},
        {.title = "used by", .field = "used_by_names", .only_single = true},
        {.title = "shared with", .field = "shared_with_names", .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time, .only_single = true},
        {.title = "changed", .field = "updated_at", .kind = Kind::time},
    };
}

// The skill that SKILL names; other routes want its id.
Result<json::Value> wanted_skill(const Context& context) {
    return context.remote.get(path_of("/v1/skills", {context.value_or_empty("SKILL")}), space_query(context));
}

Result<> add_values(const Context& context, json::Object& body) {
    TRY(add_declared(context, body));
    json::Object variables, secrets, exposure;
    for (const auto& text : context.parsed.all("--var")) {
        const auto [name, value] = TRY(split_pair(context, text, "--var"));
        variables[name] = value;
    }
    for (const auto& name : context.parsed.all("--secret")) secrets[name] = TRY(read_secret(context, name));
    for (const auto& text : context.parsed.all("--expose")) {
        const auto [name, how] = TRY(split_pair(context, text, "--expose"));
        exposure[name] = how;
    }
    if (!variables.empty()) body["variables"] = std::move(variables);
    if (!secrets.empty()) body["secrets"] = std::move(secrets);
    if (!exposure.empty()) body["exposure"] = std::move(exposure);
    if (const auto file = context.parsed.value("--env-file")) body["env_text"] = TRY(read_file(*file, 256 << 10));
    return {};
}

Result<json::Value> folder_body(const Context& context, const std::string& directory) {
    std::error_code failed;
    std::filesystem::recursive_directory_iterator at(directory, failed), end;
    if (failed) return context.usage("cannot read the folder " + directory + ": " + failed.message());
    json::Array files;
    size_t total = 0;
    for (; at != end; at.increment(failed)) {
        if (failed) return context.usage("cannot read the folder " + directory + ": " + failed.message());
        if (at->path().filename() == ".git") at.disable_recursion_pending();
        if (!at->is_regular_file(failed) || at->is_symlink(failed)) continue;
        const std::string content = TRY(read_file(at->path().string(), largest_folder));
        total += content.size();
        if (total > largest_folder) return context.usage("the folder is larger than 4 MiB");
        const bool executable =
            (at->status(failed).permissions() & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
        files.push_back(
            json::Object{{"path", std::filesystem::relative(at->path(), directory, failed).generic_string()},
                         {"base64", to_base64(content)},
                         {"executable", executable}});
    }
    return json::Value(json::Object{{"files", std::move(files)}});
}

Result<json::Value> upload_folder(const Context& context, const std::string& id, const std::string& directory) {
    json::Value body = TRY(folder_body(context, directory));
    return context.remote.put(path_of("/v1/skills", {id, "folder"}), std::move(body));
}

std::optional<json::Object> git_body(const Context& context) {
    const auto url = context.parsed.value("--git-url");
    if (!url) return std::nullopt;
    return json::Object{
        {"url", *url}, {"ref", context.value_or_empty("--git-ref")}, {"path", context.value_or_empty("--git-path")}};
}

Result<json::Value> fetch_folder(const Context& context, const json::Value& skill) {
    auto fetched = context.remote.post(path_of("/v1/skills", {text_of(skill, "id"), "fetch"}), json::Object{},
                                       space_query(context));
    if (fetched.ok()) return fetched;
    Error error = fetched.error();
    error.message = "the skill " + text_of(skill, "name") +
                    " was saved, but its folder was not fetched: " + error.message + " (retry with hone skill fetch)";
    return error;
}

Columns variable_columns() {
    return {
        {.title = "variable", .field = "name"},
        {.title = "secret", .field = "secret", .kind = Kind::yes_no},
        {.title = "set", .field = "set", .kind = Kind::yes_no},
        {.title = "value", .field = "value"},
        {.title = "exposure", .field = "exposure"},
        {.title = "replaced", .field = "set_at", .kind = Kind::time},
        {.title = "last used", .field = "last_used_at", .kind = Kind::time},
        {.title = "reminders", .field = "reminders", .kind = Kind::list},
    };
}

void warn_of_exposure(const Context& context, const std::string& name) {
    context.console.note("warning: exposure env: all programs of a worker can read " + safe_line(name) +
                         ". Use brokered unless they must sign requests with it.\n");
}

std::string names_in(const json::Value& skill, std::string_view field) {
    std::string names;
    const auto* list = skill.as_object().if_contains(field);
    if (list == nullptr || !list->is_array()) return names;
    for (const auto& each : list->get_array()) {
        const std::string kind = text_of(each, "kind");
        names += (names.empty() ? "" : ", ") + (kind.empty() ? "" : kind + " ") + text_of(each, "name");
    }
    return names;
}

Result<> show(const Context& context, const json::Value& skill) {
    if (context.json()) return show_record(context, skill, skill_columns());
    json::Value named = skill;
    for (const std::string field : {"used_by", "shared_with"})
        if (const std::string names = names_in(skill, field); !names.empty())
            named.as_object()[field + "_names"] = names;
    TRY(show_record(context, named, skill_columns()));
    const auto* variables = skill.as_object().if_contains("variables");
    if (variables == nullptr || !variables->is_array()) return {};
    for (const auto& variable : variables->get_array()) {
        context.console.print("\n");
        TRY(show_record(context, variable, variable_columns()));
        if (text_of(variable, "exposure") == "env") warn_of_exposure(context, text_of(variable, "name"));
    }
    return {};
}

Result<> list_skills(Context& context) {
    Query query = space_query(context);
    if (const auto type = context.parsed.value("--type")) query.emplace_back("type", *type);
    if (context.parsed.has("--installation")) query.emplace_back("scope", "installation");
    return show_list(context, "/v1/skills", std::move(query), skill_columns(),
                     "No skills. A skill gives workers access to another system. Create one:\n  hone skill create NAME "
                     "--type github "
                     "--secret GH_TOKEN");
}

Result<> show_skill(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    return show(context, skill);
}

// From the provider itself: also shows whether the key works.
Result<> list_skill_models(Context& context) {
    json::Object body{{"skill", context.value_or_empty("SKILL")}};
    const json::Value models = TRY(context.remote.post("/v1/model_lists", std::move(body), space_query(context)));
    return show_rows(context, models, {{.title = "model", .field = "name"}, {.title = "title", .field = "title"}},
                     "The provider offers no models with this key.");
}

Result<> create_skill(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}, {"type", context.value_or_empty("--type")}};
    if (context.value_or_empty("--type").empty()) body["type"] = "custom";
    if (context.parsed.has("--installation")) body["scope"] = "installation";
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    if (const auto git = git_body(context)) body["git"] = *git;
    TRY(add_values(context, body));
    json::Value made = TRY(context.remote.post("/v1/skills", std::move(body), space_query(context)));
    if (const auto folder = context.parsed.value("--folder"))
        made = TRY(upload_folder(context, text_of(made, "id"), *folder));
    else if (context.parsed.value("--git-url"))
        made = TRY(fetch_folder(context, made));
    return show(context, made);
}

Result<> fetch_skill(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    return show(context, TRY(fetch_folder(context, skill)));
}

Result<> set_skill(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    json::Object body;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    TRY(add_values(context, body));
    for (const auto& name : context.parsed.all("--unset")) {
        if (!body.contains("variables")) body["variables"] = json::Object{};
        body["variables"].as_object()[name] = nullptr;
    }
    const auto folder = context.parsed.value("--folder");
    if (const auto git = git_body(context)) body["git"] = *git;
    if (body.empty() && !folder)
        return context.usage("nothing to change: give --var, --secret, --env-file, --bind, --allow, --folder or "
                             "--git-url");
    json::Value changed = skill;
    if (!body.empty())
        changed = TRY(context.remote.patch(path_of("/v1/skills", {text_of(skill, "id")}), std::move(body)));
    if (folder)
        changed = TRY(upload_folder(context, text_of(skill, "id"), *folder));
    else if (context.parsed.value("--git-url"))
        changed = TRY(fetch_folder(context, changed));
    return show(context, changed);
}

Result<> delete_skill(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    const std::string name = text_of(skill, "name");
    TRY(context.confirm("The skill " + name + " is deleted with its secrets.", name));
    const json::Value gone =
        TRY(context.remote.remove(path_of("/v1/skills", {text_of(skill, "id")}), {{"confirm", name}}));
    return show_done(context, gone, "Deleted skill " + name + ".");
}

Result<> share_skill(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    const std::string path =
        path_of("/v1/skills", {text_of(skill, "id"), "shares", context.value_or_empty("WITH_SPACE")});
    const json::Value changed =
        context.parsed.has("--stop") ? TRY(context.remote.remove(path)) : TRY(context.remote.put(path, json::Object{}));
    return show_done(context, changed, context.parsed.has("--stop") ? "No longer shared with the space." : "Shared.");
}

Result<> list_skill_versions(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    return show_list(context, path_of("/v1/skills", {text_of(skill, "id"), "versions"}), {},
                     {{.title = "version", .field = "version", .kind = Kind::number},
                      {.title = "changed", .field = "changed_at", .kind = Kind::time},
                      {.title = "by", .field = "changed_by"},
                      {.title = "summary", .field = "summary"}},
                     "No versions.");
}

// Shows what would be set, asks for confirmation, then sets it.
Result<> take_env(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    const std::string text = TRY(read_file(context.value_or_empty("FILE"), 256 << 10));
    const json::Value preview =
        TRY(context.remote.post("/v1/skill_env", json::Object{{"skill", text_of(skill, "id")}, {"text", text}}));
    const auto list = [&](std::string_view field) {
        const auto* found = preview.as_object().if_contains(field);
        return found != nullptr && found->is_array() ? found->get_array() : json::Array{};
    };
    if (!context.json()) {
        for (const auto& match : list("matches"))
            context.console.note("sets " + safe_line(text_of(match, "variable")) + "\n");
        for (const auto& name : list("unknown"))
            if (name.is_string())
                context.console.note("leaves out " + safe_line(std::string(name.get_string())) + "\n");
        for (const auto& problem : list("problems"))
            if (problem.is_string()) context.console.note(safe_line(std::string(problem.get_string())) + "\n");
    }
    if (context.parsed.has("--preview")) {
        if (context.json()) print_json(context, preview);
        return {};
    }
    TRY(context.confirm("They replace the stored values.", "yes"));
    const json::Value changed =
        TRY(context.remote.patch(path_of("/v1/skills", {text_of(skill, "id")}), json::Object{{"env_text", text}}));
    return show(context, changed);
}

// "GET, HEAD https://api.example.com:8443/v1": what a rule allows, as an address.
std::string shown_rule(const json::Value& rule) {
    const json::Object& host = rule.get_object();
    const auto is = [&](std::string_view field, bool wanted) {
        const json::Value* found = host.if_contains(field);
        return found != nullptr && found->is_bool() && found->get_bool() == wanted;
    };
    std::string text;
    if (const json::Value* methods = host.if_contains("methods"); methods != nullptr && methods->is_array())
        for (const json::Value& method : methods->get_array())
            if (method.is_string()) text += (text.empty() ? "" : ", ") + std::string(method.get_string());
    if (text.empty()) text = "every method";
    text += (is("tls", false) ? " http://" : " https://") + text_of(rule, "host");
    if (const json::Value* port = host.if_contains("port"); port != nullptr && port->is_int64())
        text += ":" + std::to_string(port->get_int64());
    return text + text_of(rule, "path_prefix") + (is("websocket", true) ? " and WebSockets" : "");
}

Result<> show_reach(Context& context) {
    Query query = space_query(context);
    const json::Value skill = TRY(wanted_skill(context));
    query.emplace_back("skill", text_of(skill, "id"));
    const Items items = TRY(context.remote.list_whole("/v1/reach", std::move(query)));
    if (context.json()) {
        print_json(context, items.items);
        return {};
    }
    for (const auto& line : items.items) {
        const auto* host = line.as_object().if_contains("host");
        std::string text = text_of(line, "kind");
        if (host != nullptr && host->is_object()) text += " " + shown_rule(*host);
        if (const auto secret = text_of(line, "secret_name"); !secret.empty()) text += " with " + secret;
        if (const auto detail = text_of(line, "detail"); !detail.empty()) text += ": " + detail;
        context.console.print(safe_line(text) + "\n");
    }
    return {};
}

Result<> list_secrets(Context& context) {
    return show_list(
        context, "/v1/secrets", space_query(context),
        {{.title = "secret", .field = "name"},
         {.title = "skill", .field = "skill_name"},
         {.title = "exposure", .field = "exposure"},
         {.title = "replaced", .field = "set_at", .kind = Kind::time},
         {.title = "last used", .field = "last_used_at", .kind = Kind::time, .absent = "never"},
         {.title = "used by", .field = "used_by", .kind = Kind::number},
         {.title = "reminders", .field = "reminders", .kind = Kind::list}},
        "No secrets. They belong to skills. Create one:\n  hone skill create NAME --type github --secret GH_TOKEN");
}

Result<> delete_secret(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    const std::string name = context.value_or_empty("NAME");
    TRY(context.confirm("Workers lose " + name + " of the skill " + text_of(skill, "name") + ".", "yes"));
    const json::Value changed =
        TRY(context.remote.remove(path_of("/v1/skills", {text_of(skill, "id"), "secrets", name})));
    return show_done(context, changed, "Deleted " + name + ".");
}

Result<> set_secret(Context& context) {
    const json::Value skill = TRY(wanted_skill(context));
    const std::string name = context.value_or_empty("NAME");
    json::Object body;
    body["value"] = TRY(read_secret(context, name));
    if (const auto how = context.parsed.value("--exposure")) body["exposure"] = *how;
    const json::Value changed =
        TRY(context.remote.put(path_of("/v1/skills", {text_of(skill, "id"), "secrets", name}), std::move(body)));
    if (context.parsed.value("--exposure") == "env") warn_of_exposure(context, name);
    return show_done(context, changed, "Stored " + name + ".");
}

} // namespace

std::vector<Command> skill_commands() {
    const Argument secret_name{.name = "NAME", .doc = "Name of the variable, such as GH_TOKEN."};
    const Option name_option{.name = "--name", .value = "NAME", .doc = "New name."};
    const Option description_option{.name = "--description", .value = "TEXT", .doc = "Description."};
    return {
        {.path = "skill list",
         .summary = "List the skills of the space and those shared with it.",
         .options = {{.name = "--type", .value = "TYPE", .doc = "Only skills of this type."},
                     {.name = "--installation",
                      .value = "",
                      .doc = "List the skills of the installation; for its owners."}},
         .lists = true,
         .run = list_skills},
        {.path = "skill show",
         .summary = "Show a skill: variables, names of secrets, and missing values.",
         .arguments = {skill_argument},
         .run = show_skill},
        {.path = "skill models",
         .summary = "List the models that the provider of a model skill offers.",
         .arguments = {skill_argument},
         .run = list_skill_models},
        {.path = "skill create",
         .summary = "Create a skill.",
         .arguments = {{.name = "NAME", .doc = "Name of the skill."}},
         .options = {{.name = "--type",
                      .value = "TYPE",
                      .doc = "Type of the skill. Default: custom.",
                      .choices = {"github", "hone", "datadog", "dynatrace", "model", "custom"}},
                     description_option,
                     variable_option,
                     secret_option,
                     exposure_option,
                     env_option,
                     bind_option,
                     header_option,
                     declare_option,
                     allow_option,
                     folder_option,
                     git_url_option,
                     git_ref_option,
                     git_path_option,
                     {.name = "--installation",
                      .value = "",
                      .doc = "Create it for the whole installation, to share it with spaces."}},
         .details = "  hone skill create claude --type model --var PROTOCOL=anthropic --secret API_KEY\n"
                    "  hone skill create pager --bind PAGER_KEY=https://api.pager.example.com/v2 --header "
                    "\"PAGER_KEY=authorization: Token {}\" --secret PAGER_KEY",
         .run = create_skill},
        {.path = "skill set",
         .summary = "Change a skill. Each change creates a version.",
         .arguments = {skill_argument},
         .options =
             {name_option,
              description_option,
              variable_option,
              secret_option,
              exposure_option,
              env_option,
              bind_option,
              header_option,
              declare_option,
              allow_option,
              folder_option,
              git_url_option,
              git_ref_option,
              git_path_option,
              {.name = "--unset", .value = "NAME", .doc = "Remove the value of a plain variable.", .repeated = true}},
         .details =
             "--bind, --header and --declare replace all declared variables, --allow all hosts without a secret. "
             "A secret for a new host must be given again with --secret.",
         .run = set_skill},
        {.path = "skill fetch",
         .summary = "Fetch the current folder of a custom skill from its git repository.",
         .arguments = {skill_argument},
         .details = "Workers use the last fetched commit, which hone skill show prints. The repository is one of the "
                    "space (hone repo list): a private one is fetched with its credential. For a skill of the "
                    "installation, choose the space with --space.",
         .run = fetch_skill},
        {.path = "skill delete",
         .summary = "Delete a skill with its secrets.",
         .arguments = {skill_argument},
         .destructive = true,
         .run = delete_skill},
        {.path = "skill share",
         .summary = "Share a skill of the installation with a space.",
         .arguments = {skill_argument, {.name = "WITH_SPACE", .doc = "Id or name of the space."}},
         .options = {{.name = "--stop", .value = "", .doc = "Stop sharing it."}},
         .run = share_skill},
        {.path = "skill versions",
         .summary = "List the versions of a skill: who changed what.",
         .arguments = {skill_argument},
         .run = list_skill_versions},
        {.path = "skill env",
         .summary = "Set variables and secrets from a .env file. Shows their names first.",
         .arguments = {skill_argument, {.name = "FILE", .doc = "The .env file."}},
         .options = {{.name = "--preview", .value = "", .doc = "Show what would be set, without storing it."}},
         .destructive = true,
         .run = take_env},
        {.path = "skill reach",
         .summary = "Show the hosts that workers can reach through a skill, and the secrets used.",
         .arguments = {skill_argument},
         .run = show_reach},
        skill_export_command(),
        {.path = "secret list", .summary = "List the names of secrets, their age and last use.", .run = list_secrets},
        {.path = "secret set",
         .summary = "Set or replace a secret of a skill.",
         .arguments = {skill_argument, secret_name},
         .options = {{.name = "--exposure",
                      .value = "HOW",
                      .doc = "brokered: workers cannot read it; env: it is in the environment of workers.",
                      .choices = {"brokered", "env"}}},
         .details = "Prompts for the value, or reads a line of standard input. It is not shown again.",
         .run = set_secret},
        {.path = "secret delete",
         .summary = "Delete a secret of a skill.",
         .arguments = {skill_argument, secret_name},
         .destructive = true,
         .run = delete_secret},
    };
}

} // namespace hone::cli
