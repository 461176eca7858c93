// Signal of a project: settings and scans. Issues and evaluators have files of their own.
#include "cli/commands/loop/evaluator.h"
#include "cli/commands/loop/issue.h"
#include "cli/remote/view.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/slots.h"

namespace hone::cli {

namespace {

const Argument signal_project_argument{.name = "PROJECT", .doc = "Id or name of the project."};

Columns scan_columns() {
    return {
        {.title = "started", .field = "started_at", .kind = Kind::time},
        {.title = "requested by", .field = "asked_by"},
        {.title = "spans", .field = "spans", .kind = Kind::count},
        {.title = "found", .field = "found", .kind = Kind::number},
        {.title = "new", .field = "new_issues", .kind = Kind::number},
        {.title = "reopened", .field = "reopened", .kind = Kind::number},
        {.title = "muted", .field = "quiet", .kind = Kind::number},
        {.title = "workers", .field = "investigations", .kind = Kind::number},
        {.title = "duration ms", .field = "took_ms", .kind = Kind::number},
        {.title = "rows read", .field = "rows_read", .kind = Kind::count},
        {.title = "read", .field = "bytes_read", .kind = Kind::bytes},
        {.title = "memory", .field = "memory_bytes", .kind = Kind::bytes},
        {.title = "tokens", .field = "tokens", .kind = Kind::count},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money, .only_single = true},
        {.title = "from", .field = "window_from", .kind = Kind::time, .only_single = true},
        {.title = "baseline from", .field = "baseline_from", .kind = Kind::time, .only_single = true},
        {.title = "error", .field = "failed"},
    };
}

Columns signal_columns() {
    return {
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "open issues", .field = "open_issues", .kind = Kind::number},
        {.title = "last scan", .field = "last_scan.started_at", .kind = Kind::time, .absent = "never"},
        {.title = "next scan", .field = "next_scan_at", .kind = Kind::time},
        {.title = "scan interval minutes", .field = "settings.cadence_minutes", .kind = Kind::number},
        {.title = "window hours", .field = "settings.window_hours", .kind = Kind::number},
        {.title = "baseline days", .field = "settings.baseline_days", .kind = Kind::number},
        {.title = "preset", .field = "settings.preset", .absent = "the playbook, without a model"},
        {.title = "repository", .field = "settings.repo.url"},
        {.title = "workers per scan", .field = "settings.max_investigations", .kind = Kind::number},
        {.title = "minimum severity", .field = "settings.least_severity"},
        {.title = "tokens per day", .field = "settings.tokens_per_day", .kind = Kind::number, .absent = "no limit"},
        {.title = "cost per day",
         .field = "settings.cost_micro_usd_per_day",
         .kind = Kind::money,
         .absent = "no limit"},
        {.title = "traces per reading", .field = "settings.sampled_traces", .kind = Kind::number},
        {.title = "hours between readings", .field = "settings.sampling_hours", .kind = Kind::number},
        {.title = "tokens per reading", .field = "settings.sampled_tokens", .kind = Kind::number},
        {.title = "traces read in 30 days", .field = "readings.traces", .kind = Kind::number, .absent = "none"},
        {.title = "tokens per 1,000 traces", .field = "readings.tokens_per_1000_traces", .kind = Kind::count},
        {.title = "cost per 1,000 traces", .field = "readings.cost_micro_usd_per_1000_traces", .kind = Kind::money},
        {.title = "agreed by", .field = "consent_by"},
        {.title = "agreed", .field = "consent_at", .kind = Kind::time},
        {.title = "context", .field = "settings.context"},
        {.title = "history", .field = "automation_id", .kind = Kind::id, .absent = "none yet"},
    };
}

Result<std::string> signal_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{TRY(wanted_project(context)), "signal"};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/projects", parts);
}

Result<> show_signal(Context& context) {
    return show_record(context, TRY(context.remote.get(TRY(signal_path(context)))), signal_columns());
}

std::vector<Option> signal_options() {
    return {
        {.name = "--cadence", .value = "MINUTES", .doc = "Time between scans."},
        {.name = "--window", .value = "HOURS", .doc = "Time range of a scan."},
        {.name = "--baseline", .value = "DAYS", .doc = "Time range before the window that it is compared with."},
        {.name = "--context", .value = "TEXT", .doc = "Information about the application for workers."},
        {.name = "--preset", .value = "PRESET", .doc = "Preset of the workers; \"none\": the playbook."},
        {.name = "--repo", .value = "URL", .doc = "The application's repository; \"none\": none."},
        {.name = "--investigations", .value = "NUMBER", .doc = "Maximum number of workers that one scan starts."},
        {.name = "--least-severity",
         .value = "SEVERITY",
         .doc = "Minimum severity of issues that are investigated automatically.",
         .choices = {"low", "medium", "high", "critical"}},
        {.name = "--tokens-per-day",
         .value = "NUMBER",
         .doc = "Token budget of all workers per day; \"none\": no limit."},
        {.name = "--usd-per-day",
         .value = "NUMBER",
         .doc = "Cost budget of all workers per day, in US dollars; \"none\": no limit."},
        {.name = "--sampled-traces",
         .value = "NUMBER",
         .doc = "Traces that a worker with a model reads after a scan; 0: none. Needs a preset with a model."},
        {.name = "--sampling-hours", .value = "HOURS", .doc = "Time between two such readings."},
        {.name = "--sampled-tokens", .value = "NUMBER", .doc = "Maximum number of tokens of one reading."},
    };
}

// The settings of now with what the options say; nothing when they say nothing.
Result<std::optional<json::Object>> changed_settings(const Context& context, const json::Value& now) {
    json::Object settings;
    if (const json::Value* found = now.is_object() ? now.get_object().if_contains("settings") : nullptr;
        found != nullptr && found->is_object())
        settings = found->get_object();
    bool changed = false;
    const auto set = [&](std::string_view name, json::Value value) {
        settings[name] = std::move(value);
        changed = true;
    };
    for (const auto& [option, name, least] : {std::tuple("--cadence", "cadence_minutes", int64_t{1}),
                                              {"--window", "window_hours", int64_t{1}},
                                              {"--baseline", "baseline_days", int64_t{1}},
                                              {"--investigations", "max_investigations", int64_t{0}},
                                              {"--sampled-traces", "sampled_traces", int64_t{0}},
                                              {"--sampling-hours", "sampling_hours", int64_t{1}},
                                              {"--sampled-tokens", "sampled_tokens", int64_t{1000}}})
        if (const auto number = TRY(context.integer(option, least))) set(name, *number);
    if (const auto words = context.parsed.value("--context")) set("context", json::Value(std::string_view(*words)));
    if (const auto preset = context.parsed.value("--preset"))
        set("preset", *preset == "none" ? json::Value(nullptr) : json::Value(std::string_view(*preset)));
    if (const auto repo = context.parsed.value("--repo"))
        set("repo", *repo == "none" ? json::Value(nullptr) : json::Value(json::Object{{"url", *repo}}));
    if (const auto severity = context.parsed.value("--least-severity"))
        set("least_severity", json::Value(std::string_view(*severity)));
    if (context.parsed.value("--tokens-per-day") == "none")
        set("tokens_per_day", nullptr);
    else if (const auto tokens = TRY(context.integer("--tokens-per-day", 0)))
        set("tokens_per_day", *tokens);
    if (context.parsed.value("--usd-per-day") == "none")
        set("cost_micro_usd_per_day", nullptr);
    else if (context.parsed.value("--usd-per-day")) {
        TRY(set_dollars(context, "--usd-per-day", "cost_micro_usd_per_day", settings));
        changed = true;
    }
    return changed ? std::optional(std::move(settings)) : std::nullopt;
}

Result<> put_signal(Context& context, json::Object body) {
    const std::string path = TRY(signal_path(context));
    if (auto settings = TRY(changed_settings(context, TRY(context.remote.get(path)))))
        body["settings"] = std::move(*settings);
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    return show_record(context, TRY(context.remote.put(path, std::move(body))), signal_columns());
}

Result<> enable_signal(Context& context) {
    const json::Value now = TRY(context.remote.get(TRY(signal_path(context))));
    // The user must have read what they accept.
    TRY(context.confirm(text_of(now, "consent_note"), "yes"));
    return put_signal(context, {{"enabled", true}, {"consent", true}});
}

Result<> disable_signal(Context& context) {
    return put_signal(context, {{"enabled", false}});
}

Result<> update_signal(Context& context) {
    return put_signal(context, {});
}

Result<> scan(Context& context) {
    const json::Value made = TRY(context.remote.post(TRY(signal_path(context, {"scan"})), json::Object{}));
    return show_record(context, made, scan_columns());
}

Result<> read_sampled(Context& context) {
    const json::Value made = TRY(context.remote.post(TRY(signal_path(context, {"read"})), json::Object{}));
    return show_record(context, made,
                       {{.title = "run", .field = "run_id", .kind = Kind::id},
                        {.title = "traces", .field = "traces", .kind = Kind::number}});
}

// Every scheduled scan and worker, whether it started or not.
Result<> list_slots(Context& context) {
    const json::Value view = TRY(context.remote.get(TRY(signal_path(context))));
    const std::string automation = text_of(view, "automation_id");
    if (automation.empty())
        return context.fail(Exit::not_found, "Signal is not set up for this project",
                            "turn it on: hone signal enable PROJECT");
    return show_slots(context, automation);
}

Result<> list_scans(Context& context) {
    return show_list(context, TRY(signal_path(context, {"scans"})), {}, scan_columns(),
                     "No scans yet. Turn on Signal, or scan now:\n  hone signal scan PROJECT");
}

} // namespace

std::vector<Command> signal_commands() {
    std::vector<Command> commands{
        {.path = "signal show",
         .summary = "Show the settings of Signal in a project and its last scan.",
         .arguments = {signal_project_argument},
         .run = show_signal},
        {.path = "signal enable",
         .summary = "Turn on Signal, after you agree to its terms.",
         .arguments = {signal_project_argument},
         .options = signal_options(),
         .destructive = true,
         .run = enable_signal},
        {.path = "signal disable",
         .summary = "Turn off Signal. Issues are kept.",
         .arguments = {signal_project_argument},
         .run = disable_signal},
        {.path = "signal update",
         .summary = "Change the settings of Signal in a project.",
         .arguments = {signal_project_argument},
         .options = signal_options(),
         .run = update_signal},
        {.path = "signal scan", .summary = "Scan a project now.", .arguments = {signal_project_argument}, .run = scan},
        {.path = "signal read",
         .summary = "Start a worker with a model that reads sampled traces now.",
         .arguments = {signal_project_argument},
         .run = read_sampled},
        {.path = "signal scans",
         .summary = "List scans with the rows read and issues found, newest first.",
         .arguments = {signal_project_argument},
         .lists = true,
         .run = list_scans},
        {.path = "signal slots",
         .summary = "List scheduled scans and workers with their outcomes, newest first.",
         .arguments = {signal_project_argument},
         .options = {outcome_option()},
         .lists = true,
         .run = list_slots},
    };
    for (Command& command : issue_commands()) commands.push_back(std::move(command));
    for (Command& command : evaluator_commands()) commands.push_back(std::move(command));
    return commands;
}

} // namespace hone::cli
