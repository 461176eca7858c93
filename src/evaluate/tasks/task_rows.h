// Rows of tasks, jobs and backfills, for the files of this folder.
#pragma once

#include "evaluate/tasks/eval_task.h"
#include "sql/columns.h"
#include "sql/sql.h"

namespace hone::evaluate {

inline std::vector<Stratum> strata_of(const std::string& text) {
    auto read = json::read<std::vector<Stratum>>(text);
    return read.ok() ? std::move(read).value() : std::vector<Stratum>();
}

constexpr std::string_view select_task =
    "SELECT t.id, t.space_id, t.project_id, t.evaluator_id, t.version, t.target, t.filter, t.rate_ppm, t.strata, "
    "t.delay_seconds, t.most_per_hour, t.most_per_day, t.tokens_per_day, t.cost_micro_usd_per_day, t.on_budget, "
    "t.enabled, t.state, t.reason, t.waits_until, t.created_by_name, t.created_at, t.updated_at, t.revision, "
    "t.watermark, t.since_at, (SELECT MAX(v.number) FROM evaluator_versions v WHERE v.evaluator_id = t.evaluator_id), "
    "(SELECT "
    "v.name FROM evaluator_versions v WHERE v.evaluator_id = t.evaluator_id AND v.number = 1), (SELECT v.kind FROM "
    "evaluator_versions v WHERE v.evaluator_id = t.evaluator_id AND v.number = 1) FROM eval_tasks t";

inline EvalTask task_of(const sql::Row& row) {
    EvalTask task;
    task.id = row.id<EvalTaskTag>(0);
    task.space_id = row.id<access::SpaceTag>(1);
    task.project_id = row.id<access::ProjectTag>(2);
    task.evaluator_id = row.id<EvaluatorTag>(3);
    task.version = row.optional_integer(4);
    task.target = parse_enum<EvalTarget>(row.text(5)).value_or(EvalTarget::trace);
    task.filter = row.text(6);
    task.rate_ppm = row.integer(7);
    task.strata = strata_of(row.text(8));
    task.delay_seconds = row.integer(9);
    task.most_per_hour = row.optional_integer(10);
    task.most_per_day = row.optional_integer(11);
    task.tokens_per_day = row.optional_integer(12);
    task.cost_micro_usd_per_day = row.optional_integer(13);
    task.on_budget = parse_enum<OnBudget>(row.text(14)).value_or(OnBudget::skip);
    task.enabled = row.integer(15) != 0;
    task.state = parse_enum<EvalTaskState>(row.text(16)).value_or(EvalTaskState::paused);
    task.reason = row.text(17);
    if (row.integer(18) > 0) task.waits_until = row.time(18);
    task.created_by = row.text(19);
    task.created_at = row.time(20);
    task.updated_at = row.time(21);
    task.revision = row.integer(22);
    task.watermark = row.time(23);
    task.since = row.time(24);
    task.current_version = task.version.value_or(row.optional_integer(25).value_or(1));
    task.evaluator_name = row.optional_text(26).value_or("");
    task.evaluator_kind = parse_enum<EvaluatorKind>(row.optional_text(27).value_or("")).value_or(EvaluatorKind::llm);
    return task;
}

constexpr std::string_view select_job =
    "SELECT key, task_id, backfill_id, version, target_id, trace_id, generation, target_at, inclusion, state, reason, "
    "error, attempts, label, score, cached, tokens, cost_nano_usd, duration_ms, judge_trace, created_at, begun_at, "
    "ended_at, estimated_tokens FROM eval_jobs";

inline EvalJob job_of(const sql::Row& row) {
    EvalJob job;
    job.key = row.text(0);
    job.task_id = row.id<EvalTaskTag>(1);
    job.backfill_id = row.optional_text(2);
    job.version = row.integer(3);
    job.target_id = row.text(4);
    job.trace_id = row.text(5);
    job.generation = row.integer(6);
    job.target_at = row.time(7);
    job.inclusion = row.real(8);
    job.state = parse_enum<EvalJobState>(row.text(9)).value_or(EvalJobState::failed);
    job.reason = row.text(10);
    job.error = row.text(11);
    job.attempts = row.integer(12);
    job.label = row.optional_text(13);
    job.score = row.optional_real(14);
    job.cached = row.integer(15) != 0;
    job.tokens = row.integer(16);
    job.cost_nano_usd = row.integer(17);
    job.duration_ms = row.integer(18);
    job.judge_trace = row.text(19);
    job.created_at = row.time(20);
    job.begun_at = row.optional_time(21);
    job.ended_at = row.optional_time(22);
    job.estimated_tokens = row.integer(23);
    return job;
}

constexpr std::string_view select_backfill =
    "SELECT id, task_id, version, filter, rate_ppm, strata, from_at, to_at, most_targets, state, queued, known, "
    "created_by_name, created_at, ended_at, cursor_at, cursor_id FROM eval_backfills";

inline Backfill backfill_of(const sql::Row& row) {
    Backfill backfill;
    backfill.id = row.id<EvalBackfillTag>(0);
    backfill.task_id = row.id<EvalTaskTag>(1);
    backfill.version = row.integer(2);
    backfill.filter = row.text(3);
    backfill.rate_ppm = row.integer(4);
    backfill.strata = strata_of(row.text(5));
    backfill.from = row.time(6);
    backfill.to = row.time(7);
    backfill.most_targets = row.integer(8);
    backfill.state = parse_enum<BackfillState>(row.text(9)).value_or(BackfillState::cancelled);
    backfill.queued = row.integer(10);
    backfill.known = row.integer(11);
    backfill.created_by = row.text(12);
    backfill.created_at = row.time(13);
    backfill.ended_at = row.optional_time(14);
    backfill.cursor_at = row.integer(15);
    backfill.cursor_id = row.text(16);
    return backfill;
}

} // namespace hone::evaluate
