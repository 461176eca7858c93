// Presets: workers with a name, also as files that a team keeps in git.
#include "base/text.h"
#include "cli/toolkit/as_file.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/yaml.h"

#include <algorithm>

namespace hone::cli {

namespace {

const Argument preset_argument{.name = "PRESET", .doc = "Id or name of the preset."};

Columns preset_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "provider", .field = "settings.provider", .only_single = true},
        {.title = "harness", .field = "settings.harness"},
        {.title = "model", .field = "settings.model"},
        {.title = "skills", .field = "settings.skills", .kind = Kind::list, .only_single = true},
        {.title = "warnings", .field = "warnings", .kind = Kind::list, .only_single = true},
        {.title = "changed", .field = "updated_at", .kind = Kind::time},
        {.title = "description", .field = "description"},
    };
}

std::string preset_path(const std::string& preset) {
    return path_of("/v1/presets", {preset});
}

Result<json::Value> wanted_preset(const Context& context) {
    return context.remote.get(preset_path(context.value_or_empty("PRESET")), space_query(context));
}

// What a file holds: without ids, times and the number of the version, which belong to one server.
json::Object file_form(const json::Value& preset) {
    json::Object form{{"name", text_of(preset, "name")}, {"description", text_of(preset, "description")}};
    const auto* settings = preset.is_object() ? preset.get_object().if_contains("settings") : nullptr;
    form["settings"] = settings != nullptr ? *settings : json::Value(json::Object{});
    return form;
}

// Another server gives its skills other ids, so a file has their names.
enum class Skills { to_names, to_ids };
Result<> rename_skills(const Context& context, Skills direction, json::Object& form) {
    json::Value* settings = form.if_contains("settings");
    json::Value* skills =
        settings != nullptr && settings->is_object() ? settings->get_object().if_contains("skills") : nullptr;
    if (skills == nullptr || !skills->is_array() || skills->get_array().empty()) return {};
    const Items known = TRY(context.remote.list_whole("/v1/skills", space_query(context)));
    const auto [from, to] = direction == Skills::to_names ? std::pair{"id", "name"} : std::pair{"name", "id"};
    for (json::Value& skill : skills->get_array())
        for (const json::Value& each : known.items)
            if (skill.is_string() && text_of(each, from) == std::string_view(skill.get_string())) {
                skill = text_of(each, to);
                break;
            }
    return {};
}

FileKind preset_file() {
    return {.name = "preset",
            .marker = "settings",
            .form = file_form,
            .find =
                [](const Context& context, const json::Object& form) {
                    return context.remote.get(preset_path(text_of(form, "name")), space_query(context));
                },
            .path = [](const json::Value& preset) { return preset_path(text_of(preset, "id")); },
            .create_path = "/v1/presets"};
}

Result<json::Object> read_preset(const Context& context, const std::string& file) {
    json::Object form = TRY(read_form(context, preset_file(), file));
    TRY(rename_skills(context, Skills::to_ids, form));
    return form;
}

Result<> list_presets(Context& context) {
    return show_list(context, "/v1/presets", space_query(context), preset_columns(),
                     "No presets. Create one:\n  hone preset create analyst --harness playbook");
}

Result<> show_preset(Context& context) {
    const json::Value preset = TRY(wanted_preset(context));
    TRY(show_record(context, preset, preset_columns()));
    if (context.json()) return {};
    context.console.print("\n" + print_yaml(file_form(preset)["settings"]));
    return {};
}

// Values of secret variables come from the terminal or standard input: others can read the arguments of a process.
Result<> add_secret_variables(const Context& context, json::Object& settings) {
    const auto names = context.parsed.all("--secret-env");
    if (names.empty()) return {};
    if (context.parsed.value("--file") == "-")
        return context.usage("standard input has the settings: put the preset into a file to use --secret-env");
    json::Value& sandbox = settings["sandbox"];
    if (!sandbox.is_object()) sandbox = json::Object{};
    json::Value& variables = sandbox.get_object()["secret_env"];
    if (!variables.is_object()) variables = json::Object{};
    for (const auto& name : names) {
        auto given =
            context.console.is_interactive() ? context.console.prompt_secret(name + ": ") : context.console.read_line();
        if (!given.ok() || given.value().empty()) return context.usage("no value was given for " + name);
        variables.get_object()[name] = std::move(given).value();
    }
    return {};
}

Result<> create_preset(Context& context) {
    json::Object body{{"name", ""}, {"description", ""}, {"settings", json::Object{}}};
    if (const auto file = context.parsed.value("--file")) body = TRY(read_preset(context, *file));
    body["name"] = context.value_or_empty("NAME");
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    json::Value& settings = body["settings"];
    if (!settings.is_object()) return context.usage("\"settings\" must be an object");
    if (const auto provider = context.parsed.value("--provider")) {
        settings.get_object()["provider"] = *provider;
        // It runs its own agent only.
        if (*provider == "claude-managed") settings.get_object()["harness"] = *provider;
    }
    if (const auto harness = context.parsed.value("--harness")) settings.get_object()["harness"] = *harness;
    if (const auto model = context.parsed.value("--model")) settings.get_object()["model"] = *model;
    for (const auto& [option, field] : {std::pair{"--command", "command"}, std::pair{"--skill", "skills"}}) {
        if (!context.parsed.has(option)) continue;
        json::Array words;
        for (const auto& word : context.parsed.all(option)) words.emplace_back(word);
        settings.get_object()[field] = std::move(words);
    }
    TRY(add_secret_variables(context, settings.get_object()));
    TRY(rename_skills(context, Skills::to_ids, body));
    if (!settings.get_object().contains("harness")) return context.usage("give --harness or --file");
    const json::Value made = TRY(context.remote.post("/v1/presets", std::move(body), space_query(context)));
    return show_record(context, made, preset_columns());
}

Result<> delete_preset(Context& context) {
    const json::Value preset = TRY(wanted_preset(context));
    const std::string name = text_of(preset, "name");
    TRY(context.confirm("The preset " + name + " is deleted. Its runs are kept.", name));
    Query query = space_query(context);
    const json::Value gone = TRY(context.remote.remove(preset_path(text_of(preset, "id")), std::move(query)));
    return show_done(context, gone, "Deleted preset " + name + ".");
}

Result<> list_versions(Context& context) {
    return show_list(context, path_of("/v1/presets", {context.value_or_empty("PRESET"), "versions"}),
                     space_query(context),
                     {{.title = "version", .field = "version", .kind = Kind::number},
                      {.title = "changed", .field = "changed_at", .kind = Kind::time},
                      {.title = "by", .field = "changed_by"},
                      {.title = "changed", .field = "changed", .kind = Kind::list}},
                     "No versions.");
}

// The lines that were removed and added, as diff shows them: the longest common part stays.
std::string line_diff(const std::string& before, const std::string& after) {
    const auto old_lines = split(before, '\n'), new_lines = split(after, '\n');
    const size_t rows = old_lines.size(), columns = new_lines.size();
    std::vector<size_t> common((rows + 1) * (columns + 1)); // of what follows each pair of places
    const auto at = [&](size_t row, size_t column) -> size_t& { return common[row * (columns + 1) + column]; };
    for (size_t row = rows; row-- > 0;)
        for (size_t column = columns; column-- > 0;)
            at(row, column) = old_lines[row] == new_lines[column] ? at(row + 1, column + 1) + 1
                                                                  : std::max(at(row + 1, column), at(row, column + 1));
    std::string out;
    for (size_t row = 0, column = 0; row < rows || column < columns;) {
        if (row < rows && column < columns && old_lines[row] == new_lines[column]) {
            ++row, ++column;
        } else if (row < rows && (column == columns || at(row + 1, column) >= at(row, column + 1))) {
            out += "- " + std::string(old_lines[row++]) + "\n";
        } else {
            out += "+ " + std::string(new_lines[column++]) + "\n";
        }
    }
    return out;
}

Result<> diff_versions(Context& context) {
    const std::string name = context.value_or_empty("PRESET");
    const Items versions =
        TRY(context.remote.list_whole(path_of("/v1/presets", {name, "versions"}), space_query(context)));
    int64_t newest = 0;
    for (const json::Value& version : versions.items) newest = std::max(newest, number_of(version, "version"));
    const int64_t to = TRY(context.integer("TO", 1)).value_or(newest);
    const int64_t from = TRY(context.integer("FROM", 1)).value_or(std::max<int64_t>(1, to - 1));
    const auto settings_of = [&](int64_t number) -> Result<json::Value> {
        for (const json::Value& version : versions.items)
            if (number_of(version, "version") == number) return file_form(version)["settings"];
        return context.fail(Exit::not_found, "preset " + name + " has no version " + std::to_string(number),
                            "hone preset versions " + name + " lists them");
    };
    const json::Value before = TRY(settings_of(from)), after = TRY(settings_of(to));
    if (context.json()) {
        print_json(context, json::Object{{"from", from}, {"to", to}, {"before", before}, {"after", after}});
        return {};
    }
    const std::string lines = line_diff(print_yaml(before), print_yaml(after));
    context.console.print(lines.empty() ? "Versions " + std::to_string(from) + " and " + std::to_string(to) +
                                              " have the same settings.\n"
                                        : lines);
    return {};
}

Result<> list_run_providers(Context& context) {
    return show_list(context, "/v1/providers", space_query(context),
                     {{.title = "name", .field = "name"},
                      {.title = "available", .field = "available", .kind = Kind::yes_no},
                      {.title = "allowed", .field = "allowed", .kind = Kind::yes_no},
                      {.title = "runs work on", .field = "text"},
                      {.title = "advice", .field = "advice"}},
                     "No providers.");
}

Result<> export_preset(Context& context) {
    json::Object form = file_form(TRY(wanted_preset(context)));
    TRY(rename_skills(context, Skills::to_names, form));
    return export_as_file(context, preset_file(), form);
}

Result<> apply_preset(Context& context) {
    json::Object form = TRY(read_preset(context, context.value_or_empty("FILE")));
    return apply_file(context, preset_file(), std::move(form));
}

} // namespace

std::vector<Command> preset_commands() {
    return {
        {.path = "preset providers",
         .summary = "List where runs can work: providers of this installation and of the space.",
         .details = "With --json also the settings and capabilities that each provider does not have, with the reason.",
         .lists = true,
         .run = list_run_providers},
        {.path = "preset list", .summary = "List the presets of the space.", .lists = true, .run = list_presets},
        {.path = "preset show",
         .summary = "Show a preset with its settings.",
         .arguments = {preset_argument},
         .run = show_preset},
        {.path = "preset create",
         .summary = "Create a preset.",
         .arguments = {{.name = "NAME", .doc = "Unique in the space."}},
         .options = {{.name = "--file",
                      .value = "FILE",
                      .doc = "Read the settings from this YAML or JSON file; - is standard input."},
                     {.name = "--description", .value = "TEXT", .doc = "Description."},
                     provider_option("Where its runs work. Default: local."),
                     {.name = "--harness", .value = "HARNESS", .doc = "Harness, such as claude-code."},
                     {.name = "--model", .value = "MODEL", .doc = "The provider's name of the model."},
                     {.name = "--skill", .value = "SKILL", .doc = "Id or name of a skill.", .repeated = true},
                     {.name = "--command",
                      .value = "WORD",
                      .doc = "One word of the command line, for --harness command; or the name of a playbook.",
                      .repeated = true},
                     {.name = "--secret-env",
                      .value = "NAME",
                      .doc = "Set a secret variable of the worker's environment: prompts for it, or reads a line of "
                             "standard input.",
                      .repeated = true}},
         .details = "Example: hone preset create analyst --harness playbook",
         .run = create_preset},
        {.path = "preset delete",
         .summary = "Delete a preset. Its runs are kept.",
         .arguments = {preset_argument},
         .destructive = true,
         .run = delete_preset},
        {.path = "preset versions",
         .summary = "List the versions of a preset: who changed what.",
         .arguments = {preset_argument},
         .run = list_versions},
        {.path = "preset diff",
         .summary = "Show the differences between two versions of a preset.",
         .arguments = {preset_argument,
                       {.name = "FROM",
                        .doc = "Number of a version. Default: the version before TO.",
                        .optional = true},
                       {.name = "TO", .doc = "Number of a version. Default: the newest.", .optional = true}},
         .run = diff_versions},
        {.path = "preset export",
         .summary = "Print a preset as a YAML or JSON file for git.",
         .arguments = {preset_argument},
         .options = export_options(),
         .run = export_preset},
        {.path = "preset apply",
         .summary = "Create or change a preset to match the file.",
         .arguments = {file_argument()},
         .run = apply_preset},
    };
}

} // namespace hone::cli
