// Online tasks: which targets of a project an evaluator evaluates as they arrive, how many, and within which limits;
// the jobs that it makes, and backfills over the past. Declared once for the API, the CLI and the UI. Values only.
#pragma once

#include "access/caller.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "telemetry/engine/eval_row.h"

namespace hone::evaluate {

struct EvalTaskTag {
    static constexpr std::string_view kind = "evaltask";
};
struct EvalBackfillTag {
    static constexpr std::string_view kind = "evalbackfill";
};
using EvalTaskId = Id<EvalTaskTag>;
using EvalBackfillId = Id<EvalBackfillTag>;
using telemetry::EvalTarget;

// What happens to targets when a cap or a budget is used up.
enum class OnBudget { skip, defer };
constexpr auto enum_names(OnBudget) {
    return std::array{EnumName{OnBudget::skip, "skip"}, EnumName{OnBudget::defer, "defer"}};
}

enum class EvalTaskState { active, paused };
constexpr auto enum_names(EvalTaskState) {
    return std::array{EnumName{EvalTaskState::active, "active"}, EnumName{EvalTaskState::paused, "paused"}};
}

//   queued -> running -> done | failed | skipped
//   running -> queued (a retry, or its server is gone); failed, skipped -> queued (a person)
//   queued -> skipped (a limit, a cancelled backfill) | expired (older than two hours of attempts)
enum class EvalJobState { queued, running, done, failed, skipped, expired };
constexpr auto enum_names(EvalJobState) {
    using enum EvalJobState;
    return std::array{EnumName{queued, "queued"}, EnumName{running, "running"}, EnumName{done, "done"},
                      EnumName{failed, "failed"}, EnumName{skipped, "skipped"}, EnumName{expired, "expired"}};
}

enum class BackfillState { searching, running, done, cancelled };
constexpr auto enum_names(BackfillState) {
    using enum BackfillState;
    return std::array{EnumName{searching, "searching"}, EnumName{running, "running"}, EnumName{done, "done"},
                      EnumName{cancelled, "cancelled"}};
}

struct Stratum {
    std::string filter;
    int64_t rate_ppm = 1'000'000;
    static constexpr Pack fields{
        Field{"filter", &Stratum::filter, "Targets that match; the first stratum that matches decides."},
        Field{"rate_ppm", &Stratum::rate_ppm, "How many of a million of them are evaluated, 1 to 1000000."},
    };
};

struct EvalTask {
    EvalTaskId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    EvaluatorId evaluator_id;
    std::string evaluator_name;
    EvaluatorKind evaluator_kind = EvaluatorKind::llm;
    std::optional<int64_t> version;
    int64_t current_version = 1;
    EvalTarget target = EvalTarget::trace;
    std::string filter;
    int64_t rate_ppm = 1'000'000;
    std::vector<Stratum> strata;
    int64_t delay_seconds = 0;
    std::optional<int64_t> most_per_hour;
    std::optional<int64_t> most_per_day;
    std::optional<int64_t> tokens_per_day;
    std::optional<int64_t> cost_micro_usd_per_day;
    OnBudget on_budget = OnBudget::skip;
    bool enabled = true;
    EvalTaskState state = EvalTaskState::active;
    std::string reason;
    std::optional<Time> waits_until;
    int64_t queued = 0;
    int64_t done_24h = 0;
    int64_t failed_24h = 0;
    int64_t skipped_24h = 0;
    int64_t tokens_today = 0;
    int64_t cost_micro_usd_today = 0;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    int64_t revision = 1; // not shown
    Time watermark{};     // not shown, as `since`: targets received before are left out
    Time since{};
    static constexpr Pack fields{
        Field{"id", &EvalTask::id, "Id."},
        Field{"space_id", &EvalTask::space_id, "Id of the space."},
        Field{"project_id", &EvalTask::project_id, "Project whose targets it evaluates."},
        Field{"evaluator_id", &EvalTask::evaluator_id, "Id of the evaluator."},
        Field{"evaluator_name", &EvalTask::evaluator_name, "Name of the evaluator and of the evals."},
        Field{"evaluator_kind", &EvalTask::evaluator_kind, "code, llm, agent or remote."},
        Field{"version", &EvalTask::version, "Version of the evaluator; null: always the newest one."},
        Field{"current_version", &EvalTask::current_version, "Version that new jobs use now."},
        Field{"target", &EvalTask::target, "span, trace or chat_session."},
        Field{"filter", &EvalTask::filter,
              "Filter over spans; a trace or a chat session matches when one of its spans does. Empty: all."},
        Field{"rate_ppm", &EvalTask::rate_ppm, "How many of a million targets are evaluated."},
        Field{"strata", &EvalTask::strata, "Filters with rates of their own, in order."},
        Field{"delay_seconds", &EvalTask::delay_seconds, "Time after the last span of a target."},
        Field{"most_per_hour", &EvalTask::most_per_hour, "Cap of verdicts in an hour."},
        Field{"most_per_day", &EvalTask::most_per_day, "Cap of verdicts in a day, UTC."},
        Field{"tokens_per_day", &EvalTask::tokens_per_day, "Budget of tokens in a day, UTC."},
        Field{"cost_micro_usd_per_day", &EvalTask::cost_micro_usd_per_day,
              "Budget in a day, UTC, in millionths of a US dollar."},
        Field{"on_budget", &EvalTask::on_budget,
              "When a cap or a budget is used up: skip (counted, can be run later) or defer."},
        Field{"enabled", &EvalTask::enabled, "Whether it evaluates new targets."},
        Field{"state", &EvalTask::state, "active, or paused after failures that concern every job."},
        Field{"reason", &EvalTask::reason, "Why it is paused or waits; empty: it does not."},
        Field{"waits_until", &EvalTask::waits_until, "No job begins before; null: jobs begin."},
        Field{"queued", &EvalTask::queued, "Jobs that wait."},
        Field{"done_24h", &EvalTask::done_24h, "Verdicts of the last 24 hours."},
        Field{"failed_24h", &EvalTask::failed_24h, "Jobs that failed in the last 24 hours."},
        Field{"skipped_24h", &EvalTask::skipped_24h, "Jobs that were skipped in the last 24 hours."},
        Field{"tokens_today", &EvalTask::tokens_today, "Tokens of its jobs today, UTC, with estimated ones."},
        Field{"cost_micro_usd_today", &EvalTask::cost_micro_usd_today, "Cost of its jobs today, UTC."},
        Field{"created_by", &EvalTask::created_by, "Name of the user or key that created it."},
        Field{"created_at", &EvalTask::created_at, "Time of creation."},
        Field{"updated_at", &EvalTask::updated_at, "Time of the last change."},
    };
};

struct NewEvalTask {
    std::string project;
    std::string evaluator;
    std::optional<int64_t> version;
    json::Defaulted<bool> latest = false;
    EvalTarget target = EvalTarget::trace;
    json::Defaulted<std::string> filter;
    json::Defaulted<int64_t> rate_ppm = int64_t{1'000'000};
    json::Defaulted<std::vector<Stratum>> strata;
    std::optional<int64_t> delay_seconds;
    std::optional<int64_t> most_per_hour;
    std::optional<int64_t> most_per_day;
    std::optional<int64_t> tokens_per_day;
    std::optional<int64_t> cost_micro_usd_per_day;
    json::Defaulted<OnBudget> on_budget = OnBudget::skip;
    static constexpr Pack fields{
        Field{"project", &NewEvalTask::project, "Id or name of the project."},
        Field{"evaluator", &NewEvalTask::evaluator, "Id or name of the evaluator; not a rule."},
        Field{"version", &NewEvalTask::version, "Version of the evaluator; the newest one of now if not given."},
        Field{"latest", &NewEvalTask::latest, "Follow the newest version instead of a fixed one."},
        Field{"target", &NewEvalTask::target, "span, trace or chat_session."},
        Field{"filter", &NewEvalTask::filter, "Filter over spans; all targets if not given."},
        Field{"rate_ppm", &NewEvalTask::rate_ppm,
              "How many of a million targets are evaluated, 0 to 1000000; all if not given."},
        Field{"strata", &NewEvalTask::strata,
              "Filters with rates of their own, at most 10; the first that matches "
              "decides, rate_ppm is for the rest."},
        Field{"delay_seconds", &NewEvalTask::delay_seconds,
              "Time after the last span of a target; 0 for spans, 30 for traces, 900 for chat sessions if not given."},
        Field{"most_per_hour", &NewEvalTask::most_per_hour, "Cap of verdicts in an hour; none if not given."},
        Field{"most_per_day", &NewEvalTask::most_per_day, "Cap of verdicts in a day, UTC; none if not given."},
        Field{"tokens_per_day", &NewEvalTask::tokens_per_day,
              "Budget of tokens in a day, UTC; 1000000 if neither it nor the cost is given."},
        Field{"cost_micro_usd_per_day", &NewEvalTask::cost_micro_usd_per_day,
              "Budget in a day, UTC, in millionths of a US dollar; none if not given."},
        Field{"on_budget", &NewEvalTask::on_budget, "skip or defer; skip if not given."},
    };
};

struct EvalTaskChange {
    std::optional<std::optional<int64_t>> version{};
    std::optional<std::string> filter{};
    std::optional<int64_t> rate_ppm{};
    std::optional<std::vector<Stratum>> strata{};
    std::optional<int64_t> delay_seconds{};
    std::optional<std::optional<int64_t>> most_per_hour{};
    std::optional<std::optional<int64_t>> most_per_day{};
    std::optional<std::optional<int64_t>> tokens_per_day{};
    std::optional<std::optional<int64_t>> cost_micro_usd_per_day{};
    std::optional<OnBudget> on_budget{};
    std::optional<bool> enabled{};
    static constexpr Pack fields{
        Field{"version", &EvalTaskChange::version, "Version of the evaluator; null: follow the newest one."},
        Field{"filter", &EvalTaskChange::filter, "Filter over spans."},
        Field{"rate_ppm", &EvalTaskChange::rate_ppm, "How many of a million targets are evaluated."},
        Field{"strata", &EvalTaskChange::strata, "Filters with rates of their own."},
        Field{"delay_seconds", &EvalTaskChange::delay_seconds, "Time after the last span of a target."},
        Field{"most_per_hour", &EvalTaskChange::most_per_hour, "Cap of verdicts in an hour; null: none."},
        Field{"most_per_day", &EvalTaskChange::most_per_day, "Cap of verdicts in a day; null: none."},
        Field{"tokens_per_day", &EvalTaskChange::tokens_per_day, "Budget of tokens in a day; null: none."},
        Field{"cost_micro_usd_per_day", &EvalTaskChange::cost_micro_usd_per_day, "Budget in a day; null: none."},
        Field{"on_budget", &EvalTaskChange::on_budget, "skip or defer."},
        Field{"enabled", &EvalTaskChange::enabled,
              "Whether it evaluates new targets. Targets that arrive while it is off are left out. True also resumes a "
              "paused task."},
    };
};

struct EvalJob {
    std::string key;
    EvalTaskId task_id;
    std::optional<std::string> backfill_id;
    int64_t version = 1;
    std::string target_id;
    std::string trace_id;
    int64_t generation = 1;
    Time target_at{};
    double inclusion = 1;
    EvalJobState state = EvalJobState::queued;
    std::string reason;
    std::string error;
    int64_t attempts = 0;
    std::optional<std::string> label;
    std::optional<double> score;
    bool cached = false;
    int64_t tokens = 0;
    int64_t estimated_tokens = 0;
    int64_t cost_nano_usd = 0;
    int64_t duration_ms = 0;
    std::string judge_trace;
    Time created_at{};
    std::optional<Time> begun_at;
    std::optional<Time> ended_at;
    static constexpr Pack fields{
        Field{"key", &EvalJob::key, "Hash of evaluator, version, target and generation."},
        Field{"task_id", &EvalJob::task_id, "Id of the task."},
        Field{"backfill_id", &EvalJob::backfill_id, "Id of the backfill that made it; null: it is about a new target."},
        Field{"version", &EvalJob::version, "Version of the evaluator."},
        Field{"target_id", &EvalJob::target_id, "Span id, trace id, or the name of the chat session."},
        Field{"trace_id", &EvalJob::trace_id, "Of a span: its trace."},
        Field{"generation", &EvalJob::generation, "2: evaluated again, because spans arrived after the first verdict."},
        Field{"target_at", &EvalJob::target_at, "Start of the target."},
        Field{"inclusion", &EvalJob::inclusion, "Probability that the target was sampled."},
        Field{"state", &EvalJob::state, "queued, running, done, failed, skipped or expired."},
        Field{"reason", &EvalJob::reason,
              "Why it failed or was skipped: missing_variable, too_large, timeout, provider, rejected, unparsable, "
              "off_config, code_failed, budget, cap, target_gone, evaluator_span, superseded, cancelled."},
        Field{"error", &EvalJob::error, "The same in words."},
        Field{"attempts", &EvalJob::attempts, "How often it was tried."},
        Field{"label", &EvalJob::label, "Label of the verdict."},
        Field{"score", &EvalJob::score, "Score of the verdict."},
        Field{"cached", &EvalJob::cached, "Whether the verdict was stored before: nothing was spent."},
        Field{"tokens", &EvalJob::tokens, "Tokens of all attempts."},
        Field{"estimated_tokens", &EvalJob::estimated_tokens,
              "Of these, estimated: the provider did not report them. The cost is estimated with them."},
        Field{"cost_nano_usd", &EvalJob::cost_nano_usd, "Cost of all attempts, in billionths of a US dollar."},
        Field{"duration_ms", &EvalJob::duration_ms, "Of the last attempt."},
        Field{"judge_trace", &EvalJob::judge_trace,
              "Trace of the model's call in the hidden project hone-evals, or id of the agent's run."},
        Field{"created_at", &EvalJob::created_at, "Time of creation."},
        Field{"begun_at", &EvalJob::begun_at, "Time of the first attempt."},
        Field{"ended_at", &EvalJob::ended_at, "Time of the end."},
    };
};

// What happened to the targets of an hour, or of all hours together.
struct FunnelRow {
    Time hour{};
    int64_t received = 0;
    int64_t matched = 0;
    int64_t sampled = 0;
    int64_t judged = 0;
    int64_t cached = 0;
    int64_t failed = 0;
    int64_t skipped = 0;
    int64_t waiting = 0;
    std::map<std::string, int64_t> reasons;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    static constexpr Pack fields{
        Field{"hour", &FunnelRow::hour, "Start of the hour, UTC."},
        Field{"received", &FunnelRow::received, "Targets of the project whose last span was received in it."},
        Field{"matched", &FunnelRow::matched, "Those that match the filter."},
        Field{"sampled", &FunnelRow::sampled, "Jobs: those in the sample, not counting backfills."},
        Field{"judged", &FunnelRow::judged, "Jobs with a verdict."},
        Field{"cached", &FunnelRow::cached, "Of these with a stored verdict, which cost nothing."},
        Field{"failed", &FunnelRow::failed, "Jobs without a verdict."},
        Field{"skipped", &FunnelRow::skipped, "Jobs that were not tried."},
        Field{"waiting", &FunnelRow::waiting, "Jobs that wait or run."},
        Field{"reasons", &FunnelRow::reasons, "Failed and skipped jobs by reason."},
        Field{"tokens", &FunnelRow::tokens, "Tokens of its jobs, with estimated ones."},
        Field{"cost_micro_usd", &FunnelRow::cost_micro_usd, "Cost of its jobs."},
    };
};

struct NewBackfill {
    Time from{};
    std::optional<Time> to;
    json::Defaulted<int64_t> most_targets = int64_t{10'000};
    std::optional<int64_t> rate_ppm;
    static constexpr Pack fields{
        Field{"from", &NewBackfill::from, "Targets that began at or after this time."},
        Field{"to", &NewBackfill::to, "Targets that began before this time; now if not given."},
        Field{"most_targets", &NewBackfill::most_targets,
              "Cap, 1 to 1000000; 10000 if not given. The newest targets come first."},
        Field{"rate_ppm", &NewBackfill::rate_ppm, "Instead of the rate of the task; its strata are not used then."},
    };
};

struct BackfillEstimate {
    int64_t received = 0;
    int64_t matched = 0;
    int64_t sampled = 0;
    int64_t targets = 0;
    int64_t verdicts_measured = 0;
    std::optional<int64_t> tokens;
    std::optional<int64_t> cost_micro_usd;
    std::optional<int64_t> seconds;
    static constexpr Pack fields{
        Field{"received", &BackfillEstimate::received, "Targets of the time."},
        Field{"matched", &BackfillEstimate::matched, "Those that match the filter."},
        Field{"sampled", &BackfillEstimate::sampled, "Those in the sample."},
        Field{"targets", &BackfillEstimate::targets,
              "Those that would be evaluated at most: the sample within the cap. Known verdicts cost nothing."},
        Field{"verdicts_measured", &BackfillEstimate::verdicts_measured,
              "Last verdicts of the evaluator that the estimate is from, at most 100."},
        Field{"tokens", &BackfillEstimate::tokens, "Expected; null: no verdict was measured yet."},
        Field{"cost_micro_usd", &BackfillEstimate::cost_micro_usd, "Expected; null: no verdict was measured yet."},
        Field{"seconds", &BackfillEstimate::seconds, "Expected with 4 at the same time; null: not measured yet."},
    };
};

struct Backfill {
    EvalBackfillId id;
    EvalTaskId task_id;
    int64_t version = 1;
    std::string filter;
    int64_t rate_ppm = 1'000'000;
    std::vector<Stratum> strata;
    Time from{};
    Time to{};
    int64_t most_targets = 0;
    BackfillState state = BackfillState::searching;
    int64_t queued = 0;
    int64_t known = 0;
    int64_t done = 0;
    int64_t failed = 0;
    int64_t waiting = 0;
    std::string created_by;
    Time created_at{};
    std::optional<Time> ended_at;
    int64_t cursor_at = 0; // not shown, as cursor_id
    std::string cursor_id;
    static constexpr Pack fields{
        Field{"id", &Backfill::id, "Id."},
        Field{"task_id", &Backfill::task_id, "Id of the task."},
        Field{"version", &Backfill::version, "Version of the evaluator, fixed when it was started."},
        Field{"filter", &Backfill::filter, "Filter, fixed when it was started."},
        Field{"rate_ppm", &Backfill::rate_ppm, "How many of a million targets are evaluated."},
        Field{"strata", &Backfill::strata, "Filters with rates of their own."},
        Field{"from", &Backfill::from, "Targets that began at or after this time."},
        Field{"to", &Backfill::to, "Targets that began before this time."},
        Field{"most_targets", &Backfill::most_targets, "Cap."},
        Field{"state", &Backfill::state, "searching, running (all targets have jobs), done or cancelled."},
        Field{"queued", &Backfill::queued, "Jobs made."},
        Field{"known", &Backfill::known, "Targets that this version has evaluated before, or that have a job."},
        Field{"done", &Backfill::done, "Jobs with a verdict."},
        Field{"failed", &Backfill::failed, "Jobs that failed or were skipped."},
        Field{"waiting", &Backfill::waiting, "Jobs that wait or run."},
        Field{"created_by", &Backfill::created_by, "Name of the user or key that started it."},
        Field{"created_at", &Backfill::created_at, "Time of the start."},
        Field{"ended_at", &Backfill::ended_at, "Time of the end."},
    };
};

} // namespace hone::evaluate
