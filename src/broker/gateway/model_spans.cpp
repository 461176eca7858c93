#include "broker/gateway/model_spans.h"

#include "base/log.h"
#include "base/text.h"
#include "broker/gateway/model_protocol.h"
#include "broker/gateway/model_response.h"
#include "crypto/crypto.h"

namespace hone::broker {

namespace {

constexpr size_t call_overhead = 1024;
constexpr size_t calls_per_write = 64;

// Adds attributes whose texts live in the batch.
class SpanBuilder {
public:
    SpanBuilder(otlp::Batch& batch, otlp::Attributes& attributes) : m_batch(batch), m_attributes(attributes) {}

    void text(std::string key, std::string_view value) {
        if (!value.empty()) m_attributes.push_back({m_batch.keep(std::move(key)), {m_batch.keep(std::string(value))}});
    }
    void number(std::string key, int64_t value) { m_attributes.push_back({m_batch.keep(std::move(key)), {value}}); }
    void real(std::string key, double value) { m_attributes.push_back({m_batch.keep(std::move(key)), {value}}); }
    void flag(std::string key, bool value) { m_attributes.push_back({m_batch.keep(std::move(key)), {value}}); }

    void message(const std::string& at, const ModelMessage& message) {
        text(at + "role", message.role);
        text(at + "content", message.text);
        text(at + "reasoning", message.thought);
        text(at + "tool_call_id", message.call_id);
        for (size_t i = 0; i < message.calls.size(); ++i) {
            const std::string call = at + "tool_calls." + std::to_string(i) + ".tool_call.";
            text(call + "id", message.calls[i].id);
            text(call + "function.name", message.calls[i].name);
            text(call + "function.arguments", message.calls[i].arguments);
        }
    }

private:
    otlp::Batch& m_batch;
    otlp::Attributes& m_attributes;
};

void add_tokens(SpanBuilder& span, const ModelUsage& usage) {
    if (!usage.reported) return;
    const telemetry::Tokens& tokens = usage.tokens;
    const int64_t prompt = tokens.input + tokens.cache_read + tokens.cache_write;
    span.number("llm.token_count.prompt", prompt);
    span.number("llm.token_count.completion", tokens.output + tokens.reasoning);
    span.number("llm.token_count.total", tokens.total());
    if (tokens.cache_read > 0) span.number("llm.token_count.prompt_details.cache_read", tokens.cache_read);
    if (tokens.cache_write > 0) span.number("llm.token_count.prompt_details.cache_write", tokens.cache_write);
    if (tokens.reasoning > 0) span.number("llm.token_count.completion_details.reasoning", tokens.reasoning);
}

void add_texts(SpanBuilder& span, const ModelCall& call) {
    const ModelInput request = read_request_messages(call.api, call.request);
    const ModelMessage response = read_response_message(call.api, call.form, call.response);
    for (size_t i = 0; i < request.messages.size(); ++i)
        span.message("llm.input_messages." + std::to_string(i) + ".message.", request.messages[i]);
    if (request.left_out > 0) span.number("hone.messages_left_out", static_cast<int64_t>(request.left_out));
    for (size_t i = 0; i < request.tools.size(); ++i)
        span.text("llm.tools." + std::to_string(i) + ".tool.json_schema", request.tools[i]);
    if (!request.messages.empty()) {
        span.text("input.value", request.messages.back().text);
        span.text("input.mime_type", "text/plain");
    }
    span.message("llm.output_messages.0.message.", response);
    if (!response.text.empty()) {
        span.text("output.value", response.text);
        span.text("output.mime_type", "text/plain");
    }
}

std::string raw_id(const std::string& hex, size_t bytes) {
    auto raw = from_hex(hex);
    return raw.ok() && raw.value().size() == bytes ? std::move(raw).value() : crypto::random_bytes(bytes);
}

} // namespace

void add_model_call_span(otlp::Batch& batch, const ModelCall& call) {
    if (batch.resources.empty()) {
        batch.resources.emplace_back();
        batch.scopes.emplace_back();
        batch.scopes[0].name = "hone.gateway";
        SpanBuilder(batch, batch.resources[0].attributes).text("service.name", "hone");
    }

    otlp::Span& made = batch.spans.emplace_back();
    made.trace_id = batch.keep(raw_id(call.place.trace_id, 16));
    made.span_id = batch.keep(crypto::random_bytes(8));
    if (!call.place.parent_id.empty()) made.parent_span_id = batch.keep(raw_id(call.place.parent_id, 8));
    const std::string& model = call.usage.model.empty() ? call.requested_model : call.usage.model;
    made.name = batch.keep("model " + call.requested_model);
    made.kind = 3; // client
    made.start_ns = static_cast<uint64_t>(to_ns(call.started));
    made.end_ns = made.start_ns + static_cast<uint64_t>(std::max<int64_t>(0, call.took.count()));
    const bool is_failed = call.status < 200 || call.status > 299 || !call.error.empty() || !call.usage.error.empty();
    made.status = is_failed ? otlp::StatusCode::error : otlp::StatusCode::ok;
    if (is_failed) {
        std::string why = call.error.empty() ? call.usage.error : call.error;
        if (why.empty()) why = "the model endpoint returned " + std::to_string(call.status);
        made.status_message = batch.keep(std::move(why));
    }

    SpanBuilder span(batch, made.attributes);
    span.text("openinference.span.kind", "LLM");
    span.text("llm.model_name", model);
    span.text("llm.provider", call.provider);
    span.text("llm.system", protocol_of(call.api));
    span.text("llm.finish_reason", call.usage.finish_reason);
    span.text("session.id", call.place.chat_session);
    span.text("hone.run_id", call.place.run_id);
    span.text("hone.call_id", call.id);
    span.text("hone.requested_model", call.requested_model);
    if (call.status != 0) span.number("http.response.status_code", call.status);
    if (call.first_byte) span.number("hone.first_byte_ms", call.first_byte->count() / 1'000'000);
    if (!is_failed && !call.usage.complete) span.flag("hone.usage_incomplete", true);
    add_tokens(span, call.usage);
    if (call.cost_nano_usd) span.real("llm.cost.total", static_cast<double>(*call.cost_nano_usd) / 1e9);
    span.text("hone.price", call.price);
    span.text("llm.invocation_parameters", read_parameters(call.request));
    for (const auto& [key, value] : call.attributes) span.text(key, value);
    if (call.capture == Capture::full) add_texts(span, call);
}

ModelSpans::ModelSpans(telemetry::Ingest& ingest) : m_ingest(ingest) {
    telemetry::RedactionRules rules;
    rules.secrets = true;
    auto redactor = telemetry::Redactor::make(rules);
    CHECK_OR_ABORT(redactor.ok());
    m_redactor = std::move(redactor).value();
    m_thread = std::thread([this] { run(); });
}

ModelSpans::~ModelSpans() {
    {
        const Lock lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void ModelSpans::called(ModelCall call) {
    const size_t bytes = call.request.size() + call.response.size() + call_overhead;
    {
        const Lock lock(m_mutex);
        if (m_bytes + bytes > most_bytes) {
            ++m_dropped;
            return;
        }
        m_bytes += bytes;
        m_waiting.push_back(std::move(call));
    }
    m_changed.notify_all();
}

void ModelSpans::flush() {
    const Lock lock(m_mutex);
    while (!m_waiting.empty() || m_is_writing) m_changed.wait(m_mutex);
}

// Takes what has gathered for one project: a write waits for the disk, so many calls share one.
void ModelSpans::run() {
    for (;;) {
        std::vector<ModelCall> calls;
        {
            const Lock lock(m_mutex);
            while (m_waiting.empty() && !m_stopping) m_changed.wait(m_mutex);
            if (m_waiting.empty()) return;
            do {
                ModelCall& call = m_waiting.front();
                m_bytes -= call.request.size() + call.response.size() + call_overhead;
                calls.push_back(std::move(call));
                m_waiting.pop_front();
            } while (!m_waiting.empty() && calls.size() < calls_per_write &&
                     m_waiting.front().place.space_id == calls[0].place.space_id &&
                     m_waiting.front().place.project == calls[0].place.project);
            m_is_writing = true;
        }
        write(calls);
        {
            const Lock lock(m_mutex);
            m_is_writing = false;
        }
        m_changed.notify_all();
    }
}

void ModelSpans::write(const std::vector<ModelCall>& calls) {
    otlp::Batch batch;
    for (const ModelCall& call : calls) add_model_call_span(batch, call);
    for (otlp::Span& span : batch.spans) m_redactor->apply(batch, span);
    const auto taken = m_ingest.take(batch, calls[0].place.space_id, calls[0].place.project);
    if (taken.ok()) return;
    m_dropped += static_cast<int64_t>(calls.size());
    log(Level::warning, "spans of model calls not written",
        {{"calls", calls.size()}, {"error", taken.error().message}});
}

} // namespace hone::broker
