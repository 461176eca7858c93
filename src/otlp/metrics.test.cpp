#include "otlp/metrics.h"

#include <doctest/doctest.h>
#include <protozero/pbf_writer.hpp>

using namespace hone;
using namespace hone::otlp;

namespace {

bool keep_all(std::string_view) {
    return true;
}

void put_point_attribute(protozero::pbf_writer& parent, uint32_t field, std::string_view key, std::string_view text) {
    protozero::pbf_writer attribute(parent, field);
    attribute.add_string(1, key.data(), key.size());
    protozero::pbf_writer value(attribute, 2);
    value.add_string(1, text.data(), text.size());
}

std::string_view attribute_text(const MetricBatch& metrics, const MetricPoint& point, std::string_view key) {
    const Value* value = find(metrics.batch.spans[point.span].attributes, key);
    return value && value->text() ? *value->text() : std::string_view();
}

// One sum and one histogram, as protobuf.
std::string metrics_protobuf() {
    std::string out;
    protozero::pbf_writer request(out);
    protozero::pbf_writer resource_metrics(request, 1);
    protozero::pbf_writer scope_metrics(resource_metrics, 2);
    {
        protozero::pbf_writer metric(scope_metrics, 2);
        metric.add_string(1, "tokens");
        metric.add_string(3, "{token}");
        protozero::pbf_writer sum(metric, 7);
        {
            protozero::pbf_writer point(sum, 1);
            point.add_fixed64(2, 10);
            point.add_fixed64(3, 20);
            point.add_sfixed64(6, -7);
            put_point_attribute(point, 7, "type", "input");
        }
        sum.add_enum(2, 1);
    }
    {
        protozero::pbf_writer metric(scope_metrics, 2);
        metric.add_string(1, "duration");
        protozero::pbf_writer histogram(metric, 9);
        {
            protozero::pbf_writer point(histogram, 1);
            point.add_fixed64(3, 20);
            point.add_fixed64(4, 3);
            point.add_double(5, 1.5);
            const uint64_t counts[] = {1, 2, 0};
            const double bounds[] = {0.5, 1.0};
            point.add_packed_fixed64(6, std::begin(counts), std::end(counts));
            point.add_packed_double(7, std::begin(bounds), std::end(bounds));
            put_point_attribute(point, 9, "model", "m");
        }
        histogram.add_enum(2, 2);
    }
    return out;
}

const std::string metrics_json =
    R"({"resourceMetrics":[{"resource":{},"scopeMetrics":[{"metrics":[{"name":"tokens","unit":"{token}","sum":{)"
    R"("aggregationTemporality":1,"dataPoints":[{"startTimeUnixNano":"10","timeUnixNano":"20","asInt":"-7",)"
    R"("attributes":[{"key":"type","value":{"stringValue":"input"}}]}]}},{"name":"duration","histogram":{)"
    R"("aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE","dataPoints":[{"timeUnixNano":20,"count":"3",)"
    R"("sum":1.5,"bucketCounts":["1","2","0"],"explicitBounds":[0.5,1],"attributes":[{"key":"model","value":)"
    R"({"stringValue":"m"}}]}]}}]}]}]})";

} // namespace

TEST_CASE("points of sums and histograms are read from both encodings") {
    for (const Encoding encoding : {Encoding::protobuf, Encoding::json}) {
        const std::string body = encoding == Encoding::json ? metrics_json : metrics_protobuf();
        const auto read = decode_metrics(encoding, body, 99, keep_all);
        REQUIRE(read.ok());
        const MetricBatch& metrics = read.value();
        REQUIRE(metrics.points.size() == 2);
        const MetricPoint &tokens = metrics.points[0], &duration = metrics.points[1];
        CHECK(tokens.name == "tokens");
        CHECK(tokens.unit == "{token}");
        CHECK(tokens.kind == MetricKind::sum);
        CHECK(!tokens.is_cumulative);
        CHECK(tokens.start_ns == 10);
        CHECK(tokens.time_ns == 20);
        CHECK(tokens.value == -7);
        CHECK(tokens.count == 1);
        CHECK(attribute_text(metrics, tokens, "type") == "input");
        CHECK(duration.kind == MetricKind::histogram);
        CHECK(duration.is_cumulative);
        CHECK(duration.value == 1.5);
        CHECK(duration.count == 3);
        CHECK(duration.bounds == std::vector<double>{0.5, 1.0});
        CHECK(duration.buckets == std::vector<uint64_t>{1, 2, 0});
        CHECK(attribute_text(metrics, duration, "model") == "m");
    }
}

TEST_CASE("points of metrics that are not kept are counted by resource") {
    const std::string json =
        R"({"resourceMetrics":[{"resource":{},"scopeMetrics":[{"metrics":[{"name":"a","sum":{"dataPoints":[{},{}]}},)"
        R"({"name":"b","histogram":{"dataPoints":[{}]}},{"name":"c","gauge":{"dataPoints":[]}}]}]},)"
        R"({"scopeMetrics":[{"metrics":[{"name":"d","summary":{"dataPoints":[{}]}},7]}]}]})";
    const auto counted = decode_metrics(Encoding::json, json, 5, [](std::string_view name) { return name == "b"; });
    REQUIRE(counted.ok());
    CHECK(counted.value().received == std::vector<int64_t>{3, 1});
    CHECK(counted.value().batch.resources.size() == 2);
    REQUIRE(counted.value().points.size() == 1);
    CHECK(counted.value().points[0].time_ns == 5); // it has no time of its own

    std::string protobuf;
    {
        protozero::pbf_writer request(protobuf);
        protozero::pbf_writer resource_metrics(request, 1);
        protozero::pbf_writer scope_metrics(resource_metrics, 2);
        for (const uint32_t kind : {5u, 7u, 9u, 10u, 11u}) {
            protozero::pbf_writer metric(scope_metrics, 2);
            metric.add_string(1, "name");
            protozero::pbf_writer data(metric, kind);
            data.add_message(1, "", 0);
            data.add_message(1, "", 0);
        }
    }
    const auto again = decode_metrics(Encoding::protobuf, protobuf, 5, [](std::string_view) { return false; });
    REQUIRE(again.ok());
    CHECK(again.value().received == std::vector<int64_t>{10});
    CHECK(again.value().points.empty());
    const auto kept = decode_metrics(Encoding::protobuf, protobuf, 5, keep_all);
    REQUIRE(kept.ok());
    CHECK(kept.value().points.size() == 10);
}

TEST_CASE("a point with a value that is no number, or with buckets that do not fit, shows nothing wrong") {
    std::string protobuf;
    {
        protozero::pbf_writer request(protobuf);
        protozero::pbf_writer resource_metrics(request, 1);
        protozero::pbf_writer scope_metrics(resource_metrics, 2);
        protozero::pbf_writer metric(scope_metrics, 2);
        metric.add_string(1, "name");
        metric.add_string(3, "s\n\xff");
        protozero::pbf_writer data(metric, 9);
        for (const double sum : {2.0, std::numeric_limits<double>::quiet_NaN()}) {
            protozero::pbf_writer point(data, 1);
            point.add_double(5, sum);
            const uint64_t counts[] = {1, 2};
            point.add_packed_fixed64(6, std::begin(counts), std::end(counts));
        }
    }
    const auto read = decode_metrics(Encoding::protobuf, protobuf, 5, keep_all);
    REQUIRE(read.ok());
    REQUIRE(read.value().points.size() == 1);
    CHECK(read.value().received == std::vector<int64_t>{2});
    CHECK(read.value().points[0].buckets.empty());
    CHECK(read.value().points[0].unit == "s");
}

TEST_CASE("a resource without metrics keeps its place in protobuf, so that points are counted for their own resource") {
    // Two ResourceMetrics: an empty one, and one with a gauge "m" of one point.
    using namespace std::string_literals;
    const std::string body = "\x0a\x00"s + "\x0a\x0b"s + "\x12\x09\x12\x07\x0a\x01m\x2a\x02\x0a\x00"s;
    const auto metrics = decode_metrics(Encoding::protobuf, body, 1, [](std::string_view) { return false; });
    REQUIRE(metrics.ok());
    CHECK(metrics.value().batch.resources.size() == 2);
    CHECK(metrics.value().received == std::vector<int64_t>{0, 1});
}
