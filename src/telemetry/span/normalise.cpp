#include "telemetry/span/normalise.h"

#include "base/text.h"
#include "base/time.h"
#include "otlp/attribute_text.h"
#include "telemetry/messages/message_json.h"
#include "telemetry/messages/names.h"
#include "telemetry/span/attribute_json.h"
#include "telemetry/span/convention.h"
#include "telemetry/span/conversation.h"
#include "telemetry/span/usage.h"

#include <algorithm>
#include <cmath>

namespace hone::telemetry {

namespace {

constexpr size_t most_metadata = 64;
constexpr size_t longest_metadata = 256;

std::string_view resource_text(const otlp::Resource& resource, std::string_view key) {
    const otlp::Value* value = otlp::find(resource.attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

SpanKind stated_kind(const KnownAttributes& known) {
    SpanKind kind = SpanKind::unknown;
    known.any(Fact::kind, [&](std::string_view, const otlp::Value& value) {
        if (const auto* text = value.text()) kind = kind_of_name(without_quotes(*text));
        return kind != SpanKind::unknown;
    });
    return kind;
}

// A text, the first of a list, or the first of a list that was sent as JSON text.
std::string_view stated_finish_reason(const KnownAttributes& known, otlp::Batch& batch) {
    std::string_view reason;
    known.any(Fact::finish_reason, [&](std::string_view, const otlp::Value& value) {
        if (const auto* list = value.list(); list && !list->empty() && list->front().text())
            reason = *list->front().text();
        if (const auto* text = value.text()) reason = without_quotes(*text);
        if (reason.starts_with('[')) reason = batch.keep(AttributeJson(reason).text({"/0"}));
        return !reason.empty();
    });
    return reason;
}

void read_usage(const KnownAttributes& known, Draft& draft) {
    ReportedUsage& usage = draft.usage;
    usage.input = known.number(Fact::input_tokens);
    usage.output = known.number(Fact::output_tokens);
    usage.total = known.number(Fact::total_tokens);
    usage.cache_read = known.number(Fact::cache_read_tokens);
    usage.cache_write = known.number(Fact::cache_write_tokens);
    usage.reasoning = known.number(Fact::reasoning_tokens);
    draft.cost = known.real(Fact::cost);
    const auto input = known.real(Fact::input_cost), output = known.real(Fact::output_cost);
    if (!draft.cost && (input || output)) draft.cost = input.value_or(0) + output.value_or(0);
}

void read_first_token(const KnownAttributes& known, Draft& draft) {
    double ns = 0;
    if (const auto seconds = known.real(Fact::first_token_seconds)) ns = *seconds * 1e9;
    if (const auto milliseconds = known.real(Fact::first_token_milliseconds)) ns = *milliseconds * 1e6;
    if (ns > 0 && ns < 1e15) draft.span.first_token_ns = static_cast<int64_t>(ns);
    if (draft.span.first_token_ns > 0) return;
    const std::string_view text = without_quotes(known.text(Fact::first_token_time));
    if (text.empty()) return;
    if (auto time = parse_time(std::string(text)); time.ok())
        draft.span.first_token_ns = std::max<int64_t>(0, to_ns(time.value()) - draft.span.start_ns);
}

struct FoundPayload {
    std::string_view text;
    std::string_view key;
};

// A list of messages without a word: what another attribute has, or the spans around, is shown instead.
bool has_no_words(std::string_view key, std::string_view text) {
    constexpr size_t longest = 200; // more than the frame around no words
    return text.size() <= longest && (key == "gen_ai.output.messages" || key == "gen_ai.input.messages") &&
           text.starts_with('[') && read_messages(text, "user").empty();
}

// The first attribute of the field: a text as it is, or decoded if it is one JSON string; anything else as JSON text.
FoundPayload first_payload(otlp::Batch& batch, const KnownAttributes& known, Fact fact, std::string_view mime) {
    FoundPayload found;
    known.any(fact, [&](std::string_view key, const otlp::Value& value) {
        const auto* text = value.text();
        if (!text) {
            std::string json;
            otlp::append_value_text(json, value);
            found.text = batch.keep(std::move(json));
            return true;
        }
        if (text->empty() || *text == "{}" || has_no_words(key, *text)) return false;
        found = {*text, known.is_made(value) ? std::string_view() : key};
        // OpenInference's texts can be quotations; one with escaped quotes was encoded.
        const bool may_be_quotation = (key == "input.value" || key == "output.value") && mime != "application/json" &&
                                      text->find('\\') == std::string_view::npos;
        if (text->front() == '"' && !may_be_quotation)
            if (auto decoded = decode_json_string(*text)) found = {batch.keep(*std::move(decoded)), {}};
        if (text->starts_with("{\"args\":"))
            if (auto arguments = unwrap_arguments(*text)) found = {batch.keep(*std::move(arguments)), {}};
        return true;
    });
    return found;
}

void read_texts(otlp::Batch& batch, Span& span, const KnownAttributes& known) {
    const FoundPayload input = first_payload(batch, known, Fact::input, known.text(Fact::input_mime));
    const FoundPayload output = first_payload(batch, known, Fact::output, known.text(Fact::output_mime));
    span.input = input.text;
    span.input_key = input.key;
    span.output = output.text;
    span.output_key = output.key;
}

bool may_have_messages(const otlp::Span& raw, const KnownAttributes& known) {
    for (const auto& [key, value] : raw.attributes)
        if (key.starts_with("llm.input_messages.") || key.starts_with("llm.output_messages.") ||
            key.starts_with("gen_ai.prompt.") || key.starts_with("gen_ai.completion.") ||
            key.starts_with("llm.prompts.") || key.starts_with("llm.completions.") || key.starts_with("llm.choices."))
            return true;
    if (known.get("pydantic_ai.all_messages") || known.get("all_messages_events")) return true;
    for (const auto& event : raw.events)
        if (event.name.starts_with("gen_ai.")) return true;
    return false;
}

std::string last_words(const std::vector<Message>& messages, std::string_view role) {
    for (auto message = messages.rbegin(); message != messages.rend(); ++message)
        if (message->role == role && !message->content.empty()) return message->content;
    return {};
}

// Of an agent the first message and the last, of a model call every message.
std::string shown(const Span& span, const std::vector<Message>& messages, std::string_view role) {
    if (span.kind == SpanKind::agent || span.kind == SpanKind::chain)
        if (std::string words = last_words(messages, role); !words.empty()) return words;
    return render(messages);
}

std::string_view mime_of(std::string_view stated, std::string_view text) {
    if (!stated.empty()) return stated;
    if (text.empty()) return {};
    return text[0] == '{' || text[0] == '[' ? "application/json" : "text/plain";
}

// Cheap: most results are the tool's own JSON.
bool may_be_wrapped(std::string_view json) {
    if (!json.starts_with('{') && !json.starts_with('[')) return false;
    const std::string_view head = json.substr(0, 200);
    if (head.starts_with("[{\"text\"")) return true;
    for (const std::string_view name : {"\"type\"", "\"lc\"", "\"content\""})
        if (head.find(name) != std::string_view::npos) return true;
    return false;
}

void complete_texts(otlp::Batch& batch, Span& span, const KnownAttributes& known) {
    if ((span.input.empty() || span.output.empty()) && may_have_messages(*span.raw, known)) {
        const Conversation conversation = derive_conversation(*span.raw);
        if (span.input.empty() && !conversation.input.empty())
            span.input = batch.keep(shown(span, conversation.input, "user"));
        if (span.output.empty() && !conversation.output.empty())
            span.output = batch.keep(shown(span, conversation.output, "assistant"));
    }
    std::string_view output_mime = known.text(Fact::output_mime);
    if (span.kind == SpanKind::tool && may_be_wrapped(span.output))
        if (auto text = unwrap_tool_result(span.output)) {
            span.output = batch.keep(*std::move(text));
            span.output_key = {};
            output_mime = {};
        }
    span.input_mime = mime_of(known.text(Fact::input_mime), span.input);
    span.output_mime = mime_of(output_mime, span.output);
}

void read_exception(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    for (auto event = draft.raw.events.rbegin(); event != draft.raw.events.rend(); ++event) {
        if (event->name != "exception") continue;
        if (const auto* type = otlp::find(event->attributes, "exception.type"); type && type->text())
            span.exception_type = *type->text();
        if (const auto* message = otlp::find(event->attributes, "exception.message"); message && message->text())
            span.exception_message = without_stack(*message->text());
        if (!is_vague_error(span.exception_type)) return;
        // JavaScript's exceptions are often sent with their message alone.
        if (const auto* message = otlp::find(event->attributes, "exception.message"); message && message->text())
            if (std::string type = error_type_of(*message->text()); !type.empty())
                span.exception_type = draft.batch.keep(std::move(type));
        break;
    }
    if (span.status != otlp::StatusCode::error && span.exception_type.empty()) return;
    known.any(Fact::error_type, [&](std::string_view, const otlp::Value& value) {
        const auto* text = value.text();
        if (text && is_vague_error(span.exception_type) && !text->empty() && !is_vague_error(*text))
            span.exception_type = *text;
        return false;
    });
    fill(span.exception_message, without_stack(known.text(Fact::error_message)));
}

// What a failed span reports elsewhere: in its status, its output, the HTTP status.
void complete_exception(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.status != otlp::StatusCode::error) return;
    fill(span.status_message, span.exception_message);
    for (const std::string_view text : {span.exception_message, span.status_message, span.output})
        if (is_vague_error(span.exception_type))
            if (std::string type = error_type_of(text.substr(0, 4096)); !type.empty())
                span.exception_type = draft.batch.keep(std::move(type));
    for (const std::string_view key : {"http.response.status_code", "http.status_code"})
        if (const auto* status = known.get(key); status && is_vague_error(span.exception_type))
            if (const auto number = to_real(*status); number && *number >= 400 && *number < 600)
                span.exception_type = draft.batch.keep(std::to_string(static_cast<int>(*number)));
    fill(span.exception_type, known.text(Fact::error_type));
    if (span.kind == SpanKind::llm) fill(span.model, model_in_error(span.status_message.substr(0, 4096)));
    if (span.kind != SpanKind::unknown) fill(span.exception_type, "Error"); // it failed, and nothing shows why
    if (span.status_message.find("\n    at ") != std::string_view::npos)
        span.status_message = without_stack(span.status_message);
}

void add_metadata(Draft& draft, std::string_view name, std::string_view value) {
    auto& metadata = draft.span.metadata;
    value = without_quotes(value);
    if (name.empty() || name.size() > longest_metadata || value.empty() || value.size() > longest_metadata) return;
    if (metadata.size() >= most_metadata) return;
    for (const auto& [known, kept] : metadata)
        if (known == name) return;
    metadata.emplace_back(name, value);
}

void read_metadata(const KnownAttributes& known, Draft& draft) {
    known.any(Fact::metadata, [&](std::string_view, const otlp::Value& value) {
        if (const auto* text = value.text(); text && text->starts_with('{'))
            AttributeJson(*text).each_member([&](std::string_view name, std::string inner) {
                if (inner.size() <= longest_metadata && draft.span.metadata.size() < most_metadata)
                    add_metadata(draft, draft.batch.keep(std::string(name)), draft.batch.keep(std::move(inner)));
            });
        return false;
    });
    for (const auto& [key, value] : draft.raw.attributes) {
        const std::string_view name = metadata_name(key);
        if (name.empty()) continue;
        if (const auto* text = value.text())
            add_metadata(draft, name, *text);
        else if (value.integer() || value.real() || value.flag())
            add_metadata(draft, name, draft.batch.keep(plain_text(value)));
    }
    const auto from = [&](std::initializer_list<std::string_view> names) -> std::string_view {
        for (const std::string_view name : names)
            for (const auto& [key, value] : draft.span.metadata)
                if (key == name) return value;
        return {};
    };
    Span& span = draft.span;
    fill(span.chat_session, from({"session_id", "sessionId", "thread_id", "threadId", "conversation_id"}));
    fill(span.user_id, from({"user_id", "userId"}));
    if (span.kind == SpanKind::llm) fill(span.provider, from({"ls_provider"}));
    if (span.kind == SpanKind::llm) fill(span.model, from({"ls_model_name"}));
    if (span.kind == SpanKind::chain && span.parent_id.empty() && from({"ls_integration"}) == "langchain_create_agent")
        span.kind = SpanKind::agent;
}

// A list, a JSON text of one, or words between commas.
void read_tags(const KnownAttributes& known, Draft& draft) {
    auto& tags = draft.span.tags;
    const auto add = [&](std::string_view tag) {
        tag = trim(tag);
        const bool is_new = std::find(tags.begin(), tags.end(), tag) == tags.end();
        if (!tag.empty() && tag.size() <= longest_metadata && tags.size() < most_metadata && is_new)
            tags.push_back(tag);
    };
    known.any(Fact::tags, [&](std::string_view, const otlp::Value& value) {
        if (const auto* list = value.list())
            for (const otlp::Value& entry : *list)
                if (const auto* text = entry.text()) add(*text);
        const auto* text = value.text();
        if (text && text->starts_with('['))
            AttributeJson(*text).each_entry([&](std::string tag) { add(draft.batch.keep(std::move(tag))); });
        else if (text)
            for (const std::string_view tag : split(*text, ',')) add(tag);
        return !tags.empty();
    });
}

void read_names(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    span.service = resource_text(*span.resource, "service.name");
    span.version = resource_text(*span.resource, "service.version");
    fill(span.version, known.text(Fact::version));
    span.model = without_quotes(known.text(Fact::model));
    span.provider = without_quotes(known.text(Fact::provider));
    span.user_id = without_quotes(known.text(Fact::user));
    span.chat_session = without_quotes(known.text(Fact::session));
    span.tool_name = without_quotes(known.text(Fact::tool_name));
    span.response_id = without_quotes(known.text(Fact::response_id));
    span.finish_reason = stated_finish_reason(known, draft.batch);
}

void complete_names(Draft& draft) {
    Span& span = draft.span;
    span.model = without_quotes(span.model);
    span.user_id = without_quotes(span.user_id);
    span.finish_reason = finish_reason_name(span.finish_reason);
    if (!span.provider.empty()) {
        std::string name = provider_name(span.provider);
        span.provider = name == span.provider ? span.provider : draft.batch.keep(std::move(name));
    }
    if (span.provider.empty() && !span.model.empty()) span.provider = provider_of_model(span.model);
    if (span.kind == SpanKind::tool && span.tool_name.empty()) {
        std::string_view name = span.name;
        for (const std::string_view prefix : {"execute_tool ", "tools/call "})
            if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
        for (const std::string_view suffix : {".__call__", ".tool"})
            if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
        span.tool_name = name;
    }
    span.tool_name = without_quotes(span.tool_name);
}

// Instrumentations of models and agents: what they send without a kind is a step of an agent or an event of one.
bool is_agent_scope(std::string_view scope) {
    for (const std::string_view start : {"openinference.",
                                         "@arizeai/openinference",
                                         "@traceloop/",
                                         "traceloop.",
                                         "langfuse",
                                         "langsmith",
                                         "mlflow.",
                                         "@mastra/",
                                         "@voltagent/",
                                         "genkit",
                                         "gcp.vertex.agent",
                                         "pydantic-ai",
                                         "autogen",
                                         "com.anthropic.",
                                         "semantic_kernel",
                                         "agent_framework",
                                         "strands",
                                         "openlit",
                                         "agno",
                                         "beeai",
                                         "crewai"})
        if (scope.starts_with(start)) return true;
    return false;
}

// Some instrumentations make a span of each event of a call: those are no calls of their own.
void correct_kind(Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::unknown && !span.model.empty() && (draft.usage.input || draft.usage.output))
        span.kind = SpanKind::llm;
    const bool is_bare = span.model.empty() && !draft.usage.input && !draft.usage.output && !draft.usage.total;
    if (span.kind == SpanKind::llm && is_bare && !span.parent_id.empty() && span.status != otlp::StatusCode::error &&
        (span.input.empty() || span.output.empty()))
        span.kind = SpanKind::chain;
    if (span.kind == SpanKind::unknown && is_agent_scope(draft.scope)) span.kind = SpanKind::chain;
}

void set_usage(Draft& draft, const Prices& prices) {
    Span& span = draft.span;
    span.tokens = to_buckets(draft.usage);
    if (draft.cost && *draft.cost >= 0 && *draft.cost < 1e9) {
        span.cost_nano_usd = std::llround(*draft.cost * 1e9);
        span.cost_source = CostSource::span;
    } else if (span.tokens.total() > 0 && !span.model.empty()) {
        if (const Price* price = prices.find(span.model, from_ns(span.start_ns))) {
            span.cost_nano_usd = cost_nano_usd(*price, span.tokens);
            span.cost_source = CostSource::prices;
        }
    }
}

uint32_t count_documents(const otlp::Attributes& attributes) {
    uint32_t count = 0;
    for (const auto& [key, value] : attributes)
        if (key.ends_with(".document.content") &&
            (key.starts_with("retrieval.documents.") || key.starts_with("reranker.output_documents.")))
            ++count;
    return count;
}

void begin(otlp::Batch& batch, const otlp::Span& raw, Span& span) {
    span.raw = &raw;
    span.resource = &batch.resources[raw.resource];
    span.scope = &batch.scopes[raw.scope];
    span.trace_id = batch.keep(to_hex(raw.trace_id));
    span.span_id = batch.keep(to_hex(raw.span_id));
    if (!raw.parent_span_id.empty()) span.parent_id = batch.keep(to_hex(raw.parent_span_id));
    span.start_ns = static_cast<int64_t>(raw.start_ns);
    span.duration_ns = raw.end_ns > raw.start_ns ? static_cast<int64_t>(raw.end_ns - raw.start_ns) : 0;
    span.name = raw.name;
    span.otel_kind = static_cast<uint8_t>(raw.kind);
    span.status = raw.status;
    span.status_message = raw.status_message;
    span.documents = count_documents(raw.attributes);
}

} // namespace

Span normalise(otlp::Batch& batch, const otlp::Span& raw, const Prices& prices) {
    const KnownAttributes known(raw.attributes, batch);
    Draft draft{batch, raw, batch.scopes[raw.scope].name, {}, {}, {}};
    begin(batch, raw, draft.span);
    draft.span.kind = stated_kind(known);
    read_names(known, draft);
    fill(draft.span.status_message, known.text(Fact::status_message));
    read_usage(known, draft);
    read_first_token(known, draft);
    read_texts(batch, draft.span, known);
    for (size_t i = 0; i < conventions().size(); ++i) {
        const Convention& convention = *conventions()[i];
        if (!convention.complete) continue;
        const bool is_scope = !convention.scope.empty() && draft.scope.starts_with(convention.scope);
        if (known.has(i) || is_scope) convention.complete(known, draft);
    }
    read_metadata(known, draft);
    read_tags(known, draft);
    correct_kind(draft);
    if (draft.span.documents == 0 && draft.span.kind == SpanKind::retriever && draft.span.output.size() > 2)
        draft.span.documents = static_cast<uint32_t>(read_documents(draft.span.output).size());
    complete_names(draft);
    read_exception(known, draft);
    complete_texts(batch, draft.span, known);
    complete_exception(known, draft);
    set_usage(draft, prices);
    return std::move(draft.span);
}

std::string_view project_name(const otlp::Resource& resource) {
    for (const std::string_view key : {"openinference.project.name", "service.name"})
        if (const auto name = trim(resource_text(resource, key)); !name.empty()) return name;
    return "default";
}

std::string_view project_name(const otlp::Batch& batch, uint32_t resource) {
    const std::string_view name = project_name(batch.resources[resource]);
    if (name != "default" && !name.starts_with("unknown_service")) return name;
    const auto span = std::find_if(batch.spans.begin(), batch.spans.end(),
                                   [&](const otlp::Span& one) { return one.resource == resource; });
    if (span == batch.spans.end()) return name;
    const otlp::Value* project = otlp::find(span->attributes, "langsmith.trace.session_name");
    return project && project->text() && !trim(*project->text()).empty() ? trim(*project->text()) : name;
}

} // namespace hone::telemetry
