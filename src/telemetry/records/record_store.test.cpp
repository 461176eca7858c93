// Log records that are searched and metrics as series, on the real engine.
#include "telemetry/records/record_store.h"

#include "base/testing.h"
#include "telemetry/store_fixture.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::telemetry::testing {

namespace {

constexpr int64_t minute_ns = 60'000'000'000;

std::string plain_record(int64_t time_ns, std::string_view severity, std::string_view body,
                         std::string_view attributes = "", std::string_view ids = "") {
    return R"({"timeUnixNano":")" + std::to_string(time_ns) + R"(","severityText":)" + quote_json(severity) +
           R"(,"body":{"stringValue":)" + quote_json(body) + R"(},"attributes":[)" + std::string(attributes) + "]" +
           std::string(ids) + "}";
}

IngestResponse send_records(std::string_view project, const std::string& records) {
    const std::string body = R"({"resourceLogs":[{"resource":{"attributes":[)" +
                             text_attribute("service.name", "shop") +
                             R"(]},"scopeLogs":[{"scope":{"name":"app.orders"},"logRecords":[)" + records + "]}]}]}";
    return fixture().telemetry->records().respond_logs({body, "application/json", "", project, "space"});
}

IngestResponse send_points(std::string_view project, std::string_view metric, std::string_view kind, int temporality,
                           const std::string& points, std::string_view unit = "{token}") {
    const std::string body = R"({"resourceMetrics":[{"resource":{"attributes":[)" +
                             text_attribute("service.name", "shop") + R"(]},"scopeMetrics":[{"metrics":[{"name":)" +
                             quote_json(metric) + R"(,"unit":)" + quote_json(unit) + ",\"" + std::string(kind) +
                             R"(":{"aggregationTemporality":)" + std::to_string(temporality) + R"(,"dataPoints":[)" +
                             points + "]}}]}]}]}";
    return fixture().telemetry->records().respond_metrics({body, "application/json", "", project, "space"});
}

std::string number_point(int64_t start_ns, int64_t time_ns, int64_t value, std::string_view type) {
    return R"({"startTimeUnixNano":")" + std::to_string(start_ns) + R"(","timeUnixNano":")" + std::to_string(time_ns) +
           R"(","asInt":")" + std::to_string(value) + R"(","attributes":[)" +
           text_attribute("gen_ai.token.type", type) + "," + text_attribute("gen_ai.request.model", "m-1") + "]}";
}

RecordStore record_store() {
    Fixture& f = fixture();
    f.store();
    f.wait();
    REQUIRE(f.telemetry->record_log().wait_loaded(60s));
    return RecordStore(f.telemetry->engine(), f.clock);
}

std::vector<std::string> bodies(const LogPage& page) {
    std::vector<std::string> texts;
    for (const LogEntry& entry : page.entries) texts.push_back(entry.body);
    return texts;
}

std::vector<MetricBucket> buckets_of(const std::string& project, const std::string& metric,
                                     const std::string& group_by = "", Duration bucket = 60s) {
    MetricSeries request;
    request.project = "project_" + project;
    request.metric = metric;
    request.from_ns = base_ns;
    request.to_ns = base_ns + 60 * minute_ns;
    request.bucket = bucket;
    request.group_by = group_by;
    auto series = record_store().series(request);
    REQUIRE_MESSAGE(series.ok(), (series.ok() ? "" : series.error().message));
    return series.value().buckets;
}

double total(const std::vector<MetricBucket>& buckets) {
    double sum = 0;
    for (const MetricBucket& bucket : buckets) sum += bucket.sum;
    return sum;
}

} // namespace

TEST_CASE("log records are found by text, severity, service, trace and time, in pages, newest first") {
    const std::string trace(32, 'a');
    const std::string ids = R"(,"traceId":")" + trace + R"(","spanId":"bbbbbbbbbbbbbbbb")";
    CHECK(send_records("searched", plain_record(base_ns + 1, "INFO", "order 1 received") + "," +
                                       plain_record(base_ns + 2, "Warning", "stock is low: 100%",
                                                    text_attribute("warehouse", "north")) +
                                       "," + plain_record(base_ns + 3, "ERROR", "order 2 FAILED", "", ids))
              .body == "{}");
    auto store = record_store();
    const std::string project = "project_searched";
    auto all = store.logs({.project = project});
    REQUIRE_MESSAGE(all.ok(), (all.ok() ? "" : all.error().message));
    CHECK(bodies(all.value()) == std::vector<std::string>{"order 2 FAILED", "stock is low: 100%", "order 1 received"});
    CHECK(all.value().entries[0].trace_id == trace);
    CHECK(all.value().entries[0].service == "shop");
    CHECK(all.value().entries[0].scope == "app.orders");
    CHECK(all.value().entries[1].severity == "warn");
    CHECK(bodies(store.logs({.project = project, .text = "failed"}).value()) ==
          std::vector<std::string>{"order 2 FAILED"});
    CHECK(bodies(store.logs({.project = project, .text = "NORTH"}).value()) ==
          std::vector<std::string>{"stock is low: 100%"});
    CHECK(bodies(store.logs({.project = project, .text = "0%"}).value()) ==
          std::vector<std::string>{"stock is low: 100%"});
    CHECK(store.logs({.project = project, .text = "order_1"}).value().entries.empty()); // _ is a letter, not a sign
    CHECK(store.logs({.project = project, .severity = "warn"}).value().entries.size() == 2);
    CHECK(store.logs({.project = project, .service = "other"}).value().entries.empty());
    CHECK(store.logs({.project = project, .trace_id = trace}).value().entries.size() == 1);
    CHECK(store.logs({.project = project, .to_ns = base_ns + 2}).value().entries.size() == 1);
    CHECK(store.logs({.project = "project_other"}).value().entries.empty());
    CHECK(!store.logs({.project = project, .cursor = "x"}).ok());
    std::vector<std::string> paged;
    ListLogs request{.project = project, .limit = 1};
    for (int pages = 0; pages < 4; ++pages) {
        const auto page = store.logs(request);
        REQUIRE(page.ok());
        for (const LogEntry& entry : page.value().entries) paged.push_back(entry.body);
        request.cursor = page.value().next_cursor;
        if (request.cursor.empty()) break;
    }
    CHECK(paged == bodies(all.value()));
    CHECK(fixture().ledger("searched").log_records == 3);
}

TEST_CASE("a log record that is sent again is found once; GenAI's events are not among log records") {
    const std::string record = plain_record(base_ns + 1, "INFO", "once");
    for (int again = 0; again < 3; ++again) send_records("repeatedlogs", record);
    send_records("repeatedlogs", R"({"timeUnixNano":")" + std::to_string(base_ns) +
                                     R"(","eventName":"gen_ai.user.message","traceId":")" + std::string(32, 'c') +
                                     R"(","spanId":"dddddddddddddddd"})");
    CHECK(bodies(record_store().logs({.project = "project_repeatedlogs"}).value()) == std::vector<std::string>{"once"});
}

TEST_CASE("log records are dropped with a reason: by a setting, by age, by quota") {
    Fixture& f = fixture();
    send_records("nologs", plain_record(base_ns, "INFO", "unwanted"));
    const int64_t now = to_ns(f.clock.now());
    send_records("agedlogs", plain_record(now - 8 * 86'400'000'000'000, "INFO", "too old") + "," +
                                 plain_record(now + 2 * 86'400'000'000'000, "INFO", "too new"));
    const IngestResponse over = send_records("smalllogs", plain_record(base_ns, "INFO", std::string(4000, 'x')));
    CHECK(over.body.find("quota") != std::string::npos);
    for (const char* project : {"nologs", "agedlogs", "smalllogs"})
        CHECK(record_store().logs({.project = std::string("project_") + project}).value().entries.empty());
    CHECK(f.ledger("nologs").dropped["log records are switched off in the project's settings"] == 1);
    CHECK(f.ledger("agedlogs").dropped.size() == 2);
    CHECK(f.ledger("agedlogs").log_records_dropped == 2);
    CHECK(f.ledger("smalllogs").log_records_dropped == 1);
}

TEST_CASE("a cumulative metric counts its increase, whatever is sent again or out of order, and after a restart") {
    const int64_t started = base_ns - minute_ns;
    const std::string first = number_point(started, base_ns + 1, 100, "input");
    const std::string second = number_point(started, base_ns + minute_ns, 160, "input");
    const std::string third = number_point(started, base_ns + 2 * minute_ns, 160, "input");
    const std::string restarted = number_point(base_ns + 3 * minute_ns, base_ns + 4 * minute_ns, 30, "input");
    const std::string output = number_point(started, base_ns + minute_ns, 7, "output");
    for (const std::string& point : {second, first, restarted, output, second, third})
        CHECK(send_points("cumulative", "gen_ai.client.token.usage", "sum", 2, point).body == "{}");
    const auto buckets = buckets_of("cumulative", "gen_ai.client.token.usage", "type");
    CHECK(total(buckets) == 100 + 60 + 30 + 7);
    std::map<std::pair<int64_t, std::string>, double> by_place;
    for (const MetricBucket& bucket : buckets)
        by_place[{(bucket.time_ns - base_ns / minute_ns * minute_ns) / minute_ns, bucket.group}] = bucket.sum;
    CHECK(by_place[{0, "input"}] == 100);
    CHECK(by_place[{1, "input"}] == 60);
    CHECK(by_place[{2, "input"}] == 0);
    CHECK(by_place[{4, "input"}] == 30);
    CHECK(by_place[{1, "output"}] == 7);
    CHECK(total(buckets_of("cumulative", "gen_ai.client.token.usage", "attributes[\"gen_ai.request.model\"]")) == 197);
}

TEST_CASE("what a sender counted long before the range is not part of it") {
    const int64_t long_ago = base_ns - 5 * 86'400'000'000'000;
    send_points("longrunning", "gen_ai.client.token.usage", "sum", 2,
                number_point(long_ago, base_ns + 1, 1'000'000, "input") + "," +
                    number_point(long_ago, base_ns + minute_ns, 1'000'005, "input"));
    CHECK(total(buckets_of("longrunning", "gen_ai.client.token.usage")) == 5);
}

TEST_CASE("delta metrics add up; a point that is sent again counts once") {
    const std::string cost = R"({"startTimeUnixNano":")" + std::to_string(base_ns) + R"(","timeUnixNano":")" +
                             std::to_string(base_ns + 1) + R"(","asDouble":0.25,"attributes":[)" +
                             text_attribute("model", "m-1") + "]}";
    const std::string later = R"({"timeUnixNano":")" + std::to_string(base_ns + 2) +
                              R"(","asDouble":0.5,"attributes":[)" + text_attribute("model", "m-2") + "]}";
    for (const std::string& point : {cost, later, cost})
        send_points("delta", "claude_code.cost.usage", "sum", 1, point, "USD");
    CHECK(total(buckets_of("delta", "claude_code.cost.usage")) == doctest::Approx(0.75));
    const auto by_model = buckets_of("delta", "claude_code.cost.usage", "model", 3600s);
    REQUIRE(by_model.size() == 2);
    CHECK(by_model[0].group == "m-1");
    CHECK(by_model[0].sum == doctest::Approx(0.25));
    const auto known = record_store().metrics("project_delta", base_ns, base_ns + minute_ns);
    REQUIRE(known.ok());
    REQUIRE(known.value().size() == 1);
    CHECK(known.value()[0].use == "cost");
    CHECK(known.value()[0].unit == "USD");
    CHECK(known.value()[0].services == std::vector<std::string>{"shop"});
}

TEST_CASE("latencies of a histogram are estimated from its buckets") {
    const auto point = [](int64_t time_ns, int64_t count, double sum, std::string_view counts) {
        return R"({"startTimeUnixNano":")" + std::to_string(base_ns) + R"(","timeUnixNano":")" +
               std::to_string(time_ns) + R"(","count":")" + std::to_string(count) + R"(","sum":)" +
               std::to_string(sum) + R"(,"explicitBounds":[1,2,4],"bucketCounts":[)" + std::string(counts) + "]}";
    };
    send_points("slow", "gen_ai.client.operation.duration", "histogram", 2,
                point(base_ns + 1, 2, 1.0, "2,0,0,0") + "," + point(base_ns + minute_ns, 12, 31.0, "2,0,10,0"), "s");
    const auto buckets = buckets_of("slow", "gen_ai.client.operation.duration");
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0].count == 2);
    CHECK(buckets[0].p50 == doctest::Approx(0.5));
    CHECK(buckets[1].count == 10);
    CHECK(buckets[1].sum == doctest::Approx(30));
    CHECK(buckets[1].p50 == doctest::Approx(3));
    CHECK(buckets[1].p95 == doctest::Approx(3.9));
}

TEST_CASE("a metric that never arrived has no series; a field that points do not have is refused") {
    CHECK(buckets_of("slow", "gen_ai.nothing").empty());
    MetricSeries request;
    request.project = "project_slow";
    request.metric = "gen_ai.client.operation.duration";
    request.from_ns = base_ns;
    request.to_ns = base_ns + 60 * minute_ns;
    request.group_by = "1; DROP TABLE hone.logs";
    const auto refused = record_store().series(request);
    REQUIRE(!refused.ok());
    CHECK(refused.error().code == Code::invalid);
}

TEST_CASE("old log records and points are deleted by day, each project by its own setting") {
    Fixture& f = fixture();
    const int64_t old_ns = to_ns(f.clock.now()) - 3 * 86'400'000'000'000;
    for (const char* project : {"keptlogs", "shortlogs"}) {
        send_records(project, plain_record(old_ns, "INFO", "old") + "," + plain_record(base_ns, "INFO", "new"));
        send_points(project, "gen_ai.client.token.usage", "sum", 1, number_point(0, old_ns, 1, "input"));
    }
    auto store = record_store();
    RecordRetention policy;
    policy.log_days["project_shortlogs"] = 1;
    policy.metric_days["project_shortlogs"] = 1;
    REQUIRE(store.apply(policy).ok());
    CHECK(bodies(store.logs({.project = "project_keptlogs"}).value()).size() == 2);
    CHECK(bodies(store.logs({.project = "project_shortlogs"}).value()) == std::vector<std::string>{"new"});
    CHECK(store.metrics("project_keptlogs", 0, INT64_MAX).value().size() == 1);
    CHECK(store.metrics("project_shortlogs", 0, INT64_MAX).value().empty());
    REQUIRE(store.delete_project("project_keptlogs").ok());
    CHECK(store.logs({.project = "project_keptlogs"}).value().entries.empty());
}

TEST_CASE("a frame of the log of records is read back, and damaged ones are refused") {
    const std::string bytes = encode_record_frame({"logs", "metrics"});
    const auto frame = decode_record_frame(bytes);
    REQUIRE(frame.ok());
    CHECK(frame.value().logs == "logs");
    CHECK(frame.value().metrics == "metrics");
    for (const std::string& damaged : {std::string(), bytes.substr(1), bytes + "x", bytes.substr(0, 4)})
        CHECK(!decode_record_frame(damaged).ok());
}

TEST_CASE("metrics are known by their names") {
    CHECK(metric_use("gen_ai.client.token.usage") == MetricUse::tokens);
    CHECK(metric_use("gen_ai.client.token.cost") == MetricUse::cost);
    CHECK(metric_use("claude_code.cost.usage") == MetricUse::cost);
    CHECK(metric_use("claude_code.lines_of_code.count") == MetricUse::usage);
    CHECK(metric_use("gen_ai.server.time_to_first_token") == MetricUse::latency);
    CHECK(metric_use("gemini_cli.api.request.latency") == MetricUse::latency);
    CHECK(!metric_use("http.client.request.duration"));
    CHECK(!metric_use("process.cpu.time"));
    CHECK(!metric_use(""));
}

} // namespace hone::telemetry::testing
