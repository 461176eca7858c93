// Sessions: workers that a person starts, watches, talks to and stops.
#include "base/text.h"
#include "cli/commands/loop/artifact_files.h"
#include "cli/commands/sessions/session_files.h"
#include "cli/commands/sessions/session_filter.h"
#include "cli/commands/sessions/session_settings.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/follow.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/transcript.h"

namespace hone::cli {

namespace {

constexpr size_t largest_text = 1 << 20; // the server knows the exact limit
const Argument session_argument{.name = "SESSION", .doc = "Id of the session (or another run)."};
const Argument text_argument{.name = "TEXT", .doc = "The message; - reads it from standard input."};
const Option detach_option{
    .name = "--detach", .value = "", .doc = "Return immediately; do not follow the session.", .short_name = "-d"};
const Option full_option{
    .name = "--full", .value = "", .doc = "Show thinking, arguments and outputs of tools in full."};

Columns session_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "state", .field = "state"},
        {.title = "title", .field = "title"},
        {.title = "reason", .field = "reason", .only_single = true},
        {.title = "preset", .field = "preset_name"},
        {.title = "provider", .field = "provider", .only_single = true},
        {.title = "harness", .field = "harness"},
        {.title = "model", .field = "model"},
        {.title = "turns", .field = "turns", .kind = Kind::number},
        {.title = "tool calls", .field = "steps", .kind = Kind::number, .only_single = true},
        {.title = "tokens in", .field = "usage.input", .kind = Kind::count, .only_single = true},
        {.title = "tokens cached", .field = "usage.cache_read", .kind = Kind::count, .only_single = true},
        {.title = "tokens out", .field = "usage.output", .kind = Kind::count, .only_single = true},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
        {.title = "limits", .field = "limits", .only_single = true},
        {.title = "by", .field = "started_by"},
        {.title = "project", .field = "project_id", .only_single = true},
        {.title = "from", .field = "from_run", .only_single = true},
        {.title = "trace", .field = "trace_id", .only_single = true},
        {.title = "events", .field = "last_event", .kind = Kind::number, .only_single = true},
        {.title = "kept by", .field = "kept_by", .only_single = true},
        {.title = "workspace expired", .field = "workspace_removed_at", .kind = Kind::time, .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
        {.title = "started", .field = "started_at", .kind = Kind::time, .only_single = true},
        {.title = "ended", .field = "ended_at", .kind = Kind::time, .only_single = true},
        {.title = "worked", .field = "worked_ns", .kind = Kind::duration, .only_single = true},
    };
}

std::string run_path(const Context& context, const std::string& rest = {}) {
    const std::string id = context.value_or_empty("SESSION");
    return rest.empty() ? path_of("/v1/runs", {id}) : path_of("/v1/runs", {id, rest});
}

// An argument's words, or standard input for "-".
Result<std::string> words_of(const Context& context, std::string_view argument) {
    std::string text = context.value_or_empty(argument);
    if (text == "-") {
        Input input = TRY(Input::open(context, "-"));
        text = TRY(input.read_all(largest_text));
    }
    if (trim(text).empty()) return context.usage(std::string(argument) + " is empty");
    return text;
}

// A sentence about what it took, and an error when it did not end well: scripts go by the exit code.
Result<> conclude(const Context& context, const std::string& id, const Rest& rest) {
    if (context.console.is_output_gone() || rest.state.empty()) return {};
    const json::Value run = TRY(context.remote.get(path_of("/v1/runs", {id})));
    const std::string state = safe_line(rest.state);
    if (!context.json()) {
        const int64_t tokens = number_of(run, "usage.input") + number_of(run, "usage.cache_read") +
                               number_of(run, "usage.cache_write") + number_of(run, "usage.output") +
                               number_of(run, "usage.reasoning");
        std::string line = safe_line(id) + " · " + state;
        if (tokens > 0) line += " · " + count_text(tokens) + " tokens";
        if (const int64_t cost = number_of(run, "cost_micro_usd")) line += " · " + money_text(cost);
        context.console.note(context.console.paint_note(Style::dim, line + "\n"));
        if (state == "waiting" || state == "succeeded")
            context.console.note(
                context.console.paint_note(Style::dim, "Continue: hone session send " + safe_line(id) + " TEXT\n"));
    }
    if (state != "succeeded" && state != "waiting") {
        const std::string reason = text_of(run, "reason");
        return context.fail(Exit::failure, "the session is " + state + (reason.empty() ? "" : ": " + reason));
    }
    if (rest.turn_failed) return context.fail(Exit::failure, "the last turn failed");
    return {};
}

Result<> watch_or_show(const Context& context, const json::Value& run, Watch watch) {
    const std::string id = text_of(run, "id");
    if (context.parsed.has("--detach")) {
        if (!context.json())
            context.console.note(
                context.console.paint_note(Style::dim, "Follow it: hone session events " + safe_line(id) + " -f\n"));
        return show_done(context, run, safe_line(id)); // a script wants the id alone
    }
    if (!context.json()) context.console.note(context.console.paint_note(Style::dim, safe_line(id) + "\n"));
    watch.run = id;
    return conclude(context, id, TRY(follow_run(context, watch)));
}

Result<> start_session(Context& context) {
    const bool has_preset = context.parsed.has("--preset");
    if (has_preset && has_own_settings(context))
        return context.usage("--preset has all settings but further skills; leave out --harness, --model, --command, "
                             "--settings and --repo");
    if (context.value_or_empty("PROMPT") == "-" && context.parsed.value("--settings") == "-")
        return context.usage("standard input has the prompt: put the settings into a file");
    json::Object worker;
    if (has_preset) {
        worker["preset"] = context.value_or_empty("--preset");
        worker["skills"] = TRY(skill_ids(context));
    } else {
        worker["settings"] = TRY(own_settings(context));
    }
    json::Object body;
    body["prompt"] = TRY(words_of(context, "PROMPT"));
    body["project"] = TRY(span_project(context));
    body.insert(worker.begin(), worker.end());
    if (const auto provider = context.parsed.value("--provider")) body["provider"] = *provider;
    if (const auto title = context.parsed.value("--title")) body["title"] = *title;
    for (const auto& [option, name] : {std::pair("--data-from", "data_from"), {"--data-to", "data_to"}})
        if (context.parsed.has(option)) body[name] = TRY(moment(context, option));
    json::Array files;
    for (const auto& file : context.parsed.all("--file"))
        files.emplace_back(
            text_of(TRY(upload_for_session(context, file, "", context.value_or_empty("--space"))), "id"));
    if (!files.empty()) body["files"] = std::move(files);
    TRY(set_number(context, "--priority", "priority", body));
    return watch_or_show(context, TRY(context.remote.post("/v1/runs", std::move(body), space_query(context))), {});
}

// Sends a message to the session and follows its transcript.
Result<> send_message(const Context& context, const std::string& text) {
    const json::Value before = TRY(context.remote.get(run_path(context)));
    const json::Value run = TRY(context.remote.post(run_path(context, "messages"), json::Object{{"text", text}}));
    return watch_or_show(context, run, {.after = number_of(before, "last_event"), .answer = true});
}

Result<> send_text(Context& context) {
    return send_message(context, TRY(words_of(context, "TEXT")));
}

Result<> resume_session(Context& context) {
    return send_message(context,
                        context.parsed.has("TEXT") ? TRY(words_of(context, "TEXT")) : std::string("Continue."));
}

Result<> fork_session(Context& context) {
    json::Object body;
    body["prompt"] = TRY(words_of(context, "PROMPT"));
    if (const auto turn = TRY(context.integer("--turn", 1))) body["turn"] = *turn;
    return watch_or_show(context, TRY(context.remote.post(run_path(context, "fork"), std::move(body))), {});
}

Result<> rerun_session(Context& context) {
    json::Object body;
    if (context.parsed.has("PROMPT")) body["prompt"] = TRY(words_of(context, "PROMPT"));
    if (context.parsed.has("--latest")) body["latest"] = true;
    if (const auto provider = context.parsed.value("--provider")) body["provider"] = *provider;
    return watch_or_show(context, TRY(context.remote.post(run_path(context, "rerun"), std::move(body))), {});
}

// The whole text of what the list has cut.
Result<json::Value> whole_event(const Context& context, json::Value event) {
    const auto* cut = event.is_object() ? event.get_object().if_contains("truncated") : nullptr;
    if (!context.parsed.has("--full") || cut == nullptr || *cut != true) return event;
    return context.remote.get(path_of(run_path(context, "events"), {std::to_string(number_of(event, "seq"))}));
}

Result<> print_events(const Context& context, int64_t after) {
    Transcript transcript(context.console, context.parsed.has("--full"));
    json::Array all;
    for (;;) {
        const Items page = TRY(context.remote.list_whole(run_path(context, "events"),
                                                         {{"after", std::to_string(after)}, {"limit", "500"}}));
        const int64_t before = after;
        for (const auto& item : page.items) {
            after = std::max(after, number_of(item, "seq"));
            json::Value event = TRY(whole_event(context, item));
            if (context.json())
                all.push_back(std::move(event));
            else
                context.console.print(transcript.draw(event));
        }
        if (after == before || context.console.is_output_gone()) break;
    }
    if (context.json()) print_json(context, all);
    return {};
}

Result<> show_events(Context& context) {
    const int64_t after = TRY(context.integer("--after", 0)).value_or(0);
    if (!context.parsed.has("--follow")) return print_events(context, after);
    const json::Value run = TRY(context.remote.get(run_path(context)));
    const Watch watch{.run = text_of(run, "id"),
                      .after = after,
                      .known = number_of(run, "last_event"),
                      .over = is_over(text_of(run, "state")),
                      .until_turn = false};
    TRY(follow_run(context, watch));
    return {};
}

Result<> show_session(Context& context) {
    if (context.parsed.has("--manifest")) {
        print_json(context, TRY(context.remote.get(run_path(context, "manifest"))));
        return {};
    }
    json::Value run = TRY(context.remote.get(run_path(context)));
    if (!context.json() && run.is_object())
        add_limits(TRY(context.remote.get(run_path(context, "manifest"))), run.get_object());
    return show_record(context, run, session_columns());
}

Result<> list_sessions(Context& context) {
    return show_list(context, "/v1/runs", TRY(run_filter_query(context)), session_columns(),
                     "No sessions. Start one:\n  hone session start --harness playbook PROMPT");
}

Result<> cancel_session(Context& context) {
    const json::Value run = TRY(context.remote.post(run_path(context, "cancel"), json::Object{}));
    return show_done(context, run, "Cancelled.");
}

Result<> interrupt_session(Context& context) {
    const json::Value run = TRY(context.remote.post(run_path(context, "interrupt"), json::Object{}));
    return show_done(context, run, "Turn interrupted. The session waits for a message.");
}

Result<> list_left(Context& context) {
    Query query{{"run", context.value_or_empty("SESSION")}};
    if (context.parsed.has("--space"))
        query.emplace_back("space", context.value_or_empty("--space"));
    else // those of another space than the key's first one are found too
        query.emplace_back("space", text_of(TRY(context.remote.get(run_path(context))), "space_id"));
    if (const auto directory = context.parsed.value("--save"))
        return save_artifacts(context, std::move(query), *directory);
    return show_list(context, "/v1/artifacts", std::move(query), artifact_columns(), "This run has no artifacts.");
}

std::vector<Command> starting_commands() {
    return {
        {.path = "session start",
         .summary = "Start a session and follow it.",
         .arguments = {{.name = "PROMPT", .doc = "The task; - reads it from standard input."}},
         .options =
             {project_option(),
              {.name = "--preset", .value = "PRESET", .doc = "Id or name of the preset to use."},
              {.name = "--harness",
               .value = "HARNESS",
               .doc = "Without a preset: claude-code, codex, opencode, gemini, qwen, copilot, command or playbook."},
              provider_option("Where it works, instead of the preset's provider. Default: local."),
              {.name = "--model", .value = "MODEL", .doc = "The provider's name of the model."},
              {.name = "--skill",
               .value = "SKILL",
               .doc = "Id or name of a skill; with --preset, besides its own.",
               .repeated = true},
              {.name = "--file",
               .value = "FILE",
               .doc = "File for the worker, in its workspace before the first turn.",
               .repeated = true},
              {.name = "--data-from",
               .value = "TIME",
               .doc = "The prompt limits the worker to data from this time on."},
              {.name = "--data-to", .value = "TIME", .doc = "The prompt limits the worker to data until this time."},
              {.name = "--command",
               .value = "WORD",
               .doc = "One word of the command line, for --harness command; or the name of a playbook.",
               .repeated = true},
              {.name = "--settings",
               .value = "FILE",
               .doc = "Without a preset: settings as YAML or JSON, as `hone preset export` prints them; - is standard "
                      "input. Other options win."},
              {.name = "--repo",
               .value = "URL",
               .doc = "Without a preset: repository to clone; URL#REF for a branch, tag or commit.",
               .repeated = true},
              {.name = "--title", .value = "TEXT", .doc = "Title in lists. Default: the first line of the prompt."},
              {.name = "--priority",
               .value = "NUMBER",
               .doc = "Priority in the queue, -10 to 10; higher runs first. Default: 0."},
              detach_option,
              full_option},
         .details = "hone session start -p shop --preset analyst 'Why did refunds fail since Monday?'\nCtrl-C leaves "
                    "the session running. The exit code is 0 if the turn succeeded, else 1. With "
                    "--json each event is a line of JSON.",
         .run = start_session},
        {.path = "session send",
         .summary = "Send a message to a session and follow the turn.",
         .arguments = {session_argument, text_argument},
         .options = {detach_option, full_option},
         .run = send_text},
        {.path = "session resume",
         .summary = "Resume a finished session and follow it.",
         .arguments = {session_argument,
                       {.name = "TEXT", .doc = "First message. Default: Continue.", .optional = true}},
         .options = {detach_option, full_option},
         .run = resume_session},
        {.path = "session fork",
         .summary = "Start a session from the end of a finished one, on a copy of its workspace; or after a turn.",
         .arguments = {session_argument, {.name = "PROMPT", .doc = "The task; - reads it from standard input."}},
         .options = {{.name = "--turn",
                      .value = "NUMBER",
                      .doc = "After this turn: the worker reads the turns until there as text, in a new workspace."},
                     detach_option,
                     full_option},
         .run = fork_session},
        {.path = "session rerun",
         .summary = "Start a new run from the manifest of a run, pinned to its commits, versions and data.",
         .arguments = {session_argument,
                       {.name = "PROMPT", .doc = "Prompt. Default: the first prompt of the run.", .optional = true}},
         .options = {{.name = "--latest", .value = "", .doc = "With the commits, versions and data of now."},
                     provider_option("Where it works, instead of the provider of the run."),
                     detach_option,
                     full_option},
         .run = rerun_session},
    };
}

} // namespace

std::vector<Command> session_commands() {
    std::vector<Command> commands = starting_commands();
    const std::vector<Command> more{
        {.path = "session list",
         .summary = "List sessions and other runs, newest first.",
         .options = run_filter_options(),
         .lists = true,
         .run = list_sessions},
        {.path = "session show",
         .summary = "Show a session: state, usage and trace.",
         .arguments = {session_argument},
         .options = {{.name = "--manifest", .value = "", .doc = "Print the manifest as JSON."}},
         .run = show_session},
        {.path = "session events",
         .summary = "Show the transcript of a session.",
         .arguments = {session_argument},
         .options = {{.name = "--follow", .value = "", .doc = "Follow the session until it ends.", .short_name = "-f"},
                     {.name = "--after", .value = "NUMBER", .doc = "Only events after this sequence number."},
                     full_option},
         .details = "With --follow --json each event is a line of JSON. After a lost connection the stream "
                    "resumes where it stopped.",
         .run = show_events},
        {.path = "session interrupt",
         .summary = "End the running turn; the session continues.",
         .arguments = {session_argument},
         .run = interrupt_session},
        {.path = "session cancel",
         .summary = "Stop a session.",
         .arguments = {session_argument},
         .run = cancel_session},
        {.path = "session artifacts",
         .summary = "List or download the artifacts of a session.",
         .arguments = {session_argument},
         .options = {{.name = "--save", .value = "DIR", .doc = "Download all artifacts to this directory."}},
         .lists = true,
         .run = list_left},
    };
    commands.insert(commands.end(), more.begin(), more.end());
    return commands;
}

} // namespace hone::cli
