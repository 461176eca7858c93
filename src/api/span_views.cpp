#include "api/span_views.h"

#include "otlp/attribute_text.h"

namespace hone::api {

namespace {

int64_t to_micro(int64_t nano_usd) {
    return (nano_usd + 500) / 1000;
}

// A JSON text of the store as JSON; the text itself where a repeated key has no place in a tree.
json::Value tree_of(const std::string& text) {
    if (text.empty()) return nullptr;
    auto tree = json::parse(text);
    return tree.ok() ? std::move(tree).value() : json::Value(text);
}

// The store keeps an attribute that `input` or `output` repeats only once.
const std::string* column_of(std::string_view key, const telemetry::SpanPayload& payload) {
    return key == "input" ? &payload.input : key == "output" ? &payload.output : nullptr;
}

json::Value attributes_of(const telemetry::SpanPayload& payload) {
    json::Value tree = tree_of(payload.attributes);
    if (!tree.is_object()) return tree;
    for (auto& attribute : tree.get_object()) {
        const json::Object* marked = attribute.value().if_object();
        const json::Value* column = marked && marked->size() == 1 ? marked->if_contains("$column") : nullptr;
        if (column && column->is_string())
            if (const std::string* text = column_of(column->get_string(), payload)) attribute.value() = *text;
    }
    return tree;
}

telemetry::Conversation conversation_of(const telemetry::SpanPayload& payload) {
    otlp::Batch batch;
    otlp::Span span;
    const json::Value tree = attributes_of(payload);
    auto attributes = otlp::read_attribute_text(tree.is_object() ? json::print(tree) : payload.attributes, batch);
    if (!attributes.ok()) return {};
    span.attributes = std::move(attributes).value();
    const json::Value events = tree_of(payload.events);
    if (events.is_array())
        for (const json::Value& each : events.get_array()) {
            const json::Object* object = each.if_object();
            const json::Value* name = object ? object->if_contains("name") : nullptr;
            const json::Value* fields = object ? object->if_contains("attributes") : nullptr;
            if (!name || !name->is_string() || !fields) continue;
            otlp::Event event;
            event.name = batch.keep(std::string(name->get_string()));
            auto read = otlp::read_attribute_text(batch.keep(json::print(*fields)), batch);
            if (read.ok()) event.attributes = std::move(read).value();
            span.events.push_back(std::move(event));
        }
    return telemetry::derive_conversation(span);
}

} // namespace

SpanRow view_of(const telemetry::SpanRow& row) {
    SpanRow view;
    view.trace_id = row.trace_id;
    view.span_id = row.span_id;
    view.parent_id = row.parent_id;
    view.name = row.name;
    view.kind = row.kind;
    view.status = row.status;
    view.status_message = row.status_message;
    view.start_time = from_ns(row.start_ns);
    view.duration_ns = row.duration_ns;
    view.service = row.service;
    view.model = row.model;
    view.provider = row.provider;
    view.tokens = {row.tokens.input,  row.tokens.cache_read, row.tokens.cache_write,
                   row.tokens.output, row.tokens.reasoning,  row.tokens.total()};
    view.cost_micro_usd = to_micro(row.cost_nano_usd);
    view.user_id = row.user_id;
    view.session_id = row.chat_session;
    view.tool_name = row.tool_name;
    view.exception_type = row.exception_type;
    return view;
}

TraceRow view_of(const telemetry::TraceRow& row) {
    return {row.trace_id,
            row.root_name,
            row.chat_session,
            row.user_id,
            from_ns(row.start_ns),
            from_ns(row.end_ns),
            row.end_ns - row.start_ns,
            row.spans,
            row.errors,
            row.tokens,
            to_micro(row.cost_nano_usd)};
}

SessionRow view_of(const telemetry::SessionRow& row) {
    return {row.chat_session,
            row.user_id,
            from_ns(row.start_ns),
            from_ns(row.end_ns),
            row.end_ns - row.start_ns,
            row.traces,
            row.spans,
            row.errors,
            row.tokens,
            to_micro(row.cost_nano_usd)};
}

SpanPayload view_of(telemetry::SpanPayload payload) {
    SpanPayload view;
    view.span = view_of(payload.row);
    view.attributes = attributes_of(payload);
    view.resource = tree_of(payload.resource);
    view.scope = tree_of(payload.scope);
    view.events = tree_of(payload.events);
    view.links = tree_of(payload.links);
    view.conversation = conversation_of(payload);
    view.version = std::move(payload.version);
    view.finish_reason = std::move(payload.finish_reason);
    view.exception_message = std::move(payload.exception_message);
    view.input = std::move(payload.input);
    view.input_mime = std::move(payload.input_mime);
    view.output = std::move(payload.output);
    view.output_mime = std::move(payload.output_mime);
    view.truncated = std::move(payload.truncated);
    return view;
}

EvalView view_of(const telemetry::Eval& eval) {
    return {eval.id,
            eval.target,
            eval.target_id,
            eval.name,
            eval.identifier,
            eval.annotator,
            eval.kind,
            eval.label,
            eval.score,
            eval.explanation,
            tree_of(eval.metadata),
            from_ns(eval.created_ns),
            from_ns(eval.updated_ns),
            eval.is_deleted};
}

LedgerView view_of(const telemetry::LedgerCounts& counts) {
    return {counts.received, counts.stored,    counts.repeated, counts.pending(), counts.rejected_total(),
            counts.rejected, counts.truncated, counts.redacted, counts.bytes};
}

} // namespace hone::api
