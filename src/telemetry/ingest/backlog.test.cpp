// Spans that are acknowledged and not stored are counted and explained, and an engine works in every directory.
#include "telemetry/log/backlog.h"

#include "telemetry/store_fixture.h"

#include <filesystem>

namespace hone::telemetry::testing {

namespace {

TelemetryOptions options_in_folder(const std::string& directory) {
    TelemetryOptions options;
    options.directory = directory;
    options.engine.program = {HONE_ENGINE_PROGRAM};
    options.wal.commit_interval = 1ms;
    options.loader.gather = 5ms;
    return options;
}

std::unique_ptr<Telemetry> must_open(const TelemetryOptions& options, ProjectDirectory& projects, const Clock& clock) {
    auto opened = Telemetry::open(options, projects, clock);
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
    return std::move(opened).value();
}

int send_one(Telemetry& telemetry, uint64_t number) {
    return telemetry.ingest({request({{number, number}}), "application/json", "", "waits", "space"}).status;
}

} // namespace

TEST_CASE("spans that cannot be stored are late after a minute, with the reason, also after a restart") {
    TemporaryDirectory directory;
    TestProjects projects;
    FakeClock clock(from_ns(base_ns + 3'600'000'000'000));
    TelemetryOptions options = options_in_folder(directory.path());
    options.engine.library = directory / "none/libchdb.so";
    {
        const auto telemetry = must_open(options, projects, clock);
        CHECK(telemetry->backlog().spans == 0);
        CHECK(telemetry->backlog().oldest_wait == 0s);
        REQUIRE(send_one(*telemetry, 1) == 200);
        clock.advance(50s);
        REQUIRE(send_one(*telemetry, 2) == 200);
        CHECK(!telemetry->loader().step().ok());
        Backlog backlog = telemetry->backlog();
        CHECK(backlog.spans == 2);
        CHECK(backlog.bytes > 200);
        CHECK(backlog.oldest_wait == 50s);
        CHECK(backlog.failures >= 1);
        CHECK(backlog.why.find("libchdb.so") != std::string::npos);
        CHECK(!backlog.is_late);
        CHECK(backlog.problem().empty());
        clock.advance(70s);
        backlog = telemetry->backlog();
        CHECK(backlog.is_late);
        CHECK(backlog.is_failing());
        CHECK(
            backlog.problem().starts_with("2 spans have waited 2 min to be stored: the span engine does not start: "));
        CHECK(view_of(backlog).oldest_wait_seconds == 120);
        CHECK(!view_of(backlog).advice.empty());
    }
    clock.advance(60s);
    FakeClock later(clock.now()); // another process has another steady clock
    {
        const auto telemetry = must_open(options, projects, later);
        CHECK(telemetry->backlog().is_late);
        CHECK(telemetry->backlog().oldest_wait == 180s);
        CHECK(telemetry->backlog().spans == 2);
    }
    options.engine.library.clear();
    const auto telemetry = must_open(options, projects, later);
    REQUIRE(telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, 60s));
    const Backlog backlog = telemetry->backlog();
    CHECK(backlog.spans == 0);
    CHECK(backlog.bytes == 0);
    CHECK(backlog.oldest_wait == 0s);
    CHECK(!backlog.is_late);
    REQUIRE(send_one(*telemetry, 3) == 200);
    REQUIRE(telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, 60s));
    CHECK(telemetry->backlog().why.empty());
}

TEST_CASE("log records and metrics that wait to be loaded are late after a minute, with the reason, and counted") {
    TemporaryDirectory directory;
    TestProjects projects;
    FakeClock clock(from_ns(base_ns + 3'600'000'000'000));
    TelemetryOptions options = options_in_folder(directory.path());
    options.engine.library = directory / "none/libchdb.so";
    options.record_gather = 1ms;
    const auto send = [&](Telemetry& telemetry) {
        const std::string body = R"({"resourceLogs":[{"resource":{},"scopeLogs":[{"scope":{"name":"t"},"logRecords":[)"
                                 R"({"timeUnixNano":")" +
                                 std::to_string(base_ns) + R"(","body":{"stringValue":"order received"}}]}]}]})";
        return telemetry.records().respond_logs({body, "application/json", "", "waits", "space"}).status;
    };
    {
        const auto telemetry = must_open(options, projects, clock);
        CHECK(telemetry->record_log().backlog().requests == 0);
        REQUIRE(send(*telemetry) == 200);
        clock.advance(50s);
        REQUIRE(send(*telemetry) == 200);
        CHECK(!telemetry->record_log().step().ok());
        RecordBacklog backlog = telemetry->record_log().backlog();
        CHECK(backlog.requests == 2);
        CHECK(backlog.bytes > 50);
        CHECK(backlog.oldest_wait == 50s);
        CHECK(backlog.failures >= 1);
        CHECK(!backlog.is_late);
        CHECK(backlog.problem().empty());
        clock.advance(10s);
        backlog = telemetry->record_log().backlog();
        CHECK(backlog.is_late);
        CHECK(backlog.is_failing());
        CHECK(backlog.problem().starts_with("2 requests of log records and metrics have waited 60 s to be stored: the "
                                            "span engine does not start: "));
    }
    {
        const auto telemetry = must_open(options, projects, clock); // their time is that of this start
        CHECK(telemetry->record_log().backlog().requests == 2);
        CHECK(telemetry->record_log().backlog().oldest_wait == 0s);
        clock.advance(61s);
        CHECK(telemetry->record_log().backlog().is_late);
    }
    options.engine.library.clear();
    const auto telemetry = must_open(options, projects, clock);
    REQUIRE(telemetry->record_log().wait_loaded(60s));
    const RecordBacklog backlog = telemetry->record_log().backlog();
    CHECK(backlog.requests == 0);
    CHECK(backlog.bytes == 0);
    CHECK(backlog.oldest_wait == 0s);
    CHECK(!backlog.is_late);
}

TEST_CASE("spans that are only behind are late without a failure") {
    Backlog backlog{1, 100, 61s, 1, 0, "", true};
    CHECK(!backlog.is_failing());
    CHECK(backlog.problem() ==
          "1 span has waited 61 s to be stored: the span engine has not caught up with what arrives.");
    backlog = {1'234'567, 100, 3h, 1, 9, "cannot write: No space left on device.", true};
    CHECK(backlog.problem() == "1,234,567 spans have waited 3 h to be stored: cannot write: No space left on device.");
}

TEST_CASE("the engine stores spans in a directory of any name") {
    TemporaryDirectory place;
    TestProjects projects;
    FakeClock clock(from_ns(base_ns + 3'600'000'000'000));
    const std::string relative = std::filesystem::relative(place.path()).string();
    REQUIRE(relative.starts_with("../"));
    const std::vector<std::string> names{
        relative + "/relative", place / "with 'quotes\" and <tags> & spaces", place / "gemüse:/a,b{*}?#%20",
        place / (std::string(120, 'l') + "/" + std::string(120, 'o') + "/" + std::string(120, 'n'))};
    for (const std::string& name : names) {
        INFO(name);
        for (uint64_t start = 1; start <= 2; ++start) { // again: what was stored is found
            const auto telemetry = must_open(options_in_folder(name), projects, clock);
            REQUIRE(send_one(*telemetry, start) == 200);
            REQUIRE_MESSAGE(telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, 60s),
                            telemetry->backlog().why);
            auto store = telemetry->store();
            REQUIRE(store.ok());
            const auto listed = store.value()->list_spans({scope_of("waits"), {}, {}, {}, 50, false, ""});
            REQUIRE(listed.ok());
            CHECK(listed.value().spans.size() == start);
        }
    }
}

} // namespace hone::telemetry::testing
