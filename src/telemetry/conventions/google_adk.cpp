// Google's Agent Development Kit 1.x: Gemini requests and responses as JSON. Version 2 uses GenAI's keys.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey google_adk_keys[] = {
    {"gcp.vertex.agent.tool_call_args", Fact::input}, {"gcp.vertex.agent.tool_response", Fact::output},
    {"gcp.vertex.agent.llm_request", Fact::input},    {"gcp.vertex.agent.llm_request", Fact::input_messages},
    {"gcp.vertex.agent.llm_response", Fact::output},  {"gcp.vertex.agent.llm_response", Fact::output_messages},
    {"gcp.vertex.agent.data", Fact::input},           {"gcp.vertex.agent.session_id", Fact::session},
};

void complete_google_adk(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown && span.name == "call_llm") span.kind = SpanKind::llm;
    if (span.kind == SpanKind::unknown) span.kind = SpanKind::chain; // "invocation", "send_data"
    const std::string_view json = known.text_of("gcp.vertex.agent.llm_response");
    if (span.kind != SpanKind::llm || json.size() <= 2) return;
    const AttributeJson response(json);
    if (const ReportedUsage usage = read_usage_json(response, "/usage_metadata"); has_counts(usage))
        draft.usage = usage;
    if (span.finish_reason.empty()) span.finish_reason = draft.batch.keep(response.text({"/finish_reason"}));
}

} // namespace

const Convention google_adk_convention{"Google ADK", google_adk_keys, complete_google_adk, "gcp.vertex.agent"};

} // namespace hone::telemetry
