// Presets: workers with a name, also as JSON files that a team keeps in git.
#include "base/file.h"
#include "cli/display.h"
#include "cli/input.h"
#include "cli/scope.h"
#include "cli/view.h"

namespace hone::cli {

namespace {

constexpr size_t largest_file = 1 << 20;
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

Result<json::Object> read_form(const Context& context, const std::string& file) {
    Input input = TRY(Input::open(context, file));
    auto parsed = json::parse(TRY(input.read_all(largest_file)));
    if (!parsed.ok()) return context.fail(Exit::usage, file + " is not JSON: " + parsed.error().message);
    if (!parsed.value().is_object() || !parsed.value().get_object().contains("settings"))
        return context.fail(Exit::usage, file + " is no preset: it has no \"settings\"",
                            "hone preset export shows what a preset looks like");
    // Also what hone preset show --json prints can be applied.
    return file_form(parsed.value());
}

Result<> list_presets(Context& context) {
    return show_list(context, "/v1/presets", space_query(context), preset_columns(),
                     "No presets. Write one and create it:\n  hone preset apply analyst.json");
}

Result<> show_preset(Context& context) {
    const json::Value preset = TRY(wanted_preset(context));
    TRY(show_record(context, preset, preset_columns()));
    if (context.json()) return {};
    context.console.print("\n");
    print_json(context, file_form(preset)["settings"]);
    return {};
}

Result<> create_preset(Context& context) {
    json::Object body{{"name", ""}, {"description", ""}, {"settings", json::Object{}}};
    if (const auto file = context.parsed.value("--file")) body = TRY(read_form(context, *file));
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
    const std::string text = json::print_pretty(file_form(TRY(wanted_preset(context))));
    const std::string file = context.value_or_empty("--output");
    if (file.empty() || file == "-") {
        context.console.print(safe_json(text));
        return {};
    }
    TRY(write_file(file, text, 0644));
    return show_done(context, json::Object{{"file", file}}, "Wrote " + file + ".");
}

// Creates what is not there and changes what differs, so that it can be run again and again.
Result<> apply_preset(Context& context) {
    json::Object form = TRY(read_form(context, context.value_or_empty("FILE")));
    const std::string name = text_of(form, "name");
    if (name.empty()) return context.usage("the preset has no \"name\"");
    auto before = context.remote.get(preset_path(name), space_query(context));
    if (!before.ok() && before.error().code != Code::not_found) return before.error();
    if (!before.ok()) {
        context.explanation = {};
        const json::Value made = TRY(context.remote.post("/v1/presets", std::move(form), space_query(context)));
        return show_done(context, made, "Created preset " + name + ".");
    }
    const json::Value changed = TRY(context.remote.call({.method = "PATCH",
                                                         .path = preset_path(text_of(before.value(), "id")),
                                                         .query = space_query(context),
                                                         .body = std::move(form)}))
                                    .data;
    const int64_t version = number_of(changed, "version");
    const bool same = version == number_of(before.value(), "version");
    return show_done(context, changed,
                     "Preset " + name +
                         (same ? " has these settings already." : " is now version " + std::to_string(version) + "."));
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
         .options = {{.name = "--file", .value = "FILE", .doc = "Take the settings from this JSON file; - is input."},
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
         .summary = "Print a preset as a JSON file for git.",
         .arguments = {preset_argument},
         .options = {{.name = "--output", .value = "FILE", .doc = "Write it to this file.", .short_name = "-o"}},
         .run = export_preset},
        {.path = "preset apply",
         .summary = "Create or change a preset so that it is as the file says.",
         .arguments = {{.name = "FILE", .doc = "JSON file, as export writes it; - is standard input."}},
         .run = apply_preset},
    };
}

} // namespace hone::cli
