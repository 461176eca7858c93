#include "telemetry/doctor/attribute_names.h"

#include "telemetry/span/convention.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace hone::telemetry {

namespace {

struct KeySpace {
    std::string_view prefix;
    const Convention& convention;
    bool is_read; // numbered lists are read as a whole
};

// The first that matches counts.
const KeySpace key_spaces[] = {
    {"llm.input_messages.", openinference_convention, true},
    {"llm.output_messages.", openinference_convention, true},
    {"llm.tools.", openinference_convention, true},
    {"retrieval.documents.", openinference_convention, true},
    {"reranker.", openinference_convention, true},
    {"embedding.", openinference_convention, true},
    {"openinference.", openinference_convention, false},
    {"llm.token_count.", openinference_convention, false},
    {"llm.cost.", openinference_convention, false},
    {"gen_ai.prompt", traceloop_convention, true},
    {"gen_ai.completion", traceloop_convention, true},
    {"llm.request.", traceloop_convention, false},
    {"llm.usage.", traceloop_convention, false},
    {"traceloop.", traceloop_convention, false},
    {"langfuse.", langfuse_convention, false},
    {"langsmith.", langsmith_convention, false},
    {"mastra.", mastra_convention, false},
    {"genkit:", genkit_convention, false},
    {"gcp.vertex.agent.", google_adk_convention, false},
    {"pydantic_ai.", pydantic_ai_convention, false},
    {"logfire.", logfire_convention, false},
    {"haystack.", haystack_convention, false},
    {"spring.ai.", spring_ai_convention, false},
    {"event_loop.", strands_convention, false},
    {"openlit.", openlit_convention, false},
    {"litellm.", litellm_convention, false},
    {"metadata.", litellm_convention, false},
    {"mlflow.", mlflow_convention, false},
    {"ai.", vercel_convention, false},
    {"gen_ai.", genai_convention, false},
    {"llm.", openinference_convention, false},
};

// OpenTelemetry's own namespaces for everything but models.
constexpr std::string_view general_spaces[] = {
    "http.",      "url.",         "net.",        "network.",    "server.",  "client.", "db.",      "rpc.",
    "messaging.", "faas.",        "cloud.",      "k8s.",        "host.",    "os.",     "process.", "code.",
    "thread.",    "exception.",   "error.",      "telemetry.",  "service.", "otel.",   "graphql.", "peer.",
    "aws.",       "azure.",       "user_agent.", "user.",       "enduser.", "event.",  "log.",     "feature_flag.",
    "next.",      "tls.",         "container.",  "deployment.", "browser.", "device.", "file.",    "geo.",
    "source.",    "destination.", "dns.",        "session.",    "mcp.",
};

// Words that a key about a model call contains.
constexpr std::string_view model_words[] = {
    "llm",         "genai",     "model",  "models",    "prompt",     "prompts",   "completion",
    "completions", "token",     "tokens", "embedding", "embeddings", "retrieval", "retriever",
    "reranker",    "rerank",    "agent",  "agents",    "tool",       "tools",     "toolcall",
    "temperature", "finish",    "usage",  "messages",  "assistant",  "chat",      "conversation",
    "openai",      "anthropic", "gemini", "reasoning", "generation", "inference",
};

bool is_model_word(std::string_view word) {
    return std::find(std::begin(model_words), std::end(model_words), word) != std::end(model_words);
}

// "myframework.promptTokens" has the words myframework, prompt, tokens.
bool has_model_word(std::string_view key) {
    std::string word;
    char before = 0;
    for (const char letter : key) {
        const bool is_letter = std::isalnum(static_cast<unsigned char>(letter)) != 0;
        const bool begins = std::isupper(static_cast<unsigned char>(letter)) != 0 &&
                            std::islower(static_cast<unsigned char>(before)) != 0;
        if (!is_letter || begins) {
            if (is_model_word(word)) return true;
            word.clear();
        }
        if (is_letter) word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        before = letter;
    }
    return is_model_word(word);
}

// Keys that frameworks share say nothing about which convention sent them.
bool is_shared(std::string_view key) {
    return key.find_first_of(".:") == std::string_view::npos || key.starts_with("session.") ||
           key.starts_with("user.") || key.starts_with("input.") || key.starts_with("output.") ||
           key.starts_with("tool.") || key.starts_with("tag.") || key.starts_with("usage.");
}

} // namespace

KeyMeaning meaning_of_key(std::string_view key) {
    const Convention* convention = nullptr;
    bool is_read = false;
    for (const KeySpace& space : key_spaces)
        if (key.starts_with(space.prefix)) {
            convention = &space.convention;
            is_read = space.is_read;
            break;
        }
    if (const Convention* named = convention_of_key(key)) {
        is_read = true;
        if (convention == nullptr) convention = named;
    }
    if (!metadata_name(key).empty()) is_read = true;
    if (convention != nullptr) {
        if (convention == &general_convention) return {KeyUse::general, {}};
        const bool is_nameless = is_shared(key);
        return {is_read ? KeyUse::read : KeyUse::kept, is_nameless ? std::string_view() : convention->name};
    }
    for (const std::string_view space : general_spaces)
        if (key.starts_with(space)) return {};
    return {has_model_word(key) ? KeyUse::unknown : KeyUse::general, {}};
}

} // namespace hone::telemetry
