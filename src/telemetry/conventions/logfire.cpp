// Logfire: GenAI's keys with the provider's own usage beside them; in older versions the request and the response as
// JSON only. Its spans without a kind are steps that the application names.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey logfire_keys[] = {
    {"request_data", Fact::input},   {"request_data", Fact::input_messages},
    {"response_data", Fact::output}, {"response_data", Fact::output_messages},
    {"gen_ai.usage.raw", Fact::own}, {"logfire.span_type", Fact::own},
    {"logfire.tags", Fact::tags},
};

void complete_logfire(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown && known.get("logfire.span_type") && draft.scope.starts_with("logfire"))
        span.kind = SpanKind::chain;
    if (span.kind != SpanKind::llm && span.kind != SpanKind::embedding) return;
    if (const auto json = known.text_of("gen_ai.usage.raw"); json.starts_with('{'))
        if (const ReportedUsage usage = read_usage_json(AttributeJson(json)); has_counts(usage)) draft.usage = usage;
    const std::string_view response = known.text_of("response_data");
    if (response.starts_with('{') && !has_counts(draft.usage))
        draft.usage = read_usage_json(AttributeJson(response), "/usage");
    const std::string_view request = known.text_of("request_data");
    if (span.model.empty() && request.starts_with('{'))
        span.model = draft.batch.keep(AttributeJson(request).text({"/model"}));
}

} // namespace

const Convention logfire_convention{"Logfire", logfire_keys, complete_logfire, "logfire"};

} // namespace hone::telemetry
