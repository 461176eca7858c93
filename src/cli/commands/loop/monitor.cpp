// Monitors, also as files that a team keeps in git.
#include "base/text.h"
#include "cli/toolkit/as_file.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/yaml.h"

namespace hone::cli {

namespace {

const Argument monitor_argument{.name = "MONITOR", .doc = "Id or name of the monitor."};

Columns monitor_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "state", .field = "state"},
        {.title = "since", .field = "state_since", .kind = Kind::time},
        {.title = "metric", .field = "settings.metric"},
        {.title = "condition", .field = "settings.condition.type"},
        {.title = "muted", .field = "muted", .kind = Kind::yes_no},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "next", .field = "next_at", .kind = Kind::time},
        {.title = "project", .field = "project_id", .only_single = true},
        {.title = "description", .field = "description", .only_single = true},
        {.title = "filter", .field = "settings.filter", .only_single = true},
        {.title = "value", .field = "last_reading.value", .kind = Kind::number, .only_single = true},
        {.title = "upper limit", .field = "last_reading.upper", .kind = Kind::number, .only_single = true},
        {.title = "lower limit", .field = "last_reading.lower", .kind = Kind::number, .only_single = true},
        {.title = "samples", .field = "last_reading.samples", .kind = Kind::number, .only_single = true},
        {.title = "note", .field = "last_reading.note", .only_single = true},
        {.title = "problem", .field = "problem", .only_single = true},
        {.title = "muted until", .field = "muted_until", .kind = Kind::time, .only_single = true},
        {.title = "created by", .field = "created_by", .only_single = true},
    };
}

Columns event_columns() {
    return {{.title = "time", .field = "at", .kind = Kind::time},
            {.title = "event", .field = "kind"},
            {.title = "by", .field = "by"},
            {.title = "note", .field = "note"}};
}

Result<std::string> monitor_path(const Context& context, const std::string& rest = "") {
    const std::string id =
        TRY(id_by_name(context, "/v1/monitors", "mon_", "monitor", context.value_or_empty("MONITOR")));
    return rest.empty() ? path_of("/v1/monitors", {id}) : path_of("/v1/monitors", {id, rest});
}

Result<json::Object> read_settings_file(const Context& context, const std::string& file) {
    const json::Value value = TRY(read_value_file(context, file));
    if (!value.is_object()) return context.fail(Exit::usage, file + " is no monitor");
    // A whole monitor as export or `show --json` prints it, or its settings alone.
    const json::Object& object = value.get_object();
    const json::Value* inner = object.if_contains("settings");
    return inner != nullptr && inner->is_object() ? inner->get_object() : object;
}

// "22:00-06:00", "sat,sun 00:00-24:00 Europe/Berlin", with semicolons between several; "none": no more.
Result<json::Array> mute_windows(const Context& context, const std::string& text) {
    json::Array windows;
    if (text == "none") return windows;
    for (const std::string_view part : split(text, ';')) {
        json::Object window;
        for (const std::string_view word : split(trim(part), ' ')) {
            if (word.empty()) continue;
            const size_t dash = word.find('-');
            if (word.find(':') != std::string_view::npos && dash != std::string_view::npos) {
                window["start"] = word.substr(0, dash);
                window["end"] = word.substr(dash + 1);
            } else if (!window.contains("start") && word.find('/') == std::string_view::npos && word != "UTC") {
                json::Array days;
                for (const std::string_view day : split(word, ',')) days.push_back(json::Value(day));
                window["days"] = std::move(days);
            } else {
                window["time_zone"] = word;
            }
        }
        if (!window.contains("start"))
            return context.usage("--quiet must be like \"22:00-06:00\" or \"sat,sun 00:00-23:59 Europe/Berlin\"");
        windows.push_back(std::move(window));
    }
    return windows;
}

// Options of `create` and `update` over what is there already.
Result<json::Object> monitor_settings_of(const Context& context, json::Object settings) {
    if (const auto file = context.parsed.value("--file")) settings = TRY(read_settings_file(context, *file));
    const auto set = [&](const char* option, const char* key) {
        if (const auto given = context.parsed.value(option)) settings[key] = *given;
    };
    set("--metric", "metric");
    if (const auto sql = context.parsed.value("--sql")) {
        settings["sql"] = *sql;
        for (const char* other : {"metric", "filter", "group_by", "eval_name", "eval_label"}) settings.erase(other);
    }
    set("--filter", "filter");
    set("--group-by", "group_by");
    set("--eval", "eval_name");
    set("--label", "eval_label");
    TRY(set_seconds(context, "--window", "window_seconds", settings));
    TRY(set_seconds(context, "--every", "frequency_seconds", settings));
    TRY(set_seconds(context, "--for", "for_seconds", settings));
    if (const auto samples = TRY(context.integer("--min-samples", 0))) settings["minimum_samples"] = *samples;
    json::Object condition;
    if (const json::Value* there = settings.if_contains("condition"); there != nullptr && there->is_object())
        condition = there->get_object();
    if (const auto type = context.parsed.value("--condition")) condition["type"] = *type;
    for (const auto& [option, direction] : {std::pair{"--above", "above"}, std::pair{"--below", "below"}})
        if (context.parsed.value(option)) {
            condition["direction"] = direction;
            TRY(set_number(context, option, "threshold", condition));
        }
    TRY(set_number(context, "--recover", "recover_threshold", condition));
    TRY(set_number(context, "--sensitivity", "sensitivity", condition));
    for (const auto& [option, key] : {std::pair{"--direction", "direction"}, {"--change-by", "change_by"}})
        if (const auto given = context.parsed.value(option)) condition[key] = *given;
    if (!condition.empty() && !condition.contains("type")) condition["type"] = "threshold";
    if (const auto given = context.parsed.value("--quiet"))
        settings["mute_windows"] = TRY(mute_windows(context, *given));
    if (!condition.empty()) settings["condition"] = std::move(condition);
    return settings;
}

std::vector<Option> settings_options() {
    return {
        {.name = "--metric",
         .value = "METRIC",
         .doc = "Metric: error_rate, latency_p95, cost, count, …; see hone series --help."},
        {.name = "--sql",
         .value = "SELECT",
         .doc = "Instead of a metric: a query that returns one number, with {{window.from}} and {{window.to}}."},
        {.name = "--above", .value = "NUMBER", .doc = "Upper limit; latency in ms, cost in USD, rates from 0 to 1."},
        {.name = "--below", .value = "NUMBER", .doc = "Lower limit."},
        {.name = "--recover", .value = "NUMBER", .doc = "Value at which it recovers. Default: the limit."},
        {.name = "--condition",
         .value = "TYPE",
         .doc = "Type of the condition; automatic needs no limit.",
         .choices = {"threshold", "automatic", "change", "absence"}},
        {.name = "--direction",
         .value = "DIRECTION",
         .doc = "Direction in which it triggers, for automatic and change.",
         .choices = {"above", "below", "outside"}},
        {.name = "--change-by",
         .value = "HOW",
         .doc = "How change compares with the previous window.",
         .choices = {"ratio", "difference"}},
        {.name = "--sensitivity", .value = "NUMBER", .doc = "Width of the usual range, for automatic."},
        {.name = "--quiet",
         .value = "HOURS",
         .doc = "Without notices: \"22:00-06:00\", \"sat,sun 00:00-23:59 Europe/Berlin\"; none: no more."},
        {.name = "--window", .value = "DURATION", .doc = "Time range of the metric. Default: 24h."},
        {.name = "--every", .value = "DURATION", .doc = "Time between evaluations. Default: 1h."},
        {.name = "--for", .value = "DURATION", .doc = "Time for which the condition must be true before it triggers."},
        {.name = "--min-samples", .value = "NUMBER", .doc = "With fewer spans the state is no data."},
        {.name = "--filter", .value = "FILTER", .doc = "Evaluate only spans that match."},
        {.name = "--group-by", .value = "FIELD", .doc = "Evaluate each group separately; the worst one is used."},
        {.name = "--eval", .value = "NAME", .doc = "Name of the eval, for eval_rate and eval_score."},
        {.name = "--label", .value = "LABEL", .doc = "Label of the eval, for eval_rate."},
        {.name = "--description", .value = "TEXT", .doc = "Description, such as what to do when it triggers."},
        {.name = "--file",
         .value = "FILE",
         .doc = "Settings from this YAML or JSON file, as export prints them; - is standard input."},
    };
}

// --- monitors ------------------------------------------------------------------------------------------------------

// What a file holds: names instead of ids, nothing that belongs to one server, nothing that is not set.
json::Object monitor_file_form(const json::Value& monitor) {
    json::Object form{{"name", text_of(monitor, "name")},
                      {"description", text_of(monitor, "description")},
                      {"project", text_of(monitor, "project")}};
    const auto copy_set = [](const json::Value* from) {
        json::Object object;
        if (from != nullptr && from->is_object())
            for (const auto& part : from->get_object())
                if (!part.value().is_null()) object[part.key()] = part.value();
        return object;
    };
    const json::Object* all = monitor.if_object();
    json::Object settings = copy_set(all != nullptr ? all->if_contains("settings") : nullptr);
    if (settings.contains("condition")) settings["condition"] = copy_set(settings.if_contains("condition"));
    form["settings"] = std::move(settings);
    if (const json::Value* enabled = all != nullptr ? all->if_contains("enabled") : nullptr) form["enabled"] = *enabled;
    return form;
}

Result<> list_monitors(Context& context) {
    Query query = space_query(context);
    query.push_back({"project", context.value_or_empty("--project")});
    query.push_back({"state", context.value_or_empty("--state")});
    return show_list(
        context, "/v1/monitors", std::move(query), monitor_columns(),
        "No monitors. Create one:\n  hone monitor create errors --project shop --metric error_rate --above "
        "0.05 --window 1h --every 10m");
}

Result<> show_monitor(Context& context) {
    const json::Value monitor = TRY(context.remote.get(TRY(monitor_path(context))));
    TRY(show_record(context, monitor, monitor_columns()));
    if (context.json()) return {};
    context.console.print("\n" + print_yaml(monitor_file_form(monitor)["settings"]));
    return {};
}

Result<> create_monitor(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    body["project"] = TRY(span_project(context));
    body["settings"] = TRY(monitor_settings_of(context, {}));
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    const json::Value made = TRY(send_in_space(context, "POST", "/v1/monitors", std::move(body)));
    return show_record(context, made, monitor_columns());
}

Result<> update_monitor(Context& context) {
    const std::string path = TRY(monitor_path(context));
    const json::Value before = TRY(context.remote.get(path));
    json::Object settings;
    if (const json::Value* there = before.get_object().if_contains("settings")) settings = there->get_object();
    json::Object body;
    body["settings"] = TRY(monitor_settings_of(context, std::move(settings)));
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    const json::Value changed = TRY(send_in_space(context, "PATCH", path, std::move(body)));
    return show_done(context, changed, "Changed monitor " + text_of(changed, "name") + ".");
}

// A monitor as the server has it, with its project's name beside the id.
Result<json::Value> with_project(const Context& context, json::Value monitor) {
    const json::Value project =
        TRY(context.remote.get(path_of("/v1/projects", {text_of(monitor, "project_id")}), space_query(context)));
    monitor.as_object()["project"] = text_of(project, "name");
    return monitor;
}

// Names are unique in a project only.
Result<json::Value> monitor_of_form(const Context& context, const json::Object& form) {
    Query query = space_query(context);
    query.push_back({"project", text_of(form, "project")});
    for (const json::Value& each : TRY(context.remote.list_whole("/v1/monitors", std::move(query))).items)
        if (text_of(each, "name") == text_of(form, "name")) return with_project(context, each);
    return context.fail(Exit::not_found, "the monitor was deleted");
}

FileKind monitor_file() {
    return {.name = "monitor",
            .marker = "settings",
            .form = monitor_file_form,
            .find = monitor_of_form,
            .path = [](const json::Value& monitor) { return path_of("/v1/monitors", {text_of(monitor, "id")}); },
            .create_path = "/v1/monitors",
            .fixed = {"project"}};
}

Result<> export_monitor(Context& context) {
    json::Value monitor = TRY(context.remote.get(TRY(monitor_path(context))));
    return export_as_file(context, monitor_file(), TRY(with_project(context, std::move(monitor))));
}

Result<> apply_monitor(Context& context) {
    json::Object form = TRY(read_form(context, monitor_file(), context.value_or_empty("FILE")));
    if (const auto project = context.parsed.value("--project")) form["project"] = *project;
    if (text_of(form, "project").empty())
        return context.usage("the monitor has no \"project\": add it, or give --project");
    return apply_file(context, monitor_file(), std::move(form));
}

Result<> mute_monitor(Context& context) {
    json::Object body;
    TRY(set_seconds(context, "--for", "seconds", body));
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    const json::Value muted = TRY(send_in_space(context, "POST", TRY(monitor_path(context, "mute")), std::move(body)));
    return show_done(context, muted,
                     "Muted " + text_of(muted, "name") + " until " + text_of(muted, "muted_until").substr(0, 19) +
                         "Z.");
}

Result<> unmute_monitor(Context& context) {
    const json::Value monitor = TRY(send_in_space(context, "POST", TRY(monitor_path(context, "unmute"))));
    return show_done(context, monitor, text_of(monitor, "name") + " unmuted.");
}

Result<> evaluate_monitor(Context& context) {
    const json::Value monitor = TRY(send_in_space(context, "POST", TRY(monitor_path(context, "evaluate"))));
    return show_record(context, monitor, monitor_columns());
}

Result<> delete_monitor(Context& context) {
    const std::string path = TRY(monitor_path(context));
    const json::Value before = TRY(context.remote.get(path));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The monitor " + name + " and its history are deleted.", name));
    const json::Value gone = TRY(context.remote.remove(path));
    return show_done(context, gone, "Deleted monitor " + name + ".");
}

Result<> list_monitor_history(Context& context) {
    return show_list(context, TRY(monitor_path(context, "history")), {}, event_columns(), "No history yet.");
}

} // namespace

std::vector<Command> monitor_commands() {
    const Option project{.name = "--project", .value = "PROJECT", .doc = "Only monitors of this project."};
    const Option enable{.name = "--enable", .value = "", .doc = "Turn it on."};
    const Option disable{.name = "--disable", .value = "", .doc = "Turn it off."};
    const Option name{.name = "--name", .value = "NAME", .doc = "Rename it."};
    return {
        {.path = "monitor list",
         .summary = "List the monitors of the space and their states.",
         .options = {project,
                     {.name = "--state",
                      .value = "STATE",
                      .doc = "Only monitors in this state.",
                      .choices = {"healthy", "no_data", "triggered"}}},
         .lists = true,
         .run = list_monitors},
        {.path = "monitor show",
         .summary = "Show a monitor, its state and its last value.",
         .arguments = {monitor_argument},
         .run = show_monitor},
        {.path = "monitor create",
         .summary = "Create a monitor.",
         .arguments = {{.name = "NAME", .doc = "Unique in the project."}},
         .options = with(settings_options(), {project_option()}),
         .details =
             "Example: hone monitor create errors --project shop --metric error_rate --above 0.05 --recover 0.02 "
             "--window 1h --every 10m\n\n"
             "Outside the usual range for this hour of the week:\n"
             "  hone monitor create latency --project shop --metric latency_p95 --condition automatic --for 30m\n"
             "50 % more than the previous window:\n"
             "  hone monitor create cost --project shop --metric cost --condition change --above 1.5 --window 24h\n"
             "No spans arrived, outside a nightly mute window:\n"
             "  hone monitor create silence --project shop --metric count --condition absence --window 1h --quiet "
             "\"22:00-06:00 Europe/Berlin\"",
         .run = create_monitor},
        {.path = "monitor update",
         .summary = "Change a monitor. Options that are not given keep their values.",
         .arguments = {monitor_argument},
         .options = with(settings_options(), {name, enable, disable}),
         .run = update_monitor},
        {.path = "monitor export",
         .summary = "Print a monitor as a YAML or JSON file for git.",
         .arguments = {monitor_argument},
         .options = export_options(),
         .run = export_monitor},
        {.path = "monitor apply",
         .summary = "Create or change a monitor to match the file.",
         .arguments = {file_argument()},
         .options = {{.name = "--project", .value = "PROJECT", .doc = "Project. Default: the one in the file."}},
         .run = apply_monitor},
        {.path = "monitor mute",
         .summary = "Mute a monitor for a time.",
         .arguments = {monitor_argument},
         .options = {{.name = "--for", .value = "DURATION", .doc = "Duration. Default: 1h."},
                     {.name = "--reason", .value = "TEXT", .doc = "Reason, shown with the monitor."}},
         .run = mute_monitor},
        {.path = "monitor unmute",
         .summary = "Unmute a monitor.",
         .arguments = {monitor_argument},
         .run = unmute_monitor},
        {.path = "monitor evaluate",
         .summary = "Evaluate a monitor now.",
         .arguments = {monitor_argument},
         .run = evaluate_monitor},
        {.path = "monitor history",
         .summary = "List the state changes of a monitor, newest first.",
         .arguments = {monitor_argument},
         .lists = true,
         .run = list_monitor_history},
        {.path = "monitor delete",
         .summary = "Delete a monitor with its history.",
         .arguments = {monitor_argument},
         .destructive = true,
         .run = delete_monitor},
    };
}

} // namespace hone::cli
