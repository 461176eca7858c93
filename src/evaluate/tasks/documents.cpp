#include "evaluate/tasks/documents.h"

#include "base/text.h"
#include "telemetry/targets/payload_conversation.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

using access::Caller;

namespace {

// Counts bytes down and remembers what did not fit.
class ByteBudget {
public:
    explicit ByteBudget(size_t bytes) : m_left(bytes) {}

    std::string take(std::string_view text, size_t most, std::string_view name) {
        const size_t room = std::min(m_left, most);
        const std::string_view kept = truncate_utf8(text, room);
        m_left -= kept.size();
        if (kept.size() == text.size()) return repair_utf8(kept);
        note(name);
        return repair_utf8(kept) + fmt::format(" […{} bytes left out]", text.size() - kept.size());
    }
    void note(std::string_view name) { m_cut.insert(std::string(name)); }
    bool is_empty() const { return m_left == 0; }
    json::Array truncated() const {
        json::Array names;
        for (const std::string& name : m_cut) names.emplace_back(name);
        return names;
    }

private:
    size_t m_left;
    std::set<std::string> m_cut;
};

// JSON as it is, anything else as a text.
json::Value parsed_text(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(text);
}

json::Array shown_messages(const std::vector<telemetry::Message>& messages, ByteBudget& budget) {
    json::Array list;
    for (const telemetry::Message& message : messages) {
        json::Object one{{"role", message.role},
                         {"content", budget.take(message.content, Documents::most_field_bytes, "messages")}};
        json::Array calls;
        for (const telemetry::ToolCall& call : message.tool_calls)
            calls.push_back(json::Object{
                {"name", call.name},
                {"arguments", parsed_text(budget.take(call.arguments, Documents::most_field_bytes, "messages"))}});
        if (!calls.empty()) one["tool_calls"] = std::move(calls);
        list.push_back(std::move(one));
    }
    return list;
}

json::Object usage_of(const telemetry::SpanRow& row) {
    return json::Object{{"input_tokens", row.tokens.input + row.tokens.cache_read + row.tokens.cache_write},
                        {"output_tokens", row.tokens.output + row.tokens.reasoning},
                        {"cost_micro_usd", row.cost_nano_usd / 1000}};
}

double latency_ms(int64_t duration_ns) {
    return static_cast<double>(duration_ns) / 1e6;
}

std::string status_text(const telemetry::SpanRow& row) {
    return row.status == otlp::StatusCode::error ? "error" : "ok";
}

bool is_evaluator(const telemetry::SpanRow& row) {
    return row.kind == telemetry::SpanKind::evaluator;
}

// Depth of each span below its root; spans without a known parent are roots.
std::map<std::string, size_t> depths_of(const std::vector<telemetry::SpanRow>& spans) {
    std::map<std::string, std::string> parents;
    for (const auto& span : spans) parents[span.span_id] = span.parent_id;
    std::map<std::string, size_t> depths;
    for (const auto& span : spans) {
        size_t depth = 0;
        std::set<std::string> visited; // a trace may claim that a span is below itself
        for (auto at = parents.find(span.parent_id); at != parents.end() && visited.insert(at->first).second;
             at = parents.find(at->second))
            ++depth;
        depths[span.span_id] = depth;
    }
    return depths;
}

void finish(json::Object& document, const ByteBudget& budget) {
    const json::Array cut = budget.truncated();
    if (!cut.empty()) document["truncated"] = cut;
}

} // namespace

Result<json::Value> Documents::read(const Caller& caller, const access::SpaceId& space,
                                    const TargetName& target) const {
    const access::Project project = TRY(m_access.projects.find(caller, space, target.project));
    if (project.space_id != space) return not_found("project " + std::string(truncate_utf8(target.project, 100)));
    return read(project.id.text(), target.kind, target.id, *target.trace_id);
}

Result<json::Value> Documents::read(const std::string& project_id, telemetry::EvalTarget kind, const std::string& id,
                                    const std::string& trace_id) const {
    if (m_spans == nullptr) return unavailable("this server stores no spans");
    switch (kind) {
    case telemetry::EvalTarget::span: {
        std::string trace = trace_id;
        if (trace.empty()) {
            TRY(m_spans->store());
            const auto places = TRY(m_spans->lookup.spans({project_id}, {id}));
            if (places.empty()) return not_found("span " + std::string(truncate_utf8(id, 60)));
            trace = places.front().trace_id;
        }
        return span_document(project_id, trace, id);
    }
    case telemetry::EvalTarget::trace:
        return trace_document(project_id, id);
    case telemetry::EvalTarget::chat_session:
        return session_document(project_id, id);
    }
    return internal("unknown target");
}

Result<json::Value> Documents::span_document(const std::string& project, const std::string& trace,
                                             const std::string& span) const {
    const telemetry::SpanPayload payload = TRY(m_spans->payload(project, trace, span));
    if (is_evaluator(payload.row)) return invalid("the span was made by an evaluator: evaluators are not evaluated");
    ByteBudget budget(most_bytes);
    const telemetry::Conversation conversation = telemetry::conversation_of(payload);
    json::Object document;
    document["input"] = parsed_text(budget.take(payload.input, most_field_bytes, "input"));
    document["output"] = parsed_text(budget.take(payload.output, most_field_bytes, "output"));
    document["name"] = payload.row.name;
    document["kind"] = std::string(name_of(payload.row.kind));
    document["status"] = status_text(payload.row);
    document["status_message"] = budget.take(payload.row.status_message, 4096, "status_message");
    document["model"] = payload.row.model;
    document["usage"] = usage_of(payload.row);
    document["latency_ms"] = latency_ms(payload.row.duration_ns);
    json::Array messages = shown_messages(conversation.input, budget);
    for (json::Value& message : shown_messages(conversation.output, budget)) messages.push_back(std::move(message));
    document["messages"] = std::move(messages);
    json::Array tool_calls;
    for (const telemetry::Message& message : conversation.output)
        for (const telemetry::ToolCall& call : message.tool_calls)
            tool_calls.push_back(
                json::Object{{"name", call.name},
                             {"arguments", parsed_text(budget.take(call.arguments, most_field_bytes, "tool_calls"))}});
    document["tool_calls"] = std::move(tool_calls);
    json::Array tools;
    for (const std::string& tool : conversation.tools)
        tools.push_back(parsed_text(budget.take(tool, most_field_bytes, "tools")));
    document["tools"] = std::move(tools);
    json::Array documents;
    for (const telemetry::Document& one : conversation.documents)
        documents.push_back(
            json::Object{{"id", one.id}, {"content", budget.take(one.content, most_field_bytes, "documents")}});
    document["documents"] = std::move(documents);
    document["metadata"] = parsed_text(budget.take(payload.attributes, 64 << 10, "metadata"));
    finish(document, budget);
    return json::Value(std::move(document));
}

Result<json::Value> Documents::trace_document(const std::string& project, const std::string& trace) const {
    telemetry::SpanStore& store = *TRY(m_spans->store());
    telemetry::TraceSkeleton skeleton = TRY(store.trace_skeleton(project, trace));
    std::erase_if(skeleton.spans, is_evaluator);
    if (skeleton.spans.empty()) return not_found("trace " + std::string(truncate_utf8(trace, 60)));
    ByteBudget budget(most_bytes);
    const auto depths = depths_of(skeleton.spans);
    // The byte budget is for the spans near the root first; they are shown in the order of time.
    std::vector<const telemetry::SpanRow*> by_depth;
    for (const auto& span : skeleton.spans) by_depth.push_back(&span);
    std::stable_sort(by_depth.begin(), by_depth.end(),
                     [&](const auto* a, const auto* b) { return depths.at(a->span_id) < depths.at(b->span_id); });
    if (by_depth.size() > most_spans) {
        by_depth.resize(most_spans);
        budget.note("spans");
    }
    const telemetry::SpanRow& root = *by_depth.front();
    telemetry::ListSpans request;
    request.scope.project = project;
    request.trace_id = trace;
    request.limit = most_spans;
    for (const auto* span : by_depth) request.span_ids.push_back(span->span_id);
    std::map<std::string, telemetry::SpanPayload> payloads;
    for (std::string cursor;;) {
        request.cursor = cursor;
        auto page = TRY(m_spans->payloads(request));
        for (auto& span : page.spans) payloads.emplace(span.row.span_id, std::move(span));
        cursor = page.next_cursor;
        if (cursor.empty()) break;
    }
    const telemetry::SpanPayload own = TRY(m_spans->payload(project, trace, root.span_id));
    json::Object document;
    document["input"] = parsed_text(budget.take(own.input, most_field_bytes, "input"));
    document["output"] = parsed_text(budget.take(own.output, most_field_bytes, "output"));
    std::map<std::string, json::Object> shown;
    json::Array tool_calls;
    int64_t errors = 0, cost = 0, input_tokens = 0, output_tokens = 0, end = root.start_ns;
    for (const auto* span : by_depth) {
        const auto payload = payloads.find(span->span_id);
        json::Object one{{"id", span->span_id},          {"parent_id", span->parent_id},
                         {"name", span->name},           {"kind", name_of(span->kind)},
                         {"status", status_text(*span)}, {"latency_ms", latency_ms(span->duration_ns)}};
        if (!span->tool_name.empty()) one["tool"] = span->tool_name;
        if (!span->model.empty()) one["model"] = span->model;
        if (!span->status_message.empty()) one["status_message"] = budget.take(span->status_message, 2048, "spans");
        if (payload != payloads.end() && span != &root) {
            one["input"] = parsed_text(budget.take(payload->second.input, most_field_bytes / 4, "spans"));
            one["output"] = parsed_text(budget.take(payload->second.output, most_field_bytes / 4, "spans"));
        }
        shown.emplace(span->span_id, std::move(one));
    }
    json::Array spans;
    for (const auto& span : skeleton.spans) {
        errors += span.status == otlp::StatusCode::error;
        cost += span.cost_nano_usd;
        input_tokens += span.tokens.input + span.tokens.cache_read + span.tokens.cache_write;
        output_tokens += span.tokens.output + span.tokens.reasoning;
        end = std::max(end, span.start_ns + span.duration_ns);
        const auto one = shown.find(span.span_id);
        if (one == shown.end()) continue;
        if (span.kind == telemetry::SpanKind::tool) {
            json::Object call{{"name", span.tool_name.empty() ? span.name : span.tool_name}};
            if (const json::Value* input = one->second.if_contains("input")) call["arguments"] = *input;
            if (const json::Value* output = one->second.if_contains("output")) call["result"] = *output;
            call["status"] = status_text(span);
            tool_calls.push_back(std::move(call));
        }
        spans.push_back(std::move(one->second));
    }
    document["name"] = root.name;
    document["status"] = errors > 0 ? "error" : "ok";
    document["errors"] = errors;
    document["span_count"] = skeleton.spans.size();
    document["latency_ms"] = latency_ms(end - root.start_ns);
    document["usage"] =
        json::Object{{"input_tokens", input_tokens}, {"output_tokens", output_tokens}, {"cost_micro_usd", cost / 1000}};
    document["tool_calls"] = std::move(tool_calls);
    document["spans"] = std::move(spans);
    document["metadata"] = parsed_text(budget.take(own.attributes, 64 << 10, "metadata"));
    finish(document, budget);
    return json::Value(std::move(document));
}

Result<json::Value> Documents::session_document(const std::string& project, const std::string& name) const {
    telemetry::SpanStore& store = *TRY(m_spans->store());
    telemetry::ListTraces request;
    request.scope.project = project;
    request.chat_session = name;
    request.limit = most_turns;
    telemetry::TracePage page = TRY(store.list_traces(request)); // newest first
    if (page.traces.empty()) return not_found("chat session " + std::string(truncate_utf8(name, 60)));
    ByteBudget budget(most_bytes);
    if (!page.next_cursor.empty()) budget.note("turns");
    json::Array turns;
    int64_t errors = 0, cost = 0;
    // The newest turns get the bytes first; they are shown in the order of time.
    for (const telemetry::TraceRow& trace : page.traces) {
        telemetry::TraceSkeleton skeleton = TRY(store.trace_skeleton(project, trace.trace_id, most_spans));
        std::erase_if(skeleton.spans, is_evaluator);
        if (skeleton.spans.empty()) continue;
        const auto depths = depths_of(skeleton.spans);
        const auto root =
            std::min_element(skeleton.spans.begin(), skeleton.spans.end(), [&](const auto& a, const auto& b) {
                return std::pair(depths.at(a.span_id), a.start_ns) < std::pair(depths.at(b.span_id), b.start_ns);
            });
        const telemetry::SpanPayload own = TRY(m_spans->payload(project, trace.trace_id, root->span_id));
        json::Array tools;
        for (const auto& span : skeleton.spans)
            if (span.kind == telemetry::SpanKind::tool)
                tools.push_back(json::Object{{"name", span.tool_name.empty() ? span.name : span.tool_name},
                                             {"status", status_text(span)}});
        json::Object turn{{"trace_id", trace.trace_id}, {"name", root->name}};
        turn["input"] = parsed_text(budget.take(own.input, most_field_bytes / 2, "turns"));
        turn["output"] = parsed_text(budget.take(own.output, most_field_bytes / 2, "turns"));
        turn["tool_calls"] = std::move(tools);
        turn["errors"] = trace.errors;
        errors += trace.errors;
        cost += trace.cost_nano_usd;
        turns.insert(turns.begin(), std::move(turn));
    }
    if (turns.empty()) return not_found("chat session " + std::string(truncate_utf8(name, 60)));
    json::Object document;
    document["input"] = turns.front().get_object()["input"];
    document["output"] = turns.back().get_object()["output"];
    document["turn_count"] = turns.size();
    document["errors"] = errors;
    document["status"] = errors > 0 ? "error" : "ok";
    document["usage"] = json::Object{{"cost_micro_usd", cost / 1000}};
    document["turns"] = std::move(turns);
    document["metadata"] = json::Object{{"chat_session", name}};
    finish(document, budget);
    return json::Value(std::move(document));
}

} // namespace hone::evaluate
