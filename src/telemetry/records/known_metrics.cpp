#include "telemetry/records/known_metrics.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

// What the names of such metrics begin with.
constexpr std::string_view metric_prefixes[] = {
    "gen_ai.",      // OpenTelemetry's GenAI conventions; LiteLLM, Pydantic AI, Traceloop
    "llm.",         // older OpenLLMetry
    "claude_code.", // Claude Code
    "gemini_cli.",  // Gemini CLI
    "codex.",       // Codex
    "qwen-code.",   // Qwen Code
    "ai.",          // Vercel AI SDK and what builds on it
    "genkit/",      // Genkit
    "mcp.",         // MCP servers and clients
    "operation.cost",
};

struct UseByWord {
    std::string_view word; // part of the name
    MetricUse use;
};
// The first that matches counts: "time_to_first_token" is a latency, "token.cost" a cost.
constexpr UseByWord use_words[] = {
    {"cost", MetricUse::cost},       {"duration", MetricUse::latency}, {"latency", MetricUse::latency},
    {"time_to", MetricUse::latency}, {"time_per", MetricUse::latency}, {"ttft", MetricUse::latency},
    {"token", MetricUse::tokens},
};

} // namespace

std::optional<MetricUse> metric_use(std::string_view name) {
    const bool is_known = std::any_of(std::begin(metric_prefixes), std::end(metric_prefixes),
                                      [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!is_known) return std::nullopt;
    for (const UseByWord& use : use_words)
        if (name.find(use.word) != std::string_view::npos) return use.use;
    return MetricUse::usage;
}

} // namespace hone::telemetry
