// OpenTelemetry's conventions for generative AI, the current ones and those of 2024 and 2025; also the spans that
// Anthropic's SDKs send by themselves.
#include "telemetry/messages/message_json.h"
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey genai_keys[] = {
    {"gen_ai.operation.name", Fact::kind},
    {"gen_ai.response.model", Fact::model},
    {"gen_ai.request.model", Fact::model},
    {"gen_ai.provider.name", Fact::provider},
    {"gen_ai.system", Fact::provider},
    {"gen_ai.usage.input_tokens", Fact::input_tokens},
    {"gen_ai.usage.prompt_tokens", Fact::input_tokens},
    {"gen_ai.response.prompt_tokens", Fact::input_tokens},
    {"gen_ai.usage.output_tokens", Fact::output_tokens},
    {"gen_ai.usage.completion_tokens", Fact::output_tokens},
    {"gen_ai.response.completion_tokens", Fact::output_tokens},
    {"gen_ai.usage.total_tokens", Fact::total_tokens},
    {"gen_ai.usage.cache_read.input_tokens", Fact::cache_read_tokens},
    {"gen_ai.usage.cache_read_input_tokens", Fact::cache_read_tokens},
    {"gen_ai.usage.input_tokens.cached", Fact::cache_read_tokens},
    {"gen_ai.usage.cache_creation.input_tokens", Fact::cache_write_tokens},
    {"gen_ai.usage.cache_write.input_tokens", Fact::cache_write_tokens},
    {"gen_ai.usage.cache_creation_input_tokens", Fact::cache_write_tokens},
    {"gen_ai.usage.reasoning.output_tokens", Fact::reasoning_tokens},
    {"gen_ai.usage.reasoning_tokens", Fact::reasoning_tokens},
    {"gen_ai.usage.output_tokens.reasoning", Fact::reasoning_tokens},
    {"gen_ai.usage.total_cost", Fact::cost},
    {"gen_ai.usage.cost", Fact::cost},
    {"gen_ai.conversation.id", Fact::session},
    {"gen_ai.tool.name", Fact::tool_name},
    {"gen_ai.response.id", Fact::response_id},
    {"gen_ai.response.finish_reasons", Fact::finish_reason},
    {"gen_ai.response.finish_reason", Fact::finish_reason},
    {"gen_ai.completion.0.finish_reason", Fact::finish_reason},
    {"anthropic.message.stop_reason", Fact::finish_reason},
    {"gen_ai.input.messages", Fact::input},
    {"gen_ai.input.messages", Fact::input_messages},
    {"gen_ai.output.messages", Fact::output},
    {"gen_ai.output.messages", Fact::output_messages},
    {"gen_ai.prompt", Fact::input},
    {"gen_ai.prompt", Fact::input_messages},
    {"gen_ai.completion", Fact::output},
    {"gen_ai.completion", Fact::output_messages},
    {"gen_ai.tool.call.arguments", Fact::input},
    {"gen_ai.tool.call.result", Fact::output},
    {"gen_ai.system_instructions", Fact::system_text},
    {"gen_ai.tool.definitions", Fact::tools},
    {"gen_ai.agent.description", Fact::own},
    {"gen_ai.retrieval.documents", Fact::output},
    {"gen_ai.retrieval.query.text", Fact::input},
    {"gen_ai.memory.query.text", Fact::input},
    {"gen_ai.memory.records", Fact::output},
    {"gen_ai.response.time_to_first_chunk", Fact::first_token_seconds},
    {"gen_ai.client.operation.time_to_first_chunk", Fact::first_token_seconds},
    {"gen_ai.server.time_to_first_token", Fact::first_token_seconds},
};

std::string_view text_of_event(const otlp::Event& event, std::string_view key) {
    const otlp::Value* value = otlp::find(event.attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

// A call of a tool as events: its arguments as a message for the tool, its result as a choice.
void read_tool_events(Draft& draft) {
    Span& span = draft.span;
    for (const otlp::Event& event : draft.raw.events) {
        if (event.name == "gen_ai.tool.message") fill(span.input, text_of_event(event, "content"));
        if (event.name == "gen_ai.choice") fill(span.output, text_of_event(event, "message"));
        if (span.input.empty())
            for (const Message& message : read_messages(text_of_event(event, "gen_ai.input.messages"), "tool"))
                for (const ToolCall& call : message.tool_calls) span.input = draft.batch.keep(call.arguments);
        if (span.output.empty())
            for (const Message& message : read_messages(text_of_event(event, "gen_ai.output.messages"), "tool"))
                span.output = draft.batch.keep(message.content);
    }
}

void complete_genai(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown) {
        if (known.get("gen_ai.tool.name"))
            span.kind = SpanKind::tool;
        else if (known.get("gen_ai.request.model") || known.get("gen_ai.response.model"))
            span.kind = SpanKind::llm;
        else if (known.get("gen_ai.operation.name"))
            span.kind = SpanKind::chain; // an operation with a name of its own
    }
    // Span processors call every span with usage a model call, also a step of an agent around it.
    if (span.kind == SpanKind::llm && kind_of_name(known.text_of("gen_ai.operation.name")) == SpanKind::chain)
        span.kind = SpanKind::chain;
    if (known.text_of("gen_ai.operation.name") == "create_agent")
        fill(span.input, known.text_of("gen_ai.agent.description"));
    if (span.kind == SpanKind::tool) read_tool_events(draft);
    if (span.kind == SpanKind::llm)
        for (const otlp::Event& event : draft.raw.events)
            if (event.name == "gen_ai.choice") fill(span.finish_reason, text_of_event(event, "finish_reason"));
    for (const otlp::Event& event : draft.raw.events)
        if (span.first_token_ns == 0 && event.name == "gen_ai.content.completion.chunk" &&
            event.time_ns > draft.raw.start_ns)
            span.first_token_ns = static_cast<int64_t>(event.time_ns - draft.raw.start_ns);
}

} // namespace

const Convention genai_convention{"OpenTelemetry GenAI", genai_keys, complete_genai};

} // namespace hone::telemetry
