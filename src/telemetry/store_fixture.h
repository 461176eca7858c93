// The store on the real engine, for tests: one engine process for the whole test program. Tests only.
#pragma once

#include "base/text.h"
#include "telemetry/span/binary.h"
#include "telemetry/telemetry.h"
#include "telemetry/temporary_directory.h"

#include <cstdio>
#include <doctest/doctest.h>

namespace hone::telemetry::testing {

using namespace std::chrono_literals;

// Every name is a project of its own; "secret…" projects redact, "old…" ones keep a day.
class TestProjects final : public ProjectDirectory {
public:
    Result<ProjectRef> resolve(std::string_view space, std::string_view name) override {
        if (space == "nobody") return forbidden("this key may not send spans");
        ProjectRef project{"project_" + std::string(name), name.starts_with("old") ? 1 : 0, nullptr, 1.0, {}, {}, {}};
        if (name.starts_with("secret")) {
            auto redactor = Redactor::make({{"password", "auth.*"}, {"card-[0-9]+"}, true, true});
            if (!redactor.ok()) return std::move(redactor).error();
            project.redactor = std::move(redactor).value();
        }
        if (name.starts_with("half")) project.sample = 0.5;
        if (name.starts_with("five")) project.quota.spans_per_day = 5;
        if (name.starts_with("five")) project.space = "space_small", project.space_quota.spans_per_day = 8;
        if (name.starts_with("nologs")) project.log_retention_days = 0;
        if (name.starts_with("small")) project.quota.bytes_per_day = 3000;
        return project;
    }
};

inline constexpr int64_t base_ns = 1'763'200'000'000'000'000;

struct Fixture {
    TemporaryDirectory directory;
    TestProjects projects;
    FakeClock clock{from_ns(base_ns + 3'600'000'000'000)};
    std::unique_ptr<Telemetry> telemetry;

    Fixture() { open(); }

    void open() {
        TelemetryOptions options;
        options.directory = directory.path();
        options.engine.program = {HONE_ENGINE_PROGRAM};
        options.wal.commit_interval = 1ms;
        options.loader.gather = 5ms;
        options.record_gather = 1ms;
        telemetry.reset();
        auto opened = Telemetry::open(options, projects, clock);
        REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
        telemetry = std::move(opened).value();
    }

    SpanStore& store() {
        auto store = telemetry->store();
        REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.error().message + "; run ./dev setup"));
        return *store.value();
    }

    void wait() { REQUIRE(telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, 60s)); }

    LedgerCounts ledger(const std::string& project) { return telemetry->ledger()["project_" + project]; }

    IngestResponse send_json(std::string_view project, const std::string& body) {
        return telemetry->ingest({body, "application/json", "", project, "space"});
    }
};

inline Fixture& fixture() {
    static Fixture made;
    return made;
}

inline std::string hex_number(uint64_t number, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(number));
    return text;
}

struct TestSpan {
    uint64_t trace = 1, id = 1, parent = 0;
    int64_t start_ns = base_ns, duration_ns = 1'000'000;
    std::string name = "chat";
    std::string attributes = ""; // OTLP/JSON list entries
    int status = 0;
};

inline std::string text_attribute(std::string_view key, std::string_view value) {
    return R"({"key":)" + quote_json(key) + R"(,"value":{"stringValue":)" + quote_json(value) + "}}";
}
inline std::string number_attribute(std::string_view key, int64_t value) {
    return R"({"key":)" + quote_json(key) + R"(,"value":{"intValue":")" + std::to_string(value) + "\"}}";
}

inline std::string request(const std::vector<TestSpan>& spans) {
    std::string body = R"({"resourceSpans":[{"resource":{"attributes":[)" + text_attribute("service.name", "shop") +
                       R"(]},"scopeSpans":[{"scope":{"name":"t"},"spans":[)";
    bool first = true;
    for (const TestSpan& span : spans) {
        if (!std::exchange(first, false)) body += ',';
        body += R"({"traceId":")" + hex_number(span.trace, 32) + R"(","spanId":")" + hex_number(span.id, 16) +
                R"(","parentSpanId":")" + (span.parent ? hex_number(span.parent, 16) : "") + R"(","name":)" +
                quote_json(span.name) + R"(,"startTimeUnixNano":")" + std::to_string(span.start_ns) +
                R"(","endTimeUnixNano":")" + std::to_string(span.start_ns + span.duration_ns) + R"(","attributes":[)" +
                span.attributes + R"(],"status":{"code":)" + std::to_string(span.status) + "}}";
    }
    return body + "]}]}]}";
}

inline int64_t count_spans(const std::string& project) {
    ClickHouseQuery query("SELECT count(), uniqExact(trace_id, span_id) FROM hone.spans WHERE project = "
                          "{project:String} FORMAT RowBinary");
    query.bind("project", "project_" + project);
    auto bytes = fixture().telemetry->engine().query(query);
    REQUIRE_MESSAGE(bytes.ok(), (bytes.ok() ? "" : bytes.error().message));
    BinaryReader reader(bytes.value());
    const auto all = reader.number<uint64_t>(), distinct = reader.number<uint64_t>();
    CHECK(all == distinct); // never twice
    return static_cast<int64_t>(all);
}

inline Scope scope_of(const std::string& project, std::string filter = {}) {
    return {"project_" + project, 0, INT64_MAX, std::move(filter), 30s, nullptr};
}

// How many granules the index of the words of `input` leaves to be read; those of parts without it are among them.
inline std::string granules_with_word(Fixture& f, const std::string& project, const std::string& word) {
    auto query = SpanStore::select(scope_of(project, "input ~ \"" + word + "\""), "count()");
    REQUIRE(query.ok());
    query.value().sql = "EXPLAIN indexes = 1 " + query.value().sql + " FORMAT TSVRaw";
    const auto plan = f.telemetry->engine().query(query.value());
    REQUIRE_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().message));
    const std::string& text = plan.value();
    const size_t index = text.find("Name: input_words");
    REQUIRE_MESSAGE(index != text.npos, text);
    constexpr std::string_view granules = "Granules: ";
    const size_t at = text.find(granules, index) + granules.size();
    return text.substr(at, text.find('/', at) - at);
}

inline void check_balance(const LedgerCounts& counts) {
    CHECK(counts.pending() == 0);
    CHECK(counts.received == counts.stored + counts.repeated + counts.rejected_total());
}

} // namespace hone::telemetry::testing
