// Pydantic AI and logfire: GenAI's keys on model calls, their own for the whole conversation on the agent's span.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey pydantic_ai_keys[] = {
    {"pydantic_ai.all_messages", Fact::own}, // the conversation up to the response: conversation.cpp divides it
    {"all_messages_events", Fact::own},
    {"final_result", Fact::output},
    {"tool_arguments", Fact::input},
    {"tool_response", Fact::output},
    {"model_name", Fact::model},
    {"model_request_parameters", Fact::tools},
    {"operation.cost", Fact::cost},
    {"gen_ai.aggregated_usage.input_tokens", Fact::input_tokens},
    {"gen_ai.aggregated_usage.output_tokens", Fact::output_tokens},
    {"gen_ai.aggregated_usage.cache_read.input_tokens", Fact::cache_read_tokens},
    {"gen_ai.aggregated_usage.cache_creation.input_tokens", Fact::cache_write_tokens},
    {"gen_ai.aggregated_usage.details.cache_read_tokens", Fact::cache_read_tokens},
    {"gen_ai.aggregated_usage.details.cache_write_tokens", Fact::cache_write_tokens},
    {"gen_ai.aggregated_usage.details.reasoning_tokens", Fact::reasoning_tokens},
    {"gen_ai.usage.details.cache_read_tokens", Fact::cache_read_tokens},
    {"gen_ai.usage.details.cache_write_tokens", Fact::cache_write_tokens},
    {"gen_ai.usage.details.reasoning_tokens", Fact::reasoning_tokens},
};

} // namespace

const Convention pydantic_ai_convention{"Pydantic AI", pydantic_ai_keys};

} // namespace hone::telemetry
