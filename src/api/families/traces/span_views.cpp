#include "api/families/traces/span_views.h"

namespace hone::api {

int64_t to_micro(int64_t nano_usd) {
    return (nano_usd + 500) / 1000;
}

json::Value tree_of(const std::string& text) {
    if (text.empty()) return nullptr;
    auto tree = json::parse(text);
    return tree.ok() ? std::move(tree).value() : json::Value(text);
}

namespace {

// Frameworks whose agents are actors record each message: what agents do is in the other spans.
bool is_message(const telemetry::SpanRow& row) {
    constexpr uint8_t producer = 4, consumer = 5; // OTLP's numbers
    return (row.otel_kind == producer || row.otel_kind == consumer) &&
           (row.kind == telemetry::SpanKind::chain || row.kind == telemetry::SpanKind::unknown);
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
    view.cost_nano_usd = row.cost_nano_usd;
    view.user_id = row.user_id;
    view.session_id = row.chat_session;
    view.tool_name = row.tool_name;
    view.exception_type = row.exception_type;
    view.is_message = is_message(row);
    return view;
}

} // namespace hone::api
