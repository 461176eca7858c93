#include "lease/servers.h"

#include "sql/testing.h"

using namespace hone;
using namespace hone::lease;
using namespace std::chrono_literals;

namespace {

template <class T>
T value_of(Result<T> result) {
    if (!result.ok()) FAIL(result.error().message, " | ", result.error().trail);
    return std::move(result).value();
}

ServerInfo named(const std::string& name, int64_t schema = 44) {
    ServerInfo info;
    info.name = name;
    info.version = "1";
    info.schema_version = schema;
    info.roles = "api";
    info.address = "http://" + name;
    return info;
}

constexpr ServersOptions by_given_clock{.uses_database_clock = false};

} // namespace

TEST_CASE("a server is live while it renews its lease, and lost when it has not for long enough") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        Servers first(database, clock, named("a"), by_given_clock);
        Servers second(database, clock, named("b"), by_given_clock);
        value_of(first.join());
        value_of(second.join());
        clock.advance(10s);
        CHECK(value_of(first.renew()));
        clock.advance(10s);
        const auto servers = value_of(first.list());
        REQUIRE(servers.size() == 2);
        CHECK(servers[0].is_live);
        CHECK_FALSE(servers[1].is_live);
        CHECK(servers[1].address == "http://b");
        CHECK(value_of(first.others(0s)).empty());
        CHECK(value_of(first.others(1min)) == std::vector<std::string>{"b"});
        CHECK(value_of(second.others(0s)) == std::vector<std::string>{"a"}); // never itself
        clock.advance(1min);
        CHECK(value_of(first.others(1min)).empty());
        CHECK(value_of(second.renew())); // it was only frozen
        CHECK(value_of(first.others(0s)) == std::vector<std::string>{"b"});
        value_of(second.leave());
        CHECK(value_of(first.others(0s)).empty());
        value_of(first.forget(0s));
        CHECK(value_of(first.list()).size() == 1);
        CHECK(value_of(second.renew())); // writes its row again
        CHECK(value_of(first.list()).size() == 2);
    });
}

TEST_CASE("a process that joins under a name replaces the one before, which learns it at its next renewal") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        Servers before(database, clock, named("a"), by_given_clock);
        Servers after(database, clock, named("a"), by_given_clock);
        value_of(before.join());
        value_of(after.join());
        CHECK_FALSE(value_of(before.renew()));
        CHECK(value_of(after.renew()));
        value_of(before.leave()); // not the lease of the other
        CHECK(value_of(after.list()).front().is_live);
    });
}

TEST_CASE("servers that store their spans in different places are found") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        ServerInfo with_cluster = named("a");
        with_cluster.span_store = "http://clickhouse:8123";
        Servers first(database, clock, with_cluster, by_given_clock);
        Servers second(database, clock, named("b"), by_given_clock);
        value_of(first.join());
        CHECK(value_of(first.spans_apart()).empty());
        value_of(second.join());
        CHECK(value_of(second.spans_apart()).find("server a stores spans in http://clickhouse:8123") == 0);
        value_of(first.leave());
        CHECK(value_of(second.spans_apart()).empty());
    });
}

TEST_CASE(
    "servers that keep their objects in different places are found, and older ones that do not state it are not") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        ServerInfo in_bucket = named("a"), on_disk = named("b");
        in_bucket.object_store = "s3://hone/ at https://objects";
        on_disk.object_store = "its own disk, b";
        Servers first(database, clock, in_bucket, by_given_clock), second(database, clock, on_disk, by_given_clock),
            older(database, clock, named("c"), by_given_clock);
        value_of(first.join());
        value_of(older.join());
        CHECK(value_of(first.objects_apart()).empty());
        value_of(second.join());
        CHECK(value_of(first.objects_apart()).find("server b keeps objects in its own disk, b, this server in s3://") ==
              0);
        CHECK(value_of(second.list()).front().object_store == "s3://hone/ at https://objects");
        value_of(second.leave());
        CHECK(value_of(first.objects_apart()).empty());
    });
}

TEST_CASE("a named lease has one holder, and its epoch grows with each new one") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        Servers first(database, clock, named("a"), by_given_clock);
        Servers second(database, clock, named("b"), by_given_clock);
        CHECK(value_of(first.hold("scheduler")) == 1);
        CHECK(value_of(first.hold("scheduler")) == 1);
        CHECK_FALSE(value_of(second.hold("scheduler")).has_value());
        CHECK(value_of(second.hold("audit")) == 1);
        clock.advance(16s);
        CHECK(value_of(second.hold("scheduler")) == 2);
        CHECK_FALSE(value_of(first.hold("scheduler")).has_value());
        value_of(second.leave());
        CHECK(value_of(first.hold("scheduler")) == 3); // without waiting
        clock.advance(16s);
        CHECK(value_of(first.hold("scheduler")) == 4); // its own lease ended too: another could have had it between
    });
}

TEST_CASE("live servers of an older schema are found, also in a database that has no table of servers") {
    for (const sql::Engine engine : sql::testing::all_engines) {
        INFO("on ", sql::testing::engine_name(engine));
        const SystemClock clock;
        sql::testing::FreshDatabase empty(engine, sql::testing::Schema::empty);
        CHECK(value_of(live_servers_before(empty.database(), clock, 50)).empty());
        sql::testing::FreshDatabase fresh(engine, sql::testing::Schema::migrated);
        Servers old(fresh.database(), clock, named("a", 44));
        Servers equal(fresh.database(), clock, named("b", 50));
        value_of(old.join());
        value_of(equal.join());
        CHECK(value_of(live_servers_before(fresh.database(), clock, 50)) ==
              std::vector<std::string>{"a (http://a, 1)"});
        value_of(old.leave());
        CHECK(value_of(live_servers_before(fresh.database(), clock, 50)).empty());
    }
}
