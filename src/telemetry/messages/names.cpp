#include "telemetry/messages/names.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace hone::telemetry {

namespace {

struct Alias {
    std::string_view word; // lower case
    std::string_view name;
};

// By the start of the word.
constexpr Alias provider_starts[] = {
    {"gcp", "google"},  {"google", "google"},   {"gemini", "google"}, {"vertex", "google"},
    {"azure", "azure"}, {"az.", "azure"},       {"aws", "aws"},       {"bedrock", "aws"},
    {"amazon", "aws"},  {"mistral", "mistral"}, {"x_ai", "xai"},
};
constexpr std::string_view no_providers[] = {"langchain",
                                             "langgraph",
                                             "autogen",
                                             "llama_index",
                                             "llamaindex",
                                             "crewai",
                                             "litellm",
                                             "_other",
                                             "unknown",
                                             "vercel-ai-sdk",
                                             "spring_ai",
                                             "haystack",
                                             "agno",
                                             "smolagents",
                                             "strands-agents",
                                             "strands",
                                             "microsoft.agent_framework"};
constexpr Alias model_starts[] = {
    {"gpt-", "openai"},
    {"o1", "openai"},
    {"o3", "openai"},
    {"o4", "openai"},
    {"chatgpt", "openai"},
    {"text-embedding-3", "openai"},
    {"text-embedding-ada", "openai"},
    {"claude", "anthropic"},
    {"gemini", "google"},
    {"gemma", "google"},
    {"grok", "xai"},
    {"mistral", "mistral"},
    {"ministral", "mistral"},
    {"codestral", "mistral"},
    {"command-r", "cohere"},
    {"deepseek", "deepseek"},
};
constexpr Alias finish_reasons[] = {
    {"stop", "stop"},
    {"end_turn", "stop"},
    {"stop_sequence", "stop"},
    {"completed", "stop"},
    {"complete", "stop"},
    {"eos", "stop"},
    {"eos_token", "stop"},
    {"length", "length"},
    {"max_tokens", "length"},
    {"max_output_tokens", "length"},
    {"max_completion_tokens", "length"},
    {"model_length", "length"},
    {"incomplete", "length"},
    {"tool_calls", "tool_calls"},
    {"tool-calls", "tool_calls"},
    {"tool_call", "tool_calls"},
    {"tool_use", "tool_calls"},
    {"function_call", "tool_calls"},
    {"content_filter", "content_filter"},
    {"content-filter", "content_filter"},
    {"content_filtered", "content_filter"},
    {"recitation", "content_filter"},
    {"blocklist", "content_filter"},
    {"spii", "content_filter"},
    {"safety", "content_filter"},
    {"blocked", "content_filter"},
    {"refusal", "content_filter"},
    {"guardrail_intervened", "content_filter"},
    {"prohibited_content", "content_filter"},
    {"error", "error"},
    {"malformed_function_call", "error"},
};
constexpr Alias roles[] = {
    {"human", "user"},
    {"humanmessage", "user"},
    {"humanmessagechunk", "user"},
    {"ai", "assistant"},
    {"aimessage", "assistant"},
    {"aimessagechunk", "assistant"},
    {"model", "assistant"},
    {"tool-call", "assistant"},
    {"messagerole.assistant", "assistant"},
    {"function", "tool"},
    {"tool-response", "tool"},
    {"toolmessage", "tool"},
    {"functionmessage", "tool"},
    {"toolmessagechunk", "tool"},
    {"tool_result", "tool"},
    {"developer", "system"},
    {"systemmessage", "system"},
    {"systemmessagechunk", "system"},
    {"messagerole.user", "user"},
    {"messagerole.system", "system"},
    {"messagerole.tool", "tool"},
    {"messagerole.tool_call", "assistant"},
    {"messagerole.tool_response", "tool"},
};

template <size_t size>
std::string_view find_alias(const Alias (&aliases)[size], std::string_view word) {
    for (const Alias& alias : aliases)
        if (equals_ignoring_case(word, alias.word)) return alias.name;
    return {};
}

template <size_t size>
std::string_view find_start(const Alias (&aliases)[size], std::string_view word) {
    for (const Alias& alias : aliases)
        if (word.starts_with(alias.word)) return alias.name;
    return {};
}

// A name of a type as programs write it: letters, digits, dots and underscores, with a capital letter in it.
std::string_view leading_type(std::string_view text) {
    size_t end = 0;
    size_t capitals = 0;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '.'))
        capitals += std::isupper(static_cast<unsigned char>(text[end++])) ? 1 : 0;
    if (end < 4 || end > 100 || end == text.size() || text[end] != ':' || capitals == 0) return {};
    const std::string_view name = text.substr(0, end);
    const bool is_type = name.ends_with("Error") || name.ends_with("Exception") || capitals >= 2;
    const bool is_shouted = std::all_of(name.begin(), name.end(), [](char letter) { // RESOURCE_EXHAUSTED: a code
        return std::isupper(static_cast<unsigned char>(letter)) || letter == '_';
    });
    return is_type && !is_shouted ? name : std::string_view();
}

std::string_view quoted_after(std::string_view text, std::string_view key) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, std::min(rest.find_first_of("\"'"), rest.size()));
}

std::string_view leading_status(std::string_view text) {
    for (const std::string_view start : {"Error code: ", "Error: ", "status_code: ", "status code: "})
        if (text.starts_with(start)) text.remove_prefix(start.size());
    if (text.size() < 4 || (text[0] != '4' && text[0] != '5')) return {};
    const bool is_number = std::isdigit(static_cast<unsigned char>(text[1])) &&
                           std::isdigit(static_cast<unsigned char>(text[2])) &&
                           !std::isalnum(static_cast<unsigned char>(text[3]));
    return is_number ? text.substr(0, 3) : std::string_view();
}

} // namespace

std::string_view without_quotes(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
    const std::string_view inner = text.substr(1, text.size() - 2);
    return inner.find_first_of("\"\\") == std::string_view::npos ? inner : text;
}

std::string provider_name(std::string_view provider) {
    const std::string word = lowercase_ascii(provider);
    if (const auto name = find_start(provider_starts, word); !name.empty()) return std::string(name);
    std::string name = word.substr(0, word.find('.'));
    for (const std::string_view none : no_providers)
        if (name == none || word == none) return {};
    return name;
}

std::string_view provider_of_model(std::string_view model) {
    return find_start(model_starts, model);
}

std::string_view finish_reason_name(std::string_view reason) {
    constexpr std::string_view enumeration = "FinishReason."; // as Python prints Gemini's
    while (reason.starts_with(enumeration)) reason.remove_prefix(enumeration.size());
    const std::string_view name = find_alias(finish_reasons, reason);
    return name.empty() ? reason : name;
}

std::string role_name(std::string_view role) {
    const std::string_view name = find_alias(roles, role);
    return std::string(name.empty() ? role : name);
}

bool is_vague_error(std::string_view type) {
    return type.empty() || type == "Error" || type == "Exception" || type == "unknown" || type == "_OTHER" ||
           type == "error" || type == "builtins.Exception";
}

std::string_view without_stack(std::string_view message) {
    const size_t stack = message.find("\n    at ");
    if (stack == std::string_view::npos) return message;
    std::string_view text = message.substr(0, stack);
    // "text\n\nName: text" repeats itself before the stack.
    if (const size_t repeated = text.rfind("\n\n"); repeated != std::string_view::npos && repeated > 0)
        text = text.substr(0, repeated);
    return trim(text);
}

std::string_view model_in_error(std::string_view message) {
    for (const std::string_view start : {"reached for model `", "reached for ", "The model `", "model: "}) {
        const size_t at = message.find(start);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = message.substr(at + start.size());
        const std::string_view word = rest.substr(0, std::min(rest.find_first_of(" `,\"'\n"), rest.size()));
        if (word.size() <= 100 && !provider_of_model(word).empty()) return word;
    }
    return {};
}

std::string error_type_of(std::string_view message) {
    // Outer wrappers quote what happened inside: {"error":"ModelRefusalError: …"}.
    for (const std::string_view quote : {"\"error\":\"", "\"error\": \"", "'error': '"})
        if (const size_t at = message.find(quote); at != std::string_view::npos) {
            const std::string_view inner = message.substr(at + quote.size());
            if (const auto name = leading_type(inner); !is_vague_error(name)) return std::string(name);
            if (const auto status = leading_status(inner); !status.empty()) return std::string(status);
        }
    for (size_t line = 0; line < message.size();) {
        if (const auto name = leading_type(message.substr(line)); !is_vague_error(name)) return std::string(name);
        const size_t end = message.find('\n', line);
        if (end == std::string_view::npos) break;
        line = end + 1;
    }
    // {"type":"error","error":{"type":"rate_limit_error",…}}
    for (const std::string_view key : {"\"error\":{\"type\":\"", "\"error\": {\"type\": \"", "'error': {'type': '"})
        if (const auto name = quoted_after(message, key); !name.empty() && name.size() <= 100) return std::string(name);
    return std::string(leading_status(message));
}

} // namespace hone::telemetry
