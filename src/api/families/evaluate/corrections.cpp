// People correct the verdicts of evaluators about runs of experiments.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/evaluate/correction_view.h"
#include "api/families/phoenix/node_id.h"
#include "evaluate/evaluate.h"
#include "telemetry/spans.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct CorrectVerdict {
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    json::Defaulted<std::string> explanation;
    static constexpr Pack fields{
        Field{"name", &CorrectVerdict::name, "Name of the eval of this run."},
        Field{"label", &CorrectVerdict::label, "The right label; a label, a score or both are needed."},
        Field{"score", &CorrectVerdict::score, "The right score."},
        Field{"explanation", &CorrectVerdict::explanation, "Why; at most 100,000 bytes."},
    };
};

struct CorrectedView {
    CorrectionView correction;
    std::optional<std::string> labelled_project;
    static constexpr Pack fields{
        Field{"correction", &CorrectedView::correction, "The stored verdict of the person."},
        Field{"labelled_project", &CorrectedView::labelled_project,
              "Id of the project in which the trace of the run has the same verdict as a human eval, which "
              "calibrations count; null: the run has no trace."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

bool is_trace_id(const std::string& text) {
    return text.size() == 32 && from_hex(text).ok();
}

// A recorded trace is in the project that recorded it, any other one in the project of the experiment.
std::string project_of_run(const evaluate::RunRecord& record, const evaluate::Experiment& experiment) {
    const bool is_recorded = record.run.trace_id == record.example.source_trace && record.example.source_project;
    return is_recorded ? *record.example.source_project : experiment.project_id.text();
}

} // namespace

Result<One<CorrectedView>> correct_verdict(const Call& call, const CorrectVerdict& body) {
    evaluate::Experiments& experiments = call.services.evaluate.experiments;
    const auto run =
        TRY(read_node_id<evaluate::ExperimentRunTag>("ExperimentRun", "experiment run", call.at("experiment_run")));
    const evaluate::RunRecord record = TRY(experiments.record(call.caller, run, access::Permission::eval_write));
    const evaluate::Experiment experiment = TRY(experiments.find(call.caller, record.run.experiment_id));
    evaluate::EvalCorrection wanted;
    wanted.run_id = run;
    wanted.name = body.name;
    wanted.label = body.label;
    wanted.score = body.score;
    wanted.explanation = *body.explanation;
    CorrectedView view{view_of(TRY(experiments.correct(call.caller, wanted))), {}};
    if (!record.run.trace_id || !is_trace_id(*record.run.trace_id)) return One<CorrectedView>{std::move(view)};
    const auto project = find_project(call, {}, project_of_run(record, experiment), access::Permission::eval_write);
    if (!project.ok() && project.error().code == Code::not_found) return One<CorrectedView>{std::move(view)};
    if (!project.ok()) return project.error();
    telemetry::Eval eval;
    eval.project = project.value().id.text();
    eval.target = telemetry::EvalTarget::trace;
    eval.target_id = lowercase_ascii(*record.run.trace_id);
    eval.name = body.name;
    eval.annotator = call.caller.principal();
    eval.identifier = "correction:" + eval.annotator; // one of each person
    eval.kind = telemetry::EvalKind::human;
    eval.label = body.label.value_or("");
    eval.score = body.score;
    eval.explanation = *body.explanation;
    eval.metadata = json::print(json::Object{{"experiment", experiment.id.text()}, {"experiment_run", run.text()}});
    TRY(call.services.spans.store());
    TRY(call.services.spans.evals.upsert({std::move(eval)}));
    view.labelled_project = project.value().id.text();
    return One<CorrectedView>{std::move(view)};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route corrections_table[] = {
    route<correct_verdict>(
        "PUT", "/v1/experiment_runs/{experiment_run}/corrections", need(eval_write),
        "Store the caller's verdict about a run beside the eval of this name, and as a human eval of "
        "the run's trace.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> corrections_routes() {
    return corrections_table;
}

} // namespace hone::api
