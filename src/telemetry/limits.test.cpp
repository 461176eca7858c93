#include "telemetry/ingest/trace_settings.h"
#include "telemetry/retention/retention.h"
#include "telemetry/store_fixture.h"

#include <zstd.h>

namespace hone::telemetry::testing {

namespace {

std::vector<TestSpan> some_spans(uint64_t first, uint64_t count) {
    std::vector<TestSpan> spans;
    for (uint64_t i = first; i < first + count; ++i) spans.push_back({i, i, 0, base_ns + static_cast<int64_t>(i)});
    return spans;
}

std::string zstd(const std::string& bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
}

} // namespace

TEST_CASE("a quota takes what fits, names itself for the rest, and starts again with the day") {
    Fixture& f = fixture();
    const IngestResponse partial = f.send_json("five_a", request(some_spans(1, 7)));
    CHECK(partial.status == 200);
    CHECK(partial.body.find("2 spans: over the project's quota of spans per day") != std::string::npos);
    const IngestResponse refused = f.send_json("five_a", request(some_spans(20, 2)));
    CHECK(refused.status == 429);
    CHECK(refused.retry_after_seconds > 0);
    CHECK(refused.body.find("quota of spans per day") != std::string::npos);
    // The space has room for three more.
    const IngestResponse of_space = f.send_json("five_b", request(some_spans(40, 5)));
    CHECK(of_space.body.find("2 spans: over the space's quota of spans per day") != std::string::npos);
    CHECK(f.telemetry->quotas().used_today("project_five_b").spans == 3);
    CHECK(f.telemetry->quotas().used_today("space_small").spans == 8);
    const IngestResponse of_bytes = f.send_json("small_one", request(some_spans(60, 20)));
    CHECK(of_bytes.body.find("over the project's quota of bytes per day") != std::string::npos);
    CHECK(f.telemetry->quotas().used_today("project_small_one").bytes <= 3000);

    f.clock.jump(24h);
    CHECK(f.send_json("five_a", request(some_spans(80, 5))).body == "{}");
    f.clock.jump(-24h);
    f.wait();
    CHECK(count_spans("five_a") == 10);
    CHECK(f.ledger("five_a").rejected.at("over the project's quota of spans per day") == 4);
    check_balance(f.ledger("five_a"));
    check_balance(f.ledger("five_b"));
    check_balance(f.ledger("small_one"));
}

TEST_CASE("counts of a quota outlive the process, a damaged file means none") {
    TemporaryDirectory directory;
    FakeClock clock(from_ns(base_ns));
    const Quota quota{10, 0};
    {
        Quotas quotas(directory / "state", clock);
        CHECK(quotas.take("project_a", quota, 7, 100).empty());
        CHECK(quotas.take("project_a", quota, 4, 100) == "spans");
        quotas.give_back("project_a", quota, 2, 50);
    }
    CHECK(Quotas(directory / "state", clock).used_today("project_a").spans == 5);
    {
        Quotas quotas(directory / "state", clock);
        clock.advance(24h);
        CHECK(quotas.used_today("project_a").spans == 0);
        clock.advance(-24h);
    }
    REQUIRE(write_file(directory / "state", "HONEQUOTA1 nonsense").ok());
    CHECK(Quotas(directory / "state", clock).used_today("project_a").spans == 0);
}

TEST_CASE("a wall clock that jumps loses nothing and keeps the order of requests") {
    Fixture& f = fixture();
    const auto received = [&] {
        ClickHouseQuery query("SELECT arrayStringConcat(groupArray(name), ',') FROM (SELECT name FROM hone.spans WHERE "
                              "project = 'project_jumps' ORDER BY received_ns) FORMAT RowBinary");
        auto bytes = f.telemetry->engine().query(query);
        REQUIRE(bytes.ok());
        return std::string(BinaryReader(bytes.value()).text());
    };
    f.send_json("jumps", request({{1, 1, 0, base_ns, 1, "first"}}));
    f.clock.jump(-2h);
    f.send_json("jumps", request({{1, 2, 0, base_ns, 1, "second"}}));
    f.clock.jump(4h);
    f.send_json("jumps", request({{1, 3, 0, base_ns, 1, "third"}}));
    f.clock.jump(-2h);
    f.send_json("jumps", request({{1, 3, 0, base_ns, 1, "third again"}}));
    f.wait();
    f.store();
    CHECK(count_spans("jumps") == 3);
    CHECK(received() == "first,second,third again");
    check_balance(f.ledger("jumps"));
}

TEST_CASE("bodies packed with zstd are taken, bombs and torn ones are refused") {
    Fixture& f = fixture();
    const std::string body = request(some_spans(1, 30));
    const auto send = [&](const std::string& packed) {
        return f.telemetry->ingest({packed, "application/json", "zstd", "packed", "space"});
    };
    CHECK(send(zstd(body)).body == "{}");
    CHECK(send(zstd(body).substr(0, 50)).status == 400);
    CHECK(send(zstd(std::string(100 << 20, ' '))).status == 413);
    f.wait();
    CHECK(count_spans("packed") == 30);
}

TEST_CASE("sampling keeps whole traces, about as many as requested, always the same ones") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    for (uint64_t trace = 1; trace <= 400; ++trace)
        for (uint64_t id = 1; id <= 3; ++id)
            spans.push_back({trace * 0x9e3779b97f4a7c15ULL, trace * 10 + id, 0, base_ns + static_cast<int64_t>(trace)});
    CHECK(f.send_json("half_sampled", request(spans)).body.find("left out by sampling") != std::string::npos);
    f.wait();
    const int64_t kept = count_spans("half_sampled");
    CHECK(kept % 3 == 0);
    CHECK(kept > 450);
    CHECK(kept < 750);
    f.send_json("half_sampled", request(spans));
    f.wait();
    CHECK(count_spans("half_sampled") == kept);
    check_balance(f.ledger("half_sampled"));
}

TEST_CASE("retention by bytes lets the oldest hours go, keeps what is named, and never the newest hour") {
    Fixture& f = fixture();
    const int64_t hour = 3'600'000'000'000;
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 200; ++i)
        spans.push_back({7000 + i, i + 1, 0, base_ns - 100 * 24 * hour + static_cast<int64_t>(i / 20) * hour, 1, "fat",
                         text_attribute("output.value",
                                        std::string(300, static_cast<char>('a' + i % 26)) + std::to_string(i * 104729)),
                         0});
    f.send_json("fat", request(spans));
    f.wait();
    f.store();
    Retention retention(f.telemetry->engine(), f.clock);
    const auto bytes_of = [&]() -> int64_t {
        auto uses = retention.disk_use();
        REQUIRE(uses.ok());
        for (const DiskUse& use : uses.value())
            if (use.project == "project_fat") return use.bytes;
        return 0;
    };
    RetentionPolicy policy;
    policy.default_days = 0;
    policy.bytes["project_fat"] = bytes_of() / 2;
    policy.kept_traces["project_fat"] = {hex_number(7000, 32)};
    auto report = retention.apply(policy);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message + report.error().trail));
    const int64_t left = count_spans("fat");
    CHECK(left < 130);
    CHECK(left > 40);
    CHECK(f.store().trace_skeleton("project_fat", hex_number(7000, 32)).ok());
    CHECK(!f.store().trace_skeleton("project_fat", hex_number(7001, 32)).ok());
    CHECK(f.store().trace_skeleton("project_fat", hex_number(7199, 32)).ok());
    policy.bytes["project_fat"] = 1;
    REQUIRE(retention.apply(policy).ok());
    CHECK(count_spans("fat") == 21); // the newest hour, and the one that is named
    REQUIRE(retention.delete_project("project_fat").ok());
}

} // namespace hone::telemetry::testing
