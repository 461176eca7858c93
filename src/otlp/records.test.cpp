#include "otlp/records.h"

#include "otlp/metrics.h"

#include <doctest/doctest.h>
#include <protozero/pbf_writer.hpp>

using namespace hone;
using namespace hone::otlp;

namespace {

const std::string record_trace(16, '\x0a'), record_span(8, '\x0b');
constexpr std::string_view record_trace_hex = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
constexpr std::string_view record_span_hex = "0b0b0b0b0b0b0b0b";

void put_attribute(protozero::pbf_writer& parent, uint32_t field, std::string_view key, std::string_view text) {
    protozero::pbf_writer attribute(parent, field);
    attribute.add_string(1, key.data(), key.size());
    protozero::pbf_writer value(attribute, 2);
    value.add_string(1, text.data(), text.size());
}

std::string logs_protobuf(bool with_ids, uint64_t time_ns, uint64_t observed_ns) {
    std::string out;
    protozero::pbf_writer request(out);
    protozero::pbf_writer resource_logs(request, 1);
    {
        protozero::pbf_writer resource(resource_logs, 1);
        put_attribute(resource, 1, "service.name", "shop");
    }
    protozero::pbf_writer scope_logs(resource_logs, 2);
    {
        protozero::pbf_writer scope(scope_logs, 1);
        scope.add_string(1, "logger");
    }
    protozero::pbf_writer record(scope_logs, 2);
    if (time_ns) record.add_fixed64(1, time_ns);
    record.add_uint32(2, 9);
    record.add_string(3, "INFO");
    {
        protozero::pbf_writer body(record, 5);
        body.add_string(1, "it happened");
    }
    put_attribute(record, 6, "key", "value");
    if (with_ids) {
        record.add_bytes(9, record_trace);
        record.add_bytes(10, record_span);
    }
    if (observed_ns) record.add_fixed64(11, observed_ns);
    record.add_string(12, "an.event");
    return out;
}

std::string logs_json(std::string_view ids, std::string_view times) {
    return R"({"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},)"
           R"("scopeLogs":[{"scope":{"name":"logger"},"logRecords":[{)" +
           std::string(times) + R"("severityNumber":9,"severityText":"INFO","body":{"stringValue":"it happened"},)" +
           std::string(ids) +
           R"("eventName":"an.event","attributes":[{"key":"key","value":{"stringValue":"value"}}]}]}]}]})";
}

void check_record(const Batch& batch, uint64_t time_ns) {
    REQUIRE(batch.spans.size() == 1);
    const Span& record = batch.spans.front();
    REQUIRE(record.events.size() == 1);
    const Event& event = record.events.front();
    CHECK(event.name == "an.event");
    CHECK(event.time_ns == time_ns);
    CHECK(*find(event.attributes, "key")->text() == "value");
    CHECK(*find(event.attributes, "body")->text() == "it happened");
    CHECK(*find(event.attributes, "severity")->text() == "INFO");
    CHECK(*find(batch.resources.at(record.resource).attributes, "service.name")->text() == "shop");
    CHECK(batch.scopes.at(record.scope).name == "logger");
}

} // namespace

TEST_CASE("a log record is read the same from protobuf and JSON") {
    const std::string ids =
        R"("traceId":")" + std::string(record_trace_hex) + R"(","spanId":")" + std::string(record_span_hex) + R"(",)";
    const std::string bodies[] = {logs_protobuf(true, 5, 7), logs_json(ids, R"("timeUnixNano":"5",)")};
    for (const Encoding encoding : {Encoding::protobuf, Encoding::json}) {
        const auto logs = decode_logs(encoding, bodies[static_cast<size_t>(encoding)], 9);
        REQUIRE(logs.ok());
        check_record(logs.value().batch, 5);
        CHECK(logs.value().batch.spans.front().trace_id == record_trace);
        CHECK(logs.value().batch.spans.front().span_id == record_span);
        CHECK(!names_no_span(logs.value().batch.spans.front()));
    }
}

TEST_CASE("a log record without ids is kept and names no span; without a time it has the observed one, else now") {
    const std::string observed[] = {logs_protobuf(false, 0, 7), logs_json("", R"("observedTimeUnixNano":7,)")};
    const std::string timeless[] = {logs_protobuf(false, 0, 0), logs_json("", R"("timeUnixNano":"0",)")};
    for (const Encoding encoding : {Encoding::protobuf, Encoding::json}) {
        const auto first = decode_logs(encoding, observed[static_cast<size_t>(encoding)], 9);
        REQUIRE(first.ok());
        check_record(first.value().batch, 7);
        CHECK(names_no_span(first.value().batch.spans.front()));
        const auto second = decode_logs(encoding, timeless[static_cast<size_t>(encoding)], 9);
        REQUIRE(second.ok());
        check_record(second.value().batch, 9);
    }
}

TEST_CASE("bodies that are no logs and no metrics are refused") {
    for (const std::string_view body : {"[]", "{", "\x0a\x05zz"}) {
        const Encoding encoding = body.front() == '\x0a' ? Encoding::protobuf : Encoding::json;
        CHECK(!decode_logs(encoding, body, 1).ok());
        CHECK(!decode_metrics(encoding, body, 1, [](std::string_view) { return true; }).ok());
    }
    CHECK(decode_logs(Encoding::protobuf, "", 1).ok()); // an empty request
}

TEST_CASE("a partial success names what was rejected") {
    CHECK(encode_records_response(Encoding::json, "rejectedLogRecords", 2, "why") ==
          R"({"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"why"}})");
    CHECK(encode_records_response(Encoding::json, "rejectedDataPoints", 0, "") == "{}");
    CHECK(encode_records_response(Encoding::protobuf, "rejectedLogRecords", 0, "").empty());
}
