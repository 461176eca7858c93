// Mastra's exporters: GenAI's or OpenInference's keys, with Mastra's own types and texts.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey mastra_keys[] = {
    {"mastra.span.type", Fact::own},
    {"mastra.agent_run.input", Fact::input},
    {"mastra.agent_run.input", Fact::input_messages},
    {"mastra.agent_run.output", Fact::output},
    {"mastra.agent_run.output", Fact::output_messages},
    {"mastra.model_generation.input", Fact::input},
    {"mastra.model_generation.input", Fact::input_messages},
    {"mastra.model_generation.output", Fact::output},
    {"mastra.model_generation.output", Fact::output_messages},
    {"mastra.model_step.input", Fact::input},
    {"mastra.model_step.input", Fact::input_messages},
    {"mastra.model_step.output", Fact::output},
    {"mastra.model_step.output", Fact::output_messages},
    {"mastra.model_inference.input", Fact::input},
    {"mastra.model_inference.input", Fact::input_messages},
    {"mastra.model_inference.output", Fact::output},
    {"mastra.model_inference.output", Fact::output_messages},
    {"mastra.model_chunk.output", Fact::output},
    {"mastra.workflow_run.input", Fact::input},
    {"mastra.workflow_run.output", Fact::output},
    {"mastra.workflow_step.input", Fact::input},
    {"mastra.workflow_step.output", Fact::output},
    {"mastra.tool_call.input", Fact::input},
    {"mastra.tool_call.output", Fact::output},
    {"mastra.mcp_tool_call.input", Fact::input},
    {"mastra.mcp_tool_call.output", Fact::output},
    {"mastra.processor_run.input", Fact::input},
    {"mastra.processor_run.output", Fact::output},
    {"mastra.metadata.sessionId", Fact::session},
    {"mastra.metadata.threadId", Fact::session},
    {"mastra.metadata.userId", Fact::user},
    {"mastra.metadata.resourceId", Fact::user},
    {"mastra.completion_start_time", Fact::first_token_time},
    {"mastra.tags", Fact::tags},
};

SpanKind kind_of_mastra(std::string_view type, bool has_usage) {
    if (type == "agent_run") return SpanKind::agent;
    if (type == "tool_call" || type == "mcp_tool_call") return SpanKind::tool;
    if (type == "model_inference") return SpanKind::llm;
    // Newer versions count at the inference below; a step or a piece of a stream is no call of its own.
    if (type == "model_generation") return has_usage ? SpanKind::llm : SpanKind::chain;
    return type.empty() ? SpanKind::unknown : SpanKind::chain;
}

void complete_mastra(const KnownAttributes& known, Draft& draft) {
    const bool has_usage = draft.usage.input || draft.usage.output;
    if (const SpanKind kind = kind_of_mastra(known.text_of("mastra.span.type"), has_usage); kind != SpanKind::unknown)
        draft.span.kind = kind;
}

} // namespace

const Convention mastra_convention{"Mastra", mastra_keys, complete_mastra, {}, {"mastra.metadata."}};

} // namespace hone::telemetry
