#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

ReportedUsage read_usage_json(const AttributeJson& json, std::string_view under) {
    ReportedUsage usage;
    usage.input = json.whole({"/input", "/input_tokens", "/prompt_tokens", "/inputTokens", "/promptTokens",
                              "/prompt_token_count", "/promptTokenCount"},
                             under);
    usage.output = json.whole({"/output", "/output_tokens", "/completion_tokens", "/outputTokens", "/completionTokens",
                               "/candidates_token_count", "/candidatesTokenCount"},
                              under);
    usage.total =
        json.whole({"/total", "/total_tokens", "/totalTokens", "/total_token_count", "/totalTokenCount"}, under);
    // OpenAI's and LangChain's details and Gemini's counts lie inside the input count.
    usage.cache_read = json.whole({"/prompt_tokens_details/cached_tokens", "/input_tokens_details/cached_tokens",
                                   "/input_token_details/cache_read", "/inputTokenDetails/cacheReadTokens",
                                   "/cached_content_token_count", "/cachedContentTokenCount", "/cachedInputTokens",
                                   "/cachedContentTokens", "/cached_tokens", "/cachedTokens"},
                                  under);
    usage.cache_write =
        json.whole({"/input_token_details/cache_creation", "/inputTokenDetails/cacheWriteTokens"}, under);
    usage.reasoning =
        json.whole({"/completion_tokens_details/reasoning_tokens", "/output_tokens_details/reasoning_tokens",
                    "/output_token_details/reasoning", "/outputTokenDetails/reasoningTokens", "/thoughts_token_count",
                    "/thoughtsTokenCount", "/thoughtsTokens", "/reasoningTokens", "/reasoning_tokens"},
                   under);
    // Langfuse's buckets and Anthropic's counts are beside it, unless a total shows otherwise.
    const auto beside_read =
        json.whole({"/cache_read_input_tokens", "/input_cached_tokens", "/input_cache_read"}, under);
    const auto beside_write = json.whole({"/cache_creation_input_tokens", "/input_cache_creation"}, under);
    const auto beside_reasoning = json.whole({"/output_reasoning_tokens", "/output_reasoning"}, under);
    if ((!usage.cache_read && beside_read) || (!usage.cache_write && beside_write) ||
        (!usage.reasoning && beside_reasoning))
        usage.separate = true;
    if (!usage.cache_read) usage.cache_read = beside_read;
    if (!usage.cache_write) usage.cache_write = beside_write;
    if (!usage.reasoning) usage.reasoning = beside_reasoning;
    return usage;
}

} // namespace hone::telemetry
