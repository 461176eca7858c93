// Online tasks of evaluators: which new spans, traces and chat sessions are evaluated, their outcomes, and
// backfills over the past.
#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>

namespace hone::cli {

namespace {

const Argument task_argument{.name = "TASK", .doc = "Id of the task."};

Columns eval_task_columns() {
    return {
        {.title = "id", .field = "id"},
        {.title = "evaluator", .field = "evaluator_name"},
        {.title = "version", .field = "current_version", .kind = Kind::number},
        {.title = "target", .field = "target"},
        {.title = "enabled", .field = "enabled", .kind = Kind::yes_no},
        {.title = "state", .field = "state"},
        {.title = "reason", .field = "reason"},
        {.title = "waits until", .field = "waits_until", .kind = Kind::time, .only_single = true},
        {.title = "filter", .field = "filter", .absent = "all targets", .only_single = true},
        {.title = "rate ppm", .field = "rate_ppm", .kind = Kind::number, .only_single = true},
        {.title = "delay s", .field = "delay_seconds", .kind = Kind::number, .only_single = true},
        {.title = "per hour", .field = "most_per_hour", .kind = Kind::count, .absent = "no cap", .only_single = true},
        {.title = "per day", .field = "most_per_day", .kind = Kind::count, .absent = "no cap", .only_single = true},
        {.title = "tokens per day",
         .field = "tokens_per_day",
         .kind = Kind::count,
         .absent = "no limit",
         .only_single = true},
        {.title = "micro-USD per day",
         .field = "cost_micro_usd_per_day",
         .kind = Kind::count,
         .absent = "no limit",
         .only_single = true},
        {.title = "on budget", .field = "on_budget", .only_single = true},
        {.title = "queued", .field = "queued", .kind = Kind::count},
        {.title = "done 24h", .field = "done_24h", .kind = Kind::count},
        {.title = "failed 24h", .field = "failed_24h", .kind = Kind::count},
        {.title = "skipped 24h", .field = "skipped_24h", .kind = Kind::count},
        {.title = "tokens today", .field = "tokens_today", .kind = Kind::count},
        {.title = "micro-USD today", .field = "cost_micro_usd_today", .kind = Kind::count, .only_single = true},
        {.title = "project", .field = "project_id", .kind = Kind::id, .only_single = true},
        {.title = "created by", .field = "created_by", .only_single = true},
    };
}

std::string eval_task_path(const Context& context, std::vector<std::string> rest = {}) {
    rest.insert(rest.begin(), context.value_or_empty("TASK"));
    return path_of("/v1/eval_tasks", rest);
}

// "5%" or "0.1%": as parts of a million.
Result<int64_t> ppm_of(const Context& context, std::string_view option, std::string_view text) {
    if (text.ends_with('%')) text.remove_suffix(1);
    const auto percent = json::parse(text);
    if (!percent.ok() || !percent.value().is_number())
        return context.usage(std::string(option) + " needs a percentage, such as 5%");
    const double given = percent.value().to_number<double>();
    if (given < 0 || given > 100) return context.usage(std::string(option) + " must be between 0% and 100%");
    return static_cast<int64_t>(given * 10'000 + 0.5);
}

Result<> set_task_limits(const Context& context, json::Object& body) {
    if (const auto filter = context.parsed.value("--filter")) body["filter"] = *filter;
    if (const auto rate = context.parsed.value("--rate")) body["rate_ppm"] = TRY(ppm_of(context, "--rate", *rate));
    json::Array strata;
    for (const std::string& text : context.parsed.all("--stratum")) {
        const size_t equals = text.rfind('=');
        const size_t colon = text.rfind(": ");
        if (colon == std::string::npos || colon == 0 || (equals != std::string::npos && equals > colon))
            return context.usage("--stratum needs 'FILTER: PERCENT', such as 'status = error: 100%'");
        const int64_t ppm = TRY(ppm_of(context, "--stratum", text.substr(colon + 2)));
        strata.push_back(json::Object{{"filter", text.substr(0, colon)}, {"rate_ppm", ppm}});
    }
    if (!strata.empty()) body["strata"] = std::move(strata);
    if (const auto delay = context.parsed.value("--delay")) {
        const auto ns = parse_duration_ns(*delay);
        if (!ns.ok()) return context.usage("--delay: " + ns.error().message);
        body["delay_seconds"] = ns.value() / 1'000'000'000;
    }
    for (const auto& [option, key] : {std::pair{"--per-hour", "most_per_hour"},
                                      {"--per-day", "most_per_day"},
                                      {"--tokens-per-day", "tokens_per_day"},
                                      {"--micro-usd-per-day", "cost_micro_usd_per_day"}})
        if (const auto number = TRY(context.integer(option, 1))) body[key] = *number;
    if (const auto mode = context.parsed.value("--on-budget")) body["on_budget"] = *mode;
    return {};
}

std::vector<Option> limit_options() {
    return {
        {.name = "--filter", .value = "FILTER", .doc = "Targets with a span that matches. Default: all."},
        {.name = "--rate", .value = "PERCENT", .doc = "Percent of the targets, such as 5%. Default: 100%."},
        {.name = "--stratum",
         .value = "FILTER: PERCENT",
         .doc = "A rate of its own, such as 'status = error: 100%'; the first that matches decides.",
         .repeated = true},
        {.name = "--delay",
         .value = "DURATION",
         .doc = "Time after the last span. Default: 0 for spans, 30s for traces, 15m for chat sessions."},
        {.name = "--per-hour", .value = "NUMBER", .doc = "Cap of verdicts in an hour."},
        {.name = "--per-day", .value = "NUMBER", .doc = "Cap of verdicts in a day, UTC."},
        {.name = "--tokens-per-day", .value = "NUMBER", .doc = "Budget of tokens in a day, UTC. Default: 1000000."},
        {.name = "--micro-usd-per-day",
         .value = "NUMBER",
         .doc = "Budget in a day, UTC, in millionths of a US dollar."},
        {.name = "--on-budget",
         .value = "MODE",
         .doc = "When a limit is used up: skip targets, or defer them. Default: skip.",
         .choices = {"skip", "defer"}},
    };
}

Result<> list_eval_tasks(Context& context) {
    Query query = space_query(context);
    query.emplace_back("project", context.value_or_empty("--project"));
    return show_list(context, "/v1/eval_tasks", std::move(query), eval_task_columns(),
                     "No tasks. Create one:\n  hone eval-task create polite --project shop --target trace --rate 5%");
}

Result<> show_eval_task(Context& context) {
    return show_record(context, TRY(context.remote.get(eval_task_path(context))), eval_task_columns());
}

Result<> create_eval_task(Context& context) {
    json::Object body{{"evaluator", context.value_or_empty("EVALUATOR")}};
    body["project"] = TRY(span_project(context));
    body["target"] = context.parsed.value("--target").value_or("trace");
    if (const auto version = TRY(context.integer("--version", 1))) body["version"] = *version;
    if (context.parsed.has("--latest")) body["latest"] = true;
    TRY(set_task_limits(context, body));
    const json::Value made = TRY(context.remote.post("/v1/eval_tasks", std::move(body), space_query(context)));
    return show_record(context, made, eval_task_columns());
}

Result<> update_eval_task(Context& context) {
    json::Object body;
    TRY(set_task_limits(context, body));
    if (const auto version = TRY(context.integer("--version", 1))) body["version"] = *version;
    if (context.parsed.has("--latest")) body["version"] = nullptr;
    if (context.parsed.has("--enable")) body["enabled"] = true;
    if (context.parsed.has("--disable")) body["enabled"] = false;
    if (body.empty()) return context.usage("nothing to change: give at least one option");
    const json::Value changed = TRY(context.remote.patch(eval_task_path(context), std::move(body)));
    return show_done(context, changed, "Changed the task of " + text_of(changed, "evaluator_name") + ".");
}

Result<> delete_eval_task(Context& context) {
    const json::Value before = TRY(context.remote.get(eval_task_path(context)));
    const std::string id = text_of(before, "id");
    TRY(context.confirm("The task of " + text_of(before, "evaluator_name") +
                            " and its jobs are deleted. Its evals are "
                            "kept.",
                        id));
    const json::Value gone = TRY(context.remote.remove(eval_task_path(context)));
    return show_done(context, gone, "Deleted task " + id + ".");
}

Result<> list_jobs(Context& context) {
    const Columns columns{
        {.title = "key", .field = "key"},
        {.title = "target", .field = "target_id"},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "state", .field = "state"},
        {.title = "reason", .field = "reason"},
        {.title = "label", .field = "label"},
        {.title = "score", .field = "score"},
        {.title = "attempts", .field = "attempts", .kind = Kind::number},
        {.title = "tokens", .field = "tokens", .kind = Kind::count},
        {.title = "estimated", .field = "estimated_tokens", .kind = Kind::count},
        {.title = "error", .field = "error"},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
    Query query;
    for (const auto& [option, key] : {std::pair{"--state", "state"}, {"--reason", "reason"}})
        if (const auto value = context.parsed.value(option)) query.emplace_back(key, *value);
    return show_list(context, eval_task_path(context, {"jobs"}), std::move(query), columns, "No jobs.");
}

Result<> retry_jobs(Context& context) {
    json::Object body;
    if (const auto state = context.parsed.value("--state")) body["states"] = json::Array{json::Value(*state)};
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    const json::Value made = TRY(context.remote.post(eval_task_path(context, {"retry"}), std::move(body)));
    return show_done(context, made, fmt::format("{} jobs are retried.", number_of(made, "jobs")));
}

Result<> show_funnel(Context& context) {
    const Columns columns{
        {.title = "hour", .field = "hour", .kind = Kind::time},
        {.title = "received", .field = "received", .kind = Kind::count},
        {.title = "matched", .field = "matched", .kind = Kind::count},
        {.title = "sampled", .field = "sampled", .kind = Kind::count},
        {.title = "evaluated", .field = "judged", .kind = Kind::count},
        {.title = "cached", .field = "cached", .kind = Kind::count},
        {.title = "failed", .field = "failed", .kind = Kind::count},
        {.title = "skipped", .field = "skipped", .kind = Kind::count},
        {.title = "waiting", .field = "waiting", .kind = Kind::count},
        {.title = "tokens", .field = "tokens", .kind = Kind::count},
        {.title = "micro-USD", .field = "cost_micro_usd", .kind = Kind::count},
    };
    Query query;
    if (const auto hours = TRY(context.integer("--hours", 1))) query.emplace_back("hours", std::to_string(*hours));
    return show_list(context, eval_task_path(context, {"funnel"}), std::move(query), columns,
                     "Nothing was received yet.");
}

Result<json::Object> backfill_body(const Context& context) {
    json::Object body;
    const std::string from = TRY(moment(context, "--from"));
    if (from.empty()) return context.usage("give --from, such as --from 7d");
    body["from"] = from;
    if (const std::string to = TRY(moment(context, "--to")); !to.empty()) body["to"] = to;
    if (const auto most = TRY(context.integer("--most", 1))) body["most_targets"] = *most;
    if (const auto rate = context.parsed.value("--rate")) body["rate_ppm"] = TRY(ppm_of(context, "--rate", *rate));
    return body;
}

Result<> run_backfill(Context& context) {
    if (const auto id = context.parsed.value("--cancel")) {
        const json::Value ended =
            TRY(context.remote.post(eval_task_path(context, {"backfills", *id, "cancel"}), json::Object{}));
        return show_done(context, ended, "Backfill " + *id + " is " + text_of(ended, "state") + ".");
    }
    const json::Object body = TRY(backfill_body(context));
    if (context.parsed.has("--estimate")) {
        const json::Value seen = TRY(context.remote.post(eval_task_path(context, {"estimate"}), body));
        const json::Value* tokens = member(seen, "tokens");
        const bool is_measured = tokens != nullptr && !tokens->is_null();
        std::string text = fmt::format("{} targets, {} match, {} are in the sample, at most {} are evaluated.",
                                       number_of(seen, "received"), number_of(seen, "matched"),
                                       number_of(seen, "sampled"), number_of(seen, "targets"));
        if (is_measured)
            text += fmt::format(" About {} tokens, {} micro-USD, {} s, from the last {} verdicts.",
                                number_of(seen, "tokens"), number_of(seen, "cost_micro_usd"),
                                number_of(seen, "seconds"), number_of(seen, "verdicts_measured"));
        else
            text += " The cost is not known before the first verdict.";
        return show_done(context, seen, text);
    }
    const json::Value made = TRY(context.remote.post(eval_task_path(context, {"backfills"}), body));
    return show_done(context, made, "Started backfill " + text_of(made, "id") + ".");
}

Result<> list_backfills(Context& context) {
    const Columns columns{
        {.title = "id", .field = "id"},
        {.title = "state", .field = "state"},
        {.title = "version", .field = "version", .kind = Kind::number},
        {.title = "from", .field = "from", .kind = Kind::time},
        {.title = "to", .field = "to", .kind = Kind::time},
        {.title = "jobs", .field = "queued", .kind = Kind::count},
        {.title = "known", .field = "known", .kind = Kind::count},
        {.title = "done", .field = "done", .kind = Kind::count},
        {.title = "failed", .field = "failed", .kind = Kind::count},
        {.title = "waiting", .field = "waiting", .kind = Kind::count},
    };
    return show_list(context, eval_task_path(context, {"backfills"}), {}, columns, "No backfills.");
}

} // namespace

std::vector<Command> eval_task_commands() {
    const Option version{
        .name = "--version", .value = "NUMBER", .doc = "Version of the evaluator. Default: the newest of now."};
    const Option latest{.name = "--latest", .value = "", .doc = "Follow the newest version."};
    const Option state{.name = "--state",
                       .value = "STATE",
                       .doc = "Only jobs in this state.",
                       .choices = {"queued", "running", "done", "failed", "skipped", "expired"}};
    const Option reason{.name = "--reason", .value = "REASON", .doc = "Only jobs with this reason, such as provider."};
    const Option target{.name = "--target",
                        .value = "TARGET",
                        .doc = "What is evaluated. Default: trace.",
                        .choices = {"span", "trace", "chat_session"}};
    const Option enable{.name = "--enable", .value = "", .doc = "Turn it on; a paused task resumes."};
    const Option disable{.name = "--disable", .value = "", .doc = "Turn it off: new targets are not evaluated."};
    return {
        {.path = "eval-task list",
         .summary = "List the online tasks of evaluators.",
         .options = {{.name = "--project", .value = "PROJECT", .doc = "Only tasks of this project."}},
         .lists = true,
         .run = list_eval_tasks},
        {.path = "eval-task show",
         .summary = "Show a task and its counts.",
         .arguments = {task_argument},
         .run = show_eval_task},
        {.path = "eval-task create",
         .summary = "Evaluate new spans, traces or chat sessions of a project with an evaluator.",
         .arguments = {{.name = "EVALUATOR", .doc = "Id or name of the evaluator; not a rule."}},
         .options = with(limit_options(), {project_option(), target, version, latest}),
         .details = "Example: hone eval-task create polite --project shop --target trace --rate 5% --stratum 'status = "
                    "error: 100%' --tokens-per-day 200000",
         .run = create_eval_task},
        {.path = "eval-task update",
         .summary = "Change a task. Options that are not given keep their values.",
         .arguments = {task_argument},
         .options = with(limit_options(), {version, latest, enable, disable}),
         .run = update_eval_task},
        {.path = "eval-task delete",
         .summary = "Delete a task and its jobs. Its evals are kept.",
         .arguments = {task_argument},
         .destructive = true,
         .run = delete_eval_task},
        {.path = "eval-task jobs",
         .summary = "List the jobs of a task: the outcome of each target, and why.",
         .arguments = {task_argument},
         .options = {state, reason},
         .lists = true,
         .run = list_jobs},
        {.path = "eval-task retry",
         .summary = "Retry failed and skipped jobs.",
         .arguments = {task_argument},
         .options = {state, reason},
         .run = retry_jobs},
        {.path = "eval-task funnel",
         .summary = "Show received, matched, sampled, evaluated, failed and skipped targets by hour.",
         .arguments = {task_argument},
         .options = {{.name = "--hours", .value = "NUMBER", .doc = "How many hours. Default: 24."}},
         .run = show_funnel},
        {.path = "eval-task backfill",
         .summary = "Evaluate past targets of a task, newest first, or estimate it.",
         .arguments = {task_argument},
         .options = {{.name = "--from",
                      .value = "TIME",
                      .doc = "Targets that began after this time, or this long ago: 7d."},
                     {.name = "--to", .value = "TIME", .doc = "Targets that began before this time. Default: now."},
                     {.name = "--most", .value = "NUMBER", .doc = "Cap of targets. Default: 10000."},
                     {.name = "--rate", .value = "PERCENT", .doc = "Instead of the rates of the task."},
                     {.name = "--estimate", .value = "", .doc = "Only show how many targets and what they would cost."},
                     {.name = "--cancel", .value = "BACKFILL", .doc = "Cancel a backfill instead."}},
         .details = "Example: hone eval-task backfill evaltask_01J… --from 7d --most 2000 --estimate",
         .run = run_backfill},
        {.path = "eval-task backfills",
         .summary = "List the backfills of a task.",
         .arguments = {task_argument},
         .lists = true,
         .run = list_backfills},
    };
}

} // namespace hone::cli
