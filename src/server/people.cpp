#include "server/people.h"

namespace hone::server {

namespace {

// Verdicts that are not cached: a calibration measures the evaluator, not what it decided earlier.
std::vector<evaluate::AppliedVerdict> apply_evaluator(evaluate::Judges& judges,
                                                      const evaluate::EvaluatorVersion& version,
                                                      const std::vector<json::Value>& documents, int64_t repetition,
                                                      const evaluate::Calibration& owner) {
    std::vector<evaluate::AppliedVerdict> verdicts;
    if (documents.empty()) return verdicts;
    evaluate::JudgeRequest request{.version = version, .document = documents.front()};
    request.owner = owner.id.text();
    request.use_cache = false;
    request.repetition = repetition;
    request.target.kind = name_of(owner.target);
    request.target.project_id = owner.project_id.text();
    if (owner.cost_limit_micro_usd) request.cost_limit_nano_usd = *owner.cost_limit_micro_usd * 1000;
    for (const evaluate::JudgeOutcome& outcome : judges.judge_all(version, documents, request)) {
        evaluate::AppliedVerdict one;
        one.error = outcome.error;
        one.cost_nano_usd = outcome.cost_nano_usd.value_or(0);
        one.duration_ms = outcome.duration_ms;
        one.is_out_of_budget = outcome.reason == evaluate::JudgeReason::budget;
        one.is_stopped = outcome.reason == evaluate::JudgeReason::stopped;
        if (outcome.verdict && outcome.verdict->is_only_named()) {
            one.error = "the evaluator returns several named results and none with its own name: there is nothing to "
                        "compare with the labels";
        } else if (outcome.verdict) {
            one.verdict = evaluate::CalibrationVerdict{outcome.verdict->label, outcome.verdict->score};
            one.explanation = outcome.verdict->explanation.value_or("");
            const json::Value* model = outcome.verdict->metadata.is_object()
                                           ? outcome.verdict->metadata.get_object().if_contains("model")
                                           : nullptr;
            if (model != nullptr && model->is_string()) one.model = std::string(model->get_string());
        }
        verdicts.push_back(std::move(one));
    }
    return verdicts;
}

} // namespace

PeopleDuties::PeopleDuties(evaluate::Evaluate& evaluate, notice::Notices& notices, std::string server)
    : m_evaluate(evaluate),
      m_queueing({"queues", std::chrono::seconds(20)},
                 [this]() -> Result<> {
                     TRY(m_evaluate.queues.publish());
                     TRY(m_evaluate.queues.fill_due());
                     return {};
                 }),
      m_calibrating({"calibrations", std::chrono::seconds(5)},
                    [this, server = std::move(server)] { return m_evaluate.calibrations.step(server); }) {
    evaluate::CalibrationHooks hooks;
    hooks.document = [this](const std::string& project, telemetry::EvalTarget target, const std::string& id,
                            const std::string& trace) { return m_evaluate.documents.read(project, target, id, trace); };
    hooks.apply = [this](const evaluate::EvaluatorVersion& version, const std::vector<json::Value>& documents,
                         int64_t repetition, const evaluate::Calibration& owner) {
        return apply_evaluator(m_evaluate.judges, version, documents, repetition, owner);
    };
    hooks.alarm = [&notices](const evaluate::DriftAlarm& alarm) -> Result<> {
        const evaluate::Calibration& check = alarm.check;
        TRY(notices.notify({check.space_id, check.project_id, notice::Kind::evaluator_drifted,
                            "Evaluator " + check.name + " has drifted", alarm.why,
                            "/evaluators/" + check.evaluator_id.text() + "?tab=calibration",
                            "calibration:" + check.id.text()}));
        return {};
    };
    hooks.model_changed = [&notices](const evaluate::ModelChange& change) -> Result<> {
        const evaluate::Calibration& check = change.check;
        const std::string text = "Responses name the model " + change.after + " instead of " + change.before +
                                 ", while the model that the evaluator requests is unchanged. The canary set of its "
                                 "calibration is evaluated "
                                 "again; a notice follows if the verdicts have drifted.";
        TRY(notices.notify({check.space_id, check.project_id, notice::Kind::evaluator_drifted,
                            "The provider changed the model of evaluator " + check.name, text,
                            "/evaluators/" + check.evaluator_id.text() + "?tab=calibration",
                            "replied_model:" + check.project_id.text() + ":" + check.evaluator_id.text() + ":" +
                                std::to_string(check.number) + ":" + change.after}));
        return {};
    };
    m_evaluate.calibrations.set_hooks(std::move(hooks));
}

void PeopleDuties::start() {
    m_queueing.start();
    m_calibrating.start();
}

} // namespace hone::server
