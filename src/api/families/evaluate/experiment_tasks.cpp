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
    static constexpr std::tuple fields{
        Field{"budget_seconds", &ResumeBudget::budget_seconds,
              "New limit of the time of all attempts together; the old one if not given."},
        Field{"budget_micro_usd", &ResumeBudget::budget_micro_usd,
              "New limit of the cost of its model calls; the old one if not given."},
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
        const auto family = TRY(evaluators.find_code(call.caller, experiment.space_id, name));
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

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route experiment_tasks_table[] = {
    route<start_experiment>("POST", "/v1/experiments/{experiment}/start", need(experiment_write),
                            "Run an experiment on the server: a command, an address or a prompt for each example, then "
                            "evaluators. A prompt also needs run_start.")
        .with_body_limit(8 << 20),
    route<get_experiment_task>("GET", "/v1/experiments/{experiment}/task", need(dataset_read),
                               "State and counts of an experiment that the server runs."),
    route<stop_experiment>("POST", "/v1/experiments/{experiment}/stop", need(experiment_write),
                           "Stop an experiment; runs that have begun are finished and stored."),
    route<resume_experiment>("POST", "/v1/experiments/{experiment}/resume", need(experiment_write),
                             "Run what is missing or failed of an experiment."),
};

} // namespace

std::span<const Route> experiment_tasks_routes() {
    return experiment_tasks_table;
}

} // namespace hone::api
