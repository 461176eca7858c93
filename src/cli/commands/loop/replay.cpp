#include "cli/commands/loop/replay.h"

#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <thread>

namespace hone::cli {

namespace {

std::string replay_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{context.value_or_empty("ARTIFACT"), "replay"};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/reviews", parts);
}

bool is_replaying(const json::Value& replay) {
    const std::string state = text_of(replay, "state");
    return state == "queued" || state == "running";
}

std::string side_text(const json::Value& example, std::string_view side) {
    const json::Value* one = member(example, side);
    if (one == nullptr) return "";
    return fmt::format("{} ({} pass, {} fail)", text_of(*one, "verdict"), number_of(*one, "passed"),
                       number_of(*one, "failed"));
}

void print_replay(const Context& context, const json::Value& replay) {
    Console& console = context.console;
    const json::Value& result = *member(replay, "result");
    const std::string state = text_of(replay, "state");
    console.print(state == "done" ? "Outcome: " + text_of(replay, "outcome") + "\n" : "State: " + state + "\n");
    if (const std::string reason = text_of(replay, "reason"); !reason.empty())
        console.print("Reason: " + safe_line(reason) + "\n");
    if (state == "done") {
        const json::Value* p = member(result, "p");
        console.print(fmt::format("base {}/{} fail -> branch {}/{} pass, control {}/{} -> {}/{}, exact p = {:.2g}\n",
                                  number_of(result, "reproduced"), number_of(result, "evidence"),
                                  number_of(result, "fixed"), number_of(result, "reproduced"),
                                  number_of(result, "control_base_passed"), number_of(result, "control"),
                                  number_of(result, "control_branch_passed"), number_of(result, "control"),
                                  p == nullptr || !p->is_number() ? 1.0 : p->to_number<double>()));
    }
    if (const json::Value* examples = member(result, "examples"); examples != nullptr && state == "done")
        for (const json::Value& example : examples->as_array())
            console.print(fmt::format("  {:8}  {}  base {}  branch {}{}\n", text_of(example, "set"),
                                      text_of(example, "trace_id"), side_text(example, "base"),
                                      side_text(example, "branch"),
                                      number_of(example, "tool_results") > 0 ? "  recorded tools" : ""));
    if (const json::Value* left = member(result, "not_replayed"); left != nullptr)
        for (const json::Value& one : left->as_array())
            console.print(fmt::format("  not replayed: {} {}: {}\n", text_of(one, "set"), text_of(one, "trace_id"),
                                      safe_line(text_of(one, "reason"))));
    if (const std::string problem = text_of(result, "problem"); !problem.empty())
        console.print("First error: " + safe_line(problem) + "\n");
}

Result<> show_replayed(const Context& context, const json::Value& replay) {
    if (context.json())
        print_json(context, replay);
    else
        print_replay(context, replay);
    return {};
}

Result<> show_replay(Context& context) {
    Query query;
    if (const auto revision = TRY(context.integer("--revision", 1)))
        query.emplace_back("revision", std::to_string(*revision));
    return show_replayed(context, TRY(context.remote.get(replay_path(context), std::move(query))));
}

Result<> start_replay(Context& context) {
    json::Object body;
    for (const auto& [option, field] : {std::pair("--issue", "issue"),
                                        {"--command", "command"},
                                        {"--evaluator", "evaluator"},
                                        {"--control-evaluator", "control_evaluator"}})
        if (const auto value = context.parsed.value(option)) body[field] = *value;
    for (const auto& [option, field] : {std::pair("--repeat", "repetitions"),
                                        {"--evidence", "evidence"},
                                        {"--control", "control"},
                                        {"--run-timeout", "timeout_seconds"},
                                        {"--budget", "budget_seconds"},
                                        {"--revision", "revision"}})
        if (const auto value = TRY(context.integer(option, 0))) body[field] = *value;
    if (context.parsed.has("--last-line")) body["last_line"] = true;
    if (context.parsed.has("--live-tools")) body["live_tools"] = true;
    json::Value replay = TRY(context.remote.post(replay_path(context), std::move(body)));
    if (!context.parsed.has("--wait"))
        return show_done(context, replay,
                         "The replay is queued: hone review replay-status " + context.value_or_empty("ARTIFACT"));
    while (is_replaying(replay)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        replay = TRY(context.remote.get(replay_path(context)));
    }
    TRY(show_replayed(context, replay));
    if (text_of(replay, "outcome") == "fixed") return {};
    return context.fail(Exit::gate_failed, "the replay does not prove the fix",
                        "hone review replay-status " + context.value_or_empty("ARTIFACT") + " has the examples");
}

Result<> stop_replay(Context& context) {
    return show_done(context, TRY(context.remote.post(replay_path(context, {"stop"}), json::Object{})),
                     "The replay is stopped.");
}

} // namespace

std::vector<Command> replay_commands() {
    const Argument artifact{.name = "ARTIFACT", .doc = "Id of the branch's artifact."};
    const Option revision{.name = "--revision", .value = "NUMBER", .doc = "Revision. Default: the newest."};
    return {
        {.path = "review replay",
         .summary = "Run the traces of a branch's issue and a control set on the base and on the branch.",
         .arguments = {artifact},
         .options = {{.name = "--issue", .value = "ISSUE", .doc = "Issue. Default: the one that the branch fixes."},
                     {.name = "--command",
                      .value = "COMMAND",
                      .doc = "Shell command that runs the application on one example. Default: the preset's."},
                     {.name = "--evaluator",
                      .value = "EVALUATOR",
                      .doc = "Evaluator by id or name, NAME@NUMBER for a version. Default: the preset's, else the "
                             "issue's."},
                     {.name = "--control-evaluator",
                      .value = "EVALUATOR",
                      .doc = "Evaluator of the control set. Default: the same."},
                     {.name = "--repeat", .value = "NUMBER", .doc = "Runs of each example on each side. Default: 3."},
                     {.name = "--evidence", .value = "NUMBER", .doc = "Most traces of the issue. Default: 20."},
                     {.name = "--control", .value = "NUMBER", .doc = "Most traces of the control set. Default: 20."},
                     {.name = "--run-timeout", .value = "SECONDS", .doc = "Time of one run. Default: 120."},
                     {.name = "--budget", .value = "SECONDS", .doc = "Time of all runs of one side. Default: 1800."},
                     {.name = "--last-line", .value = "", .doc = "The last line of stdout is the output."},
                     {.name = "--live-tools",
                      .value = "",
                      .doc = "The application calls its tools instead of getting recorded results."},
                     revision,
                     {.name = "--wait",
                      .value = "",
                      .doc = "Wait for the outcome; exit status 10 unless it is `fixed`."}},
         .run = start_replay},
        {.path = "review replay-status",
         .summary = "Show what a replay proves: verdicts on base and branch, and what could not be replayed.",
         .arguments = {artifact},
         .options = {revision},
         .run = show_replay},
        {.path = "review replay-stop", .summary = "Stop a replay.", .arguments = {artifact}, .run = stop_replay},
    };
}

} // namespace hone::cli
