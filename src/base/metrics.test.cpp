#include "base/metrics.h"

#include <doctest/doctest.h>

using namespace hone;

TEST_CASE("metrics are written with their help, type and value") {
    MetricsWriter out;
    out.gauge("runs_live", "Runs that have a worker now.", 3);
    out.counter("spans_received_total", "Spans received.", uint64_t{18446744073709551615ULL});
    out.gauge("start_time_seconds", "When this server started.", 0.5);
    CHECK(out.text() == "# HELP hone_runs_live Runs that have a worker now.\n# TYPE hone_runs_live gauge\n"
                        "hone_runs_live 3\n"
                        "# HELP hone_spans_received_total Spans received.\n# TYPE hone_spans_received_total counter\n"
                        "hone_spans_received_total 18446744073709551615\n"
                        "# HELP hone_start_time_seconds When this server started.\n"
                        "# TYPE hone_start_time_seconds gauge\nhone_start_time_seconds 0.5\n");
}

TEST_CASE("the samples of a family share one help and type") {
    MetricsWriter out;
    out.family(MetricKind::histogram, "http_request_seconds", "Time.");
    out.sample({{"route", "/v1/runs"}, {"le", "0.1"}}, 2, "_bucket");
    out.sample({{"route", "/v1/runs"}}, 0.25, "_sum");
    CHECK(out.text() == "# HELP hone_http_request_seconds Time.\n# TYPE hone_http_request_seconds histogram\n"
                        "hone_http_request_seconds_bucket{route=\"/v1/runs\",le=\"0.1\"} 2\n"
                        "hone_http_request_seconds_sum{route=\"/v1/runs\"} 0.25\n");
}

TEST_CASE("a label value cannot end its quotes or its line, nor help its line") {
    MetricsWriter out;
    out.family(MetricKind::gauge, "x", "a \\ b\nhone_forged 1");
    out.sample({{"name", "\"} 1\nhone_forged 2 \\"}}, 7);
    CHECK(out.text() == "# HELP hone_x a \\\\ b\\nhone_forged 1\n# TYPE hone_x gauge\n"
                        "hone_x{name=\"\\\"} 1\\nhone_forged 2 \\\\\"} 7\n");
}
