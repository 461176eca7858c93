// Haystack's own tracing: components of a pipeline and steps of an agent, with their data as JSON. What a component is
// shows its class; model and usage are beside the reply.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey haystack_keys[] = {
    {"haystack.component.type", Fact::own},
    {"haystack.component.input", Fact::input},
    {"haystack.component.input", Fact::input_messages},
    {"haystack.component.output", Fact::output},
    {"haystack.component.output", Fact::output_messages},
    {"haystack.pipeline.input_data", Fact::input},
    {"haystack.pipeline.output_data", Fact::output},
    {"haystack.agent.input", Fact::input},
    {"haystack.agent.input", Fact::input_messages},
    {"haystack.agent.output", Fact::output},
    {"haystack.agent.output", Fact::output_messages},
    {"haystack.agent.tools", Fact::tools},
    {"haystack.agent.step.llm.input", Fact::input},
    {"haystack.agent.step.llm.input", Fact::input_messages},
    {"haystack.agent.step.llm.output", Fact::output},
    {"haystack.agent.step.llm.output", Fact::output_messages},
    {"haystack.agent.step.tool.input", Fact::input},
    {"haystack.agent.step.tool.output", Fact::output},
    {"haystack.tool.name", Fact::tool_name},
};

SpanKind kind_of_component(std::string_view type) {
    if (type.ends_with("Generator")) return SpanKind::llm;
    if (type.ends_with("Retriever")) return SpanKind::retriever;
    if (type.ends_with("Embedder")) return SpanKind::embedding;
    if (type.ends_with("Ranker")) return SpanKind::reranker;
    if (type.ends_with("Evaluator")) return SpanKind::evaluator;
    if (type.ends_with("Agent")) return SpanKind::agent;
    return type.empty() ? SpanKind::unknown : SpanKind::chain;
}

SpanKind kind_of_haystack(std::string_view name, std::string_view component) {
    if (name == "haystack.agent.run") return SpanKind::agent;
    if (name == "haystack.agent.step.llm") return SpanKind::llm;
    if (name == "haystack.agent.step.tool") return SpanKind::tool;
    if (const SpanKind kind = kind_of_component(component); kind != SpanKind::unknown) return kind;
    return name.starts_with("haystack.") ? SpanKind::chain : SpanKind::unknown;
}

// The metadata is in the reply, or beside replies that are texts.
void read_reply(std::string_view json, Draft& draft) {
    const AttributeJson output(json);
    Span& span = draft.span;
    for (const std::string_view meta : {"/replies/0/meta", "/replies/0/_meta", "/meta/0", "/meta"}) {
        if (span.model.empty()) span.model = draft.batch.keep(output.text({"/model"}, meta));
        if (span.finish_reason.empty())
            span.finish_reason = draft.batch.keep(output.text({"/finish_reason", "/stop_reason"}, meta));
        if (!has_counts(draft.usage)) draft.usage = read_usage_json(output, std::string(meta) + "/usage");
    }
}

void complete_haystack(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown)
        span.kind = kind_of_haystack(span.name, known.text_of("haystack.component.type"));
    if (span.kind != SpanKind::llm && span.kind != SpanKind::embedding) return;
    for (const std::string_view key : {"haystack.agent.step.llm.output", "haystack.component.output"})
        if (const std::string_view json = known.text_of(key); json.size() > 2) read_reply(json, draft);
}

} // namespace

const Convention haystack_convention{"Haystack", haystack_keys, complete_haystack, "haystack"};

} // namespace hone::telemetry
