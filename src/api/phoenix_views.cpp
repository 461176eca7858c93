#include "api/phoenix_views.h"

#include "api/global_id.h"

#include <cmath>

namespace hone::api {

namespace {

using telemetry::EvalTarget;

std::string uppercase(std::string_view text) {
    std::string upper(text);
    for (char& letter : upper)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return upper;
}

std::optional<std::string> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

json::Value plain_attributes(const otlp::Attributes& attributes);

// As JSON has it: bytes are base64, a number that is none is null.
json::Value plain_value(const otlp::Value& value) {
    struct Make {
        json::Value operator()(std::monostate) const { return nullptr; }
        json::Value operator()(bool flag) const { return flag; }
        json::Value operator()(int64_t number) const { return number; }
        json::Value operator()(double number) const {
            return std::isfinite(number) ? json::Value(number) : json::Value(nullptr);
        }
        json::Value operator()(std::string_view text) const { return json::Value(text); }
        json::Value operator()(const otlp::Bytes& bytes) const { return json::Value(to_base64(bytes.data)); }
        json::Value operator()(const std::vector<otlp::Value>& list) const {
            json::Array values;
            for (const otlp::Value& each : list) values.push_back(plain_value(each));
            return values;
        }
        json::Value operator()(const otlp::Attributes& map) const { return plain_attributes(map); }
    };
    return std::visit(Make{}, value.data);
}

json::Value plain_attributes(const otlp::Attributes& attributes) {
    json::Object object;
    for (const auto& [key, value] : attributes) object[key] = plain_value(value); // of a repeated key the last
    return object;
}

json::Value otlp_attributes(const otlp::Attributes& attributes);

json::Value otlp_value(const otlp::Value& value) {
    struct Make {
        json::Object operator()(std::monostate) const { return {}; }
        json::Object operator()(bool flag) const { return {{"bool_value", flag}}; }
        json::Object operator()(int64_t number) const { return {{"int_value", number}}; }
        json::Object operator()(double number) const {
            if (std::isfinite(number)) return {{"double_value", number}};
            return {{"double_value", std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity"}};
        }
        json::Object operator()(std::string_view text) const { return {{"string_value", text}}; }
        json::Object operator()(const otlp::Bytes& bytes) const { return {{"bytes_value", to_base64(bytes.data)}}; }
        json::Object operator()(const std::vector<otlp::Value>& list) const {
            json::Array values;
            for (const otlp::Value& each : list) values.push_back(otlp_value(each));
            return {{"array_value", json::Object{{"values", std::move(values)}}}};
        }
        json::Object operator()(const otlp::Attributes& map) const {
            return {{"kvlist_value", json::Object{{"values", otlp_attributes(map)}}}};
        }
    };
    return std::visit(Make{}, value.data);
}

json::Value otlp_attributes(const otlp::Attributes& attributes) {
    json::Array list;
    for (const auto& [key, value] : attributes)
        list.push_back(json::Object{{"key", key}, {"value", otlp_value(value)}});
    return list;
}

std::string_view otlp_kind(uint32_t kind) {
    constexpr std::string_view names[] = {"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
                                          "SPAN_KIND_CLIENT",      "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"};
    return kind < std::size(names) ? names[kind] : names[0];
}

json::Value otlp_events(const std::vector<otlp::Event>& events) {
    json::Array list;
    for (const otlp::Event& event : events)
        list.push_back(json::Object{{"name", event.name},
                                    {"time_unix_nano", event.time_ns},
                                    {"attributes", otlp_attributes(event.attributes)},
                                    {"dropped_attributes_count", event.dropped_attributes}});
    return list;
}

json::Value hex_or_null(std::string_view bytes) {
    return bytes.empty() ? json::Value(nullptr) : json::Value(to_hex(bytes));
}

} // namespace

Result<std::vector<Span>> spans_of_payloads(const std::string& project,
                                            const std::vector<telemetry::SpanPayload>& payloads) {
    const otlp::Batch batch = TRY(telemetry::to_otlp(payloads));
    std::vector<Span> spans;
    spans.reserve(payloads.size());
    for (size_t i = 0; i < payloads.size(); ++i) {
        const telemetry::SpanRow& row = payloads[i].row;
        Span span;
        span.id = make_global_id(EvalTarget::span, project, row.span_id);
        span.name = row.name;
        span.context = {row.trace_id, row.span_id};
        span.span_kind = uppercase(name_of(row.kind));
        span.parent_id = or_null(row.parent_id);
        span.start_time = from_ns(row.start_ns);
        span.end_time = from_ns(row.start_ns + row.duration_ns);
        span.status_code = uppercase(name_of(row.status));
        span.status_message = row.status_message;
        span.attributes = plain_attributes(batch.spans[i].attributes);
        for (const otlp::Event& event : batch.spans[i].events)
            span.events.push_back({std::string(event.name), from_ns(static_cast<int64_t>(event.time_ns)),
                                   plain_attributes(event.attributes)});
        spans.push_back(std::move(span));
    }
    return spans;
}

Result<std::vector<json::Value>> otlp_of_payloads(const std::vector<telemetry::SpanPayload>& payloads) {
    const otlp::Batch batch = TRY(telemetry::to_otlp(payloads));
    std::vector<json::Value> spans;
    spans.reserve(batch.spans.size());
    for (const otlp::Span& span : batch.spans)
        spans.push_back(json::Object{
            {"trace_id", hex_or_null(span.trace_id)},
            {"span_id", hex_or_null(span.span_id)},
            {"parent_span_id", hex_or_null(span.parent_span_id)},
            {"trace_state", span.trace_state},
            {"flags", span.flags},
            {"name", span.name},
            {"kind", otlp_kind(span.kind)},
            {"start_time_unix_nano", span.start_ns},
            {"end_time_unix_nano", span.end_ns},
            {"attributes", otlp_attributes(span.attributes)},
            {"dropped_attributes_count", span.dropped_attributes},
            {"events", otlp_events(span.events)},
            {"dropped_events_count", span.dropped_events},
            {"dropped_links_count", span.dropped_links},
            {"status", json::Object{{"code", static_cast<int>(span.status)}, {"message", span.status_message}}},
        });
    return spans;
}

TraceSpan trace_span_of(const std::string& project, const telemetry::SpanRow& row) {
    return {make_global_id(EvalTarget::span, project, row.span_id),
            row.span_id,
            or_null(row.parent_id),
            row.name,
            uppercase(name_of(row.kind)),
            uppercase(name_of(row.status)),
            from_ns(row.start_ns),
            from_ns(row.start_ns + row.duration_ns)};
}

Trace trace_of(const std::string& project, const telemetry::TraceTotals& totals) {
    return {make_global_id(EvalTarget::trace, project, totals.trace_id),
            totals.trace_id,
            project,
            from_ns(totals.start_ns),
            from_ns(totals.end_ns),
            totals.prompt_tokens,
            totals.completion_tokens,
            totals.prompt_tokens + totals.completion_tokens,
            {}};
}

ChatSession session_of(const std::string& project, const telemetry::SessionTotals& totals) {
    ChatSession session;
    session.id = make_global_id(EvalTarget::chat_session, project, totals.chat_session);
    session.session_id = totals.chat_session;
    session.project_id = project;
    session.start_time = from_ns(totals.start_ns);
    session.end_time = from_ns(totals.end_ns);
    for (const telemetry::TraceTotals& trace : totals.traces)
        session.traces.push_back({make_global_id(EvalTarget::trace, project, trace.trace_id), trace.trace_id,
                                  from_ns(trace.start_ns), from_ns(trace.end_ns)});
    session.token_count_prompt = totals.prompt_tokens;
    session.token_count_completion = totals.completion_tokens;
    session.token_count_total = totals.prompt_tokens + totals.completion_tokens;
    return session;
}

Annotation annotation_of(const telemetry::Eval& eval) {
    const bool by_person = eval.annotator.starts_with("user_");
    Annotation annotation;
    annotation.id = eval.id;
    annotation.created_at = from_ns(eval.created_ns);
    annotation.updated_at = from_ns(eval.updated_ns);
    annotation.source = by_person ? "APP" : "API";
    if (by_person) annotation.user_id = eval.annotator;
    annotation.name = eval.name;
    annotation.annotator_kind = eval.kind == telemetry::EvalKind::human  ? AnnotatorKind::human
                                : eval.kind == telemetry::EvalKind::code ? AnnotatorKind::code
                                                                         : AnnotatorKind::llm;
    annotation.result = {or_null(eval.label), eval.score, or_null(eval.explanation)};
    auto metadata = eval.metadata.empty() ? Result<json::Value>(json::Value(nullptr)) : json::parse(eval.metadata);
    if (metadata.ok()) annotation.metadata = std::move(metadata).value();
    annotation.identifier = eval.identifier;
    return annotation;
}

} // namespace hone::api
