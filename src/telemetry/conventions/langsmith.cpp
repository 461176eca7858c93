// LangSmith's SDKs in OpenTelemetry mode: run types beside GenAI's keys.
#include "telemetry/span/attribute_json.h"
#include "telemetry/span/convention.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr ConventionKey langsmith_keys[] = {
    {"langsmith.span.kind", Fact::kind},
    {"langsmith.metadata.thread_id", Fact::session},
    {"langsmith.metadata.session_id", Fact::session},
    {"langsmith.trace.session_id", Fact::session},
    {"langsmith.metadata.user_id", Fact::user},
    {"langsmith.metadata.ls_provider", Fact::provider},
    {"langsmith.metadata.ls_model_name", Fact::model},
    {"langsmith.span.tags", Fact::tags},
    {"gen_ai.usage.input_token_details", Fact::own},
    {"gen_ai.usage.output_token_details", Fact::own},
};

void complete_langsmith(const KnownAttributes& known, Draft& draft) {
    if (const auto json = known.text_of("gen_ai.usage.input_token_details"); !json.empty()) {
        const AttributeJson details(json);
        fill(draft.usage.cache_read, details.whole({"/cache_read"}));
        fill(draft.usage.cache_write, details.whole({"/cache_creation"}));
    }
    if (const auto json = known.text_of("gen_ai.usage.output_token_details"); !json.empty())
        fill(draft.usage.reasoning, AttributeJson(json).whole({"/reasoning"}));
    // A failed run is sent with an exception and the status "ok".
    const auto& events = draft.raw.events;
    if (std::any_of(events.begin(), events.end(), [](const otlp::Event& event) { return event.name == "exception"; }))
        draft.span.status = otlp::StatusCode::error;
}

} // namespace

const Convention langsmith_convention{
    "LangSmith", langsmith_keys, complete_langsmith, "langsmith", {"langsmith.metadata."}};

} // namespace hone::telemetry
