// Automations: what starts workers by itself, its ledger, and its form as a file that a team keeps in git.
#include "base/text.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/as_file.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/secret_input.h"
#include "cli/toolkit/slots.h"

namespace hone::cli {

namespace {

const Argument automation_argument{.name = "AUTOMATION", .doc = "Id or name of the automation."};

Columns automation_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "project", .field = "project_name"},
        {.title = "preset", .field = "preset_name", .absent = "none"},
        {.title = "trigger", .field = "trigger.type"},
        {.title = "schedule", .field = "trigger.schedule"},
        {.title = "paused", .field = "paused", .kind = Kind::yes_no},
        {.title = "pause reason", .field = "pause_reason", .only_single = true},
        {.title = "last outcome", .field = "last_slot.outcome", .absent = "never"},
        {.title = "next", .field = "next_at", .kind = Kind::time},
        {.title = "overlap", .field = "overlap", .only_single = true},
        {.title = "catch-up", .field = "catch_up", .only_single = true},
        {.title = "cool-off", .field = "cool_off_seconds", .kind = Kind::number, .only_single = true},
        {.title = "tokens today", .field = "spent_today.tokens", .kind = Kind::count, .only_single = true},
        {.title = "cost today", .field = "spent_today.cost_micro_usd", .kind = Kind::money, .only_single = true},
        {.title = "failures", .field = "failure_streak", .kind = Kind::number, .only_single = true},
        {.title = "created by", .field = "created_by", .only_single = true},
        {.title = "description", .field = "description", .only_single = true},
        {.title = "webhook", .field = "hook_path", .only_single = true},
        {.title = "secret", .field = "hook_secret", .absent = "(not shown)", .only_single = true},
    };
}

std::string automation_path(const std::string& automation, const std::string& rest = "") {
    return rest.empty() ? path_of("/v1/automations", {automation}) : path_of("/v1/automations", {automation, rest});
}

std::string wanted_path(const Context& context, const std::string& rest = "") {
    return automation_path(context.value_or_empty("AUTOMATION"), rest);
}

Result<json::Value> wanted_automation(const Context& context) {
    return context.remote.get(wanted_path(context), space_query(context));
}

Result<json::Value> post(const Context& context, const std::string& path, std::optional<json::Value> body = {}) {
    return TRY(context.remote.call(
                   {.method = "POST", .path = path, .query = space_query(context), .body = std::move(body)}))
        .data;
}

// What a file holds: names instead of ids, nothing that belongs to one server, nothing that is not set.
json::Object automation_file_form(const json::Value& automation) {
    json::Object form{{"name", text_of(automation, "name")}, {"description", text_of(automation, "description")}};
    const auto name_or = [&](const char* key, const char* name, const char* id) {
        const json::Value* given = member(automation, key);
        const std::string shown = text_of(automation, name);
        form[key] = given != nullptr && given->is_string()
                        ? *given
                        : json::Value(shown.empty() ? text_of(automation, id) : shown);
    };
    name_or("project", "project_name", "project_id");
    name_or("preset", "preset_name", "preset_id");
    form["prompt"] = text_of(automation, "prompt");
    json::Object trigger;
    if (const json::Value* given = member(automation, "trigger"); given != nullptr && given->is_object())
        for (const auto& part : given->get_object())
            if (!part.value().is_null()) trigger[part.key()] = part.value();
    form["trigger"] = std::move(trigger);
    for (const char* key : {"overlap", "catch_up", "cool_off_seconds", "budget", "failure_limit", "paused"})
        if (const json::Value* given = member(automation, key)) form[key] = *given;
    return form;
}

FileKind automation_file() {
    return {.name = "automation",
            .marker = "trigger",
            .form = automation_file_form,
            .find =
                [](const Context& context, const json::Object& form) {
                    return context.remote.get(automation_path(text_of(form, "name")), space_query(context));
                },
            .path = [](const json::Value& automation) { return automation_path(text_of(automation, "id")); },
            .create_path = "/v1/automations"};
}

Result<json::Object> metric_trigger(const Context& context, const std::string& metric) {
    json::Object trigger{{"type", "metric"}, {"metric", metric}};
    for (const auto& [option, comparator] :
         {std::pair{"--above", "above"}, {"--at-least", "at_least"}, {"--below", "below"}, {"--at-most", "at_most"}}) {
        if (!context.parsed.value(option)) continue;
        if (trigger.contains("comparator"))
            return context.usage("give only one of --above, --at-least, --below and --at-most");
        trigger["comparator"] = comparator;
        TRY(set_number(context, option, "threshold", trigger));
    }
    if (!trigger.contains("comparator"))
        return context.usage("a metric needs a limit: give --above, --at-least, --below or --at-most");
    for (const auto& [option, key] :
         {std::pair{"--filter", "filter"}, {"--eval", "eval_name"}, {"--label", "eval_label"}})
        if (const auto given = context.parsed.value(option)) trigger[key] = *given;
    TRY(set_seconds(context, "--window", "window_seconds", trigger));
    TRY(set_seconds(context, "--every", "every_seconds", trigger));
    TRY(set_seconds(context, "--for", "for_seconds", trigger));
    if (const auto samples = TRY(context.integer("--min-samples", 1))) trigger["minimum_samples"] = *samples;
    return trigger;
}

// A trigger from --cron, --time-zone and their like.
Result<json::Object> trigger_of(const Context& context) {
    json::Object trigger;
    if (const auto schedule = context.parsed.value("--cron")) {
        trigger["type"] = "cron";
        trigger["schedule"] = *schedule;
        if (const auto zone = context.parsed.value("--time-zone")) trigger["time_zone"] = *zone;
    } else if (const auto monitor = context.parsed.value("--monitor")) {
        trigger["type"] = "monitor";
        trigger["monitor"] = *monitor;
    } else if (context.parsed.has("--webhook")) {
        trigger["type"] = "webhook";
        for (const auto& [option, key] : {std::pair{"--source", "source"},
                                          {"--signature-header", "signature_header"},
                                          {"--timestamp-header", "timestamp_header"}})
            if (const auto given = context.parsed.value(option)) trigger[key] = *given;
    } else if (const auto metric = context.parsed.value("--metric")) {
        return metric_trigger(context, *metric);
    } else {
        return context.usage("an automation needs a trigger: give --cron, --metric, --monitor, --webhook or --file");
    }
    return trigger;
}

Result<> list_automations(Context& context) {
    Query query = space_query(context);
    query.push_back({"project", context.value_or_empty("--project")});
    return show_list(context, "/v1/automations", std::move(query), automation_columns(),
                     "No automations. Create one:\n  hone automation create nightly --project shop --preset analyst "
                     "--cron \"0 3 * * *\" --prompt \"Look for new errors.\"");
}

Result<> show_automation(Context& context) {
    const json::Value automation = TRY(wanted_automation(context));
    TRY(show_record(context, automation, automation_columns()));
    if (context.json()) return {};
    context.console.print("\n" + safe_block(text_of(automation, "prompt")) + "\n\n");
    print_json(context, automation_file_form(automation)["trigger"]);
    return {};
}

// What it may do and spend.
Result<> set_limits(const Context& context, json::Object& body) {
    TRY(set_seconds(context, "--cool-off", "cool_off_seconds", body));
    if (const auto limit = TRY(context.integer("--failure-limit", 0))) body["failure_limit"] = *limit;
    json::Object budget;
    if (const auto tokens = TRY(context.integer("--tokens-per-day", 0))) budget["tokens_per_day"] = *tokens;
    TRY(set_dollars(context, "--usd-per-day", "cost_micro_usd_per_day", budget));
    if (const auto percent = TRY(context.integer("--soft-percent", 1))) budget["soft_percent"] = *percent;
    if (!budget.empty()) body["budget"] = std::move(budget);
    if (context.parsed.has("--paused")) body["paused"] = true;
    return {};
}

Result<> create_automation(Context& context) {
    json::Object body;
    if (const auto file = context.parsed.value("--file"))
        body = TRY(read_form(context, automation_file(), *file));
    else
        body["trigger"] = TRY(trigger_of(context));
    body["name"] = context.value_or_empty("NAME");
    for (const auto& [option, key] : {std::pair{"--project", "project"}, std::pair{"--preset", "preset"},
                                      std::pair{"--prompt", "prompt"}, std::pair{"--description", "description"},
                                      std::pair{"--overlap", "overlap"}, std::pair{"--catch-up", "catch_up"}})
        if (const auto given = context.parsed.value(option)) body[key] = *given;
    TRY(set_limits(context, body));
    const json::Value made = TRY(post(context, "/v1/automations", std::move(body)));
    return show_record(context, made, automation_columns());
}

Result<> delete_automation(Context& context) {
    const json::Value automation = TRY(wanted_automation(context));
    const std::string name = text_of(automation, "name");
    TRY(context.confirm("The automation " + name + " and its history are deleted. Its runs are kept.", name));
    const json::Value gone =
        TRY(context.remote.remove(automation_path(text_of(automation, "id")), space_query(context)));
    return show_done(context, gone, "Deleted automation " + name + ".");
}

Result<> pause_automation(Context& context) {
    json::Object body;
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    const json::Value paused = TRY(post(context, wanted_path(context, "pause"), std::move(body)));
    return show_done(context, paused, "Paused " + text_of(paused, "name") + ": " + text_of(paused, "pause_reason"));
}

Result<> resume_automation(Context& context) {
    const json::Value resumed = TRY(post(context, wanted_path(context, "resume")));
    return show_done(context, resumed, "Resumed " + text_of(resumed, "name") + ".");
}

Result<> run_automation(Context& context) {
    const json::Value slot = TRY(post(context, wanted_path(context, "run")));
    return show_done(context, slot,
                     "Run requested. Show its outcome:\n  hone automation slots " +
                         context.value_or_empty("AUTOMATION"));
}

Result<> list_automation_slots(Context& context) {
    return show_slots(context, context.value_or_empty("AUTOMATION"));
}

Result<> rotate_secret(Context& context) {
    const json::Value changed = TRY(post(context, wanted_path(context, "rotate_secret")));
    return show_done(context, changed,
                     "New webhook secret, shown only now: " + text_of(changed, "hook_secret") + "\nSend requests to " +
                         text_of(changed, "hook_path"));
}

Result<> set_hook_secret(Context& context) {
    const std::string secret = TRY(read_secret(context, "secret"));
    const json::Value changed = TRY(context.remote.call({.method = "PATCH",
                                                         .path = wanted_path(context),
                                                         .query = space_query(context),
                                                         .body = json::Value(json::Object{{"hook_secret", secret}})}))
                                    .data;
    return show_done(context, changed,
                     "Secret set. Deliveries to " + text_of(changed, "hook_path") + " must be signed with it.");
}

Result<> preview_automation(Context& context) {
    json::Object body{{"project", context.value_or_empty("--project")}};
    if (const auto automation = context.parsed.value("AUTOMATION"); automation && !automation->empty()) {
        const json::Value saved = TRY(wanted_automation(context));
        const json::Object form = automation_file_form(saved);
        body["trigger"] = form.at("trigger");
        body["project"] = text_of(saved, "project_id");
        body["cool_off_seconds"] = number_of(saved, "cool_off_seconds");
    } else if (const auto file = context.parsed.value("--file")) {
        const json::Object form = TRY(read_form(context, automation_file(), *file));
        body["trigger"] = form.at("trigger");
        if (!context.parsed.value("--project")) body["project"] = form.at("project");
    } else {
        body["trigger"] = TRY(trigger_of(context));
    }
    const json::Value preview = TRY(post(context, "/v1/automation_preview", std::move(body)));
    if (context.json()) return show_done(context, preview, "");
    const json::Value* next = member(preview, "next");
    const json::Value* past = member(preview, "past");
    if (next != nullptr && next->is_array() && !next->get_array().empty()) {
        context.console.print("Next firings:\n");
        for (const json::Value& moment : next->get_array())
            context.console.print("  " + std::string(moment.get_string()).substr(0, 19) + "Z\n");
        return {};
    }
    if (past == nullptr || !past->is_array() || past->get_array().empty()) {
        context.console.print("It would not have fired in the last seven days.\n");
        return {};
    }
    context.console.print("Outcomes that it would have had in the last seven days:\n");
    for (const json::Value& firing : past->get_array())
        context.console.print("  " + text_of(firing, "due_at").substr(0, 19) + "Z  " + text_of(firing, "outcome") +
                              "  " + (text_of(firing, "reason") == "none" ? "" : text_of(firing, "reason")) + "\n");
    return {};
}

Result<> export_automation(Context& context) {
    return export_as_file(context, automation_file(), TRY(wanted_automation(context)));
}

Result<> apply_automation(Context& context) {
    json::Object form = TRY(read_form(context, automation_file(), context.value_or_empty("FILE")));
    return apply_file(context, automation_file(), std::move(form), [](const json::Value& made) {
        const std::string secret = text_of(made, "hook_secret");
        return secret.empty() ? "" : "\nWebhook secret, shown only now: " + secret;
    });
}

std::vector<Option> trigger_options() {
    return {
        {.name = "--cron", .value = "SCHEDULE", .doc = "Fire at these times, such as \"0 9 * * mon-fri\"."},
        {.name = "--time-zone",
         .value = "ZONE",
         .doc = "Time zone of the schedule, such as Europe/Berlin. Default: UTC."},
        {.name = "--metric",
         .value = "METRIC",
         .doc =
             "Fire when this metric crosses a limit: error_rate, latency_p95, cost, count, …; see hone series --help."},
        {.name = "--above",
         .value = "NUMBER",
         .doc = "Fire above this limit; latency in ms, cost in USD, rates from 0 to 1."},
        {.name = "--at-least", .value = "NUMBER", .doc = "Fire at or above this limit."},
        {.name = "--below", .value = "NUMBER", .doc = "Fire below this limit."},
        {.name = "--at-most", .value = "NUMBER", .doc = "Fire at or below this limit."},
        {.name = "--window", .value = "DURATION", .doc = "Time range of the metric. Default: 15m."},
        {.name = "--every", .value = "DURATION", .doc = "Time between evaluations. Default: 1m."},
        {.name = "--for", .value = "DURATION", .doc = "Time for which the limit must be crossed before it fires."},
        {.name = "--min-samples", .value = "NUMBER", .doc = "With fewer spans it is not evaluated."},
        {.name = "--filter", .value = "FILTER", .doc = "Evaluate only spans that match."},
        {.name = "--eval", .value = "NAME", .doc = "Name of the eval, for eval_rate and eval_score."},
        {.name = "--label", .value = "LABEL", .doc = "Label of the eval, for eval_rate."},
        {.name = "--monitor", .value = "MONITOR", .doc = "Fire each time this monitor triggers."},
        {.name = "--webhook", .value = "", .doc = "Fire when a signed webhook arrives."},
        {.name = "--source",
         .value = "SOURCE",
         .doc = "Who signs the webhook. Default: hone.",
         .choices = {"hone", "github", "gitlab", "grafana", "pagerduty", "slack", "standard", "hmac"}},
        {.name = "--signature-header", .value = "NAME", .doc = "hmac: header of the signature. Default: X-Signature."},
        {.name = "--timestamp-header",
         .value = "NAME",
         .doc = "hmac: header of the time, in seconds; it is then signed with the body."},
        {.name = "--file",
         .value = "FILE",
         .doc = "Read the settings from this YAML or JSON file; - is standard input."},
        {.name = "--project", .value = "PROJECT", .doc = "Id or name of the project."}};
}

std::vector<Option> create_options() {
    std::vector<Option> options = trigger_options();
    options.push_back({.name = "--preset", .value = "PRESET", .doc = "Id or name of the preset of the runs."});
    options.push_back({.name = "--prompt", .value = "TEXT", .doc = "Prompt of each run."});
    options.push_back({.name = "--description", .value = "TEXT", .doc = "Description."});
    options.push_back({.name = "--overlap",
                       .value = "POLICY",
                       .doc = "What to do at a scheduled time while a run is active.",
                       .choices = {"skip", "queue", "parallel"}});
    options.push_back({.name = "--catch-up",
                       .value = "POLICY",
                       .doc = "What to do with scheduled times that were missed while no server ran.",
                       .choices = {"coalesce", "all", "none"}});
    options.push_back(
        {.name = "--cool-off", .value = "DURATION", .doc = "Minimum time between two firings, such as 1h."});
    options.push_back({.name = "--tokens-per-day", .value = "NUMBER", .doc = "Token budget of all its runs per day."});
    options.push_back(
        {.name = "--usd-per-day", .value = "NUMBER", .doc = "Cost budget of all its runs per day, in US dollars."});
    options.push_back({.name = "--soft-percent",
                       .value = "NUMBER",
                       .doc = "From this share of the budget on, workers get a notice to finish. Default: 80."});
    options.push_back({.name = "--failure-limit",
                       .value = "NUMBER",
                       .doc = "Number of consecutive failures after which it is paused; 0: never."});
    options.push_back({.name = "--paused", .value = "", .doc = "Create it paused."});
    return options;
}

} // namespace

std::vector<Command> automation_commands() {
    return {
        {.path = "automation list",
         .summary = "List the automations of the space.",
         .options = {{.name = "--project", .value = "PROJECT", .doc = "Only automations of this project."}},
         .lists = true,
         .run = list_automations},
        {.path = "automation show",
         .summary = "Show an automation with its last and next firing.",
         .arguments = {automation_argument},
         .run = show_automation},
        {.path = "automation create",
         .summary = "Create an automation.",
         .arguments = {{.name = "NAME", .doc = "Unique in the space."}},
         .options = create_options(),
         .details =
             "Example: hone automation create nightly --project shop --preset analyst --cron \"0 3 * * *\" "
             "--prompt \"Look for new errors since {{window.from}}.\"\n\n"
             "When a metric crosses a limit:\n"
             "  hone automation create errors --project shop --preset analyst --metric error_rate --above 0.05 "
             "--window 30m --for 5m --cool-off 1h --prompt \"{{trigger.value}} of the calls failed. Why?\"\n"
             "When a monitor triggers:\n"
             "  hone automation create slow --project shop --preset analyst --monitor mon_01J… --prompt \"Why is "
             "it slow?\"\n"
             "When a signed webhook arrives (the secret is shown once; docs/automations.md has the senders):\n"
             "  hone automation create deploy --project shop --preset analyst --webhook --tokens-per-day 500000 "
             "--prompt \"Read {{trigger.file}} and compare the new version with the one before.\"",
         .run = create_automation},
        {.path = "automation apply",
         .summary = "Create or change an automation to match the file.",
         .arguments = {file_argument()},
         .run = apply_automation},
        {.path = "automation export",
         .summary = "Print an automation as a YAML or JSON file for git.",
         .arguments = {automation_argument},
         .options = export_options(),
         .run = export_automation},
        {.path = "automation pause",
         .summary = "Pause an automation: scheduled times are skipped until it is resumed.",
         .arguments = {automation_argument},
         .options = {{.name = "--reason", .value = "TEXT", .doc = "Reason, shown with each skipped time."}},
         .run = pause_automation},
        {.path = "automation resume",
         .summary = "Resume an automation.",
         .arguments = {automation_argument},
         .run = resume_automation},
        {.path = "automation run",
         .summary = "Start a run of an automation now.",
         .arguments = {automation_argument},
         .run = run_automation},
        {.path = "automation slots",
         .summary = "List scheduled times and their outcomes, newest first.",
         .arguments = {automation_argument},
         .options = {outcome_option()},
         .lists = true,
         .run = list_automation_slots},
        {.path = "automation preview",
         .summary = "Show the next firings of a trigger, or when it would have fired in the last seven days.",
         .arguments = {{.name = "AUTOMATION",
                        .doc = "Id or name of the automation. Without it, give a trigger.",
                        .optional = true}},
         .options = trigger_options(),
         .details = "Example: hone automation preview --project shop --cron \"30 2 * * *\" --time-zone Europe/Berlin",
         .run = preview_automation},
        {.path = "automation rotate-secret",
         .summary = "Replace the webhook secret. The new one is shown once.",
         .arguments = {automation_argument},
         .run = rotate_secret},
        {.path = "automation set-secret",
         .summary = "Set the webhook secret that the sender made, as Slack and PagerDuty do.",
         .arguments = {automation_argument},
         .details = "Prompts for the secret, or reads a line of standard input.",
         .run = set_hook_secret},
        {.path = "automation delete",
         .summary = "Delete an automation and its history. Its runs are kept.",
         .arguments = {automation_argument},
         .destructive = true,
         .run = delete_automation},
    };
}

} // namespace hone::cli
