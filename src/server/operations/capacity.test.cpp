// Capacity on the real engine, of spans that were sent.
#include "server/operations/capacity.h"

#include "access/testing.h"
#include "telemetry/store_fixture.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::server;
using namespace std::chrono_literals;

TEST_CASE("the capacity is that of the spans that are stored, by day, and of the model calls of the last week") {
    telemetry::testing::Fixture& f = telemetry::testing::fixture();
    f.store();
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    access::testing::World world(fresh.database());
    telemetry::Retention retention(f.telemetry->engine(), f.clock);
    broker::UsageLedger usage(fresh.database());
    const auto measured = [&](bool spans_are_here = true) {
        return access::testing::must(
            measure_capacity({world.access, world.clock, retention, usage, f.directory.path(), spans_are_here}));
    };
    const api::CapacityView before = measured();
    CHECK(before.spans == 0);
    CHECK(before.bytes_per_span == 0);
    CHECK_FALSE(before.days_until_full);
    CHECK(before.model_calls_per_day == 0);

    constexpr int64_t day_ns = int64_t{86400} * 1'000'000'000;
    std::vector<telemetry::testing::TestSpan> spans;
    for (uint64_t i = 1; i <= 80; ++i)
        spans.push_back({i, i, 0, telemetry::testing::base_ns - (i <= 40 ? 3 * day_ns : 0), 1'000'000, "chat",
                         telemetry::testing::text_attribute("input.value", "order " + std::to_string(i))});
    REQUIRE(f.send_json("first", telemetry::testing::request(spans)).status == 200);
    REQUIRE(f.send_json("second", telemetry::testing::request({{901, 901}})).status == 200);
    f.wait();
    const auto record = [&](const std::string& id, Duration ago, std::optional<int64_t> cost) {
        broker::UsageRow row;
        row.id = id;
        row.space_id = world.space.text();
        row.project_id = "project_first";
        row.run_id = "run_1";
        row.started = world.clock.now() - ago;
        row.day = broker::day_of(row.started);
        row.model = "m";
        row.status = 200;
        row.cost_nano_usd = cost;
        row.complete = true;
        usage.record(row);
    };
    for (int i = 0; i < 14; ++i) record("call_" + std::to_string(i), 24h * (i % 7), 500'000'000);
    record("call_without_price", 0h, std::nullopt);
    record("call_of_before", 24h * 7, 900'000'000'000);
    REQUIRE(usage.flush().ok());

    const api::CapacityView view = measured();
    CHECK(view.spans == 81);
    CHECK(view.days_with_spans == 4); // from the oldest to the newest
    CHECK(view.spans_per_day == 20);
    CHECK(view.spans_bytes > 0);
    CHECK(view.bytes_per_span == view.spans_bytes / 81);
    CHECK(view.span_bytes_per_day == view.spans_bytes / 4);
    CHECK(view.model_calls_per_day == 2); // 15 of 7 days
    CHECK(view.model_cost_micro_usd_per_day == 1'000'000);
    CHECK(view.disk_bytes > view.disk_free_bytes);
    REQUIRE(view.days_until_full);
    CHECK(*view.days_until_full == view.disk_free_bytes / view.span_bytes_per_day);
    CHECK(view.measured_at == world.clock.now());
    CHECK_FALSE(measured(false).days_until_full); // a ClickHouse elsewhere has another disk
}
