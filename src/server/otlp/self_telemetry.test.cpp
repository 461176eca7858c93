#include "server/otlp/self_telemetry.h"

#include "base/text.h"
#include "json/json.h"

#include <doctest/doctest.h>

namespace hone::server {

TEST_CASE("header fields of telemetry_headers are read as pairs") {
    const auto two = parse_telemetry_headers("Authorization=Bearer%20a%2Cb, X-Scope = one");
    REQUIRE(two.ok());
    REQUIRE(two.value().size() == 2);
    CHECK(two.value()[0].name == "Authorization");
    CHECK(two.value()[0].value == "Bearer a,b");
    CHECK(two.value()[1].value == "one");
    CHECK(parse_telemetry_headers("").value().empty());
    for (const char* wrong : {"no pair", "=value", "A B=c", "A=b%0aC: d", "A=%zz"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_telemetry_headers(wrong).ok());
    }
}

TEST_CASE("the text of /metrics becomes sums, gauges and histograms") {
    MetricsWriter out;
    out.counter("things_total", "Things.", 5);
    out.gauge("depth", "Depth.", 1.5);
    out.family(MetricKind::counter, "labelled_total", "With labels.");
    out.sample({{"path", "a\"b\\c\nd"}, {"x", "y"}}, 7);
    out.family(MetricKind::histogram, "took_seconds", "Took.");
    out.sample({{"route", "r"}, {"le", "0.1"}}, 2, "_bucket");
    out.sample({{"route", "r"}, {"le", "1"}}, 5, "_bucket");
    out.sample({{"route", "r"}, {"le", "+Inf"}}, 6, "_bucket");
    out.sample({{"route", "r"}}, 4.5, "_sum");
    out.sample({{"route", "r"}}, 6, "_count");
    const std::string printed =
        metrics_request(out.text() + "damaged line\nhone_x{a=\"b 1\n", "s", "1", from_ns(1), from_ns(2));
    const auto parsed = json::parse(printed);
    REQUIRE(parsed.ok());
    CHECK(
        printed.find(
            R"("name":"hone_things_total","description":"Things.","sum":{"aggregationTemporality":2,"isMonotonic":true)") !=
        printed.npos);
    CHECK(printed.find(R"("name":"hone_depth","description":"Depth.","gauge":)") != printed.npos);
    CHECK(printed.find(R"({"key":"path","value":{"stringValue":"a\"b\\c\nd"}})") != printed.npos);
    CHECK(printed.find(R"("count":"6","sum":)") != printed.npos);
    CHECK(printed.find(R"("bucketCounts":["2","3","1"])") != printed.npos);
    CHECK(printed.find("hone_x") == printed.npos);
}

TEST_CASE("what does not fit into the queue is dropped and counted, and nothing waits for the receiver") {
    SystemClock clock;
    SelfTelemetryOptions options;
    options.endpoint = "http://127.0.0.1:1"; // where no receiver listens
    options.most_waiting = 10;
    {
        SelfTelemetry telemetry(options, clock);
        for (int i = 0; i < 25; ++i) {
            Operation operation;
            operation.kind = "request";
            operation.name = "GET /";
            telemetry.take(std::move(operation));
        }
        CHECK(telemetry.step().ok());
        MetricsWriter out;
        telemetry.metrics(out);
        CHECK(out.text().find("hone_telemetry_spans_dropped_total 15\n") != std::string::npos);
        CHECK(out.text().find("hone_telemetry_failures_total 1\n") != std::string::npos);
        CHECK(out.text().find("hone_telemetry_spans_sent_total 0\n") != std::string::npos);
    }
    CHECK_FALSE(has_operation_sink());
}

} // namespace hone::server
