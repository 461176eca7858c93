#include "telemetry/cluster/block_claims.h"

#include "sql/testing.h"

#include <thread>

namespace hone::telemetry::testing {

using namespace std::chrono_literals;

namespace {

template <class T>
T claim_value(Result<T> result) {
    if (!result.ok()) FAIL(result.error().message, " | ", result.error().trail);
    return std::move(result).value();
}
void must_claim(Result<> result) {
    if (!result.ok()) FAIL(result.error().message, " | ", result.error().trail);
}

constexpr BlockClaimsOptions by_test_clock{.uses_database_clock = false};

} // namespace

TEST_CASE("a block waits for an earlier block with a trace of it, and for no other") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        BlockClaims first(database, clock, "a", by_test_clock), second(database, clock, "b", by_test_clock),
            third(database, clock, "c", by_test_clock);
        must_claim(first.claim({1, 4}, claimed_traces({"t1", "t2"})));
        must_claim(second.claim({7, 9}, claimed_traces({"t2", "t3"})));
        must_claim(third.claim({1, 1}, claimed_traces({"t4"})));
        CHECK(claim_value(first.has_turn()));
        CHECK_FALSE(claim_value(second.has_turn()));
        CHECK(claim_value(third.has_turn()));
        // The next block of the first comes after the second, although both have a trace in common.
        must_claim(first.release());
        must_claim(first.claim({5, 6}, claimed_traces({"t3"})));
        CHECK(claim_value(second.has_turn()));
        CHECK_FALSE(claim_value(first.has_turn()));
        must_claim(second.release());
        CHECK(claim_value(first.has_turn()));
        CHECK(first.waits() == 1);
    });
}

TEST_CASE("a killed server's block keeps its place and its frames for the next process, and ends by itself") {
    sql::testing::for_each_engine([](sql::Database& database) {
        FakeClock clock(from_ns(1'000'000'000'000));
        BlockClaims killed(database, clock, "a", by_test_clock), other(database, clock, "b", by_test_clock);
        CHECK_FALSE(claim_value(killed.unfinished()));
        must_claim(killed.claim({3, 8}, claimed_traces({"t"})));
        must_claim(other.claim({1, 1}, claimed_traces({"t"})));
        BlockClaims next(database, clock, "a", by_test_clock);
        CHECK(claim_value(next.unfinished()) == ClaimedFrames{3, 8});
        must_claim(next.claim({3, 8}, claimed_traces({"t"})));
        CHECK(claim_value(next.has_turn()));
        CHECK_FALSE(claim_value(other.has_turn()));
        must_claim(next.renew());
        clock.advance(30s);
        CHECK_FALSE(claim_value(other.has_turn())); // renews its own claim
        clock.advance(20s);
        CHECK(claim_value(other.has_turn()));
        CHECK(next.renew().error().code == Code::conflict); // what it would insert now, the other one may have stored
        must_claim(next.claim({3, 8}, claimed_traces({"t"})));
        CHECK_FALSE(claim_value(next.has_turn()));
        must_claim(other.release());
        CHECK(claim_value(next.has_turn()));
        must_claim(next.release());
        CHECK_FALSE(claim_value(next.unfinished()));
        const auto left = claim_value(database.query("SELECT server FROM span_blocks"));
        CHECK(left.empty());
    });
}

TEST_CASE("of servers that claim a trace at the same moment one has its turn at a time") {
    sql::testing::for_each_engine([](sql::Database& database) {
        const SystemClock clock;
        std::atomic<int> inside = 0, most = 0, done = 0, failed = 0;
        const auto work = [&](const std::string& name) {
            BlockClaims claims(database, clock, name);
            for (uint64_t i = 1; i <= 20; ++i) {
                Result<bool> turn = false;
                if (!claims.claim({i, i}, claimed_traces({"t", name})).ok()) ++failed;
                while ((turn = claims.has_turn()).ok() && !turn.value()) std::this_thread::yield();
                most = std::max<int>(most, ++inside);
                std::this_thread::yield();
                --inside;
                if (!turn.ok() || !claims.release().ok()) ++failed;
                ++done;
            }
        };
        {
            std::vector<std::jthread> threads;
            for (const char* name : {"a", "b", "c"}) threads.emplace_back(work, name);
        }
        CHECK(failed == 0);
        CHECK(done == 60);
        CHECK(most == 1);
    });
}

TEST_CASE("claims of other traces have nothing in common") {
    CHECK(claimed_traces({}).empty());
    CHECK_FALSE(have_common_trace("", claimed_traces({"a"})));
    CHECK_FALSE(have_common_trace(claimed_traces({"a", "b", "c"}), claimed_traces({"d", "e"})));
    CHECK(have_common_trace(claimed_traces({"a", "b", "c"}), claimed_traces({"x", "c", "z"})));
}

} // namespace hone::telemetry::testing
