#include "otlp/metrics.h"

#include "base/text.h"
#include "otlp/decode.h"
#include "json/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace hone::otlp {

namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;

constexpr std::string_view point_trace_id("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
constexpr uint64_t cumulative_temporality = 2;
constexpr size_t most_metric_buckets = 1000;

// A point's number is its span's id: the decoder may leave a span out.
std::string point_id(size_t index) {
    std::string id(8, '\0');
    for (size_t i = 0; i < 8; ++i) id[i] = static_cast<char>(static_cast<unsigned char>((index + 1) >> (8 * (7 - i))));
    return id;
}

size_t point_index(std::string_view id) {
    size_t number = 0;
    for (const char byte : id) number = number << 8 | static_cast<unsigned char>(byte);
    return number - 1;
}

struct Reading {
    const std::function<bool(std::string_view)>& is_kept;
    uint64_t now_ns;
    std::vector<MetricPoint> points{};
    std::vector<int64_t> received{};
};

void end_point(MetricPoint& point, uint64_t now_ns) {
    if (point.time_ns == 0) point.time_ns = now_ns;
    if (point.start_ns > INT64_MAX) point.start_ns = 0;
    std::erase_if(point.unit, [](char letter) { return letter < ' ' || letter > '~'; });
    point.unit.resize(std::min<size_t>(point.unit.size(), 63)); // the specification's limits of a unit
    if (point.kind != MetricKind::histogram) point.count = 1;
    if (point.buckets.size() != point.bounds.size() + 1 || point.buckets.size() > most_metric_buckets) {
        point.buckets.clear();
        point.bounds.clear();
    }
}

// --- protobuf ------------------------------------------------------------------------------------------------------

constexpr uint32_t text_tag(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::length_delimited);
}
constexpr uint32_t fixed_tag(uint32_t field) {
    return protozero::tag_and_type(field, pbf_wire_type::fixed64);
}

// Field numbers of opentelemetry/proto/metrics/v1: the five kinds of a metric, by the field of their data.
constexpr uint32_t gauge_field = 5, sum_field = 7, histogram_field = 9, exponential_field = 10, summary_field = 11;

bool is_data_field(uint32_t field) {
    return field == gauge_field || field == sum_field || field == histogram_field || field == exponential_field ||
           field == summary_field;
}

uint32_t attributes_field(uint32_t data_field) {
    if (data_field == histogram_field) return 9;
    return data_field == exponential_field ? 1 : 7;
}

template <class Number>
double real_of(Number bits) {
    double value = 0;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// One data point into `point`, its attributes as those of a span.
void read_point(pbf_reader data, uint32_t data_field, MetricPoint& point, pbf_writer& span) {
    const bool is_number = data_field == gauge_field || data_field == sum_field;
    const uint32_t attributes_tag = text_tag(attributes_field(data_field));
    while (data.next()) {
        const uint32_t tag = data.tag_and_type();
        if (tag == attributes_tag)
            span.add_message(9, data.get_view());
        else if (tag == fixed_tag(2))
            point.start_ns = data.get_fixed64();
        else if (tag == fixed_tag(3))
            point.time_ns = data.get_fixed64();
        else if (tag == fixed_tag(4) && is_number)
            point.value = real_of(data.get_fixed64());
        else if (tag == fixed_tag(6) && is_number)
            point.value = static_cast<double>(static_cast<int64_t>(data.get_fixed64()));
        else if (tag == fixed_tag(4))
            point.count = data.get_fixed64();
        else if (tag == fixed_tag(5) && !is_number)
            point.value = real_of(data.get_fixed64());
        else if (tag == text_tag(6) && data_field == histogram_field) {
            const auto counts = data.get_packed_fixed64();
            point.buckets.assign(counts.begin(), counts.end());
        } else if (tag == text_tag(7) && data_field == histogram_field) {
            const auto bounds = data.get_packed_double();
            point.bounds.assign(bounds.begin(), bounds.end());
        } else
            data.skip();
    }
}

void read_data(pbf_reader data, uint32_t data_field, const MetricPoint& metric, bool is_kept, Reading& reading,
               pbf_writer& scope) {
    const size_t first = reading.points.size();
    bool is_cumulative = false;
    while (data.next()) {
        if (data.tag_and_type() == protozero::tag_and_type(2, pbf_wire_type::varint)) {
            is_cumulative = data.get_uint64() == cumulative_temporality;
            continue;
        }
        if (data.tag_and_type() != text_tag(1)) {
            data.skip();
            continue;
        }
        reading.received.back()++;
        if (!is_kept) {
            data.skip();
            continue;
        }
        MetricPoint point = metric;
        {
            pbf_writer span(scope, 2);
            span.add_bytes(1, std::string(point_trace_id));
            span.add_bytes(2, point_id(reading.points.size()));
            span.add_string(5, point.name);
            read_point(data.get_message(), data_field, point, span);
            end_point(point, reading.now_ns);
            span.add_fixed64(7, point.time_ns);
            span.add_fixed64(8, point.time_ns);
        }
        reading.points.push_back(std::move(point));
    }
    if (data_field == summary_field) is_cumulative = true; // by its definition
    for (size_t i = first; i < reading.points.size(); ++i) reading.points[i].is_cumulative = is_cumulative;
}

void read_metric(data_view bytes, Reading& reading, pbf_writer& scope) {
    MetricPoint metric;
    std::string_view name;
    for (pbf_reader fields(bytes); fields.next();) {
        if (fields.tag_and_type() == text_tag(1)) {
            const data_view view = fields.get_view();
            name = {view.data(), view.size()};
        } else if (fields.tag_and_type() == text_tag(3))
            metric.unit = fields.get_string();
        else
            fields.skip();
    }
    metric.name = name;
    const bool is_kept = reading.is_kept(name);
    for (pbf_reader fields(bytes); fields.next();) {
        const uint32_t field = fields.tag();
        if (!is_data_field(field) || fields.wire_type() != pbf_wire_type::length_delimited) {
            fields.skip();
            continue;
        }
        metric.kind = field == gauge_field ? MetricKind::gauge
                      : field == sum_field ? MetricKind::sum
                                           : MetricKind::histogram;
        read_data(fields.get_message(), field, metric, is_kept, reading, scope);
    }
}

// The metrics as an ExportTraceServiceRequest: both messages have the same outer levels.
Result<std::string> spans_of_metrics(std::string_view body, Reading& reading) {
    std::string out;
    pbf_writer request(out);
    try {
        pbf_reader metrics(body.data(), body.size());
        while (metrics.next(1, pbf_wire_type::length_delimited)) {
            std::string content; // written also when it is empty: resources are counted by their place
            pbf_writer resource(content);
            reading.received.push_back(0);
            pbf_reader message = metrics.get_message();
            while (message.next()) {
                if (message.tag_and_type() == text_tag(1)) {
                    resource.add_message(1, message.get_view());
                    continue;
                }
                if (message.tag_and_type() != text_tag(2)) {
                    message.skip();
                    continue;
                }
                pbf_writer scope(resource, 2);
                for (pbf_reader fields = message.get_message(); fields.next();) {
                    if (fields.tag_and_type() == text_tag(1))
                        scope.add_message(1, fields.get_view());
                    else if (fields.tag_and_type() == text_tag(2))
                        read_metric(fields.get_view(), reading, scope);
                    else
                        fields.skip();
                }
            }
            request.add_message(1, content);
        }
    } catch (const protozero::exception&) {
        return invalid("the body is not an OTLP metric request in protobuf");
    }
    return out;
}

// --- JSON ----------------------------------------------------------------------------------------------------------

const json::Value* member_of(const json::Value& object, std::string_view name) {
    return object.is_object() ? object.get_object().if_contains(name) : nullptr;
}

const json::Array& members_in(const json::Value& object, std::string_view name) {
    static const json::Array none;
    const json::Value* value = member_of(object, name);
    return value && value->is_array() ? value->get_array() : none;
}

// Numbers of 64 bits are texts in OTLP/JSON; both are read.
double real_in(const json::Value* value) {
    if (value == nullptr) return 0;
    if (value->is_double()) return value->get_double();
    if (value->is_int64()) return static_cast<double>(value->get_int64());
    if (value->is_uint64()) return static_cast<double>(value->get_uint64());
    double number = 0;
    if (value->is_string()) {
        const std::string_view text(value->get_string());
        std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number;
}

uint64_t count_in(const json::Value* value) {
    if (value == nullptr) return 0;
    if (value->is_uint64()) return value->get_uint64();
    if (value->is_int64()) return value->get_int64() < 0 ? 0 : static_cast<uint64_t>(value->get_int64());
    uint64_t number = 0;
    if (value->is_string()) {
        const std::string_view text(value->get_string());
        std::from_chars(text.data(), text.data() + text.size(), number);
    }
    return number;
}

std::string text_or_empty(const json::Value* value) {
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool is_cumulative_in(const json::Value& data) {
    const json::Value* temporality = member_of(data, "aggregationTemporality");
    return temporality && (count_in(temporality) == cumulative_temporality ||
                           text_or_empty(temporality) == "AGGREGATION_TEMPORALITY_CUMULATIVE");
}

struct JsonMetricKind {
    const char* name;
    MetricKind kind;
    bool is_number;
};
constexpr JsonMetricKind json_metric_kinds[] = {{"gauge", MetricKind::gauge, true},
                                                {"sum", MetricKind::sum, true},
                                                {"histogram", MetricKind::histogram, false},
                                                {"exponentialHistogram", MetricKind::histogram, false},
                                                {"summary", MetricKind::histogram, false}};

void read_json_point(const json::Value& data, const JsonMetricKind& kind, MetricPoint& point) {
    point.start_ns = count_in(member_of(data, "startTimeUnixNano"));
    point.time_ns = count_in(member_of(data, "timeUnixNano"));
    if (kind.is_number) {
        const json::Value* whole = member_of(data, "asInt");
        point.value = real_in(whole ? whole : member_of(data, "asDouble"));
        return;
    }
    point.value = real_in(member_of(data, "sum"));
    point.count = count_in(member_of(data, "count"));
    for (const json::Value& count : members_in(data, "bucketCounts")) point.buckets.push_back(count_in(&count));
    for (const json::Value& bound : members_in(data, "explicitBounds")) point.bounds.push_back(real_in(&bound));
}

void read_json_metric(const json::Value& metric, Reading& reading, json::Array& spans) {
    MetricPoint known;
    known.name = text_or_empty(member_of(metric, "name"));
    known.unit = text_or_empty(member_of(metric, "unit"));
    const bool is_kept = reading.is_kept(known.name);
    for (const JsonMetricKind& kind : json_metric_kinds) {
        const json::Value* data = member_of(metric, kind.name);
        if (data == nullptr) continue;
        known.kind = kind.kind;
        known.is_cumulative = is_cumulative_in(*data) || std::string_view(kind.name) == "summary";
        const json::Array& points = members_in(*data, "dataPoints");
        reading.received.back() += static_cast<int64_t>(points.size());
        if (!is_kept) continue;
        for (const json::Value& sent : points) {
            MetricPoint point = known;
            read_json_point(sent, kind, point);
            end_point(point, reading.now_ns);
            json::Object span{{"traceId", to_hex(point_trace_id)},
                              {"spanId", to_hex(point_id(reading.points.size()))},
                              {"name", point.name},
                              {"startTimeUnixNano", std::to_string(point.time_ns)},
                              {"endTimeUnixNano", std::to_string(point.time_ns)}};
            if (const json::Value* attributes = member_of(sent, "attributes")) span["attributes"] = *attributes;
            spans.push_back(std::move(span));
            reading.points.push_back(std::move(point));
        }
    }
}

Result<std::string> json_spans_of_metrics(std::string_view body, Reading& reading) {
    auto tree = json::parse(body);
    if (!tree.ok()) return invalid("the body is not JSON: " + tree.error().message);
    if (!tree.value().is_object()) return invalid("the body is not a JSON object");
    json::Array resources;
    for (const json::Value& resource : members_in(tree.value(), "resourceMetrics")) {
        json::Object moved;
        if (const json::Value* sent = member_of(resource, "resource")) moved["resource"] = *sent;
        json::Array scopes;
        reading.received.push_back(0);
        for (const json::Value& scope : members_in(resource, "scopeMetrics")) {
            json::Object moved_scope;
            if (const json::Value* sent = member_of(scope, "scope")) moved_scope["scope"] = *sent;
            json::Array spans;
            for (const json::Value& metric : members_in(scope, "metrics")) read_json_metric(metric, reading, spans);
            moved_scope["spans"] = std::move(spans);
            scopes.push_back(std::move(moved_scope));
        }
        moved["scopeSpans"] = std::move(scopes);
        resources.push_back(std::move(moved));
    }
    return json::print(json::Object{{"resourceSpans", std::move(resources)}});
}

} // namespace

Result<MetricBatch> decode_metrics(Encoding encoding, std::string_view body, uint64_t now_ns,
                                   const std::function<bool(std::string_view name)>& is_kept, const Limits& limits) {
    Reading reading{is_kept, now_ns};
    std::string spans =
        TRY(encoding == Encoding::json ? json_spans_of_metrics(body, reading) : spans_of_metrics(body, reading));
    MetricBatch metrics;
    metrics.text = std::make_shared<const std::string>(std::move(spans));
    metrics.batch =
        TRY(encoding == Encoding::json ? decode_json(*metrics.text, limits) : decode_protobuf(*metrics.text, limits));
    metrics.received = std::move(reading.received);
    for (size_t i = 0; i < metrics.batch.spans.size(); ++i) {
        const size_t index = point_index(metrics.batch.spans[i].span_id);
        if (index >= reading.points.size() || !std::isfinite(reading.points[index].value)) continue;
        MetricPoint& point = metrics.points.emplace_back(std::move(reading.points[index]));
        point.name = metrics.batch.spans[i].name; // repaired and cut
        point.span = i;
    }
    return metrics;
}

} // namespace hone::otlp
