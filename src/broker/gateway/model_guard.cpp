#include "broker/gateway/model_guard.h"

#include "base/text.h"
#include "broker/spending/model_json.h"

#include <algorithm>
#include <optional>

namespace hone::broker {

namespace {

using Names = std::span<const std::string_view>;

bool is_one_of(std::string_view name, Names names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with_any(std::string_view name, Names prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// --- fields that stay between worker and provider -------------------------------------------------------------------

constexpr std::string_view messages_fields[] = {
    "model",         "messages",    "max_tokens",   "system",        "temperature",
    "top_p",         "top_k",       "metadata",     "stream",        "stop_sequences",
    "tools",         "tool_choice", "thinking",     "output_config", "output_format",
    "cache_control", "speed",       "service_tier", "inference_geo", "context_management",
};
constexpr std::string_view chat_fields[] = {
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "n",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "verbosity",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "modalities",
    "audio",
    "prediction",
    "metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
    "store",
    "vl_high_resolution_images",
};
constexpr std::string_view responses_fields[] = {
    "model",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "top_logprobs",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "include",
    "metadata",
    "client_metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
    "truncation",
    "store",
    "background",
    "previous_response_id",
    "conversation",
    "prompt",
    "context_management",
};
constexpr std::string_view gemini_fields[] = {
    "contents",
    "systemInstruction",
    "system_instruction",
    "tools",
    "toolConfig",
    "tool_config",
    "safetySettings",
    "safety_settings",
    "generationConfig",
    "generation_config",
    "model",
    "labels",
    "cachedContent",
    "cached_content",
};

// --- headers ---------------------------------------------------------------------------------------------------------

constexpr std::string_view passed_headers[] = {
    "accept",
    "accept-language",
    "content-type",
    "user-agent",
    "anthropic-version",
    "anthropic-dangerous-direct-browser-access",
    "originator",
    "version",
    "session-id",
    "session_id",
    "thread-id",
    "conversation_id",
    "x-app",
    "x-client-request-id",
    "x-session-id",
    "x-session-affinity",
    "x-goog-api-client",
    "x-dashscope-cachecontrol",
    "x-dashscope-useragent",
    "http-referer",
    "x-title",
};
constexpr std::string_view passed_header_prefixes[] = {"x-stainless-", "x-codex-", "x-claude-", "x-opencode-"};

// Betas of Anthropic's API, without their day. Left out on purpose: files-api, mcp-client, code-execution,
// computer-use, web-search, web-fetch, skills, managed-agents, fast-mode.
constexpr std::string_view known_betas[] = {
    "claude-code",
    "oauth",
    "interleaved-thinking",
    "fine-grained-tool-streaming",
    "token-efficient-tools",
    "prompt-caching",
    "prompt-caching-scope",
    "extended-cache-ttl",
    "token-counting",
    "output-128k",
    "context-1m",
    "context-management",
    "effort",
    "structured-outputs",
    "advanced-tool-use",
    "tool-examples",
    "tool-search-tool",
    "adaptive-thinking",
    "redact-thinking",
    "dev-full-thinking",
    "summarize-connector-text",
    "max-tokens-3-5-sonnet",
    "pdfs",
    "compact",
    "mid-conversation-system",
    "mid-conversation-tool-changes",
    "thinking-display-updates",
    "afk-mode",
    "advisor-tool",
    "thinking-token-count",
    "cache-diagnosis",
};
// Betas that a feature stands for.
struct FeatureBeta {
    std::string_view beta, feature;
};
constexpr FeatureBeta feature_betas[] = {
    {"files-api", "files"},       {"mcp-client", "mcp_servers"},    {"code-execution", "code_execution"},
    {"skills", "code_execution"}, {"computer-use", "computer_use"}, {"web-search", "web_search"},
    {"web-fetch", "web_fetch"},   {"fast-mode", "priority"},
};

// "claude-code-20250219", "context-1m-2025-08-07" without the day at the end.
std::string_view without_day(std::string_view beta) {
    size_t digits = 0, end = beta.size();
    while (end > 0 && digits < 8 && (beta[end - 1] == '-' || (beta[end - 1] >= '0' && beta[end - 1] <= '9'))) {
        if (beta[end - 1] != '-') ++digits;
        --end;
    }
    if (digits != 8 || end == 0 || beta[end - 1] != '-') return beta;
    return beta.substr(0, end - 1);
}

// --- the walk --------------------------------------------------------------------------------------------------------

class Guard {
public:
    explicit Guard(std::span<const std::string> features) : m_features(features) {}

    Result<> check_messages(std::string_view body);
    Result<> check_chat(std::string_view body);
    Result<> check_responses(std::string_view body);
    Result<> check_gemini(std::string_view body);
    const ModelContent& content() const { return m_content; }

    bool has(std::string_view feature) const {
        return std::find(m_features.begin(), m_features.end(), feature) != m_features.end();
    }
    // Lets a thing pass when its feature is allowed.
    Result<> need(std::string_view feature, const std::string& what) const {
        if (has(feature)) return {};
        return forbidden("Hone does not pass on " + what +
                         ": the provider would reach, keep or run something outside of this run. A model skill can "
                         "allow it with ALLOW_FEATURES=" +
                         std::string(feature));
    }
    // The same for what is not known at all.
    Result<> need_known(const std::string& kind, std::string_view name) const {
        const std::string shown(truncate_utf8(name, 80));
        if (has("beta:" + shown)) return {};
        return forbidden("Hone does not know " + kind + " \"" + shown +
                         "\" and does not pass it on. A model skill can allow it with ALLOW_FEATURES=beta:" + shown);
    }

private:
    template <class Call>
    static Result<> each_member(std::string_view object, const char* what, Call call);
    template <class Call>
    static Result<> each_item(std::string_view list, const char* what, Call call);
    static Result<std::string> type_of(std::string_view object, const char* what);
    Result<> check_fields(std::string_view body, Names known);
    Result<> check_store(std::string_view value);
    Result<> check_tier(std::string_view key, std::string_view value) const;
    Result<> check_modalities(std::string_view list) const;
    Result<> check_gemini_config(std::string_view config) const;

    // A text, or a list that `check_one` checks item by item.
    template <class Check>
    Result<> check_text_or(std::string_view content, const char* what, Check check_one);

    Result<> check_block(std::string_view block);
    Result<> check_source(std::string_view source);
    Result<> check_messages_tool(std::string_view tool) const;

    Result<> check_inline_url(std::string_view value, const std::string& what);
    Result<> check_file(std::string_view file);
    Result<> check_chat_part(std::string_view part);
    Result<> check_chat_tool(std::string_view tool) const;

    static bool is_reference(std::string_view item, std::string_view type);
    Result<> check_item(std::string_view item);
    Result<> check_response_part(std::string_view part);
    static Result<bool> is_cached_search(std::string_view tool);
    Result<> check_response_tool(std::string_view tool) const;

    Result<> check_gemini_content(std::string_view content);
    Result<> check_gemini_part(std::string_view part);
    Result<> check_gemini_tool(std::string_view tool) const;

    // Content in content in content: each level is read again, so there are few.
    static constexpr int deepest = 8;
    class Level {
    public:
        explicit Level(const Guard& guard) : m_guard(guard) { ++m_guard.m_depth; }
        ~Level() { --m_guard.m_depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Result<> check() const {
            if (m_guard.m_depth > deepest) return invalid("the request's content is nested too deeply");
            return {};
        }

    private:
        const Guard& m_guard;
    };

    std::span<const std::string> m_features;
    ModelContent m_content;
    mutable int m_depth = 0;
};

template <class Call>
Result<> Guard::each_member(std::string_view object, const char* what, Call call) {
    std::optional<Error> failed;
    const bool is_whole = for_each_member(object, [&](std::string_view key, std::string_view value) {
        auto outcome = call(key, value);
        if (!outcome.ok()) failed = std::move(outcome).error();
        return !failed;
    });
    if (failed) return std::move(*failed);
    if (!is_whole) return invalid(std::string(what) + " is not a JSON object");
    return {};
}

template <class Call>
Result<> Guard::each_item(std::string_view list, const char* what, Call call) {
    std::optional<Error> failed;
    const bool is_whole = for_each_item(list, [&](std::string_view item) {
        auto outcome = call(item);
        if (!outcome.ok()) failed = std::move(outcome).error();
        return !failed;
    });
    if (failed) return std::move(*failed);
    if (!is_whole) return invalid(std::string(what) + " is not a JSON list");
    return {};
}

// The one `type` of an object; empty when it has none. Two, or one in other letters, could be read in two ways.
Result<std::string> Guard::type_of(std::string_view object, const char* what) {
    std::string type;
    int64_t count = 0;
    TRY(each_member(object, what, [&](std::string_view key, std::string_view value) -> Result<> {
        if (!equals_ignoring_case(key, "type")) return {};
        const auto text = text_of(value);
        if (key != "type" || ++count > 1 || !text)
            return invalid(std::string(what) + " does not have one \"type\" that is a text");
        type = *text;
        return {};
    }));
    return type;
}

Result<> Guard::check_fields(std::string_view body, Names known) {
    return each_member(body, "the request", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (key == "mcp_servers") return need("mcp_servers", "remote MCP servers (mcp_servers)");
        if (key == "container") return need("code_execution", "a container of the provider (container)");
        if (key == "web_search_options") return need("web_search", "a search of the provider (web_search_options)");
        if (!is_one_of(key, known)) return need_known("the field", key);
        if (key == "service_tier" || key == "speed") return check_tier(key, value);
        if (key == "store") return check_store(value);
        if (key == "background") return value == "false" ? Result<>() : need("background", "\"background\": true");
        if (key == "previous_response_id" || key == "conversation" || key == "cachedContent" || key == "cached_content")
            return need("stored_state", "a stored conversation (" + std::string(key) + ")");
        if (key == "prompt") return need("files", "a stored prompt (prompt)");
        return {};
    });
}

// Only `false` stores nothing.
Result<> Guard::check_store(std::string_view value) {
    m_content.says_store = true;
    if (value == "false") return {};
    return need("stored_state", "a \"store\" that is not false");
}

// Tiers at the price of the price table, or less.
Result<> Guard::check_tier(std::string_view key, std::string_view value) const {
    static constexpr std::string_view usual[] = {"auto", "default", "flex", "standard", "standard_only", "normal"};
    const auto name = text_of(value);
    if (name && is_one_of(*name, usual)) return {};
    return need("priority", "a faster tier (" + std::string(key) + ")");
}

// Forms of the response: "modalities" of chat, "responseModalities" of Gemini.
Result<> Guard::check_modalities(std::string_view list) const {
    static constexpr std::string_view usual[] = {"text", "audio", "modality_unspecified"};
    return each_item(list, "the modalities", [&](std::string_view item) -> Result<> {
        const auto name = text_of(item);
        if (name && is_one_of(lowercase_ascii(*name), usual)) return {};
        return need("image_generation", "the making of images (modalities)");
    });
}

template <class Check>
Result<> Guard::check_text_or(std::string_view content, const char* what, Check check_one) {
    if (is_text(content) || is_null(content)) return {};
    return each_item(content, what, [&](std::string_view item) -> Result<> {
        if (is_text(item)) return {};
        return check_one(item);
    });
}

// --- Anthropic messages ----------------------------------------------------------------------------------------------

Result<> Guard::check_messages(std::string_view body) {
    TRY(check_fields(body, messages_fields));
    const auto blocks = [this](std::string_view block) { return check_block(block); };
    return each_member(body, "the request", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (key == "system") return check_text_or(value, "system", blocks);
        if (key == "tools")
            return each_item(value, "tools", [&](std::string_view tool) { return check_messages_tool(tool); });
        if (key != "messages") return {};
        return each_item(value, "messages", [&](std::string_view message) {
            return each_member(message, "a message", [&](std::string_view name, std::string_view part) -> Result<> {
                if (equals_ignoring_case(name, "content")) return check_text_or(part, "content", blocks);
                if (name == "role" || name == "cache_control" || name == "id") return {};
                return need_known("the field of a message", name);
            });
        });
    });
}

Result<> Guard::check_block(std::string_view block) {
    const Level level(*this);
    TRY(level.check());
    static constexpr std::string_view plain[] = {"text",
                                                 "tool_use",
                                                 "server_tool_use",
                                                 "thinking",
                                                 "redacted_thinking",
                                                 "tool_reference",
                                                 "tool_search_tool_result",
                                                 "compaction"};
    static constexpr std::string_view holders[] = {"tool_result", "search_result", "mid_conv_system"};
    static constexpr std::string_view of_code[] = {"code_execution_tool_result", "bash_code_execution_tool_result",
                                                   "text_editor_code_execution_tool_result"};
    static constexpr std::string_view media_fields[] = {"type",  "source",  "cache_control",
                                                        "title", "context", "citations"};
    const std::string type = TRY(type_of(block, "a content block"));
    if (is_one_of(type, plain)) return {};
    if (is_one_of(type, holders))
        return each_member(block, "a content block", [&](std::string_view key, std::string_view value) -> Result<> {
            if (!equals_ignoring_case(key, "content")) return {};
            return check_text_or(value, "content", [this](std::string_view inner) { return check_block(inner); });
        });
    if (type == "image" || type == "document") {
        ++(type == "image" ? m_content.images : m_content.documents);
        return each_member(block, "a content block", [&](std::string_view key, std::string_view value) -> Result<> {
            if (!is_one_of(key, media_fields)) return need_known("the field of a content block", key);
            return key == "source" ? check_source(value) : Result<>();
        });
    }
    if (type == "web_search_tool_result") return need("web_search", "results of the provider's web search");
    if (type == "web_fetch_tool_result") return need("web_fetch", "results of the provider's web fetch");
    if (is_one_of(type, of_code)) return need("code_execution", "results of the provider's code execution");
    if (type == "mcp_tool_use" || type == "mcp_tool_result") return need("mcp_servers", "calls of remote MCP servers");
    if (type == "container_upload") return need("files", "a file by its id (container_upload)");
    return need_known("the content block", type);
}

Result<> Guard::check_source(std::string_view source) {
    const std::string type = TRY(type_of(source, "a source"));
    if (type == "url") TRY(need("url_sources", "a source by its address (type url)"));
    if (type == "file") TRY(need("files", "a file by its id (type file)"));
    static constexpr std::string_view known[] = {"base64", "text", "content", "url", "file"};
    if (!is_one_of(type, known)) TRY(need_known("the source", type));
    return each_member(source, "a source", [&](std::string_view key, std::string_view value) -> Result<> {
        static constexpr std::string_view fields[] = {"type", "media_type", "data"};
        if (is_one_of(key, fields)) return {};
        if (equals_ignoring_case(key, "url")) return need("url_sources", "a source by its address (url)");
        if (equals_ignoring_case(key, "file_id")) return need("files", "a file by its id (file_id)");
        if (key == "content")
            return check_text_or(value, "content", [this](std::string_view inner) { return check_block(inner); });
        return need_known("the field of a source", key);
    });
}

Result<> Guard::check_messages_tool(std::string_view tool) const {
    static constexpr std::string_view run_by_worker[] = {"bash_", "text_editor_", "memory_", "tool_search_tool_"};
    const std::string type = TRY(type_of(tool, "a tool"));
    if (type.empty() || type == "custom" || starts_with_any(type, run_by_worker)) return {};
    if (type.starts_with("web_search_")) return need("web_search", "the provider's web search (tool " + type + ")");
    if (type.starts_with("web_fetch_")) return need("web_fetch", "the provider's web fetch (tool " + type + ")");
    if (type.starts_with("computer_")) return need("computer_use", "the provider's computer tool (" + type + ")");
    if (type.starts_with("code_execution_"))
        return need("code_execution", "the provider's code execution (tool " + type + ")");
    if (type.starts_with("mcp_")) return need("mcp_servers", "tools of remote MCP servers (" + type + ")");
    return need_known("the tool", type);
}

// --- OpenAI: what chat and responses share ---------------------------------------------------------------------------

// A text that must be a data: address, or an object with one as `url`.
Result<> Guard::check_inline_url(std::string_view value, const std::string& what) {
    ++m_content.images;
    const auto check_text = [&](std::string_view text) -> Result<> {
        const auto address = text_of(text);
        if (address && address->starts_with("data:")) return {};
        return need("url_sources", what + " by its address");
    };
    if (is_text(value)) return check_text(value);
    return each_member(value, "an image", [&](std::string_view key, std::string_view inner) -> Result<> {
        if (equals_ignoring_case(key, "url")) return check_text(inner);
        if (key == "detail" || key == "format" || key == "min_pixels" || key == "max_pixels") return {};
        if (equals_ignoring_case(key, "file_id")) return need("files", "a file by its id (file_id)");
        return need_known("the field of an image", key);
    });
}

// file_data, file_id, file_url of a part or of an object in it.
Result<> Guard::check_file(std::string_view file) {
    ++m_content.documents;
    return each_member(file, "a file", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value) || key == "type" || key == "filename" || key == "detail") return {};
        if (key == "file_data") {
            const auto data = text_of(value);
            if (data && (data->starts_with("data:") || data->find(':') == data->npos)) return {};
            return need("url_sources", "a file by its address (file_data)");
        }
        if (equals_ignoring_case(key, "file_id")) return need("files", "a file by its id (file_id)");
        if (equals_ignoring_case(key, "file_url")) return need("url_sources", "a file by its address (file_url)");
        return need_known("the field of a file", key);
    });
}

// --- OpenAI chat -----------------------------------------------------------------------------------------------------

Result<> Guard::check_chat(std::string_view body) {
    static constexpr std::string_view fields[] = {"role",
                                                  "name",
                                                  "tool_calls",
                                                  "tool_call_id",
                                                  "function_call",
                                                  "refusal",
                                                  "reasoning",
                                                  "reasoning_content",
                                                  "reasoning_details",
                                                  "reasoning_text",
                                                  "reasoning_opaque",
                                                  "thinking",
                                                  "annotations",
                                                  "cache_control",
                                                  "extra_content",
                                                  "prefix",
                                                  "partial",
                                                  "__copilotMessageSource"};
    TRY(check_fields(body, chat_fields));
    const auto parts = [this](std::string_view part) { return check_chat_part(part); };
    return each_member(body, "the request", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (key == "tools")
            return each_item(value, "tools", [&](std::string_view tool) { return check_chat_tool(tool); });
        if (key == "modalities") return check_modalities(value);
        if (key == "prediction")
            return each_member(value, "prediction", [&](std::string_view name, std::string_view inner) -> Result<> {
                return name == "content" ? check_text_or(inner, "content", parts) : Result<>();
            });
        if (key != "messages") return {};
        return each_item(value, "messages", [&](std::string_view message) {
            return each_member(message, "a message", [&](std::string_view name, std::string_view part) -> Result<> {
                if (equals_ignoring_case(name, "content")) return check_text_or(part, "content", parts);
                if (is_null(part) || is_one_of(name, fields)) return {};
                if (name == "audio") return need("stored_state", "stored audio (audio)");
                return need_known("the field of a message", name);
            });
        });
    });
}

Result<> Guard::check_chat_part(std::string_view part) {
    static constexpr std::string_view plain[] = {"text", "refusal", "thinking", "reasoning"};
    static constexpr std::string_view by_address[] = {"image_url", "video_url", "audio_url"};
    const std::string type = TRY(type_of(part, "a content part"));
    const auto is_known = [&](std::string_view kind) {
        return is_one_of(kind, plain) || is_one_of(kind, by_address) || kind == "input_audio" || kind == "file";
    };
    if (!is_known(type)) return need_known("the content part", type);
    // The content of a part decides, not only its declared type.
    return each_member(part, "a content part", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value) || key == "type" || key == "cache_control" || is_one_of(key, plain) || key == "signature")
            return {};
        if (is_one_of(key, by_address)) return check_inline_url(value, "an image or a recording");
        if (key == "file") return check_file(value);
        if (key == "input_audio")
            return each_member(value, "input_audio", [&](std::string_view name, std::string_view inner) -> Result<> {
                const auto data = text_of(inner);
                if (name == "format" || (name == "data" && data && data->find("://") == data->npos)) return {};
                return need("url_sources", "a recording by its address");
            });
        return need_known("the field of a content part", key);
    });
}

Result<> Guard::check_chat_tool(std::string_view tool) const {
    const std::string type = TRY(type_of(tool, "a tool"));
    if (type == "function" || type == "custom") return {};
    if (type.starts_with("web_search")) return need("web_search", "the provider's web search (tool " + type + ")");
    return need_known("the tool", type);
}

// --- OpenAI responses ------------------------------------------------------------------------------------------------

Result<> Guard::check_responses(std::string_view body) {
    TRY(check_fields(body, responses_fields));
    return each_member(body, "the request", [&](std::string_view key, std::string_view value) -> Result<> {
        if (key == "store") return check_store(value); // null is the provider's default, and that is true
        if (is_null(value)) return {};
        if (key == "tools")
            return each_item(value, "tools", [&](std::string_view tool) { return check_response_tool(tool); });
        if (key == "input" || key == "instructions")
            return check_text_or(value, "input", [this](std::string_view item) { return check_item(item); });
        return {};
    });
}

// An item that has an id and not the content of its kind: the provider takes the rest from what it has stored.
bool Guard::is_reference(std::string_view item, std::string_view type) {
    const auto has = [&](std::string_view key) {
        const auto value = member(item, key);
        return value && !is_null(*value);
    };
    if (type.empty() || type == "message") return !has("role") || !has("content");
    const auto is_empty = [&](std::string_view key) {
        const auto value = member(item, key);
        return !value || is_null(*value) || (is_list(value) && skip_json_space(*value, 1) == value->size() - 1);
    };
    return type == "reasoning" && has("id") && !has("encrypted_content") && is_empty("content") && is_empty("summary");
}

Result<> Guard::check_item(std::string_view item) {
    static constexpr std::string_view plain[] = {
        "function_call",      "custom_tool_call",  "local_shell_call",   "local_shell_call_output",
        "shell_call",         "shell_call_output", "apply_patch_call",   "apply_patch_call_output",
        "reasoning",          "compaction",        "compaction_summary", "compaction_trigger",
        "context_compaction", "ghost_snapshot",    "tool_search_call",   "web_search_call"};
    static constexpr std::string_view holders[] = {"", "message", "function_call_output", "custom_tool_call_output"};
    const std::string type = TRY(type_of(item, "an input item"));
    const auto parts = [this](std::string_view part) { return check_response_part(part); };
    if (is_reference(item, type)) return need("stored_state", "a stored item (an id without its content)");
    if (is_one_of(type, plain)) return {};
    if (is_one_of(type, holders))
        return each_member(item, "an input item", [&](std::string_view key, std::string_view value) -> Result<> {
            const bool holds = equals_ignoring_case(key, "content") || equals_ignoring_case(key, "output");
            return holds ? check_text_or(value, "content", parts) : Result<>();
        });
    if (type == "tool_search_output")
        return each_member(item, "an input item", [&](std::string_view key, std::string_view value) -> Result<> {
            if (key != "tools") return {};
            return each_item(value, "tools", [&](std::string_view tool) { return check_response_tool(tool); });
        });
    if (type == "item_reference") return need("stored_state", "a stored item (item_reference)");
    if (type.starts_with("mcp_")) return need("mcp_servers", "calls of remote MCP servers (" + type + ")");
    if (type.starts_with("computer_")) return need("computer_use", "calls of the computer tool (" + type + ")");
    if (type == "code_interpreter_call") return need("code_execution", "calls of the provider's code execution");
    if (type == "file_search_call") return need("files", "searches in stored files");
    if (type == "image_generation_call") return need("image_generation", "images that the provider made");
    return need_known("the input item", type);
}

Result<> Guard::check_response_part(std::string_view part) {
    static constexpr std::string_view plain[] = {"input_text",   "output_text",    "text",        "refusal",
                                                 "summary_text", "reasoning_text", "input_audio", "encrypted_content"};
    const std::string type = TRY(type_of(part, "a content part"));
    if (type == "input_file") return check_file(part);
    if (type != "input_image" && type != "computer_screenshot" && !is_one_of(type, plain))
        return need_known("the content part", type);
    return each_member(part, "a content part", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (equals_ignoring_case(key, "image_url")) return check_inline_url(value, "an image");
        if (equals_ignoring_case(key, "file_id")) return need("files", "a file by its id (file_id)");
        if (equals_ignoring_case(key, "file_url")) return need("url_sources", "a file by its address (file_url)");
        return {};
    });
}

// A search in the provider's own index reaches no other server. Only the tool `web_search` reads external_web_access:
// its previews ignore the field. A field that is not listed here could turn the access on again.
Result<bool> Guard::is_cached_search(std::string_view tool) {
    static constexpr std::string_view fields[] = {"type", "filters", "user_location", "search_context_size",
                                                  "search_content_types"};
    int64_t denials = 0;
    bool is_known = true;
    TRY(each_member(tool, "a tool", [&](std::string_view key, std::string_view value) -> Result<> {
        if (key == "external_web_access" && value == "false")
            ++denials;
        else
            is_known &= is_one_of(key, fields);
        return {};
    }));
    return is_known && denials == 1;
}

Result<> Guard::check_response_tool(std::string_view tool) const {
    const Level level(*this);
    TRY(level.check());
    static constexpr std::string_view run_by_worker[] = {"function", "custom", "local_shell", "apply_patch",
                                                         "tool_search"};
    const std::string type = TRY(type_of(tool, "a tool"));
    if (is_one_of(type, run_by_worker)) return {};
    if (type == "namespace")
        return each_member(tool, "a namespace", [&](std::string_view key, std::string_view value) -> Result<> {
            if (!equals_ignoring_case(key, "tools")) return {};
            return each_item(value, "tools", [&](std::string_view inner) { return check_response_tool(inner); });
        });
    if (type == "web_search" && TRY(is_cached_search(tool))) return {};
    if (type.starts_with("web_search")) return need("web_search", "the provider's web search (tool " + type + ")");
    if (type == "shell") {
        bool is_local = false;
        TRY(each_member(tool, "a tool", [&](std::string_view key, std::string_view value) -> Result<> {
            if (key != "environment") return {};
            is_local = TRY(type_of(value, "an environment")) == "local";
            return is_local ? Result<>() : need("code_execution", "a shell of the provider");
        }));
        return is_local ? Result<>() : need("code_execution", "a shell of the provider");
    }
    if (type == "mcp") return need("mcp_servers", "remote MCP servers (tool mcp)");
    if (type == "file_search") return need("files", "searches in stored files (tool file_search)");
    if (type == "code_interpreter")
        return need("code_execution", "the provider's code execution (tool code_interpreter)");
    if (type == "image_generation") return need("image_generation", "the making of images (tool image_generation)");
    if (type.starts_with("computer")) return need("computer_use", "the provider's computer tool (" + type + ")");
    return need_known("the tool", type);
}

// --- Gemini ----------------------------------------------------------------------------------------------------------

Result<> Guard::check_gemini(std::string_view body) {
    TRY(check_fields(body, gemini_fields));
    return each_member(body, "the request", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (key == "systemInstruction" || key == "system_instruction")
            return is_text(value) ? Result<>() : check_gemini_content(value);
        if (key == "contents" && value.starts_with('{')) return check_gemini_content(value);
        if (key == "contents")
            return each_item(value, "contents",
                             [&](std::string_view content) { return check_gemini_content(content); });
        if (key == "generationConfig" || key == "generation_config") return check_gemini_config(value);
        if (key == "tools" && value.starts_with('{')) return check_gemini_tool(value);
        if (key == "tools")
            return each_item(value, "tools", [&](std::string_view tool) { return check_gemini_tool(tool); });
        return {};
    });
}

Result<> Guard::check_gemini_config(std::string_view config) const {
    return each_member(config, "generationConfig", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value)) return {};
        if (key == "imageConfig" || key == "image_config")
            return need("image_generation", "the making of images (imageConfig)");
        if (key != "responseModalities" && key != "response_modalities") return {};
        // The provider takes one value in place of a list of one.
        return is_list(value) ? check_modalities(value) : check_modalities("[" + std::string(value) + "]");
    });
}

Result<> Guard::check_gemini_content(std::string_view content) {
    return each_member(content, "a content", [&](std::string_view key, std::string_view value) -> Result<> {
        if (key == "role" || is_null(value)) return {};
        if (key != "parts") return need_known("the field of a content", key);
        if (value.starts_with('{')) return check_gemini_part(value);
        return each_item(value, "parts", [&](std::string_view part) { return check_gemini_part(part); });
    });
}

Result<> Guard::check_gemini_part(std::string_view part) {
    const Level level(*this);
    TRY(level.check());
    static constexpr std::string_view plain[] = {
        "text",          "thought",        "thoughtSignature", "thought_signature", "functionCall", "function_call",
        "videoMetadata", "video_metadata", "mediaResolution",  "media_resolution",  "partMetadata", "part_metadata"};
    if (is_text(part)) return {};
    return each_member(part, "a part", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value) || is_one_of(key, plain)) return {};
        if (key == "inlineData" || key == "inline_data") {
            ++m_content.documents;
            return {};
        }
        if (key == "fileData" || key == "file_data") return need("url_sources", "a file by its address (fileData)");
        if (key == "functionResponse" || key == "function_response")
            return each_member(value, "a function's response", [&](std::string_view name, std::string_view inner) {
                if (name != "parts") return Result<>();
                return each_item(inner, "parts", [&](std::string_view each) { return check_gemini_part(each); });
            });
        if (key == "executableCode" || key == "executable_code" || key == "codeExecutionResult" ||
            key == "code_execution_result")
            return need("code_execution", "the provider's code execution (" + std::string(key) + ")");
        return need_known("the field of a part", key);
    });
}

Result<> Guard::check_gemini_tool(std::string_view tool) const {
    return each_member(tool, "a tool", [&](std::string_view key, std::string_view value) -> Result<> {
        if (is_null(value) || key == "functionDeclarations" || key == "function_declarations") return {};
        const std::string what = "the provider's tool " + std::string(truncate_utf8(key, 80));
        if (key == "googleSearch" || key == "google_search" || key == "googleSearchRetrieval" ||
            key == "google_search_retrieval" || key == "googleMaps" || key == "google_maps")
            return need("web_search", what);
        if (key == "urlContext" || key == "url_context") return need("web_fetch", what);
        if (key == "codeExecution" || key == "code_execution") return need("code_execution", what);
        if (key == "computerUse" || key == "computer_use") return need("computer_use", what);
        if (key == "fileSearch" || key == "file_search" || key == "retrieval") return need("files", what);
        if (key == "mcpServers" || key == "mcp_servers") return need("mcp_servers", what);
        return need_known("the tool", key);
    });
}

} // namespace

Result<ModelContent> check_model_request(ModelApi api, std::string_view body, std::span<const std::string> features) {
    Guard guard(features);
    switch (api) {
    case ModelApi::messages:
        TRY(guard.check_messages(body));
        break;
    case ModelApi::chat:
        TRY(guard.check_chat(body));
        break;
    case ModelApi::responses:
        TRY(guard.check_responses(body));
        break;
    case ModelApi::gemini:
        TRY(guard.check_gemini(body));
        break;
    }
    return guard.content();
}

// Providers name these models by what they do ("gpt-4o-search-preview", "vendor/model:online", "groq/compound-mini",
// "sonar-pro", "o3-deep-research"), and "@preset/…" names settings of an account that can search too.
bool searches_by_itself(std::string_view model) {
    static constexpr std::string_view words[] = {"search", "online",       "sonar",      "compound", "research",
                                                 "exa",    "deepresearch", "deepsearch", "browsing", "websearch"};
    const std::string name = lowercase_ascii(model);
    if (name.find("@preset/") != name.npos) return true;
    std::string word;
    for (const char c : name + "-") {
        const bool is_letter = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
        if (is_letter) {
            word += c;
        } else {
            if (is_one_of(word, words)) return true;
            word.clear();
        }
    }
    return false;
}

Result<> check_model_name(std::string_view model, std::span<const std::string> features) {
    if (!searches_by_itself(model)) return {};
    return Guard(features).need("web_search", "calls of the model " + std::string(truncate_utf8(model, 80)) +
                                                  ", which searches the web by itself");
}

Result<std::vector<Header>> model_headers(const std::vector<Header>& headers, std::span<const std::string> features) {
    const Guard guard(features);
    std::vector<Header> passed;
    for (const Header& header : headers) {
        const std::string name = lowercase_ascii(header.name);
        if (name == "anthropic-beta") {
            for (const std::string_view part : split(header.value, ',')) {
                const std::string_view beta = trim(part);
                const std::string_view kind = without_day(beta);
                if (beta.empty() || is_one_of(kind, known_betas) || guard.has("beta:" + std::string(beta))) continue;
                const auto feature = std::find_if(std::begin(feature_betas), std::end(feature_betas),
                                                  [&](const FeatureBeta& each) { return each.beta == kind; });
                if (feature != std::end(feature_betas))
                    TRY(guard.need(feature->feature, "the beta " + std::string(beta)));
                else
                    TRY(guard.need_known("the beta", beta));
            }
        } else if (name == "openai-beta") {
            for (const std::string_view part : split(header.value, ','))
                if (const std::string_view beta = trim(part); !beta.empty() && !beta.starts_with("responses"))
                    TRY(guard.need_known("the beta", beta.substr(0, beta.find('='))));
        } else if (!is_one_of(name, passed_headers) && !starts_with_any(name, passed_header_prefixes)) {
            continue;
        }
        passed.push_back(header);
    }
    return passed;
}

} // namespace hone::broker
