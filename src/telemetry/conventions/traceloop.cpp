// Traceloop's SDKs and OpenLLMetry: workflows, tasks and tools around GenAI's keys; `llm.*` before 2024.
#include "telemetry/messages/message_json.h"
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey traceloop_keys[] = {
    {"traceloop.span.kind", Fact::kind},
    {"llm.request.type", Fact::kind},
    {"traceloop.entity.name", Fact::own},
    {"traceloop.entity.input", Fact::input},
    {"traceloop.entity.input", Fact::input_messages},
    {"traceloop.entity.output", Fact::output},
    {"traceloop.entity.output", Fact::output_messages},
    {"traceloop.association.properties.session_id", Fact::session},
    {"traceloop.association.properties.sessionId", Fact::session},
    {"traceloop.association.properties.thread_id", Fact::session},
    {"traceloop.association.properties.user_id", Fact::user},
    {"traceloop.association.properties.userId", Fact::user},
    {"gen_ai.user", Fact::user},
    {"llm.usage.prompt_tokens", Fact::input_tokens},
    {"llm.usage.completion_tokens", Fact::output_tokens},
    {"llm.usage.total_tokens", Fact::total_tokens},
    {"llm.response.model", Fact::model},
    {"llm.request.model", Fact::model},
    {"llm.vendor", Fact::provider},
    {"llm.response.finish_reason", Fact::finish_reason},
};

void complete_traceloop(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::tool && span.tool_name.empty()) {
        // LangChain's classes of tools share one name; the result has the tool's own.
        const std::string_view result = known.text_of("traceloop.entity.output");
        if (result.find("\"tool_call_id\"") != std::string_view::npos)
            span.tool_name = draft.batch.keep(read_tool_of_result(result));
        fill(span.tool_name, known.text_of("traceloop.entity.name"));
    }
    // The JavaScript instrumentation counts Anthropic's caches beside the input, and its total leaves them out.
    if (draft.scope == "@traceloop/instrumentation-anthropic") {
        draft.usage.separate = true;
        draft.usage.total.reset();
    }
}

} // namespace

const Convention traceloop_convention{
    "Traceloop", traceloop_keys, complete_traceloop, "@traceloop/", {"traceloop.association.properties."}};

} // namespace hone::telemetry
