#include "server/people.h"

#include "evaluate/content/canonical.h"

namespace hone::server {

namespace {

// Until other kinds can be applied: code, on the whole document.
std::vector<evaluate::AppliedVerdict> apply_code(evaluate::Evaluate& evaluate,
                                                 const evaluate::EvaluatorVersion& version,
                                                 const std::vector<json::Value>& documents) {
    std::vector<evaluate::AppliedVerdict> verdicts(documents.size());
    const auto results = evaluate.runner.run_code(version, documents);
    for (size_t i = 0; i < verdicts.size(); ++i) {
        if (!results.ok()) {
            verdicts[i].error = results.error().message;
            continue;
        }
        const evaluate::CodeResult& result = results.value()[i];
        verdicts[i].duration_ms = result.duration_ms;
        verdicts[i].error = result.error;
        if (!result.verdict) continue;
        verdicts[i].verdict = evaluate::CalibrationVerdict{result.verdict->label, result.verdict->score};
        verdicts[i].explanation = result.verdict->explanation.value_or("");
    }
    return verdicts;
}

// A span, or the root of a trace.
Result<json::Value> document_of_target(telemetry::Spans& spans, const std::string& project,
                                       telemetry::EvalTarget target, const std::string& id, const std::string& trace) {
    if (target == telemetry::EvalTarget::chat_session) return invalid("chat sessions cannot be evaluated by code yet");
    TRY(spans.store());
    telemetry::ListSpans request;
    request.scope.project = project;
    request.limit = 1;
    request.conditions.trace_ids = {trace};
    if (target == telemetry::EvalTarget::span)
        request.span_ids = {id};
    else
        request.conditions.parent_id = "";
    const auto page = TRY(spans.payloads(request));
    if (page.spans.empty()) return not_found("the target");
    const telemetry::SpanPayload& span = page.spans.front();
    json::Object document;
    document["input"] = evaluate::span_part(span.input, "input");
    document["output"] = evaluate::span_part(span.output, "output");
    document["metadata"] = json::Object{{"span_name", span.row.name}, {"trace_id", span.row.trace_id}};
    document["latency_ms"] = static_cast<double>(span.row.duration_ns) / 1e6;
    return json::Value(std::move(document));
}

} // namespace

PeopleDuties::PeopleDuties(evaluate::Evaluate& evaluate, telemetry::Spans& spans, notice::Notices& notices)
    : m_evaluate(evaluate),
      m_queueing({"queues", std::chrono::seconds(20)},
                 [this]() -> Result<> {
                     TRY(m_evaluate.queues.publish());
                     TRY(m_evaluate.queues.fill_due());
                     return {};
                 }),
      m_calibrating({"calibrations", std::chrono::seconds(5)}, [this] { return m_evaluate.calibrations.step(); }) {
    evaluate::CalibrationHooks hooks;
    hooks.document = [&spans](const std::string& project, telemetry::EvalTarget target, const std::string& id,
                              const std::string& trace) {
        return document_of_target(spans, project, target, id, trace);
    };
    hooks.apply = [this](const evaluate::EvaluatorVersion& version, const std::vector<json::Value>& documents, int64_t,
                         const evaluate::Calibration&) { return apply_code(m_evaluate, version, documents); };
    hooks.alarm = [&notices](const evaluate::DriftAlarm& alarm) -> Result<> {
        const evaluate::Calibration& check = alarm.check;
        TRY(notices.notify({check.space_id, check.project_id, notice::Kind::evaluator_drifted,
                            "Evaluator " + check.name + " has drifted", alarm.why,
                            "/calibrations/" + check.evaluator_id.text(), "calibration:" + check.id.text()}));
        return {};
    };
    m_evaluate.calibrations.set_hooks(std::move(hooks));
}

void PeopleDuties::start() {
    m_queueing.start();
    m_calibrating.start();
}

} // namespace hone::server
