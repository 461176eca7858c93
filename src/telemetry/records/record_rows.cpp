#include "telemetry/records/record_rows.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "otlp/attribute_text.h"
#include "telemetry/messages/names.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace hone::telemetry {

namespace {

constexpr Column log_table_columns[] = {
    {"project", "LowCardinality(String)", "", "Id of the project."},
    {"time_ns", "Int64", "CODEC(Delta, ZSTD(1))", "When it happened, nanoseconds since 1970."},
    {"id", "UInt64", "CODEC(ZSTD(1))", "Equal for a record that was sent again."},
    {"received_ns", "Int64", "CODEC(Delta, ZSTD(1))", "When it was received."},
    {"severity", "LowCardinality(String)", "", "trace, debug, info, warn, error, fatal; empty if not sent."},
    {"name", "LowCardinality(String)", "", "Name of the event; log if it has none."},
    {"body", "String", "CODEC(ZSTD(1))", "The message."},
    {"service", "LowCardinality(String)", "", "service.name of the resource."},
    {"scope", "LowCardinality(String)", "", "The logger or the instrumentation."},
    {"trace_id", "String", "CODEC(ZSTD(1))", "Trace of the span that it names; empty if none."},
    {"span_id", "String", "CODEC(ZSTD(1))", "Span that it names; empty if none."},
    {"attributes", "String", "CODEC(ZSTD(1))", "Attributes as JSON."},
};

constexpr Column metric_table_columns[] = {
    {"project", "LowCardinality(String)", "", "Id of the project."},
    {"metric", "LowCardinality(String)", "", "Name of the metric."},
    {"time_ns", "Int64", "CODEC(Delta, ZSTD(1))", "Time of the point, nanoseconds since 1970."},
    {"start_ns", "Int64", "CODEC(Delta, ZSTD(1))", "Since when it counts; 0: unknown."},
    {"series", "UInt64", "CODEC(ZSTD(1))", "Equal for points of one sender with equal attributes."},
    {"use", "LowCardinality(String)", "", "tokens, cost, latency or usage."},
    {"unit", "LowCardinality(String)", "", "Unit, as sent."},
    {"kind", "LowCardinality(String)", "", "gauge, sum or histogram."},
    {"is_cumulative", "UInt8", "", "1: the value counts from start_ns; 0: from the point before."},
    {"value", "Float64", "CODEC(ZSTD(1))", "Value; of a histogram the sum of its values."},
    {"count", "UInt64", "CODEC(ZSTD(1))", "Of a histogram the number of its values; otherwise 1."},
    {"bounds", "Array(Float64)", "CODEC(ZSTD(1))", "Bounds of a histogram's buckets."},
    {"buckets", "Array(UInt64)", "CODEC(ZSTD(1))", "Values in each bucket; one more than bounds."},
    {"service", "LowCardinality(String)", "", "service.name of the resource."},
    {"model", "LowCardinality(String)", "", "The model that the point is about; empty if none."},
    {"provider", "LowCardinality(String)", "", "Provider of the model; empty if none."},
    {"type", "LowCardinality(String)", "", "Type of tokens (input, output, …), or of what was counted."},
    {"attributes", "Map(LowCardinality(String), String)", "CODEC(ZSTD(1))", "All attributes as texts."},
};

std::string text_among(const otlp::Attributes& attributes, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        if (const otlp::Value* value = otlp::find(attributes, key); value && value->text() && !value->text()->empty())
            return std::string(*value->text());
    return {};
}

// One spelling for each level; libraries use many.
std::string severity_name(std::string_view sent) {
    struct Spelling {
        std::string_view begin, name;
    };
    constexpr Spelling spellings[] = {{"trace", "trace"}, {"debug", "debug"}, {"info", "info"},   {"notice", "info"},
                                      {"warn", "warn"},   {"err", "error"},   {"fatal", "fatal"}, {"crit", "fatal"},
                                      {"alert", "fatal"}, {"emerg", "fatal"}};
    const std::string low = lowercase_ascii(sent);
    for (const Spelling& spelling : spellings)
        if (low.starts_with(spelling.begin)) return std::string(spelling.name);
    return std::string(truncate_utf8(low, 20));
}

std::string plain_text(const otlp::Value& value) {
    if (value.text()) return std::string(*value.text());
    std::string text;
    otlp::append_value_text(text, value);
    return text;
}

uint64_t short_hash(std::string_view text) {
    const std::string hashed = crypto::hash(text);
    uint64_t number = 0;
    std::memcpy(&number, hashed.data(), std::min(sizeof number, hashed.size()));
    return number;
}

template <class Number>
void put_array(std::string& out, const std::vector<Number>& numbers) {
    put_varint(out, numbers.size());
    for (const Number number : numbers) put_number(out, number);
}

} // namespace

std::span<const Column> log_columns() {
    return log_table_columns;
}

std::span<const Column> metric_point_columns() {
    return metric_table_columns;
}

void append_log_row(std::string& out, std::string_view project, const otlp::Batch& batch, const otlp::Span& record,
                    int64_t received_ns) {
    const otlp::Event& event = record.events.front();
    const otlp::Value* body = otlp::find(event.attributes, "body");
    const bool is_bound = !otlp::names_no_span(record);
    otlp::Attributes others;
    for (const otlp::KeyValue& attribute : event.attributes)
        if (attribute.key != "body" && attribute.key != "severity" && attribute.key != "log.record")
            others.push_back(attribute);
    std::string attributes;
    otlp::append_attribute_text(attributes, others);
    std::string content;
    put_text(content, severity_name(text_among(event.attributes, {"severity"})));
    put_text(content, event.name);
    put_text(content, body ? plain_text(*body) : text_among(event.attributes, {"message", "exception.message"}));
    put_text(content, text_among(batch.resources[record.resource].attributes, {"service.name"}));
    put_text(content, batch.scopes[record.scope].name);
    put_text(content, is_bound ? to_hex(record.trace_id) : std::string());
    put_text(content, is_bound ? to_hex(record.span_id) : std::string());
    put_text(content, attributes);
    put_text(out, project);
    put_number(out, static_cast<int64_t>(event.time_ns));
    put_number(out, short_hash(content));
    put_number(out, received_ns);
    out += content;
}

void append_metric_row(std::string& out, std::string_view project, const otlp::MetricBatch& metrics,
                       const otlp::MetricPoint& point, MetricUse use) {
    const otlp::Span& span = metrics.batch.spans[point.span];
    const otlp::Attributes& resource = metrics.batch.resources[span.resource].attributes;
    std::string identity = std::string(project) + '\n' + point.name + '\n';
    identity += metrics.batch.scopes[span.scope].name;
    std::map<std::string_view, std::string> attributes; // sorted: a sender may change the order
    for (const otlp::KeyValue& attribute : span.attributes) attributes[attribute.key] = plain_text(attribute.value);
    otlp::append_attribute_text(identity, resource);
    for (const auto& [key, value] : attributes) identity.append("\n").append(key).append("=").append(value);
    const auto text = [&](std::initializer_list<std::string_view> keys) { return text_among(span.attributes, keys); };
    put_text(out, project);
    put_text(out, point.name);
    put_number(out, static_cast<int64_t>(point.time_ns));
    put_number(out, static_cast<int64_t>(point.start_ns));
    put_number(out, short_hash(identity));
    put_text(out, name_of(use));
    put_text(out, point.unit);
    put_text(out, name_of(point.kind));
    put_number(out, static_cast<uint8_t>(point.is_cumulative ? 1 : 0));
    put_number(out, point.value);
    put_number(out, point.count);
    put_array(out, point.bounds);
    put_array(out, point.buckets);
    put_text(out, text_among(resource, {"service.name"}));
    put_text(out, text({"gen_ai.response.model", "gen_ai.request.model", "llm.response.model", "llm.request.model",
                        "modelName", "model_name", "model"}));
    put_text(out, provider_name(text({"gen_ai.provider.name", "gen_ai.system", "llm.provider", "provider"})));
    put_text(out, text({"gen_ai.token.type", "llm.usage.token_type", "token_type", "type", "decision", "tool_name",
                        "function_name"}));
    put_varint(out, attributes.size());
    for (const auto& [key, value] : attributes) {
        put_text(out, key);
        put_text(out, value);
    }
}

} // namespace hone::telemetry
