#include "run/run_spans.h"

#include "base/metrics.h"
#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::run {

namespace {

constexpr size_t longest_text = 256 << 10;
constexpr size_t most_open_calls = 1000;

std::string_view kept_text(otlp::Batch& batch, std::string_view text) {
    return batch.keep(std::string(truncate_utf8(text, longest_text)));
}

std::string raw_id(std::string_view hexadecimal) {
    const auto raw = from_hex(hexadecimal);
    return raw.ok() ? raw.value() : std::string();
}

} // namespace

struct RunSpans::Made {
    std::string id;     // hexadecimal
    std::string parent; // hexadecimal, or empty
    std::string_view kind;
    std::string name;
    Time start{};
    std::string input;
    std::string output;
    bool failed = false;
    std::string tool;
    const ProviderCall* call = nullptr;
};

std::string root_span_id(const RunId& run) {
    return to_hex(crypto::hash("run span " + run.text()).substr(0, 8));
}

std::string RunSpans::span_id(std::string_view what) const {
    return to_hex(crypto::hash(m_run.id.text() + " " + std::string(what)).substr(0, 8));
}

void RunSpans::turn_started(int64_t turn, const std::string& prompt) {
    m_turn = turn;
    m_turn_open = {m_clock.now(), "turn " + std::to_string(turn), prompt};
}

void RunSpans::happened(const RunEvent& event) {
    if (!event.call_id) return;
    if (event.kind == harness::EventKind::tool_call && m_tools.size() < most_open_calls)
        m_tools[*event.call_id] = {m_clock.now(), event.tool.value_or("tool"), event.input.value_or("")};
    if (event.kind != harness::EventKind::tool_result) return;
    const auto open = m_tools.find(*event.call_id);
    if (open == m_tools.end()) return;
    Made made;
    made.id = span_id("call " + *event.call_id);
    made.parent = span_id("turn " + std::to_string(m_turn));
    made.kind = "TOOL";
    made.name = made.tool = open->second.name;
    made.start = open->second.start;
    made.input = open->second.input;
    made.output = event.text;
    made.failed = event.failed;
    m_tools.erase(open);
    send(made);
}

void RunSpans::model_called(const ProviderCall& call) {
    Made made;
    made.id = span_id("model " + call.id);
    made.parent = m_turn == 0 ? root_span_id(m_run.id) : span_id("turn " + std::to_string(m_turn));
    made.kind = "LLM";
    made.name = "model " + call.model;
    made.start = m_clock.now();
    made.call = &call;
    send(made);
}

void RunSpans::turn_ended(const std::string& answer, bool failed) {
    if (m_turn_open.name.empty()) return;
    Made made;
    made.id = span_id("turn " + std::to_string(m_turn));
    made.parent = root_span_id(m_run.id);
    made.kind = "CHAIN";
    made.name = m_turn_open.name;
    made.start = m_turn_open.start;
    made.input = m_turn_open.input;
    made.output = answer;
    made.failed = failed;
    m_turn_open = {};
    m_tools.clear();
    send(made);
}

void RunSpans::run_ended(State state, const std::string& answer) {
    Made made;
    made.id = root_span_id(m_run.id);
    made.kind = "AGENT";
    made.name = m_run.preset_name.value_or(m_run.harness);
    made.start = m_run.started_at.value_or(m_run.created_at);
    made.input = m_run.title;
    made.output = answer;
    made.failed = is_over(state) && state != State::succeeded;
    send(made);
    if (is_over(state)) report(state);
}

// Of the server itself: without anything that a person or an agent wrote.
void RunSpans::report(State state) const {
    if (!has_operation_sink()) return;
    Operation operation;
    operation.kind = "run";
    operation.name = "run of " + m_run.harness;
    operation.start = m_run.started_at.value_or(m_run.created_at);
    operation.length = std::max(Duration{}, m_clock.now() - operation.start);
    operation.has_failed = state != State::succeeded && state != State::cancelled;
    operation.attributes = {{"hone.run.id", m_run.id.text()},
                            {"hone.run.state", std::string(name_of(state))},
                            {"hone.space.id", m_run.space_id.text()},
                            {"hone.project.id", m_run.project_id.text()}};
    report_operation(std::move(operation));
}

void RunSpans::send(const Made& made) {
    otlp::Batch batch;
    otlp::Resource resource;
    const auto add = [&](otlp::Attributes& to, std::string_view key, std::string_view value) {
        if (!value.empty()) to.push_back({key, {kept_text(batch, value)}});
    };
    add(resource.attributes, "service.name", "hone");
    add(resource.attributes, "openinference.project.name", runs_project);
    batch.resources.push_back(std::move(resource));
    batch.scopes.push_back({.name = "hone.run", .version = {}, .attributes = {}, .schema_url = {}});
    otlp::Span span;
    span.trace_id = batch.keep(raw_id(m_run.trace_id));
    span.span_id = batch.keep(raw_id(made.id));
    if (!made.parent.empty()) span.parent_span_id = batch.keep(raw_id(made.parent));
    span.name = kept_text(batch, made.name);
    span.kind = 1;
    span.start_ns = static_cast<uint64_t>(to_ns(made.start));
    span.end_ns = static_cast<uint64_t>(to_ns(std::max(made.start, m_clock.now())));
    span.status = made.failed ? otlp::StatusCode::error : otlp::StatusCode::ok;
    add(span.attributes, "openinference.span.kind", made.kind);
    add(span.attributes, "session.id", m_run.id.text());
    add(span.attributes, "hone.run.id", m_run.id.text());
    add(span.attributes, "hone.project.id", m_run.project_id.text());
    add(span.attributes, "hone.preset", m_run.preset_name.value_or(""));
    add(span.attributes, "user.id", m_run.started_by);
    add(span.attributes, "input.value", made.input);
    add(span.attributes, "output.value", made.output);
    add(span.attributes, "tool.name", made.tool);
    if (made.call != nullptr) {
        const harness::Usage& usage = made.call->usage;
        const auto number = [&](std::string_view key, int64_t value) { span.attributes.push_back({key, {value}}); };
        add(span.attributes, "llm.model_name", made.call->model);
        add(span.attributes, "hone.source", "provider");
        number("llm.token_count.prompt", usage.input + usage.cache_read + usage.cache_write);
        number("llm.token_count.completion", usage.output);
        number("llm.token_count.prompt_details.cache_read", usage.cache_read);
        number("llm.token_count.prompt_details.cache_write", usage.cache_write);
    }
    batch.spans.push_back(std::move(span));
    m_sink.take(batch, m_run.space_id);
}

} // namespace hone::run
