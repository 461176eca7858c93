#include "telemetry/span/attribute_keys.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

namespace hone::telemetry {

namespace {

struct Name {
    Key key;
    std::string_view text;
};

constexpr Name names[] = {
    {Key::openinference_kind, "openinference.span.kind"},
    {Key::input_value, "input.value"},
    {Key::input_mime, "input.mime_type"},
    {Key::output_value, "output.value"},
    {Key::output_mime, "output.mime_type"},
    {Key::llm_model, "llm.model_name"},
    {Key::embedding_model, "embedding.model_name"},
    {Key::reranker_model, "reranker.model_name"},
    {Key::llm_provider, "llm.provider"},
    {Key::llm_system, "llm.system"},
    {Key::count_prompt, "llm.token_count.prompt"},
    {Key::count_completion, "llm.token_count.completion"},
    {Key::count_total, "llm.token_count.total"},
    {Key::count_cache_read, "llm.token_count.prompt_details.cache_read"},
    {Key::count_cache_write, "llm.token_count.prompt_details.cache_write"},
    {Key::count_reasoning, "llm.token_count.completion_details.reasoning"},
    {Key::cost_total, "llm.cost.total"},
    {Key::cost_prompt, "llm.cost.prompt"},
    {Key::cost_completion, "llm.cost.completion"},
    {Key::session_id, "session.id"},
    {Key::user_id, "user.id"},
    {Key::tool_name, "tool.name"},
    {Key::tool_parameters, "tool.parameters"},
    {Key::llm_finish_reason, "llm.finish_reason"},
    {Key::operation, "gen_ai.operation.name"},
    {Key::gen_ai_system, "gen_ai.system"},
    {Key::gen_ai_provider, "gen_ai.provider.name"},
    {Key::request_model, "gen_ai.request.model"},
    {Key::response_model, "gen_ai.response.model"},
    {Key::usage_input, "gen_ai.usage.input_tokens"},
    {Key::usage_output, "gen_ai.usage.output_tokens"},
    {Key::usage_prompt, "gen_ai.usage.prompt_tokens"},
    {Key::usage_completion, "gen_ai.usage.completion_tokens"},
    {Key::usage_total, "gen_ai.usage.total_tokens"},
    {Key::usage_cache_read, "gen_ai.usage.cache_read.input_tokens"},
    {Key::usage_cache_read_old, "gen_ai.usage.cache_read_input_tokens"},
    {Key::usage_cache_creation, "gen_ai.usage.cache_creation.input_tokens"},
    {Key::usage_cache_creation_old, "gen_ai.usage.cache_creation_input_tokens"},
    {Key::usage_reasoning, "gen_ai.usage.reasoning.output_tokens"},
    {Key::usage_reasoning_old, "gen_ai.usage.reasoning_tokens"},
    {Key::usage_detail_cache_read, "gen_ai.usage.details.cache_read_tokens"},
    {Key::usage_detail_cache_write, "gen_ai.usage.details.cache_write_tokens"},
    {Key::usage_detail_reasoning, "gen_ai.usage.details.reasoning_tokens"},
    {Key::usage_cost, "gen_ai.usage.cost"},
    {Key::usage_total_cost, "gen_ai.usage.total_cost"},
    {Key::conversation_id, "gen_ai.conversation.id"},
    {Key::gen_ai_tool_name, "gen_ai.tool.name"},
    {Key::tool_call_arguments, "gen_ai.tool.call.arguments"},
    {Key::tool_call_result, "gen_ai.tool.call.result"},
    {Key::finish_reasons, "gen_ai.response.finish_reasons"},
    {Key::input_messages, "gen_ai.input.messages"},
    {Key::output_messages, "gen_ai.output.messages"},
    {Key::gen_ai_prompt, "gen_ai.prompt"},
    {Key::gen_ai_completion, "gen_ai.completion"},
    {Key::completion_0_finish_reason, "gen_ai.completion.0.finish_reason"},
    {Key::enduser_id, "enduser.id"},
    {Key::traceloop_kind, "traceloop.span.kind"},
    {Key::traceloop_name, "traceloop.entity.name"},
    {Key::traceloop_input, "traceloop.entity.input"},
    {Key::traceloop_output, "traceloop.entity.output"},
    {Key::traceloop_session, "traceloop.association.properties.session_id"},
    {Key::traceloop_user, "traceloop.association.properties.user_id"},
    {Key::request_type, "llm.request.type"},
    {Key::llm_usage_total, "llm.usage.total_tokens"},
    {Key::llm_usage_prompt, "llm.usage.prompt_tokens"},
    {Key::llm_usage_completion, "llm.usage.completion_tokens"},
    {Key::llm_request_model, "llm.request.model"},
    {Key::llm_vendor, "llm.vendor"},
    {Key::ai_operation, "ai.operationId"},
    {Key::ai_model, "ai.model.id"},
    {Key::ai_provider, "ai.model.provider"},
    {Key::ai_prompt, "ai.prompt"},
    {Key::ai_prompt_messages, "ai.prompt.messages"},
    {Key::ai_response_text, "ai.response.text"},
    {Key::ai_response_object, "ai.response.object"},
    {Key::ai_response_tools, "ai.response.toolCalls"},
    {Key::ai_response_model, "ai.response.model"},
    {Key::ai_finish_reason, "ai.response.finishReason"},
    {Key::ai_prompt_tokens, "ai.usage.promptTokens"},
    {Key::ai_completion_tokens, "ai.usage.completionTokens"},
    {Key::ai_input_tokens, "ai.usage.inputTokens"},
    {Key::ai_output_tokens, "ai.usage.outputTokens"},
    {Key::ai_total_tokens, "ai.usage.totalTokens"},
    {Key::ai_reasoning_tokens, "ai.usage.reasoningTokens"},
    {Key::ai_cached_tokens, "ai.usage.cachedInputTokens"},
    {Key::ai_embed_tokens, "ai.usage.tokens"},
    {Key::ai_tool_name, "ai.toolCall.name"},
    {Key::ai_tool_args, "ai.toolCall.args"},
    {Key::ai_tool_result, "ai.toolCall.result"},
    {Key::ai_user, "ai.telemetry.metadata.userId"},
    {Key::ai_session, "ai.telemetry.metadata.sessionId"},
    {Key::ai_value, "ai.value"},
    {Key::ai_values, "ai.values"},
    {Key::langfuse_type, "langfuse.observation.type"},
    {Key::langfuse_input, "langfuse.observation.input"},
    {Key::langfuse_output, "langfuse.observation.output"},
    {Key::langfuse_model, "langfuse.observation.model.name"},
    {Key::langfuse_usage, "langfuse.observation.usage_details"},
    {Key::langfuse_cost, "langfuse.observation.cost_details"},
    {Key::langfuse_level, "langfuse.observation.level"},
    {Key::langfuse_status, "langfuse.observation.status_message"},
    {Key::langfuse_session, "langfuse.session.id"},
    {Key::langfuse_user, "langfuse.user.id"},
    {Key::langfuse_version, "langfuse.version"},
    {Key::langfuse_release, "langfuse.release"},
    {Key::langfuse_trace_input, "langfuse.trace.input"},
    {Key::langfuse_trace_output, "langfuse.trace.output"},
    {Key::langsmith_kind, "langsmith.span.kind"},
    {Key::langsmith_session, "langsmith.trace.session_id"},
    {Key::langsmith_thread, "langsmith.metadata.thread_id"},
    {Key::langsmith_metadata_session, "langsmith.metadata.session_id"},
    {Key::langsmith_input_details, "gen_ai.usage.input_token_details"},
    {Key::langsmith_output_details, "gen_ai.usage.output_token_details"},
};
static_assert(std::size(names) == static_cast<size_t>(Key::count));

const std::unordered_map<std::string_view, Key>& table() {
    static const auto made = [] {
        std::unordered_map<std::string_view, Key> map;
        for (const Name& name : names) map.emplace(name.text, name.key);
        return map;
    }();
    return made;
}

} // namespace

std::string_view key_name(Key key) {
    return names[static_cast<size_t>(key)].text;
}

KnownAttributes::KnownAttributes(const otlp::Attributes& attributes) {
    const auto& known = table();
    for (const otlp::KeyValue& attribute : attributes)
        if (const auto found = known.find(attribute.key); found != known.end())
            m_values[static_cast<size_t>(found->second)] = &attribute.value;
}

std::string_view KnownAttributes::text(std::initializer_list<Key> keys) const {
    for (const Key key : keys)
        if (const auto* value = get(key))
            if (const auto* text = value->text(); text && !text->empty()) return *text;
    return {};
}

std::optional<double> to_real(const otlp::Value& value) {
    if (const auto* number = value.integer()) return static_cast<double>(*number);
    if (const auto* number = value.real()) return std::isfinite(*number) ? std::optional(*number) : std::nullopt;
    if (const auto* text = value.text()) {
        double number = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
        if (error == std::errc() && end == text->data() + text->size() && std::isfinite(number)) return number;
    }
    return std::nullopt;
}

std::optional<double> KnownAttributes::real(std::initializer_list<Key> keys) const {
    for (const Key key : keys)
        if (const auto* value = get(key))
            if (const auto number = to_real(*value)) return number;
    return std::nullopt;
}

std::optional<int64_t> KnownAttributes::number(std::initializer_list<Key> keys) const {
    const auto number = real(keys);
    if (!number || std::abs(*number) > 1e15) return std::nullopt;
    return static_cast<int64_t>(*number);
}

} // namespace hone::telemetry
