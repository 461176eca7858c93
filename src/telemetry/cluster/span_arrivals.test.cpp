#include "telemetry/cluster/span_arrivals.h"

#include "sql/testing.h"

#include <doctest/doctest.h>

namespace hone::telemetry {

namespace {

SpanRowHead head_of(std::string_view project, int64_t start, int64_t received) {
    SpanRowHead head;
    head.project = project;
    head.start_ns = start;
    head.received_ns = received;
    return head;
}

} // namespace

TEST_CASE("what a server stores of a project that another one watches is found there, once it is watched") {
    sql::testing::for_each_engine([](sql::Database& database) {
        const SystemClock clock;
        SpanArrivals first(database, clock, "a"), second(database, clock, "b");
        const std::vector<SpanRowHead> rows{head_of("p", 10, 100), head_of("q", 5, 101), head_of("p", 7, 103)};
        REQUIRE(first.publish(rows).ok());
        CHECK(database.query("SELECT id FROM span_arrivals").value().empty()); // nobody watches
        const auto since = second.watch({"p"});
        REQUIRE(since.ok());
        CHECK(since.value() > 0);
        REQUIRE(second.publish(rows).ok()); // its own watchers get them from its loader
        CHECK(database.query("SELECT id FROM span_arrivals").value().empty());
        REQUIRE(first.publish(rows).ok());
        const auto found = second.read({"p", "q"});
        REQUIRE(found.ok());
        REQUIRE(found.value().size() == 1);
        const SpanArrival& arrival = found.value().front();
        CHECK(arrival.project == "p");
        CHECK(arrival.first_start_ns == 7);
        CHECK(arrival.last_start_ns == 10);
        CHECK(arrival.first_received_ns == 100);
        CHECK(arrival.last_received_ns == 103);
        CHECK(arrival.spans == 2);
        CHECK(arrival.stored_ns > since.value());
        CHECK(first.read({"p"}).value().empty()); // not those of its own
        CHECK(second.read({"q"}).value().empty());
        // Without a renewal the watch ends, and rows that nobody reads any more go.
        REQUIRE(database.execute("UPDATE span_watches SET until_ns = 1").ok());
        REQUIRE(first.publish(rows).ok());
        CHECK(second.read({"p"}).value().size() == 1);
        REQUIRE(second.watch({"p"}).ok());
        REQUIRE(database.execute("UPDATE span_arrivals SET stored_ns = 1").ok());
        SpanArrivals next(database, clock, "c");
        REQUIRE(next.publish(rows).ok());
        CHECK(database.query("SELECT id FROM span_arrivals").value().size() == 1);
    });
}

} // namespace hone::telemetry
