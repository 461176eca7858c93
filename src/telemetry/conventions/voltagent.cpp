// VoltAgent: plain `input` and `output`, and types of spans in `span.type` and `entity.type`. A model span holds the
// usage of its last step, the agent's span the sum.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey voltagent_keys[] = {
    {"span.type", Fact::kind},
    {"entity.type", Fact::kind},
    {"llm.model", Fact::model},
    {"ai.model.name", Fact::model},
    {"llm.messages", Fact::input_messages},
    {"agent.messages", Fact::input_messages},
    {"input", Fact::input},
    {"input", Fact::input_messages},
    {"llm.messages", Fact::input},
    {"agent.messages", Fact::input},
    {"output", Fact::output},
    {"output", Fact::output_messages},
    {"llm.usage.cached_tokens", Fact::cache_read_tokens},
    {"llm.usage.reasoning_tokens", Fact::reasoning_tokens},
    {"usage.prompt_tokens", Fact::input_tokens},
    {"usage.completion_tokens", Fact::output_tokens},
    {"usage.total_tokens", Fact::total_tokens},
    {"usage.cached_tokens", Fact::cache_read_tokens},
    {"usage.reasoning_tokens", Fact::reasoning_tokens},
    {"conversation.id", Fact::session},
};

constexpr std::string_view voltagent_scope = "@voltagent/";

// Its types of spans are many: guardrails, workflows and their steps, middleware.
void complete_voltagent(const KnownAttributes& known, Draft& draft) {
    if (draft.span.kind == SpanKind::unknown && draft.scope.starts_with(voltagent_scope) &&
        (known.get("span.type") || known.get("entity.type")))
        draft.span.kind = SpanKind::chain;
}

} // namespace

const Convention voltagent_convention{"VoltAgent", voltagent_keys, complete_voltagent, voltagent_scope};

} // namespace hone::telemetry
