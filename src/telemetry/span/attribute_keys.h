// The attribute keys that conventions use, found in one pass over a span's attributes. Internal to telemetry/.
#pragma once

#include "otlp/message.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace hone::telemetry {

enum class Key : uint8_t {
    // OpenInference
    openinference_kind,
    input_value,
    input_mime,
    output_value,
    output_mime,
    llm_model,
    embedding_model,
    reranker_model,
    llm_provider,
    llm_system,
    count_prompt,
    count_completion,
    count_total,
    count_cache_read,
    count_cache_write,
    count_reasoning,
    cost_total,
    cost_prompt,
    cost_completion,
    session_id,
    user_id,
    tool_name,
    tool_parameters,
    llm_finish_reason,
    // OTel GenAI, current and older
    operation,
    gen_ai_system,
    gen_ai_provider,
    request_model,
    response_model,
    usage_input,
    usage_output,
    usage_prompt,
    usage_completion,
    usage_total,
    usage_cache_read,
    usage_cache_read_old,
    usage_cache_creation,
    usage_cache_creation_old,
    usage_reasoning,
    usage_reasoning_old,
    usage_detail_cache_read,
    usage_detail_cache_write,
    usage_detail_reasoning,
    usage_cost,
    usage_total_cost,
    conversation_id,
    gen_ai_tool_name,
    tool_call_arguments,
    tool_call_result,
    finish_reasons,
    input_messages,
    output_messages,
    gen_ai_prompt,
    gen_ai_completion,
    completion_0_finish_reason,
    enduser_id,
    // OpenLLMetry / Traceloop
    traceloop_kind,
    traceloop_name,
    traceloop_input,
    traceloop_output,
    traceloop_session,
    traceloop_user,
    request_type,
    llm_usage_total,
    llm_usage_prompt,
    llm_usage_completion,
    llm_request_model,
    llm_vendor,
    // Vercel AI SDK
    ai_operation,
    ai_model,
    ai_provider,
    ai_prompt,
    ai_prompt_messages,
    ai_response_text,
    ai_response_object,
    ai_response_tools,
    ai_response_model,
    ai_finish_reason,
    ai_prompt_tokens,
    ai_completion_tokens,
    ai_input_tokens,
    ai_output_tokens,
    ai_total_tokens,
    ai_reasoning_tokens,
    ai_cached_tokens,
    ai_embed_tokens,
    ai_tool_name,
    ai_tool_args,
    ai_tool_result,
    ai_user,
    ai_session,
    ai_value,
    ai_values,
    // Langfuse
    langfuse_type,
    langfuse_input,
    langfuse_output,
    langfuse_model,
    langfuse_usage,
    langfuse_cost,
    langfuse_level,
    langfuse_status,
    langfuse_session,
    langfuse_user,
    langfuse_version,
    langfuse_release,
    langfuse_trace_input,
    langfuse_trace_output,
    // LangSmith
    langsmith_kind,
    langsmith_session,
    langsmith_thread,
    langsmith_metadata_session,
    langsmith_input_details,
    langsmith_output_details,
    count,
};

// The attributes with known keys; of a repeated key the last counts.
class KnownAttributes {
public:
    explicit KnownAttributes(const otlp::Attributes& attributes);

    const otlp::Value* get(Key key) const { return m_values[static_cast<size_t>(key)]; }
    // The first non-empty text among the keys.
    std::string_view text(std::initializer_list<Key> keys) const;
    // The first whole number among the keys; instrumentations send reals and digits in texts too.
    std::optional<int64_t> number(std::initializer_list<Key> keys) const;
    std::optional<double> real(std::initializer_list<Key> keys) const;

private:
    std::array<const otlp::Value*, static_cast<size_t>(Key::count)> m_values{};
};

std::optional<double> to_real(const otlp::Value& value);
std::string_view key_name(Key key);

} // namespace hone::telemetry
