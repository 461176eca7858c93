// LiteLLM's callback `otel`: GenAI's keys, its own for cost and user. Below each call lies the request as it was sent.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey litellm_keys[] = {
    {"gen_ai.cost.total_cost", Fact::cost},
    {"llm.user", Fact::user},
    {"litellm.call_id", Fact::own},
};

void complete_litellm(const KnownAttributes& known, Draft& draft) {
    if (draft.span.kind == SpanKind::unknown && draft.scope == "litellm") draft.span.kind = SpanKind::chain;
    // Where the provider sent no id, LiteLLM's own is there: it names no response.
    if (draft.span.response_id == known.text_of("litellm.call_id")) draft.span.response_id = {};
}

} // namespace

const Convention litellm_convention{"LiteLLM", litellm_keys, complete_litellm, "litellm"};

} // namespace hone::telemetry
