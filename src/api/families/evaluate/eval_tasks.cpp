// Online tasks of evaluators: which new spans, traces and chat sessions they evaluate; their jobs, funnel and
// backfills.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListEvalTasks {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> evaluator;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListEvalTasks::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListEvalTasks::project, "Id or name of a project: only its tasks."},
        Field{"evaluator", &ListEvalTasks::evaluator, "Id of an evaluator: only its tasks."},
        Field{"limit", &ListEvalTasks::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvalTasks::cursor, "next_cursor of the previous response."},
    };
};

struct ListEvalJobs {
    static constexpr bool is_query = true;
    std::optional<std::string> state;
    std::optional<std::string> reason;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"state", &ListEvalJobs::state, "queued, running, done, failed, skipped or expired; all if not given."},
        Field{"reason", &ListEvalJobs::reason, "Only jobs with this reason."},
        Field{"limit", &ListEvalJobs::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvalJobs::cursor, "next_cursor of the previous response."},
    };
};

struct FunnelQuery {
    static constexpr bool is_query = true;
    std::optional<int64_t> hours;
    static constexpr Pack fields{
        Field{"hours", &FunnelQuery::hours, "How many hours, 1 to 2160; 24 if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<evaluate::EvalTaskId> task_in_path(const Call& call) {
    return id_in_path<evaluate::EvalTaskTag>(call, "eval_task");
}

} // namespace

Result<List<evaluate::EvalTask>> list_eval_tasks(const Call& call, const ListEvalTasks& query) {
    std::optional<evaluate::EvaluatorId> evaluator;
    if (query.evaluator) {
        const auto id = parse_id<evaluate::EvaluatorTag>(*query.evaluator);
        if (!id.ok()) return not_found("evaluator " + std::string(truncate_utf8(*query.evaluator, 60)));
        evaluator = id.value();
    }
    return call.services.evaluate.eval_tasks.list(call.caller, TRY(space_of(call, query.space)), query.project,
                                                  evaluator, TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::EvalTask>> create_eval_task(const Call& call, const InSpace& query,
                                                 const evaluate::NewEvalTask& body) {
    const auto space = TRY(space_of(call, query.space));
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    const auto find = [&](const std::string& name,
                          std::optional<int64_t> number) -> Result<evaluate::EvaluatorVersion> {
        const auto family = TRY(evaluators.find_named(call.caller, space, name));
        return evaluators.version(call.caller, family.id, number.value_or(family.revision));
    };
    One<evaluate::EvalTask> made{TRY(call.services.evaluate.eval_tasks.create(call.caller, space, body, find))};
    call.services.evaluate.eval_runner.wake();
    return made;
}

Result<One<evaluate::EvalTask>> get_eval_task(const Call& call) {
    const auto id = TRY(task_in_path(call));
    return One<evaluate::EvalTask>{TRY(call.services.evaluate.eval_tasks.find(call.caller, id))};
}

Result<One<evaluate::EvalTask>> update_eval_task(const Call& call, const evaluate::EvalTaskChange& body) {
    const auto id = TRY(task_in_path(call));
    One<evaluate::EvalTask> changed{TRY(call.services.evaluate.eval_tasks.update(call.caller, id, body))};
    call.services.evaluate.eval_runner.wake();
    return changed;
}

Result<NoContent> delete_eval_task(const Call& call) {
    const auto id = TRY(task_in_path(call));
    TRY(call.services.evaluate.eval_tasks.remove(call.caller, id));
    return NoContent{};
}

Result<List<evaluate::EvalJob>> list_eval_jobs(const Call& call, const ListEvalJobs& query) {
    const auto id = TRY(task_in_path(call));
    return call.services.evaluate.eval_tasks.jobs(call.caller, id, query.state.value_or(""), query.reason.value_or(""),
                                                  TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::RetriedJobs>> retry_eval_jobs(const Call& call, const evaluate::RetryJobs& body) {
    const auto id = TRY(task_in_path(call));
    One<evaluate::RetriedJobs> retried{TRY(call.services.evaluate.eval_tasks.retry(call.caller, id, body))};
    call.services.evaluate.eval_runner.wake();
    return retried;
}

Result<List<evaluate::FunnelRow>> get_eval_funnel(const Call& call, const FunnelQuery& query) {
    const auto id = TRY(task_in_path(call));
    List<evaluate::FunnelRow> list;
    list.data = TRY(call.services.evaluate.eval_tasks.funnel(call.caller, id, query.hours.value_or(24)));
    return list;
}

Result<One<evaluate::BackfillEstimate>> estimate_backfill(const Call& call, const evaluate::NewBackfill& body) {
    const auto id = TRY(task_in_path(call));
    return One<evaluate::BackfillEstimate>{TRY(call.services.evaluate.eval_tasks.estimate(call.caller, id, body))};
}

Result<One<evaluate::Backfill>> start_backfill(const Call& call, const evaluate::NewBackfill& body) {
    const auto id = TRY(task_in_path(call));
    One<evaluate::Backfill> started{TRY(call.services.evaluate.eval_tasks.start_backfill(call.caller, id, body))};
    call.services.evaluate.eval_runner.wake();
    return started;
}

Result<List<evaluate::Backfill>> list_backfills(const Call& call, const PageQuery& query) {
    const auto id = TRY(task_in_path(call));
    return call.services.evaluate.eval_tasks.backfills(call.caller, id, TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::Backfill>> cancel_backfill(const Call& call) {
    const auto id = TRY(task_in_path(call));
    const auto backfill = TRY(id_in_path<evaluate::EvalBackfillTag>(call, "backfill"));
    return One<evaluate::Backfill>{TRY(call.services.evaluate.eval_tasks.cancel_backfill(call.caller, id, backfill))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route eval_tasks_table[] = {
    route<list_eval_tasks>("GET", "/v1/eval_tasks", need(project_read), "Online tasks of evaluators, oldest first."),
    route<create_eval_task>("POST", "/v1/eval_tasks", need(eval_write),
                            "Evaluate new spans, traces or chat sessions of a project. Models and agents also need "
                            "run_start."),
    route<get_eval_task>("GET", "/v1/eval_tasks/{eval_task}", need(project_read), "A task with its counts."),
    route<update_eval_task>("PATCH", "/v1/eval_tasks/{eval_task}", need(eval_write),
                            "Change, enable or disable a task; a paused one resumes."),
    route<delete_eval_task>("DELETE", "/v1/eval_tasks/{eval_task}", need(eval_write),
                            "Delete a task and its jobs; its evals are kept."),
    route<list_eval_jobs>("GET", "/v1/eval_tasks/{eval_task}/jobs", need(project_read),
                          "Jobs of a task: the outcome of each target, and why."),
    route<retry_eval_jobs>("POST", "/v1/eval_tasks/{eval_task}/retry", need(eval_write),
                           "Retry failed and skipped jobs."),
    route<get_eval_funnel>("GET", "/v1/eval_tasks/{eval_task}/funnel", need(project_read),
                           "Received, matched, sampled, evaluated, failed and skipped targets by hour."),
    route<estimate_backfill>("POST", "/v1/eval_tasks/{eval_task}/estimate", need(project_read),
                             "How many past targets a backfill would evaluate, and what it would cost.")
        .on(net::Lane::query),
    route<list_backfills>("GET", "/v1/eval_tasks/{eval_task}/backfills", need(project_read),
                          "Backfills of a task, newest first."),
    route<start_backfill>("POST", "/v1/eval_tasks/{eval_task}/backfills", need(eval_write),
                          "Evaluate past targets with the filter and version of now."),
    route<cancel_backfill>("POST", "/v1/eval_tasks/{eval_task}/backfills/{backfill}/cancel", need(eval_write),
                           "Cancel a backfill; jobs that wait are skipped."),
};

} // namespace

std::span<const Route> eval_tasks_routes() {
    return eval_tasks_table;
}

} // namespace hone::api
