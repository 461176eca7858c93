#include "otlp/records.h"

#include "base/text.h"
#include "otlp/decode.h"
#include "json/json.h"

#include <algorithm>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace hone::otlp {

namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;

constexpr std::string_view no_trace_id("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
constexpr std::string_view no_span_id = no_trace_id.substr(0, 8);

bool is_id(std::string_view bytes, size_t size) {
    return bytes.size() == size && std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != 0; });
}

std::string_view as_view(data_view data) {
    return {data.data(), data.size()};
}

constexpr uint32_t bytes_field(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}
constexpr uint32_t fixed64_field(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::fixed64);
}

// The name of the group of four numbers that a severity without a text is in.
std::string_view severity_of(uint64_t number) {
    constexpr std::string_view names[] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
    return number >= 1 && number <= 24 ? names[(number - 1) / 4] : std::string_view();
}

// --- protobuf ------------------------------------------------------------------------------------------------------

// Field numbers of opentelemetry/proto/logs/v1.
struct RecordFields {
    uint64_t time_ns = 0, observed_ns = 0, severity_number = 0;
    std::string_view severity, trace_id, span_id, name;
    std::optional<data_view> body;
    std::vector<data_view> attributes;
};

RecordFields read_record(pbf_reader message) {
    RecordFields record;
    while (message.next()) {
        switch (message.tag_and_type()) {
        case fixed64_field(1):
            record.time_ns = message.get_fixed64();
            break;
        case protozero::tag_and_type(2, pbf_wire_type::varint):
            record.severity_number = message.get_uint64();
            break;
        case bytes_field(3):
            record.severity = as_view(message.get_view());
            break;
        case bytes_field(5):
            record.body = message.get_view();
            break;
        case bytes_field(6):
            record.attributes.push_back(message.get_view());
            break;
        case bytes_field(9):
            record.trace_id = as_view(message.get_view());
            break;
        case bytes_field(10):
            record.span_id = as_view(message.get_view());
            break;
        case fixed64_field(11):
            record.observed_ns = message.get_fixed64();
            break;
        case bytes_field(12):
            record.name = as_view(message.get_view());
            break;
        default:
            message.skip();
        }
    }
    return record;
}

void write_record(pbf_writer& scope, const RecordFields& record, uint64_t now_ns) {
    const bool is_bound = is_id(record.trace_id, 16) && is_id(record.span_id, 8);
    const uint64_t known_ns = record.time_ns != 0 ? record.time_ns : record.observed_ns;
    const uint64_t time_ns = known_ns != 0 ? known_ns : now_ns;
    pbf_writer span(scope, 2);
    span.add_bytes(1, std::string(is_bound ? record.trace_id : no_trace_id));
    span.add_bytes(2, std::string(is_bound ? record.span_id : no_span_id));
    span.add_fixed64(7, time_ns);
    span.add_fixed64(8, time_ns);
    pbf_writer event(span, 11);
    event.add_fixed64(1, time_ns);
    event.add_string(2, record.name.data(), record.name.size());
    for (const data_view attribute : record.attributes) event.add_message(3, attribute);
    const std::string_view severity = record.severity.empty() ? severity_of(record.severity_number) : record.severity;
    if (!severity.empty()) {
        pbf_writer attribute(event, 3);
        attribute.add_string(1, "severity");
        pbf_writer value(attribute, 2);
        value.add_string(1, severity.data(), severity.size());
    }
    if (record.body && !record.body->empty()) {
        pbf_writer attribute(event, 3);
        attribute.add_string(1, "body");
        attribute.add_message(2, *record.body);
    }
}

void write_scope_records(pbf_writer& resource, pbf_reader message, uint64_t now_ns) {
    pbf_writer scope(resource, 2);
    while (message.next()) {
        if (message.tag_and_type() == bytes_field(2))
            write_record(scope, read_record(message.get_message()), now_ns);
        else if (message.tag_and_type() == bytes_field(1) || message.tag_and_type() == bytes_field(3)) {
            const auto tag = message.tag();
            scope.add_message(tag, message.get_view());
        } else
            message.skip();
    }
}

// The logs as an ExportTraceServiceRequest: both messages have the same outer levels.
Result<std::string> traces_of_logs(std::string_view body, uint64_t now_ns) {
    std::string out;
    pbf_writer request(out);
    try {
        pbf_reader logs(body.data(), body.size());
        while (logs.next(1, pbf_wire_type::length_delimited)) {
            pbf_writer resource(request, 1);
            pbf_reader message = logs.get_message();
            while (message.next()) {
                if (message.tag_and_type() == bytes_field(2))
                    write_scope_records(resource, message.get_message(), now_ns);
                else if (message.tag_and_type() == bytes_field(1) || message.tag_and_type() == bytes_field(3)) {
                    const auto tag = message.tag();
                    resource.add_message(tag, message.get_view());
                } else
                    message.skip();
            }
        }
    } catch (const protozero::exception&) {
        return invalid("the body is not an OTLP log request in protobuf");
    }
    return out;
}

// --- JSON ----------------------------------------------------------------------------------------------------------

// Empty when the value is no object or has no such list.
const json::Array& list_in(const json::Value& object, std::string_view name) {
    static const json::Array none;
    const json::Value* value = object.is_object() ? object.get_object().if_contains(name) : nullptr;
    return value && value->is_array() ? value->get_array() : none;
}

std::string_view text_in(const json::Object& object, std::string_view name) {
    const json::Value* value = object.if_contains(name);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

bool is_hex_id(std::string_view text, size_t bytes) {
    const auto decoded = from_hex(text);
    return decoded.ok() && is_id(decoded.value(), bytes);
}

json::Value attribute_of(std::string_view key, json::Value value) {
    return json::Object{{"key", key}, {"value", std::move(value)}};
}

// Times are numbers or texts of numbers; 0 is absent.
bool is_time(const json::Value* value) {
    if (value == nullptr) return false;
    if (value->is_string()) return !value->get_string().empty() && value->get_string() != "0";
    return (value->is_int64() && value->get_int64() > 0) || (value->is_uint64() && value->get_uint64() > 0);
}

json::Value json_span_of(const json::Object& record, uint64_t now_ns) {
    const std::string_view trace = text_in(record, "traceId"), id = text_in(record, "spanId");
    const bool is_bound = is_hex_id(trace, 16) && is_hex_id(id, 8);
    json::Value time = json::Value(std::to_string(now_ns));
    for (const char* name : {"observedTimeUnixNano", "timeUnixNano"})
        if (const json::Value* known = record.if_contains(name); is_time(known)) time = *known;
    json::Array attributes;
    if (const json::Value* sent = record.if_contains("attributes"); sent && sent->is_array())
        attributes = sent->get_array();
    std::string_view severity = text_in(record, "severityText");
    if (const json::Value* number = record.if_contains("severityNumber");
        severity.empty() && number && number->is_int64() && number->get_int64() > 0)
        severity = severity_of(static_cast<uint64_t>(number->get_int64()));
    if (!severity.empty()) attributes.push_back(attribute_of("severity", json::Object{{"stringValue", severity}}));
    if (const json::Value* body = record.if_contains("body"); body && body->is_object() && !body->get_object().empty())
        attributes.push_back(attribute_of("body", *body));
    json::Object event{
        {"timeUnixNano", time}, {"name", text_in(record, "eventName")}, {"attributes", std::move(attributes)}};
    return json::Object{{"traceId", is_bound ? trace : to_hex(no_trace_id)},
                        {"spanId", is_bound ? id : to_hex(no_span_id)},
                        {"startTimeUnixNano", time},
                        {"endTimeUnixNano", time},
                        {"events", json::Array{std::move(event)}}};
}

void copy_members(const json::Value& from, json::Object& to, std::initializer_list<const char*> names) {
    if (!from.is_object()) return;
    for (const char* name : names)
        if (const json::Value* value = from.get_object().if_contains(name)) to[name] = *value;
}

Result<json::Value> parse_request(std::string_view body) {
    auto tree = json::parse(body);
    if (!tree.ok()) return invalid("the body is not JSON: " + tree.error().message);
    if (!tree.value().is_object()) return invalid("the body is not a JSON object");
    return tree;
}

Result<std::string> json_traces_of_logs(std::string_view body, uint64_t now_ns) {
    const json::Value tree = TRY(parse_request(body));
    json::Array resources;
    for (const json::Value& resource : list_in(tree, "resourceLogs")) {
        json::Object moved;
        json::Array scopes;
        copy_members(resource, moved, {"resource", "schemaUrl"});
        for (const json::Value& scope : list_in(resource, "scopeLogs")) {
            json::Object moved_scope;
            copy_members(scope, moved_scope, {"scope", "schemaUrl"});
            json::Array spans;
            for (const json::Value& record : list_in(scope, "logRecords"))
                if (record.is_object()) spans.push_back(json_span_of(record.get_object(), now_ns));
            moved_scope["spans"] = std::move(spans);
            scopes.push_back(std::move(moved_scope));
        }
        moved["scopeSpans"] = std::move(scopes);
        resources.push_back(std::move(moved));
    }
    return json::print(json::Object{{"resourceSpans", std::move(resources)}});
}

Result<Batch> decode(Encoding encoding, const std::string& text, const Limits& limits) {
    return encoding == Encoding::json ? decode_json(text, limits) : decode_protobuf(text, limits);
}

} // namespace

bool names_no_span(const Span& record) {
    return record.trace_id == no_trace_id && record.span_id == no_span_id;
}

Result<LogBatch> decode_logs(Encoding encoding, std::string_view body, uint64_t now_ns, const Limits& limits) {
    std::string moved =
        TRY(encoding == Encoding::json ? json_traces_of_logs(body, now_ns) : traces_of_logs(body, now_ns));
    LogBatch logs;
    logs.text = std::make_shared<const std::string>(std::move(moved));
    logs.batch = TRY(decode(encoding, *logs.text, limits));
    return logs;
}

std::string encode_records_response(Encoding encoding, std::string_view field, int64_t rejected,
                                    std::string_view message) {
    std::string text = encode_response(encoding, rejected, message);
    constexpr std::string_view of_traces = "rejectedSpans"; // in protobuf the three responses are the same bytes
    if (encoding == Encoding::json)
        if (const size_t at = text.find(of_traces); at != std::string::npos) text.replace(at, of_traces.size(), field);
    return text;
}

} // namespace hone::otlp
