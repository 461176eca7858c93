// Genkit: actions with their subtype, input and output as JSON. The provider's own response is in output.raw.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey genkit_keys[] = {
    {"genkit:metadata:subtype", Fact::kind},
    {"genkit:type", Fact::kind},
    {"genkit:name", Fact::own},
    {"genkit:metadata:context", Fact::own},
    {"genkit:input", Fact::input},
    {"genkit:input", Fact::input_messages},
    {"genkit:output", Fact::output},
    {"genkit:output", Fact::output_messages},
};

void complete_genkit(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    const std::string_view name = known.text_of("genkit:name");
    if (const auto json = known.text_of("genkit:metadata:context"); span.chat_session.empty() && !json.empty())
        span.chat_session = draft.batch.keep(AttributeJson(json).text({"/sessionId", "/session_id", "/session/id"}));
    if (span.kind == SpanKind::tool) return fill(span.tool_name, name);
    if (span.kind != SpanKind::llm && span.kind != SpanKind::embedding) return;
    const size_t slash = name.find('/');
    fill(span.provider, slash == std::string_view::npos ? std::string_view() : name.substr(0, slash));
    const std::string_view json = known.text_of("genkit:output");
    const AttributeJson output(json.size() > 1 ? json : "{}");
    if (span.model.empty()) span.model = draft.batch.keep(output.text({"/raw/model", "/raw/modelVersion"}));
    fill(span.model, slash == std::string_view::npos ? name : name.substr(slash + 1));
    if (span.finish_reason.empty()) span.finish_reason = draft.batch.keep(output.text({"/finishReason"}));
    if (span.response_id.empty()) span.response_id = draft.batch.keep(output.text({"/raw/id", "/raw/responseId"}));
    if (has_counts(draft.usage)) return;
    draft.usage = read_usage_json(output, "/raw/usage");
    if (!has_counts(draft.usage)) draft.usage = read_usage_json(output, "/raw/usageMetadata");
    if (!has_counts(draft.usage)) draft.usage = read_usage_json(output, "/usage");
}

} // namespace

const Convention genkit_convention{"Genkit", genkit_keys, complete_genkit, "genkit-tracer"};

} // namespace hone::telemetry
