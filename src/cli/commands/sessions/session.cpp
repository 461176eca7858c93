// Sessions: workers that a person starts, watches, talks to and stops.
#include "base/text.h"
#include "cli/commands/loop/artifact_files.h"
#include "cli/commands/sessions/session_files.h"
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
        {.title = "harness", .field = "harness"},
        {.title = "model", .field = "model"},
        {.title = "turns", .field = "turns", .kind = Kind::number},
        {.title = "tool calls", .field = "steps", .kind = Kind::number, .only_single = true},
        {.title = "tokens in", .field = "usage.input", .kind = Kind::count, .only_single = true},
        {.title = "tokens cached", .field = "usage.cache_read", .kind = Kind::count, .only_single = true},
        {.title = "tokens out", .field = "usage.output", .kind = Kind::count, .only_single = true},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
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

// Presets and settings want ids of skills; people know names.
Result<json::Array> skill_ids(const Context& context) {
    json::Array ids;
    for (const auto& skill : context.parsed.all("--skill")) {
        if (skill.starts_with("skl_")) {
            ids.emplace_back(skill);
            continue;
        }
        const json::Value found = TRY(context.remote.get(path_of("/v1/skills", {skill}), space_query(context)));
        ids.emplace_back(text_of(found, "id"));
    }
    return ids;
}

Result<json::Object> settings_of(const Context& context) {
    const std::string harness = context.value_or_empty("--harness");
    json::Object settings{{"harness", harness}};
    if (const auto model = context.parsed.value("--model")) settings["model"] = *model;
    json::Array command;
    for (const auto& word : context.parsed.all("--command")) command.emplace_back(word);
    if (!command.empty()) settings["command"] = std::move(command);
    json::Array skills = TRY(skill_ids(context));
    if (!skills.empty()) settings["skills"] = std::move(skills);
    return settings;
}

Result<> start_session(Context& context) {
    const bool own = context.parsed.has("--model") || context.parsed.has("--command");
    const bool has_preset = context.parsed.has("--preset"), has_harness = context.parsed.has("--harness");
    if (has_preset && (own || has_harness))
        return context.usage(
            "--preset has all settings but further skills; leave out --harness, --model and --command");
    if (!has_preset && !has_harness) return context.usage("give --preset or --harness; hone preset list shows presets");
    json::Object body;
    body["prompt"] = TRY(words_of(context, "PROMPT"));
    body["project"] = TRY(span_project(context));
    if (has_preset) {
        body["preset"] = context.value_or_empty("--preset");
        body["skills"] = TRY(skill_ids(context));
    }
    if (has_harness) body["settings"] = TRY(settings_of(context));
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
    return watch_or_show(context, TRY(context.remote.post(run_path(context, "fork"), std::move(body))), {});
}

Result<> rerun_session(Context& context) {
    json::Object body;
    if (context.parsed.has("PROMPT")) body["prompt"] = TRY(words_of(context, "PROMPT"));
    if (context.parsed.has("--latest")) body["latest"] = true;
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
    return show_record(context, TRY(context.remote.get(run_path(context))), session_columns());
}

Result<> list_sessions(Context& context) {
    Query query = space_query(context);
    query.emplace_back("project", context.value_or_empty("--project"));
    if (const auto preset = context.parsed.value("--preset")) {
        const json::Value found = TRY(context.remote.get(path_of("/v1/presets", {*preset}), space_query(context)));
        query.emplace_back("preset", text_of(found, "id"));
    }
    query.emplace_back("origin", context.value_or_empty("--origin"));
    std::string states;
    for (const auto& state : context.parsed.all("--state")) states += (states.empty() ? "" : ",") + state;
    query.emplace_back("state", states);
    for (const auto& [option, name] : {std::pair("--automation", "automation"),
                                       {"--harness", "harness"},
                                       {"--person", "person"},
                                       {"--title", "title"}})
        query.emplace_back(name, context.value_or_empty(option));
    query.emplace_back("after", TRY(moment(context, "--after")));
    query.emplace_back("before", TRY(moment(context, "--before")));
    return show_list(context, "/v1/runs", std::move(query), session_columns(),
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
         .summary = "Start a session from the end of a finished one, on a copy of its workspace.",
         .arguments = {session_argument, {.name = "PROMPT", .doc = "The task; - reads it from standard input."}},
         .options = {detach_option, full_option},
         .run = fork_session},
        {.path = "session rerun",
         .summary = "Start a new run from the manifest of a run, pinned to its commits, versions and data.",
         .arguments = {session_argument,
                       {.name = "PROMPT", .doc = "Prompt. Default: the first prompt of the run.", .optional = true}},
         .options = {{.name = "--latest", .value = "", .doc = "With the commits, versions and data of now."},
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
         .options =
             {{.name = "--project", .value = "PROJECT", .doc = "Only sessions of this project.", .short_name = "-p"},
              {.name = "--preset", .value = "PRESET", .doc = "Only sessions of this preset."},
              {.name = "--state",
               .value = "STATE",
               .doc = "Only sessions in this state; can be repeated.",
               .choices = {"queued", "preparing", "running", "waiting", "succeeded", "failed", "cancelled", "timed_out",
                           "budget_stopped", "lost"},
               .repeated = true},
              {.name = "--origin",
               .value = "ORIGIN",
               .doc = "Only sessions started by a person, or by a trigger.",
               .choices = {"session", "automation"}},
              {.name = "--after",
               .value = "TIME",
               .doc = "Only sessions created after this time, or within a duration: --after 2h."},
              {.name = "--before", .value = "TIME", .doc = "Only sessions created before this time."},
              {.name = "--automation", .value = "AUTOMATION", .doc = "Only runs of this automation; its id."},
              {.name = "--harness", .value = "HARNESS", .doc = "Only runs with this harness."},
              {.name = "--person", .value = "NAME", .doc = "Only runs that this person or key started."},
              {.name = "--title", .value = "TEXT", .doc = "Only runs with this text in their title."}},
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
