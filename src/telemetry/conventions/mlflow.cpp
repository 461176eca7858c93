// MLflow tracing: every value is a JSON text, also a plain word.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey mlflow_keys[] = {
    {"mlflow.spanType", Fact::kind},
    {"mlflow.llm.model", Fact::model},
    {"mlflow.llm.provider", Fact::provider},
    {"mlflow.spanInputs", Fact::input},
    {"mlflow.spanInputs", Fact::input_messages},
    {"mlflow.spanOutputs", Fact::output},
    {"mlflow.spanOutputs", Fact::output_messages},
    {"mlflow.chat.tools", Fact::tools},
    {"mlflow.chat.tokenUsage", Fact::own},
    {"mlflow.llm.cost", Fact::own},
    {"mlflow.spanFunctionName", Fact::own},
    {"mlflow.trace.session", Fact::session},
    {"mlflow.trace.user", Fact::user},
    {"user", Fact::own}, // a parameter of the call
};

void complete_mlflow(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown && known.get("mlflow.spanType")) span.kind = SpanKind::chain;
    if (span.kind == SpanKind::tool) fill(span.tool_name, known.text_of("mlflow.spanFunctionName"));
    if (known.get("mlflow.spanType")) fill(span.user_id, known.text_of("user"));
    const std::string_view output = known.text_of("mlflow.spanOutputs");
    if (const auto json = known.text_of("mlflow.chat.tokenUsage"); !json.empty()) {
        draft.usage = read_usage_json(AttributeJson(json));
        // The provider's response has the details that MLflow leaves out.
        if (span.kind == SpanKind::llm && !draft.usage.reasoning && output.starts_with('{'))
            draft.usage.reasoning = read_usage_json(AttributeJson(output), "/usage").reasoning;
    }
    if (const auto json = known.text_of("mlflow.llm.cost"); !json.empty())
        fill(draft.cost, AttributeJson(json).real({"/total_cost"}));
    if (span.kind == SpanKind::llm && output.starts_with('{')) {
        const AttributeJson answer(output);
        if (span.finish_reason.empty())
            span.finish_reason = draft.batch.keep(answer.text({"/choices/0/finish_reason"}));
        if (span.response_id.empty()) span.response_id = draft.batch.keep(answer.text({"/id"}));
    }
}

} // namespace

const Convention mlflow_convention{"MLflow", mlflow_keys, complete_mlflow};

} // namespace hone::telemetry
