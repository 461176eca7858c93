#include "otlp/attribute_text.h"
#include "otlp/decode.h"
#include "otlp/encode.h"

#include <doctest/doctest.h>
#include <limits>
#include <protozero/pbf_writer.hpp>

using namespace hone;
using namespace hone::otlp;

namespace {

const std::string trace_a(16, '\x0a'), span_b(8, '\x0b'), span_c(8, '\x0c');

// A batch with every field and every type set, held by its own texts.
Batch full_batch() {
    Batch batch;
    batch.resources.push_back({{{"service.name", {std::string_view("shop")}}}, 1, "https://schema/1"});
    batch.scopes.push_back({"tracer", "1.2", {{"scope.key", {true}}}, 2, "https://schema/2"});
    Span span;
    span.trace_id = trace_a;
    span.span_id = span_b;
    span.parent_span_id = span_c;
    span.trace_state = "vendor=1";
    span.flags = 257;
    span.name = "chat \"quoted\"\n";
    span.kind = 3;
    span.start_ns = 1'700'000'000'000'000'001;
    span.end_ns = 1'700'000'001'000'000'002;
    span.attributes = {
        {"text", {std::string_view("h\xc3\xa9llo \x01")}},
        {"yes", {true}},
        {"whole", {std::numeric_limits<int64_t>::min()}},
        {"real", {1.0}},
        {"tiny", {5e-324}},
        {"nan", {std::numeric_limits<double>::quiet_NaN()}},
        {"minus", {-std::numeric_limits<double>::infinity()}},
        {"bytes", {Bytes{std::string_view("\0\xff\x10", 3)}}},
        {"list", {std::vector<Value>{{int64_t{1}}, {std::string_view("two")}, {}}}},
        {"map", {Attributes{{"inner", {2.5}}}}},
        {"tricky", {Attributes{{"$bytes", {std::string_view("00")}}}}},
        {"unset", {}},
        {"twice", {int64_t{1}}},
        {"twice", {int64_t{2}}},
    };
    span.dropped_attributes = 3;
    span.events.push_back({5, "exception", {{"exception.type", {std::string_view("E")}}}, 4});
    span.dropped_events = 5;
    span.links.push_back({trace_a, span_c, "state", {{"k", {int64_t{1}}}}, 6, 1});
    span.dropped_links = 7;
    span.status = StatusCode::error;
    span.status_message = "boom";
    batch.spans.push_back(std::move(span));
    return batch;
}

// Two batches are the same when they are written the same.
void check_same(const Batch& a, const Batch& b) {
    CHECK(encode_batch(Encoding::json, a) == encode_batch(Encoding::json, b));
    CHECK(encode_batch(Encoding::protobuf, a) == encode_batch(Encoding::protobuf, b));
}

std::string one_span_json(std::string_view fields) {
    return R"({"resourceSpans":[{"scopeSpans":[{"spans":[{)" + std::string(fields) + "}]}]}]}";
}

constexpr std::string_view good_ids =
    R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","startTimeUnixNano":"1700000000000000001")";

Result<Batch> decode_one(std::string_view more) {
    static std::deque<std::string> bodies; // bodies outlive their batches
    return decode_json(bodies.emplace_back(one_span_json(std::string(good_ids) + std::string(more))));
}

std::string protobuf_span(const std::string& trace, const std::string& span, uint64_t start) {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_bytes(1, trace);
    writer.add_bytes(2, span);
    writer.add_fixed64(7, start);
    return out;
}

std::string protobuf_request(const std::vector<std::string>& spans) {
    std::string out;
    protozero::pbf_writer request(out);
    protozero::pbf_writer resource_spans(request, 1);
    protozero::pbf_writer scope_spans(resource_spans, 2);
    for (const std::string& span : spans) scope_spans.add_message(2, span);
    scope_spans.commit();
    resource_spans.commit();
    return out;
}

} // namespace

TEST_CASE("every field and type survives protobuf and JSON") {
    const Batch batch = full_batch();
    const std::string protobuf = encode_batch(Encoding::protobuf, batch);
    const std::string json = encode_batch(Encoding::json, batch);
    auto from_protobuf = decode_protobuf(protobuf);
    auto from_json = decode_json(json);
    REQUIRE(from_protobuf.ok());
    REQUIRE(from_json.ok());
    check_same(batch, from_protobuf.value());
    check_same(batch, from_json.value());
    CHECK(*find(from_json.value().spans[0].attributes, "twice")->integer() == 2);
}

TEST_CASE("attributes survive their text form with types, order and repeated keys") {
    const Batch batch = full_batch();
    std::string text, again;
    append_attribute_text(text, batch.spans[0].attributes);
    Batch storage;
    auto read = read_attribute_text(text, storage);
    REQUIRE(read.ok());
    append_attribute_text(again, read.value());
    CHECK(text == again);
    std::string before, after;
    for (const auto& entry : batch.spans[0].attributes) append_value_json(before, entry.value);
    for (const auto& entry : read.value()) append_value_json(after, entry.value);
    CHECK(before == after);
    CHECK(text.find(R"("real":1.0,)") != std::string::npos);
}

TEST_CASE("damaged attribute text is an error, not a guess") {
    for (const char* text : {"", "[]", "{", "{\"a\":null}", "{\"a\":{\"$what\":1}}", "{\"a\":{\"$bytes\":\"0\"}}",
                             "{\"a\":18446744073709551615}"}) {
        Batch storage;
        CAPTURE(text);
        CHECK(!read_attribute_text(text, storage).ok());
    }
}

TEST_CASE("OTLP/JSON accepts numbers as texts or numbers, ids in any case, enum names, and ignores unknown fields") {
    auto batch = decode_one(R"(,"kind":"SPAN_KIND_SERVER","endTimeUnixNano":1700000000000000002,"unknown":{"a":[1]},
        "status":{"code":"STATUS_CODE_ERROR"},"parentSpanId":"","attributes":[{"key":"n","value":{"intValue":7}},
        {"key":"m","value":{"intValue":"-9223372036854775808"}},{"key":"d","value":{"doubleValue":3}},{"key":"null","value":null}])");
    REQUIRE(batch.ok());
    REQUIRE(batch.value().spans.size() == 1);
    const Span& span = batch.value().spans[0];
    CHECK(span.kind == 2);
    CHECK(span.status == StatusCode::error);
    CHECK(span.end_ns == 1'700'000'000'000'000'002);
    CHECK(span.parent_span_id.empty());
    CHECK(*find(span.attributes, "n")->integer() == 7);
    CHECK(*find(span.attributes, "m")->integer() == std::numeric_limits<int64_t>::min());
    CHECK(*find(span.attributes, "d")->real() == 3.0);
    CHECK(find(span.attributes, "null")->data.index() == 0);
}

TEST_CASE("one bad span is rejected alone with its reason") {
    const std::string good = protobuf_span(trace_a, span_b, 1);
    std::string cut = good;
    cut.resize(cut.size() - 3);
    const std::string body =
        protobuf_request({good, protobuf_span("short", span_b, 1), protobuf_span(trace_a, std::string(8, 0), 1),
                          protobuf_span(trace_a, span_b, 0), cut, protobuf_span(trace_a, span_b, UINT64_MAX), good});
    auto batch = decode_protobuf(body);
    REQUIRE(batch.ok());
    CHECK(batch.value().spans.size() == 2);
    std::vector<std::string> reasons;
    for (const auto& rejection : batch.value().rejected) reasons.push_back(rejection.reason);
    CHECK(reasons == std::vector<std::string>{"trace id is not 16 bytes", "span id is zero", "start time is missing",
                                              "span is malformed", "time is out of range"});
}

TEST_CASE("bad JSON spans are rejected alone, bad bodies as a whole") {
    auto batch = decode_json(one_span_json(R"("traceId":"xyz","spanId":"b7ad6b7169203331")"));
    REQUIRE(batch.ok());
    CHECK(batch.value().rejected.at(0).reason == "trace id is not hexadecimal");
    CHECK(decode_one(R"(,"kind":{})").value().rejected.at(0).reason == "a whole number is expected");
    CHECK(decode_one(R"(,"events":[{"timeUnixNano":"-1"}])").value().rejected.size() == 1);
    for (const char* body :
         {"", "[]", "{", "null", "\xff\xfe", R"({"resourceSpans":{}})", R"({"resourceSpans":[1]})"}) {
        CAPTURE(body);
        CHECK(!decode_json(body).ok());
    }
    CHECK(decode_json("{}").value().spans.empty());
    CHECK(!decode_protobuf("\x0a\xff\xff\xff").ok());
    CHECK(decode_protobuf("").value().spans.empty());
}

TEST_CASE("a deeply nested attribute rejects its span in both formats") {
    std::string json = R"({"intValue":1})", protobuf;
    protozero::pbf_writer(protobuf).add_int64(3, 1);
    for (int i = 0; i < 60; ++i) {
        json = R"({"arrayValue":{"values":[)" + json + "]}}";
        std::string list, value;
        protozero::pbf_writer(list).add_message(1, protobuf);
        protozero::pbf_writer(value).add_message(5, list);
        protobuf = value;
    }
    auto batch = decode_one(R"(,"attributes":[{"key":"k","value":)" + json + "}]");
    REQUIRE(batch.ok());
    CHECK(batch.value().rejected.at(0).reason == "attribute is nested too deep");
    std::string attribute, span = protobuf_span(trace_a, span_b, 1);
    protozero::pbf_writer writer(attribute);
    writer.add_string(1, "k");
    writer.add_message(2, protobuf);
    protozero::pbf_writer(span).add_message(9, attribute);
    const std::string body = protobuf_request({span});
    CHECK(decode_protobuf(body).value().rejected.at(0).reason == "attribute is nested too deep");
    CHECK(!decode_json(std::string(100'000, '[')).ok());
}

TEST_CASE("values over the cap are cut at a character and marked; keys over the cap are left out and marked") {
    Limits limits;
    limits.text_bytes = 5;
    limits.key_bytes = 6;
    const std::string body = one_span_json(
        std::string(good_ids) +
        R"(,"attributes":[{"key":"long","value":{"stringValue":"abcd\u00e9fg"}},{"key":"toolongkey","value":{"boolValue":true}}])");
    auto batch = decode_json(body, limits);
    REQUIRE(batch.ok());
    const Span& span = batch.value().spans.at(0);
    CHECK(*find(span.attributes, "long")->text() == "abcd");
    CHECK(span.dropped_attributes == 1);
    CHECK(span.truncated == std::vector<std::string_view>{"long", "toolongkey"});
}

TEST_CASE("text that is not UTF-8 is repaired") {
    std::string span = protobuf_span(trace_a, span_b, 1);
    protozero::pbf_writer(span).add_string(5, "bad\xff");
    const std::string body = protobuf_request({span});
    CHECK(decode_protobuf(body).value().spans.at(0).name == "bad\xef\xbf\xbd");
}

TEST_CASE("too many spans in one request are refused as too large") {
    Limits limits;
    limits.spans = 2;
    const std::string span = protobuf_span(trace_a, span_b, 1);
    const std::string body = protobuf_request({span, span, span});
    auto batch = decode_protobuf(body, limits);
    REQUIRE(!batch.ok());
    CHECK(batch.error().code == Code::too_large);
}

TEST_CASE("responses report what was rejected in the request's own encoding") {
    CHECK(encode_response(Encoding::json, 0, "") == "{}");
    CHECK(encode_response(Encoding::protobuf, 0, "").empty());
    CHECK(encode_response(Encoding::json, 2, "2 spans") ==
          R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"2 spans"}})");
    CHECK(encode_response(Encoding::protobuf, 2, "x") == std::string("\x0a\x05\x08\x02\x12\x01x"));
    CHECK(encode_status(Encoding::json, 3, "no") == R"({"code":3,"message":"no"})");
    CHECK(encode_status(Encoding::protobuf, 3, "no") == std::string("\x08\x03\x12\x02no"));
}
