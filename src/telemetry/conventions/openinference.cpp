// OpenInference: Arize's and Phoenix's instrumentations, and the span processors that translate other conventions.
#include "telemetry/span/attribute_json.h"
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey openinference_keys[] = {
    {"openinference.span.kind", Fact::kind},
    {"llm.model_name", Fact::model},
    {"embedding.model_name", Fact::model},
    {"reranker.model_name", Fact::model},
    {"llm.response.model_name", Fact::model},
    {"llm.request.model_name", Fact::model},
    {"llm.provider", Fact::provider},
    {"llm.system", Fact::provider},
    {"llm.token_count.prompt", Fact::input_tokens},
    {"llm.token_count.completion", Fact::output_tokens},
    {"llm.token_count.total", Fact::total_tokens},
    {"llm.token_count.prompt_details.cache_read", Fact::cache_read_tokens},
    {"llm.token_count.prompt_details.cache_write", Fact::cache_write_tokens},
    {"llm.token_count.completion_details.reasoning", Fact::reasoning_tokens},
    {"llm.cost.total", Fact::cost},
    {"llm.cost.prompt", Fact::input_cost},
    {"llm.cost.completion", Fact::output_cost},
    {"session.id", Fact::session},
    {"user.id", Fact::user},
    {"tool.name", Fact::tool_name},
    {"tool_call.function.name", Fact::tool_name},
    {"llm.finish_reason", Fact::finish_reason},
    {"input.value", Fact::input},
    {"input.mime_type", Fact::input_mime},
    {"output.value", Fact::output},
    {"output.mime_type", Fact::output_mime},
    {"llm.invocation_parameters", Fact::parameters},
    {"metadata", Fact::metadata},
    {"tag.tags", Fact::tags},
    {"metadata.tags", Fact::tags}, // of the span processor for Vercel's AI SDK, which spreads the metadata
    {"metadata.ai.response.msToFirstChunk", Fact::first_token_milliseconds},
};

// The id that starts the provider's response: {"id":"msg_1",…}.
std::string_view leading_id(std::string_view json) {
    for (const std::string_view start : {R"({"id":")", R"({"id": ")"}) {
        if (!json.starts_with(start)) continue;
        const std::string_view rest = json.substr(start.size());
        const size_t end = rest.find('"');
        return end <= 128 ? rest.substr(0, end) : std::string_view();
    }
    return {};
}

void complete_openinference(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind != SpanKind::llm) return;
    fill(span.response_id, leading_id(known.text_of("output.value")));
    // A failed call names its model among the parameters only, or in the request.
    for (const std::string_view json : {known.text_of("llm.invocation_parameters"), known.text_of("input.value")})
        if (span.model.empty() && json.starts_with('{'))
            span.model = draft.batch.keep(AttributeJson(json).text({"/model", "/model_name"}));
    for (const otlp::Event& event : draft.raw.events)
        if (span.first_token_ns == 0 && event.name == "First Token Stream Event" && event.time_ns > draft.raw.start_ns)
            span.first_token_ns = static_cast<int64_t>(event.time_ns - draft.raw.start_ns);
}

} // namespace

const Convention openinference_convention{
    "OpenInference", openinference_keys, complete_openinference, {}, {"metadata."}};

} // namespace hone::telemetry
