// Monitors, where notices go, and the notices themselves.
#include "base/file.h"
#include "base/text.h"
#include "cli/display.h"
#include "cli/input.h"
#include "cli/scope.h"
#include "cli/view.h"

#include <charconv>

namespace hone::cli {

namespace {

constexpr size_t largest_file = 1 << 20;
const Argument monitor_argument{.name = "MONITOR", .doc = "Id or name of the monitor."};
const Argument destination_argument{.name = "DESTINATION", .doc = "Id or name of the destination."};

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
        {.title = "samples", .field = "last_reading.samples", .kind = Kind::number, .only_single = true},
        {.title = "note", .field = "last_reading.note", .only_single = true},
        {.title = "problem", .field = "problem", .only_single = true},
        {.title = "muted until", .field = "muted_until", .kind = Kind::time, .only_single = true},
        {.title = "created by", .field = "created_by", .only_single = true},
    };
}

Columns event_columns() {
    return {{.title = "at", .field = "at", .kind = Kind::time},
            {.title = "what", .field = "kind"},
            {.title = "by", .field = "by"},
            {.title = "note", .field = "note"}};
}

Columns destination_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "type", .field = "type"},
        {.title = "target", .field = "target"},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "last sent", .field = "last_sent_at", .kind = Kind::time, .absent = "never"},
        {.title = "waiting", .field = "pending", .kind = Kind::number},
        {.title = "problem", .field = "last_problem"},
        {.title = "kinds", .field = "kinds", .kind = Kind::list, .absent = "all", .only_single = true},
        {.title = "projects", .field = "projects", .kind = Kind::list, .absent = "all", .only_single = true},
        {.title = "template", .field = "template", .only_single = true},
        {.title = "signing secret", .field = "signing_secret", .absent = "(not shown)", .only_single = true},
    };
}

Columns delivery_columns() {
    return {{.title = "created", .field = "created_at", .kind = Kind::time},
            {.title = "state", .field = "state"},
            {.title = "attempts", .field = "attempts", .kind = Kind::number},
            {.title = "next", .field = "next_at", .kind = Kind::time},
            {.title = "kind", .field = "kind"},
            {.title = "title", .field = "title"},
            {.title = "problem", .field = "problem"}};
}

Columns notice_columns() {
    return {{.title = "at", .field = "created_at", .kind = Kind::time},
            {.title = "new", .field = "unread", .kind = Kind::yes_no},
            {.title = "kind", .field = "kind"},
            {.title = "title", .field = "title"},
            {.title = "link", .field = "link"}};
}

Result<json::Value> send(const Context& context, std::string method, std::string path,
                         std::optional<json::Value> body = {}) {
    return TRY(context.remote.call({.method = std::move(method),
                                    .path = std::move(path),
                                    .query = space_query(context),
                                    .body = std::move(body)}))
        .data;
}

// The route takes ids only; a name is looked up in the space.
Result<std::string> id_of(const Context& context, const std::string& route, const std::string& prefix,
                          const std::string& what, const std::string& given) {
    if (given.starts_with(prefix) && is_ulid(std::string_view(given).substr(prefix.size()))) return given;
    Query query = space_query(context);
    query.push_back({"limit", "1000"});
    const json::Value list = TRY(context.remote.get(route, std::move(query)));
    if (list.is_array())
        for (const json::Value& each : list.get_array())
            if (text_of(each, "name") == given) return text_of(each, "id");
    return context.fail(Exit::not_found, "there is no " + what + " named " + given,
                        "hone " + what + " list shows them all");
}

Result<std::string> monitor_path(const Context& context, const std::string& rest = "") {
    const std::string id = TRY(id_of(context, "/v1/monitors", "mon_", "monitor", context.value_or_empty("MONITOR")));
    return rest.empty() ? path_of("/v1/monitors", {id}) : path_of("/v1/monitors", {id, rest});
}

Result<std::string> destination_path(const Context& context, const std::string& rest = "") {
    const std::string id =
        TRY(id_of(context, "/v1/destinations", "dest_", "destination", context.value_or_empty("DESTINATION")));
    return rest.empty() ? path_of("/v1/destinations", {id}) : path_of("/v1/destinations", {id, rest});
}

Result<double> number_option(const Context& context, std::string_view option, const std::string& text) {
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size())
        return context.usage(std::string(option) + " must be a number");
    return value;
}

// A duration option as whole seconds.
Result<> set_seconds(const Context& context, std::string_view option, const char* key, json::Object& into) {
    const auto text = context.parsed.value(option);
    if (!text) return {};
    const auto length = parse_duration_ns(*text);
    if (!length.ok()) return context.usage(std::string(option) + " must be a duration like 15m or 24h");
    into[key] = length.value() / 1'000'000'000;
    return {};
}

Result<json::Object> read_settings_file(const Context& context, const std::string& file) {
    Input input = TRY(Input::open(context, file));
    auto parsed = json::parse(TRY(input.read_all(largest_file)));
    if (!parsed.ok()) return context.fail(Exit::usage, file + " is not JSON: " + parsed.error().message);
    if (!parsed.value().is_object()) return context.fail(Exit::usage, file + " is no monitor");
    // A whole monitor as `show --json` prints it, or its settings alone.
    const json::Object& object = parsed.value().get_object();
    const json::Value* inner = object.if_contains("settings");
    return inner != nullptr && inner->is_object() ? inner->get_object() : object;
}

// Options of `create` and `update` over what is there already.
Result<json::Object> settings_of(const Context& context, json::Object settings) {
    if (const auto file = context.parsed.value("--file")) settings = TRY(read_settings_file(context, *file));
    const auto set = [&](const char* option, const char* key) {
        if (const auto given = context.parsed.value(option)) settings[key] = *given;
    };
    set("--metric", "metric");
    set("--filter", "filter");
    set("--group-by", "group_by");
    set("--eval", "eval_name");
    set("--label", "eval_label");
    TRY(set_seconds(context, "--window", "window_seconds", settings));
    TRY(set_seconds(context, "--every", "frequency_seconds", settings));
    TRY(set_seconds(context, "--for", "for_seconds", settings));
    if (const auto given = context.parsed.value("--min-samples"))
        settings["minimum_samples"] = static_cast<int64_t>(TRY(number_option(context, "--min-samples", *given)));
    json::Object condition;
    if (const json::Value* there = settings.if_contains("condition"); there != nullptr && there->is_object())
        condition = there->get_object();
    if (const auto type = context.parsed.value("--condition")) condition["type"] = *type;
    for (const auto& [option, direction] : {std::pair{"--above", "above"}, std::pair{"--below", "below"}})
        if (const auto given = context.parsed.value(option)) {
            condition["direction"] = direction;
            condition["threshold"] = TRY(number_option(context, option, *given));
        }
    if (const auto given = context.parsed.value("--recover"))
        condition["recover_threshold"] = TRY(number_option(context, "--recover", *given));
    if (!condition.empty() && !condition.contains("type")) condition["type"] = "threshold";
    if (!condition.empty()) settings["condition"] = std::move(condition);
    return settings;
}

std::vector<Option> settings_options() {
    return {
        {.name = "--metric",
         .value = "METRIC",
         .doc = "error_rate, latency_p95, cost, count, … as hone series has them."},
        {.name = "--above", .value = "NUMBER", .doc = "Bad above this; latency in ms, cost in USD, rates 0 to 1."},
        {.name = "--below", .value = "NUMBER", .doc = "Bad below this."},
        {.name = "--recover", .value = "NUMBER", .doc = "Good again only beyond this."},
        {.name = "--condition",
         .value = "TYPE",
         .doc = "What the number means; automatic needs none.",
         .choices = {"threshold", "automatic", "change", "absence"}},
        {.name = "--window", .value = "DURATION", .doc = "How far back it looks; 24h if not given."},
        {.name = "--every", .value = "DURATION", .doc = "How often it looks; 1h if not given."},
        {.name = "--for", .value = "DURATION", .doc = "Bad for so long before it triggers."},
        {.name = "--min-samples", .value = "NUMBER", .doc = "Fewer spans are no data."},
        {.name = "--filter", .value = "FILTER", .doc = "Only spans that match."},
        {.name = "--group-by", .value = "FIELD", .doc = "Each group on its own; the worst one counts."},
        {.name = "--eval", .value = "NAME", .doc = "Of eval_rate and eval_score."},
        {.name = "--label", .value = "LABEL", .doc = "Of eval_rate."},
        {.name = "--description", .value = "TEXT", .doc = "What to do when it triggers."},
        {.name = "--file",
         .value = "FILE",
         .doc = "Settings as JSON, as show --json prints them; - is standard input."},
    };
}

// --- monitors ------------------------------------------------------------------------------------------------------

Result<> list_monitors(Context& context) {
    Query query = space_query(context);
    query.push_back({"project", context.value_or_empty("--project")});
    query.push_back({"state", context.value_or_empty("--state")});
    return show_list(context, "/v1/monitors", std::move(query), monitor_columns(),
                     "No monitors. Make one:\n  hone monitor create errors --project shop --metric error_rate --above "
                     "0.05 --window 1h --every 10m");
}

Result<> show_monitor(Context& context) {
    const json::Value monitor = TRY(context.remote.get(TRY(monitor_path(context))));
    TRY(show_record(context, monitor, monitor_columns()));
    if (context.json()) return {};
    context.console.print("\n");
    if (const json::Value* settings = monitor.get_object().if_contains("settings")) print_json(context, *settings);
    return {};
}

Result<> create_monitor(Context& context) {
    json::Object body{{"name", context.value_or_empty("NAME")}};
    body["project"] = TRY(span_project(context));
    body["settings"] = TRY(settings_of(context, {}));
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    const json::Value made = TRY(send(context, "POST", "/v1/monitors", std::move(body)));
    return show_record(context, made, monitor_columns());
}

Result<> update_monitor(Context& context) {
    const std::string path = TRY(monitor_path(context));
    const json::Value before = TRY(context.remote.get(path));
    json::Object settings;
    if (const json::Value* there = before.get_object().if_contains("settings")) settings = there->get_object();
    json::Object body;
    body["settings"] = TRY(settings_of(context, std::move(settings)));
    if (const auto text = context.parsed.value("--description")) body["description"] = *text;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    const json::Value changed = TRY(send(context, "PATCH", path, std::move(body)));
    return show_done(context, changed, "Changed monitor " + text_of(changed, "name") + ".");
}

Result<> mute_monitor(Context& context) {
    json::Object body;
    TRY(set_seconds(context, "--for", "seconds", body));
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    const json::Value muted = TRY(send(context, "POST", TRY(monitor_path(context, "mute")), std::move(body)));
    return show_done(context, muted,
                     "Muted " + text_of(muted, "name") + " until " + text_of(muted, "muted_until").substr(0, 19) +
                         "Z.");
}

Result<> unmute_monitor(Context& context) {
    const json::Value monitor = TRY(send(context, "POST", TRY(monitor_path(context, "unmute"))));
    return show_done(context, monitor, text_of(monitor, "name") + " tells again.");
}

Result<> evaluate_monitor(Context& context) {
    const json::Value monitor = TRY(send(context, "POST", TRY(monitor_path(context, "evaluate"))));
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

Result<> list_history(Context& context) {
    return show_list(context, TRY(monitor_path(context, "history")), {}, event_columns(), "Nothing happened yet.");
}

// --- destinations --------------------------------------------------------------------------------------------------

Result<> list_destinations(Context& context) {
    return show_list(context, "/v1/destinations", space_query(context), destination_columns(),
                     "Notices go nowhere but to the web UI. Make a destination:\n  hone destination create ops --type "
                     "slack --hook https://hooks.slack.com/…");
}

Result<> show_destination(Context& context) {
    const json::Value destination = TRY(context.remote.get(TRY(destination_path(context))));
    return show_record(context, destination, destination_columns());
}

json::Array list_option(const Context& context, std::string_view option) {
    json::Array list;
    const std::string given = context.value_or_empty(option); // the pieces are views of it
    for (const std::string_view each : split(given, ','))
        if (!trim(each).empty()) list.emplace_back(trim(each));
    return list;
}

Result<json::Object> destination_body(const Context& context) {
    json::Object body;
    if (const auto url = context.parsed.value("--hook")) body["url"] = *url;
    for (const auto& [option, key] :
         {std::pair{"--to", "to"}, std::pair{"--kinds", "kinds"}, std::pair{"--projects", "projects"}})
        if (context.parsed.value(option)) body[key] = list_option(context, option);
    if (const auto text = context.parsed.value("--template")) body["template"] = *text;
    return body;
}

Result<> create_destination(Context& context) {
    json::Object body = TRY(destination_body(context));
    body["name"] = context.value_or_empty("NAME");
    body["type"] = context.parsed.value("--type").value_or("webhook");
    const json::Value made = TRY(send(context, "POST", "/v1/destinations", std::move(body)));
    return show_record(context, made, destination_columns());
}

Result<> update_destination(Context& context) {
    json::Object body = TRY(destination_body(context));
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    if (context.parsed.has("--new-secret")) body["new_signing_secret"] = true;
    const json::Value changed = TRY(send(context, "PATCH", TRY(destination_path(context)), std::move(body)));
    return show_record(context, changed, destination_columns());
}

Result<> test_destination(Context& context) {
    const json::Value attempt = TRY(send(context, "POST", TRY(destination_path(context, "test"))));
    const json::Value* ok = attempt.is_object() ? attempt.get_object().if_contains("ok") : nullptr;
    if (ok != nullptr && ok->is_bool() && ok->get_bool())
        return show_done(context, attempt, "It arrived, in " + std::to_string(number_of(attempt, "took_ms")) + " ms.");
    if (context.json()) print_json(context, attempt);
    return context.fail(Exit::failure, "it did not arrive: " + text_of(attempt, "problem"));
}

Result<> delete_destination(Context& context) {
    const std::string path = TRY(destination_path(context));
    const json::Value before = TRY(context.remote.get(path));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The destination " + name + " and what waits for it are deleted.", name));
    const json::Value gone = TRY(context.remote.remove(path));
    return show_done(context, gone, "Deleted destination " + name + ".");
}

Result<> list_deliveries(Context& context) {
    return show_list(context, TRY(destination_path(context, "deliveries")), {}, delivery_columns(),
                     "Nothing was sent to it yet.");
}

std::vector<Option> destination_options() {
    return {{.name = "--hook", .value = "URL", .doc = "Address of webhook and slack; never shown again."},
            {.name = "--to", .value = "ADDRESSES", .doc = "Of email, with commas."},
            {.name = "--kinds", .value = "KINDS", .doc = "With commas: monitor_triggered,issue_new; all if not given."},
            {.name = "--projects", .value = "PROJECTS", .doc = "With commas; all if not given."},
            {.name = "--template", .value = "TEXT", .doc = "Text of the message, with {{title}}, {{body}}, {{url}}."}};
}

std::vector<Option> with(std::vector<Option> options, std::initializer_list<Option> more) {
    options.insert(options.end(), more);
    return options;
}

// --- notices -------------------------------------------------------------------------------------------------------

Result<> list_notices(Context& context) {
    Query query = space_query(context);
    query.push_back({"project", context.value_or_empty("--project")});
    query.push_back({"kind", context.value_or_empty("--kind")});
    if (context.parsed.has("--unread")) query.push_back({"unread", "true"});
    return show_list(context, "/v1/notices", std::move(query), notice_columns(), "No notices.");
}

Result<> read_notices(Context& context) {
    const json::Value left = TRY(send(context, "POST", "/v1/notices/read", json::Object{}));
    return show_done(context, left, "All notices are marked as read.");
}

} // namespace

std::vector<Command> monitor_commands() {
    const Option project{.name = "--project", .value = "PROJECT", .doc = "Only those of this project."};
    const Option enable{.name = "--enable", .value = "", .doc = "Switch it on."};
    const Option disable{.name = "--disable", .value = "", .doc = "Switch it off."};
    const Option name{.name = "--name", .value = "NAME", .doc = "Rename it."};
    return {
        {.path = "monitor list",
         .summary = "List the monitors of the space and their states.",
         .options = {project,
                     {.name = "--state",
                      .value = "STATE",
                      .doc = "Only those in this state.",
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
             "--window 1h --every 10m",
         .run = create_monitor},
        {.path = "monitor update",
         .summary = "Change a monitor; what is not given stays.",
         .arguments = {monitor_argument},
         .options = with(settings_options(), {name, enable, disable}),
         .run = update_monitor},
        {.path = "monitor mute",
         .summary = "No notices of a monitor for a while.",
         .arguments = {monitor_argument},
         .options = {{.name = "--for", .value = "DURATION", .doc = "An hour if not given."},
                     {.name = "--reason", .value = "TEXT", .doc = "Why."}},
         .run = mute_monitor},
        {.path = "monitor unmute",
         .summary = "Notices of a monitor again.",
         .arguments = {monitor_argument},
         .run = unmute_monitor},
        {.path = "monitor evaluate",
         .summary = "Evaluate a monitor now.",
         .arguments = {monitor_argument},
         .run = evaluate_monitor},
        {.path = "monitor history",
         .summary = "What changed and why, newest first.",
         .arguments = {monitor_argument},
         .lists = true,
         .run = list_history},
        {.path = "monitor delete",
         .summary = "Delete a monitor with its history.",
         .arguments = {monitor_argument},
         .destructive = true,
         .run = delete_monitor},
        {.path = "destination list",
         .summary = "List where the notices of the space go.",
         .lists = true,
         .run = list_destinations},
        {.path = "destination show",
         .summary = "Show a destination and its last problem.",
         .arguments = {destination_argument},
         .run = show_destination},
        {.path = "destination create",
         .summary = "Create a destination; a webhook's signing secret is shown once.",
         .arguments = {{.name = "NAME", .doc = "Unique in the space."}},
         .options = with(destination_options(), {{.name = "--type",
                                                  .value = "TYPE",
                                                  .doc = "webhook if not given.",
                                                  .choices = {"webhook", "slack", "email"}}}),
         .run = create_destination},
        {.path = "destination update",
         .summary = "Change a destination; what is not given stays.",
         .arguments = {destination_argument},
         .options =
             with(destination_options(),
                  {name,
                   enable,
                   disable,
                   {.name = "--new-secret", .value = "", .doc = "Replace a webhook's signing secret, show it."}}),
         .run = update_destination},
        {.path = "destination test",
         .summary = "Send a test message now and say what happened.",
         .arguments = {destination_argument},
         .run = test_destination},
        {.path = "destination deliveries",
         .summary = "What was sent to a destination and what became of it.",
         .arguments = {destination_argument},
         .lists = true,
         .run = list_deliveries},
        {.path = "destination delete",
         .summary = "Delete a destination.",
         .arguments = {destination_argument},
         .destructive = true,
         .run = delete_destination},
        {.path = "notice list",
         .summary = "List what people were told, newest first.",
         .options = {project,
                     {.name = "--kind", .value = "KIND", .doc = "Only of this kind, such as monitor_triggered."},
                     {.name = "--unread", .value = "", .doc = "Only what you have not read."}},
         .lists = true,
         .run = list_notices},
        {.path = "notice read", .summary = "Mark all notices of the space as read, for you.", .run = read_notices},
    };
}

} // namespace hone::cli
