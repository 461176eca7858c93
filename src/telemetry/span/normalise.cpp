#include "telemetry/span/normalise.h"

#include "base/text.h"
#include "otlp/attribute_text.h"
#include "telemetry/span/attribute_keys.h"
#include "telemetry/span/conversation.h"
#include "telemetry/span/usage.h"

#include <cmath>
#include <simdjson.h>

namespace hone::telemetry {

namespace {

struct KindName {
    std::string_view name;
    SpanKind kind;
};

// What the conventions call their kinds, lower case.
constexpr KindName kind_names[] = {
    {"llm", SpanKind::llm},
    {"chain", SpanKind::chain},
    {"tool", SpanKind::tool},
    {"retriever", SpanKind::retriever},
    {"embedding", SpanKind::embedding},
    {"agent", SpanKind::agent},
    {"reranker", SpanKind::reranker},
    {"guardrail", SpanKind::guardrail},
    {"evaluator", SpanKind::evaluator},
    {"generation", SpanKind::llm}, // Langfuse
    {"workflow", SpanKind::chain}, // Traceloop
    {"task", SpanKind::chain},
    {"prompt", SpanKind::chain}, // LangSmith, OpenInference
    {"parser", SpanKind::chain},
    {"chat", SpanKind::llm}, // GenAI operations
    {"text_completion", SpanKind::llm},
    {"completion", SpanKind::llm},
    {"generate_content", SpanKind::llm},
    {"embeddings", SpanKind::embedding},
    {"execute_tool", SpanKind::tool},
    {"create_agent", SpanKind::agent},
    {"invoke_agent", SpanKind::agent},
    {"invoke_workflow", SpanKind::chain},
    {"retrieval", SpanKind::retriever},
    {"rerank", SpanKind::reranker}, // Traceloop's llm.request.type
};

SpanKind kind_of_name(std::string_view name) {
    for (const KindName& known : kind_names)
        if (equals_ignoring_case(name, known.name)) return known.kind;
    return SpanKind::unknown;
}

// Vercel wraps each model call (ai.generateText.doGenerate) into a span that repeats its usage (ai.generateText).
SpanKind kind_of_vercel(std::string_view operation) {
    if (operation == "ai.toolCall") return SpanKind::tool;
    if (operation.ends_with(".doEmbed")) return SpanKind::embedding;
    if (operation.find(".do") != std::string_view::npos) return SpanKind::llm;
    return operation.starts_with("ai.") ? SpanKind::chain : SpanKind::unknown;
}

SpanKind kind_of(const KnownAttributes& known) {
    const std::string_view openinference = known.text({Key::openinference_kind});
    if (!openinference.empty()) return kind_of_name(openinference);
    if (const auto kind = kind_of_vercel(known.text({Key::ai_operation})); kind != SpanKind::unknown) return kind;
    for (const Key key :
         {Key::langfuse_type, Key::langsmith_kind, Key::traceloop_kind, Key::operation, Key::request_type})
        if (const auto kind = kind_of_name(known.text({key})); kind != SpanKind::unknown) return kind;
    if (known.get(Key::gen_ai_tool_name)) return SpanKind::tool;
    const bool has_model = known.get(Key::request_model) || known.get(Key::llm_model) || known.get(Key::langfuse_model);
    return has_model ? SpanKind::llm : SpanKind::unknown;
}

// Small JSON objects of numbers: {"input":12,"cache_read_input_tokens":3}.
class Numbers {
public:
    explicit Numbers(std::string_view json) {
        if (json.empty() || json.size() > 64 << 10) return;
        m_ok = m_parser.parse(json.data(), json.size()).get(m_object) == simdjson::SUCCESS;
    }
    std::optional<double> get(std::initializer_list<const char*> names) const {
        double number = 0;
        for (const char* name : names)
            if (m_ok && m_object.at_key(name).get(number) == simdjson::SUCCESS && std::abs(number) < 1e15)
                return number;
        return std::nullopt;
    }
    std::optional<int64_t> whole(std::initializer_list<const char*> names) const {
        const auto number = get(names);
        return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
    }
    bool ok() const { return m_ok; }

private:
    simdjson::dom::parser m_parser;
    simdjson::dom::object m_object;
    bool m_ok = false;
};

ReportedUsage langfuse_usage(std::string_view json) {
    const Numbers numbers(json);
    ReportedUsage usage;
    usage.separate = true;
    usage.input = numbers.whole({"input", "prompt_tokens", "input_tokens"});
    usage.output = numbers.whole({"output", "completion_tokens", "output_tokens"});
    usage.total = numbers.whole({"total", "total_tokens"});
    usage.cache_read = numbers.whole({"input_cached_tokens", "cache_read_input_tokens", "input_cache_read"});
    usage.cache_write = numbers.whole({"cache_creation_input_tokens", "input_cache_creation"});
    usage.reasoning = numbers.whole({"output_reasoning_tokens", "reasoning_tokens", "output_reasoning"});
    return usage;
}

ReportedUsage usage_of(const KnownAttributes& known) {
    if (const auto json = known.text({Key::langfuse_usage}); !json.empty()) return langfuse_usage(json);
    ReportedUsage usage;
    usage.input = known.number({Key::count_prompt, Key::usage_input, Key::ai_input_tokens, Key::ai_prompt_tokens,
                                Key::usage_prompt, Key::llm_usage_prompt, Key::ai_embed_tokens});
    usage.output = known.number({Key::count_completion, Key::usage_output, Key::ai_output_tokens,
                                 Key::ai_completion_tokens, Key::usage_completion, Key::llm_usage_completion});
    usage.total = known.number({Key::count_total, Key::usage_total, Key::ai_total_tokens, Key::llm_usage_total});
    usage.cache_read = known.number({Key::count_cache_read, Key::usage_cache_read, Key::usage_cache_read_old,
                                     Key::usage_detail_cache_read, Key::ai_cached_tokens});
    usage.cache_write = known.number({Key::count_cache_write, Key::usage_cache_creation, Key::usage_cache_creation_old,
                                      Key::usage_detail_cache_write});
    usage.reasoning = known.number({Key::count_reasoning, Key::usage_reasoning, Key::usage_reasoning_old,
                                    Key::usage_detail_reasoning, Key::ai_reasoning_tokens});
    if (const auto json = known.text({Key::langsmith_input_details}); !json.empty()) {
        const Numbers details(json);
        if (!usage.cache_read) usage.cache_read = details.whole({"cache_read"});
        if (!usage.cache_write) usage.cache_write = details.whole({"cache_creation"});
    }
    if (const auto json = known.text({Key::langsmith_output_details}); !json.empty() && !usage.reasoning)
        usage.reasoning = Numbers(json).whole({"reasoning"});
    return usage;
}

std::optional<double> reported_cost(const KnownAttributes& known) {
    if (const auto json = known.text({Key::langfuse_cost}); !json.empty()) {
        const Numbers numbers(json);
        if (const auto total = numbers.get({"total"})) return total;
        const auto input = numbers.get({"input"}), output = numbers.get({"output"});
        if (input || output) return input.value_or(0) + output.value_or(0);
    }
    if (const auto total = known.real({Key::cost_total, Key::usage_total_cost, Key::usage_cost})) return total;
    const auto prompt = known.real({Key::cost_prompt}), completion = known.real({Key::cost_completion});
    if (prompt || completion) return prompt.value_or(0) + completion.value_or(0);
    return std::nullopt;
}

// Agents and chains repeat the usage of the model calls below them; counting both would count twice.
bool repeats_usage(SpanKind kind) {
    return kind == SpanKind::agent || kind == SpanKind::chain;
}

void set_usage(Span& span, const KnownAttributes& known, const Prices& prices) {
    if (repeats_usage(span.kind)) return;
    span.tokens = to_buckets(usage_of(known));
    if (const auto usd = reported_cost(known); usd && *usd >= 0 && *usd < 1e9) {
        span.cost_nano_usd = std::llround(*usd * 1e9);
        span.cost_source = CostSource::span;
    } else if (span.tokens.total() > 0 && !span.model.empty()) {
        if (const Price* price = prices.find(span.model, from_ns(span.start_ns))) {
            span.cost_nano_usd = cost_nano_usd(*price, span.tokens);
            span.cost_source = CostSource::prices;
        }
    }
}

struct Found {
    std::string_view text;
    std::string_view key;
};

// The first of the keys that is there: a text as it is, anything else as JSON text.
Found first_payload(otlp::Batch& batch, const KnownAttributes& known, std::initializer_list<Key> keys) {
    for (const Key key : keys) {
        const otlp::Value* value = known.get(key);
        if (!value || value->data.index() == 0) continue;
        if (const auto* text = value->text()) {
            if (!text->empty()) return {*text, key_name(key)};
            continue;
        }
        std::string json;
        otlp::append_value_text(json, *value);
        return {batch.keep(std::move(json)), {}};
    }
    return {};
}

bool may_have_messages(const otlp::Span& raw) {
    for (const auto& [key, value] : raw.attributes)
        if (key.starts_with("llm.input_messages.") || key.starts_with("llm.output_messages.") ||
            key.starts_with("gen_ai.prompt.") || key.starts_with("gen_ai.completion.") ||
            key.starts_with("llm.prompts.") || key.starts_with("llm.completions."))
            return true;
    for (const auto& event : raw.events)
        if (event.name.starts_with("gen_ai.")) return true;
    return false;
}

std::string_view mime_of(std::string_view stated, std::string_view text) {
    if (!stated.empty()) return stated;
    if (text.empty()) return {};
    return text[0] == '{' || text[0] == '[' ? "application/json" : "text/plain";
}

void set_payload(otlp::Batch& batch, Span& span, const KnownAttributes& known) {
    Found input =
        first_payload(batch, known,
                      {Key::input_value, Key::langfuse_input, Key::input_messages, Key::ai_prompt_messages,
                       Key::ai_prompt, Key::ai_tool_args, Key::ai_value, Key::ai_values, Key::traceloop_input,
                       Key::gen_ai_prompt, Key::tool_call_arguments, Key::tool_parameters, Key::langfuse_trace_input});
    Found output =
        first_payload(batch, known,
                      {Key::output_value, Key::langfuse_output, Key::output_messages, Key::ai_response_text,
                       Key::ai_response_object, Key::ai_response_tools, Key::ai_tool_result, Key::traceloop_output,
                       Key::gen_ai_completion, Key::tool_call_result, Key::langfuse_trace_output});
    if ((input.text.empty() || output.text.empty()) && may_have_messages(*span.raw)) {
        const Conversation conversation = derive_conversation(*span.raw);
        if (input.text.empty() && !conversation.input.empty()) input.text = batch.keep(render(conversation.input));
        if (output.text.empty() && !conversation.output.empty()) output.text = batch.keep(render(conversation.output));
    }
    span.input = input.text;
    span.input_key = input.key;
    span.output = output.text;
    span.output_key = output.key;
    span.input_mime = mime_of(known.text({Key::input_mime}), span.input);
    span.output_mime = mime_of(known.text({Key::output_mime}), span.output);
}

void set_exception(Span& span) {
    for (auto event = span.raw->events.rbegin(); event != span.raw->events.rend(); ++event) {
        if (event->name != "exception") continue;
        if (const auto* type = otlp::find(event->attributes, "exception.type"); type && type->text())
            span.exception_type = *type->text();
        if (const auto* message = otlp::find(event->attributes, "exception.message"); message && message->text())
            span.exception_message = *message->text();
        return;
    }
}

std::string_view finish_reason(const KnownAttributes& known) {
    if (const auto* value = known.get(Key::finish_reasons)) {
        if (const auto* list = value->list(); list && !list->empty())
            if (const auto* text = list->front().text()) return *text;
        if (const auto* text = value->text()) return *text;
    }
    return known.text({Key::ai_finish_reason, Key::llm_finish_reason, Key::completion_0_finish_reason});
}

uint32_t count_documents(const otlp::Attributes& attributes) {
    uint32_t count = 0;
    for (const auto& [key, value] : attributes)
        if (key.ends_with(".document.content") &&
            (key.starts_with("retrieval.documents.") || key.starts_with("reranker.output_documents.")))
            ++count;
    return count;
}

std::string_view resource_text(const otlp::Resource& resource, std::string_view key) {
    const otlp::Value* value = otlp::find(resource.attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

void set_status(Span& span, const KnownAttributes& known) {
    span.status = span.raw->status;
    span.status_message = span.raw->status_message;
    if (known.text({Key::langfuse_level}) == "ERROR") span.status = otlp::StatusCode::error;
    if (span.status_message.empty()) span.status_message = known.text({Key::langfuse_status});
    if (span.status == otlp::StatusCode::error && span.status_message.empty())
        span.status_message = span.exception_message;
}

} // namespace

Span normalise(otlp::Batch& batch, const otlp::Span& raw, const Prices& prices) {
    const KnownAttributes known(raw.attributes);
    const otlp::Resource& resource = batch.resources[raw.resource];
    Span span;
    span.raw = &raw;
    span.resource = &resource;
    span.scope = &batch.scopes[raw.scope];
    span.trace_id = batch.keep(to_hex(raw.trace_id));
    span.span_id = batch.keep(to_hex(raw.span_id));
    if (!raw.parent_span_id.empty()) span.parent_id = batch.keep(to_hex(raw.parent_span_id));
    span.start_ns = static_cast<int64_t>(raw.start_ns);
    span.duration_ns = raw.end_ns > raw.start_ns ? static_cast<int64_t>(raw.end_ns - raw.start_ns) : 0;
    span.name = raw.name;
    span.otel_kind = static_cast<uint8_t>(raw.kind);
    span.kind = kind_of(known);
    span.service = resource_text(resource, "service.name");
    span.version = resource_text(resource, "service.version");
    if (span.version.empty()) span.version = known.text({Key::langfuse_release, Key::langfuse_version});
    span.model = known.text({Key::llm_model, Key::embedding_model, Key::reranker_model, Key::response_model,
                             Key::ai_response_model, Key::request_model, Key::langfuse_model, Key::ai_model,
                             Key::llm_request_model});
    span.provider = known.text({Key::llm_provider, Key::gen_ai_provider, Key::gen_ai_system, Key::llm_system,
                                Key::ai_provider, Key::llm_vendor});
    span.user_id = known.text({Key::user_id, Key::enduser_id, Key::langfuse_user, Key::traceloop_user, Key::ai_user});
    span.chat_session =
        known.text({Key::session_id, Key::conversation_id, Key::langfuse_session, Key::traceloop_session,
                    Key::ai_session, Key::langsmith_thread, Key::langsmith_metadata_session, Key::langsmith_session});
    span.tool_name = known.text({Key::tool_name, Key::gen_ai_tool_name, Key::ai_tool_name});
    if (span.tool_name.empty() && span.kind == SpanKind::tool) span.tool_name = known.text({Key::traceloop_name});
    span.finish_reason = finish_reason(known);
    span.documents = count_documents(raw.attributes);
    set_exception(span);
    set_status(span, known);
    set_usage(span, known, prices);
    set_payload(batch, span, known);
    return span;
}

std::string_view project_name(const otlp::Resource& resource) {
    for (const std::string_view key : {"openinference.project.name", "service.name"})
        if (const auto name = trim(resource_text(resource, key)); !name.empty()) return name;
    return "default";
}

} // namespace hone::telemetry
