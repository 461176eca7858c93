// Langfuse's SDKs for Python and JavaScript: observations with texts and counts as JSON.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey langfuse_keys[] = {
    {"langfuse.observation.type", Fact::kind},
    {"langfuse.observation.input", Fact::input},
    {"langfuse.observation.input", Fact::input_messages},
    {"langfuse.observation.output", Fact::output},
    {"langfuse.observation.output", Fact::output_messages},
    {"langfuse.observation.model.name", Fact::model},
    {"langfuse.observation.metadata.ls_model_name", Fact::model},
    {"langfuse.observation.metadata.ls_provider", Fact::provider},
    {"langfuse.observation.metadata.finish_reason", Fact::finish_reason},
    {"langfuse.observation.usage_details", Fact::own},
    {"langfuse.observation.cost_details", Fact::own},
    {"langfuse.observation.level", Fact::level},
    {"langfuse.observation.status_message", Fact::status_message},
    {"langfuse.observation.completion_start_time", Fact::first_token_time},
    {"langfuse.observation.metadata", Fact::metadata},
    {"langfuse.trace.metadata", Fact::metadata},
    {"langfuse.session.id", Fact::session},
    {"langfuse.observation.metadata.langfuse_session_id", Fact::session},
    {"langfuse.user.id", Fact::user},
    {"langfuse.observation.metadata.langfuse_user_id", Fact::user},
    {"langfuse.release", Fact::version},
    {"langfuse.version", Fact::version},
    {"langfuse.trace.tags", Fact::tags},
    {"langfuse.observation.metadata.langfuse_tags", Fact::tags},
};

void complete_langfuse(const KnownAttributes& known, Draft& draft) {
    if (const auto json = known.text_of("langfuse.observation.usage_details"); !json.empty())
        draft.usage = read_usage_json(AttributeJson(json));
    if (const auto json = known.text_of("langfuse.observation.cost_details"); !json.empty()) {
        const AttributeJson costs(json);
        const auto input = costs.real({"/input"}), output = costs.real({"/output"});
        if (const auto total = costs.real({"/total"}))
            draft.cost = total;
        else if (input || output)
            draft.cost = input.value_or(0) + output.value_or(0);
    }
    if (known.text(Fact::level) == "ERROR") draft.span.status = otlp::StatusCode::error;
}

} // namespace

const Convention langfuse_convention{
    "Langfuse", langfuse_keys, complete_langfuse, {}, {"langfuse.trace.metadata.", "langfuse.observation.metadata."}};

} // namespace hone::telemetry
