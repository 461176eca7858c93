// Claude Code's own traces: plain keys beside GenAI's; its input count is without caches.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr std::string_view claude_code_scope = "com.anthropic.claude_code";

constexpr ConventionKey claude_code_keys[] = {
    {"user_prompt", Fact::input},
    {"tool_input", Fact::input},
    {"tool_parameters", Fact::input},
    {"input_tokens", Fact::input_tokens},
    {"output_tokens", Fact::output_tokens},
    {"cache_read_tokens", Fact::cache_read_tokens},
    {"cache_creation_tokens", Fact::cache_write_tokens},
    {"cost_usd", Fact::cost},
    {"ttft_ms", Fact::first_token_milliseconds},
    {"stop_reason", Fact::finish_reason},
    {"request_id", Fact::own},
    {"tool_name", Fact::tool_name},
    {"error_class", Fact::error_type},
};

void complete_claude_code(const KnownAttributes& known, Draft& draft) {
    if (!draft.scope.starts_with(claude_code_scope)) return;
    Span& span = draft.span;
    const std::string_view type = known.text_of("span.type");
    draft.usage.separate = !type.empty(); // spans made from its log records have OpenInference's counts
    if (type == "llm_request") span.kind = SpanKind::llm;
    if (type == "interaction") span.kind = SpanKind::agent;
    if (span.kind == SpanKind::unknown && !type.empty()) span.kind = SpanKind::chain; // phases of a tool's call, hooks
    for (const otlp::Event& event : draft.raw.events) {
        if (event.name != "tool.output") continue;
        for (const std::string_view key : {"output", "content"})
            if (const otlp::Value* output = otlp::find(event.attributes, key); output && output->text())
                fill(span.output, *output->text());
        if (const otlp::Value* input = otlp::find(event.attributes, "input"); input && input->text())
            fill(span.input, *input->text());
    }
}

} // namespace

const Convention claude_code_convention{"Claude Code", claude_code_keys, complete_claude_code, claude_code_scope};

} // namespace hone::telemetry
