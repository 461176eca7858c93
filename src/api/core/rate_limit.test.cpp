#include "api/core/rate_limit.h"
#include "api/testing.h"

namespace hone::api::testing {

TEST_CASE("a bucket empties, refills with time and returns how long to wait") {
    FakeClock clock(must(parse_time("2026-03-01T12:00:00Z")));
    RateLimit limit(clock, 60);
    for (int i = 0; i < 60; ++i) CHECK(limit.take("a") == 0);
    CHECK(limit.take("a") == 1);
    CHECK(limit.take("b") == 0);
    clock.advance(std::chrono::milliseconds(999));
    CHECK(limit.take("a") == 1);
    clock.advance(std::chrono::milliseconds(2));
    CHECK(limit.take("a") == 0);
    CHECK(limit.take("a") == 1);
    // An hour of silence fills it once, not sixty times.
    clock.advance(std::chrono::hours(1));
    for (int i = 0; i < 60; ++i) CHECK(limit.take("a") == 0);
    CHECK(limit.take("a") != 0);
}

TEST_CASE("a wall clock that is set back neither blocks nor frees a caller") {
    FakeClock clock(must(parse_time("2026-03-01T12:00:00Z")));
    RateLimit limit(clock, 2);
    CHECK(limit.take("a") == 0);
    CHECK(limit.take("a") == 0);
    clock.jump(-std::chrono::hours(1000));
    CHECK(limit.take("a") == 30);
    clock.jump(std::chrono::hours(2000));
    CHECK(limit.take("a") == 30);
    clock.advance(std::chrono::seconds(31));
    CHECK(limit.take("a") == 0);
}

TEST_CASE("a limit of 0 is none") {
    const SystemClock clock;
    RateLimit limit(clock, 0);
    for (int i = 0; i < 100'000; ++i) REQUIRE(limit.take("a") == 0);
}

TEST_CASE("only so many callers are remembered: the longest idle one is forgotten") {
    FakeClock clock(must(parse_time("2026-03-01T12:00:00Z")));
    RateLimit limit(clock, 1, 3);
    for (const char* caller : {"a", "b", "c"}) CHECK(limit.take(caller) == 0);
    CHECK(limit.take("a") != 0); // a is the latest now
    CHECK(limit.take("d") == 0); // b is forgotten
    CHECK(limit.take("a") != 0);
    CHECK(limit.take("c") != 0);
    CHECK(limit.take("b") == 0);
}

TEST_CASE("over the limit a request is 429 with Retry-After, for each caller on its own") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Desk desk(fresh.database(), ApiOptions{3, 4 << 20});
    const auto one = Desk::with_key(*desk.service_key(desk.world.space, Role::viewer).key);
    const auto two = Desk::with_key(*desk.service_key(desk.world.space, Role::viewer).key);
    const auto list = [&](const std::vector<net::Header>& who) { return desk.send({"GET", "/v1/projects", "", who}); };
    for (int i = 0; i < 3; ++i) CHECK(list(one).status == 200);
    const auto refused = list(one);
    CHECK(refused.status == 429);
    CHECK(code_of(refused) == "busy");
    CHECK(refused.header("Retry-After") == "20");
    CHECK(list(two).status == 200);
    // Guests count by their address, and refused writes do nothing.
    for (int i = 0; i < 3; ++i) CHECK(desk.send({"GET", "/v1/me"}).status == 401);
    CHECK(desk.send({"GET", "/v1/me"}).status == 429);
    CHECK(desk.send({"GET", "/openapi.json"}).status == 429);
    // Whether the server lives may always be asked.
    CHECK(desk.send({"GET", "/healthz"}).status == 200);
    desk.world.clock.advance(std::chrono::seconds(20));
    CHECK(list(one).status == 200);
    CHECK(list(one).status == 429);
}

} // namespace hone::api::testing
