#include "telemetry/ingest/claude_code_logs.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/ingest/record_ingest.h"
#include "json/json.h"

#include <charconv>

namespace hone::telemetry {

namespace {

constexpr std::string_view event_prefix = "claude_code.";

std::string_view log_text(const otlp::Event& event, std::string_view key) {
    const otlp::Value* value = otlp::find(event.attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

// Numbers are sent as numbers or as texts.
double log_number(const otlp::Event& event, std::string_view key) {
    const otlp::Value* value = otlp::find(event.attributes, key);
    if (value == nullptr) return 0;
    if (value->integer()) return static_cast<double>(*value->integer());
    if (value->real()) return *value->real();
    double number = 0;
    if (value->text()) std::from_chars(value->text()->data(), value->text()->data() + value->text()->size(), number);
    return number;
}

int64_t log_count(const otlp::Event& event, std::string_view key) {
    const double number = log_number(event, key);
    return number > 0 && number < 1e15 ? static_cast<int64_t>(number) : 0;
}

// The records of one prompt as one trace.
class PromptTrace {
public:
    PromptTrace(otlp::Batch& batch, const otlp::Span& record, RunParts& runs)
        : m_batch(batch),
          m_record(record),
          m_event(record.events.front()),
          m_runs(runs),
          m_seed(std::string(log_text(m_event, "session.id")) + '\n' + std::string(log_text(m_event, "prompt.id"))) {}

    bool add() {
        if (log_text(m_event, "prompt.id").empty()) return false;
        const std::string_view what = m_event.name.substr(event_prefix.size());
        if (what == "user_prompt")
            add_prompt();
        else if (what == "assistant_response")
            add_response();
        else if (what == "api_request" || what == "api_error")
            add_model_call(what == "api_error");
        else if (what == "tool_result")
            add_tool_call();
        else
            return false;
        return true;
    }

private:
    std::string_view id(std::string_view salt, size_t bytes) {
        return m_batch.keep(crypto::hash(m_seed + '\n' + std::string(salt)).substr(0, bytes));
    }

    otlp::Span span(std::string_view name, std::string_view kind, std::string_view salt) {
        otlp::Span made;
        made.trace_id = id("trace", 16);
        made.span_id = id(salt, 8);
        made.name = name;
        made.resource = m_record.resource;
        made.scope = m_record.scope;
        made.end_ns = m_event.time_ns;
        constexpr int64_t longest_ms = 1'000'000'000'000;
        const auto duration =
            static_cast<uint64_t>(std::min(log_count(m_event, "duration_ms"), longest_ms)) * 1'000'000;
        made.start_ns = m_event.time_ns - std::min(duration, m_event.time_ns - 1);
        put(made, "openinference.span.kind", kind);
        put(made, "session.id", log_text(m_event, "session.id"));
        put(made, "user.id", log_text(m_event, "user.id"));
        return made;
    }
    otlp::Span child(std::string_view name, std::string_view kind) {
        otlp::Span made = span(name, kind,
                               std::string(m_event.name) + std::to_string(log_count(m_event, "event.sequence")) + ' ' +
                                   std::to_string(m_event.time_ns));
        made.parent_span_id = id("interaction", 8);
        for (const otlp::KeyValue& attribute : m_event.attributes)
            if (otlp::find(made.attributes, attribute.key) == nullptr) made.attributes.push_back(attribute);
        return made;
    }
    otlp::Span interaction() { return span("claude_code.interaction", "AGENT", "interaction"); }

    static void put(otlp::Span& span, std::string_view key, std::string_view text) {
        if (!text.empty()) span.attributes.push_back({key, {text}});
    }
    static void put(otlp::Span& span, std::string_view key, int64_t number) {
        if (number != 0) span.attributes.push_back({key, {number}});
    }

    void add_prompt() {
        otlp::Span root = interaction();
        put(root, "input.value", log_text(m_event, "prompt"));
        root.end_ns = 0; // what follows ends it
        m_runs.add(std::move(root), false);
    }

    void add_response() {
        otlp::Span root = interaction();
        put(root, "output.value", log_text(m_event, "response"));
        m_runs.add(std::move(root), false);
    }

    void add_model_call(bool failed) {
        otlp::Span call = child("claude_code.llm_request", "LLM");
        const int64_t read = log_count(m_event, "cache_read_tokens");
        const int64_t written = log_count(m_event, "cache_creation_tokens");
        put(call, "llm.provider", "anthropic");
        put(call, "llm.model_name", log_text(m_event, "model"));
        put(call, "llm.token_count.prompt", log_count(m_event, "input_tokens") + read + written);
        put(call, "llm.token_count.prompt_details.cache_read", read);
        put(call, "llm.token_count.prompt_details.cache_write", written);
        put(call, "llm.token_count.completion", log_count(m_event, "output_tokens"));
        if (const double cost = log_number(m_event, "cost_usd"); cost > 0)
            call.attributes.push_back({"llm.cost.total", {cost}});
        if (failed) {
            call.status = otlp::StatusCode::error;
            call.status_message = log_text(m_event, "error");
        }
        extend_interaction();
        m_runs.add(std::move(call), true);
    }

    void add_tool_call() {
        std::string_view tool = log_text(m_event, "tool_name");
        const auto parameters = json::parse(log_text(m_event, "tool_parameters"));
        if (parameters.ok() && parameters.value().is_object())
            if (const auto* name = parameters.value().get_object().if_contains("mcp_tool_name");
                name && name->is_string())
                tool = m_batch.keep(std::string(name->get_string()));
        otlp::Span call = child("claude_code.tool", "TOOL");
        put(call, "tool.name", tool);
        put(call, "input.value", log_text(m_event, "tool_input"));
        if (log_text(m_event, "success") == "false") {
            call.status = otlp::StatusCode::error;
            call.status_message = log_text(m_event, "error");
        }
        extend_interaction();
        m_runs.add(std::move(call), true);
    }

    void extend_interaction() { m_runs.add(interaction(), false); }

    otlp::Batch& m_batch;
    const otlp::Span& m_record;
    const otlp::Event& m_event;
    RunParts& m_runs;
    const std::string m_seed;
};

} // namespace

bool add_claude_code_spans(otlp::Batch& batch, const otlp::Span& record, RunParts& runs) {
    const bool is_claude_code = record.scope < batch.scopes.size() &&
                                batch.scopes[record.scope].name.starts_with("com.anthropic.claude_code") &&
                                record.events.front().name.starts_with(event_prefix);
    return is_claude_code && PromptTrace(batch, record, runs).add();
}

} // namespace hone::telemetry
