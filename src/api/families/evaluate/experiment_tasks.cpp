// Experiments that the server runs: start, stop, resume, and how far they are.
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ResumeBudget {
    static constexpr bool is_query = true;
    std::optional<int64_t> budget_seconds;
    std::optional<int64_t> budget_micro_usd;
    static constexpr Pack fields{
        Field{"budget_seconds", &ResumeBudget::budget_seconds,
              "New limit of the time of all attempts together; the old one if not given."},
        Field{"budget_micro_usd", &ResumeBudget::budget_micro_usd,
              "New limit of the cost of its model calls; the old one if not given."},
    };
};

struct ListReplays {
    static constexpr bool is_query = true;
    std::optional<bool> not_replayed;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"not_replayed", &ListReplays::not_replayed, "true: only examples that could not be replayed."},
        Field{"limit", &ListReplays::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListReplays::cursor, "next_cursor of the previous response."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<evaluate::ExperimentId> started_experiment(const Call& call) {
    return read_node_id<evaluate::ExperimentTag>("Experiment", "experiment", call.at("experiment"));
}

} // namespace

Result<One<evaluate::ExperimentTask>> start_experiment(const Call& call, const evaluate::StartTask& body) {
    const auto id = TRY(started_experiment(call));
    evaluate::Evaluate& evaluate = call.services.evaluate;
    const auto experiment = TRY(evaluate.experiments.find(call.caller, id, access::Permission::experiment_write));
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    const auto find = [&](const std::string& name,
                          std::optional<int64_t> number) -> Result<evaluate::EvaluatorVersion> {
        const auto family = TRY(evaluators.find_named(call.caller, experiment.space_id, name));
        return evaluators.version(call.caller, family.id, number.value_or(family.revision));
    };
    evaluate::StartTask wanted = body;
    wanted.task.prompt = plain_id("PromptVersion", *wanted.task.prompt);
    One<evaluate::ExperimentTask> started{TRY(evaluate.tasks.start(call.caller, id, wanted, find))};
    evaluate.runner.wake();
    return started;
}

Result<One<evaluate::ExperimentTask>> get_experiment_task(const Call& call) {
    const auto id = TRY(started_experiment(call));
    return One<evaluate::ExperimentTask>{TRY(call.services.evaluate.tasks.find(call.caller, id))};
}

Result<One<evaluate::ExperimentTask>> stop_experiment(const Call& call) {
    const auto id = TRY(started_experiment(call));
    return One<evaluate::ExperimentTask>{TRY(call.services.evaluate.tasks.stop(call.caller, id))};
}

Result<One<evaluate::ExperimentTask>> resume_experiment(const Call& call, const ResumeBudget& query) {
    const auto id = TRY(started_experiment(call));
    One<evaluate::ExperimentTask> resumed{
        TRY(call.services.evaluate.tasks.resume(call.caller, id, {query.budget_seconds, query.budget_micro_usd}))};
    call.services.evaluate.runner.wake();
    return resumed;
}

Result<List<evaluate::Replay>> list_experiment_replays(const Call& call, const ListReplays& query) {
    const auto id = TRY(started_experiment(call));
    return call.services.evaluate.tasks.replays(call.caller, id, query.not_replayed.value_or(false),
                                                TRY(page_of(query.limit, query.cursor)));
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route experiment_tasks_table[] = {
    route<start_experiment>("POST", "/v1/experiments/{experiment}/start", need(experiment_write),
                            "Run an experiment on the server: a command, an address, a prompt or a recorded trace for "
                            "each example, then evaluators. A prompt also needs run_start.")
        .with_body_limit(8 << 20),
    route<get_experiment_task>("GET", "/v1/experiments/{experiment}/task", need(dataset_read),
                               "State and counts of an experiment that the server runs."),
    route<stop_experiment>("POST", "/v1/experiments/{experiment}/stop", need(experiment_write),
                           "Stop an experiment; runs that have begun are finished and stored."),
    route<resume_experiment>("POST", "/v1/experiments/{experiment}/resume", need(experiment_write),
                             "Run what is missing or failed of an experiment."),
    route<list_experiment_replays>("GET", "/v1/experiments/{experiment}/replays", need(dataset_read),
                                   "What an experiment of kind replay ran again of each example, and what it could "
                                   "not and why."),
};

} // namespace

std::span<const Route> experiment_tasks_routes() {
    return experiment_tasks_table;
}

} // namespace hone::api
