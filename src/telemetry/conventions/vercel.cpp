// Vercel's AI SDK 5 to 7. Each model call (ai.generateText.doGenerate) is in a span that repeats its usage
// (ai.generateText). Version 7 uses GenAI's keys and adds its own for settings and details of usage.
#include "telemetry/span/convention.h"
#include "telemetry/span/usage_json.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey vercel_keys[] = {
    {"ai.operationId", Fact::own},
    {"ai.response.model", Fact::model},
    {"ai.model.id", Fact::model},
    {"ai.model.provider", Fact::provider},
    {"ai.prompt.messages", Fact::input},
    {"ai.prompt.messages", Fact::input_messages},
    {"ai.prompt", Fact::input},
    {"ai.prompt", Fact::input_messages},
    {"ai.prompt.tools", Fact::tools},
    {"ai.toolCall.args", Fact::input},
    {"ai.value", Fact::input},
    {"ai.values", Fact::input},
    {"ai.query", Fact::input},
    {"ai.ranking", Fact::output},
    {"ai.response.text", Fact::output},
    {"ai.response.object", Fact::output},
    {"ai.response.toolCalls", Fact::output},
    {"ai.response.reasoning", Fact::own},
    {"ai.toolCall.result", Fact::output},
    {"ai.response.finishReason", Fact::finish_reason},
    {"ai.response.id", Fact::response_id},
    {"ai.response.providerMetadata", Fact::own},
    {"ai.response.msToFirstChunk", Fact::first_token_milliseconds},
    {"ai.usage.inputTokens", Fact::input_tokens},
    {"ai.usage.promptTokens", Fact::input_tokens},
    {"ai.usage.tokens", Fact::input_tokens},
    {"ai.usage.outputTokens", Fact::output_tokens},
    {"ai.usage.completionTokens", Fact::output_tokens},
    {"ai.usage.totalTokens", Fact::total_tokens},
    {"ai.usage.inputTokenDetails.noCacheTokens", Fact::own},
    {"ai.usage.inputTokenDetails.cacheReadTokens", Fact::cache_read_tokens},
    {"ai.usage.cachedInputTokens", Fact::cache_read_tokens},
    {"ai.usage.inputTokenDetails.cacheWriteTokens", Fact::cache_write_tokens},
    {"ai.usage.outputTokenDetails.reasoningTokens", Fact::reasoning_tokens},
    {"ai.usage.reasoningTokens", Fact::reasoning_tokens},
    {"ai.toolCall.name", Fact::tool_name},
    {"ai.telemetry.metadata.userId", Fact::user},
    {"ai.telemetry.metadata.user_id", Fact::user},
    {"ai.settings.context.userId", Fact::user},
    {"ai.settings.context.user_id", Fact::user},
    {"ai.telemetry.metadata.sessionId", Fact::session},
    {"ai.telemetry.metadata.session_id", Fact::session},
    {"ai.settings.context.sessionId", Fact::session},
    {"ai.settings.context.session_id", Fact::session},
    {"ai.telemetry.metadata.tags", Fact::tags},
};

SpanKind kind_of_vercel(std::string_view operation) {
    if (operation == "ai.toolCall") return SpanKind::tool;
    if (operation.ends_with(".doEmbed")) return SpanKind::embedding;
    if (operation.ends_with(".doRerank")) return SpanKind::reranker;
    if (operation.find(".do") != std::string_view::npos) return SpanKind::llm;
    return operation.starts_with("ai.") ? SpanKind::chain : SpanKind::unknown;
}

void complete_vercel(const KnownAttributes& known, Draft& draft) {
    const std::string_view operation = known.text_of("ai.operationId");
    if (!known.get("openinference.span.kind"))
        if (const SpanKind kind = kind_of_vercel(operation); kind != SpanKind::unknown) draft.span.kind = kind;
    if (known.get("ai.usage.inputTokenDetails.noCacheTokens") || draft.span.kind != SpanKind::llm) return;
    // Version 5 leaves Anthropic's caches out of its own counts.
    if (const auto json = known.text_of("ai.response.providerMetadata");
        json.find("\"anthropic\":") != std::string_view::npos) {
        ReportedUsage usage = read_usage_json(AttributeJson(json), "/anthropic/usage");
        if (!has_counts(usage)) return;
        usage.separate = true;
        draft.usage = usage;
    }
}

} // namespace

const Convention vercel_convention{
    "Vercel AI SDK", vercel_keys, complete_vercel, {}, {"ai.telemetry.metadata.", "ai.settings.context."}};

} // namespace hone::telemetry
