// Presets: workers with a name, also as files that a team keeps in git.
#include "cli/as_file.h"
#include "cli/scope.h"
#include "cli/yaml.h"

namespace hone::cli {

namespace {

const Argument preset_argument{.name = "PRESET", .doc = "Id or name of the preset."};

Columns preset_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "harness", .field = "settings.harness"},
        {.title = "model", .field = "settings.model"},
        {.title = "skills", .field = "settings.skills", .kind = Kind::list, .only_single = true},
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
                     "No presets. Write one and create it:\n  hone preset create analyst --harness playbook");
}

Result<> show_preset(Context& context) {
    const json::Value preset = TRY(wanted_preset(context));
    TRY(show_record(context, preset, preset_columns()));
    if (context.json()) return {};
    context.console.print("\n" + print_yaml(file_form(preset)["settings"]));
    return {};
}

Result<> create_preset(Context& context) {
    json::Object body{{"name", ""}, {"description", ""}, {"settings", json::Object{}}};
    if (const auto file = context.parsed.value("--file")) body = TRY(read_preset(context, *file));
    body["name"] = context.value_or_empty("NAME");
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    json::Value& settings = body["settings"];
    if (!settings.is_object()) return context.usage("\"settings\" must be an object");
    if (const auto harness = context.parsed.value("--harness")) settings.get_object()["harness"] = *harness;
    if (const auto model = context.parsed.value("--model")) settings.get_object()["model"] = *model;
    if (!settings.get_object().contains("harness")) return context.usage("give --harness or --file");
    const json::Value made = TRY(context.remote.post("/v1/presets", std::move(body), space_query(context)));
    return show_record(context, made, preset_columns());
}

Result<> delete_preset(Context& context) {
    const json::Value preset = TRY(wanted_preset(context));
    const std::string name = text_of(preset, "name");
    TRY(context.confirm("The preset " + name + " is deleted; its runs stay.", name));
    Query query = space_query(context);
    const json::Value gone = TRY(context.remote.remove(preset_path(text_of(preset, "id")), std::move(query)));
    return show_done(context, gone, "Deleted preset " + name + ".");
}

Result<> list_versions(Context& context) {
    return show_list(context, path_of("/v1/presets", {context.value_or_empty("PRESET"), "versions"}),
                     space_query(context),
                     {{.title = "version", .field = "version", .kind = Kind::number},
                      {.title = "when", .field = "changed_at", .kind = Kind::time},
                      {.title = "by", .field = "changed_by"},
                      {.title = "changed", .field = "changed", .kind = Kind::list}},
                     "No versions.");
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
                      .doc = "Take the settings from this YAML or JSON file; - is input."},
                     {.name = "--description", .value = "TEXT", .doc = "What it is for."},
                     {.name = "--harness", .value = "HARNESS", .doc = "Harness, such as claude-code."},
                     {.name = "--model", .value = "MODEL", .doc = "Model, as its provider calls it."}},
         .details = "Example: hone preset create analyst --harness playbook",
         .run = create_preset},
        {.path = "preset delete",
         .summary = "Delete a preset; its runs stay.",
         .arguments = {preset_argument},
         .destructive = true,
         .run = delete_preset},
        {.path = "preset versions",
         .summary = "Show who changed a preset, and what.",
         .arguments = {preset_argument},
         .run = list_versions},
        {.path = "preset export",
         .summary = "Print a preset as a YAML or JSON file for git.",
         .arguments = {preset_argument},
         .options = export_options(),
         .run = export_preset},
        {.path = "preset apply",
         .summary = "Create or change a preset so that it is as the file says.",
         .arguments = {file_argument()},
         .run = apply_preset},
    };
}

} // namespace hone::cli
