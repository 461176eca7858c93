// Many threads at once: nothing lost, nobody blocked who need not be, honest refusals.
#include "sql/testing.h"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <thread>

using namespace hone;
using namespace hone::sql;
using namespace hone::sql::testing;
using namespace std::chrono_literals;

namespace {

void make_counter(Database& database) {
    REQUIRE(database.execute("CREATE TABLE counter (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)").ok());
    REQUIRE(database.execute("INSERT INTO counter (id, n) VALUES (1, 0), (2, 0)").ok());
}

// Reads, then writes what it read plus one: loses updates unless transactions are serializable.
Result<> increment(Database& database) {
    return database.write([](Transaction& transaction) -> Result<> {
        const Rows rows = TRY(transaction.query("SELECT n FROM counter WHERE id = 1"));
        TRY(transaction.execute("UPDATE counter SET n = ? WHERE id = 1", rows.front().integer(0) + 1));
        return {};
    });
}

int64_t counter(Database& database) {
    const Rows rows = database.query("SELECT n FROM counter WHERE id = 1").value();
    return rows.front().integer(0);
}

} // namespace

TEST_CASE("eight writers and eight readers: no update is lost and readers only see it grow") {
    constexpr int64_t increments = 40;
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty, {.readers = 8, .writers = 8, .wait = 60s, .attempts = 10'000});
        Database& database = fresh.database();
        make_counter(database);
        std::atomic<int> failures = 0;
        std::atomic<bool> done = false;
        std::vector<std::thread> writers;
        std::vector<std::thread> readers;
        for (int i = 0; i < 8; ++i) {
            writers.emplace_back([&] {
                for (int64_t n = 0; n < increments; ++n)
                    if (!increment(database).ok()) ++failures;
            });
            readers.emplace_back([&] {
                int64_t last = 0;
                while (!done) {
                    const auto rows = database.query("SELECT n FROM counter WHERE id = ?", 1);
                    if (!rows.ok() || rows.value().front().integer(0) < last)
                        ++failures;
                    else
                        last = rows.value().front().integer(0);
                }
            });
        }
        for (auto& writer : writers) writer.join();
        done = true;
        for (auto& reader : readers) reader.join();
        CHECK(failures == 0);
        CHECK(counter(database) == 8 * increments);
    }
}

TEST_CASE("readers continue while a write transaction is open, and do not see it") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty, {.wait = 100ms});
        Database& database = fresh.database();
        make_counter(database);
        const auto outcome = database.write([&](Transaction& transaction) -> Result<int64_t> {
            TRY(transaction.execute("UPDATE counter SET n = 5 WHERE id = 1"));
            int64_t seen = -1;
            std::thread reader([&] { seen = counter(database); });
            reader.join();
            return seen;
        });
        CHECK(outcome.value() == 0);
        CHECK(counter(database) == 5);
    }
}

TEST_CASE("when all connections are taken the next caller gets busy") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty, {.readers = 1, .writers = 1, .wait = 50ms});
        Database& database = fresh.database();
        make_counter(database);
        Code read_code{};
        Code write_code{};
        const auto reading = database.read([&](Transaction&) -> Result<> {
            std::thread([&] { read_code = database.query("SELECT 1").error().code; }).join();
            return {};
        });
        const auto writing = database.write([&](Transaction&) -> Result<> {
            std::thread([&] { write_code = increment(database).error().code; }).join();
            return {};
        });
        CHECK(reading.ok());
        CHECK(writing.ok());
        CHECK(read_code == Code::busy);
        CHECK(write_code == Code::busy);
        CHECK(increment(database).ok());
    }
}

TEST_CASE("two transactions that would each miss the other's write: one of them is run again") {
    // Each moves to its own counter what it reads in the other's: without serializability both would read 0.
    FreshDatabase fresh(Engine::postgres, Schema::empty); // SQLite has one writer: it cannot come to this
    Database& database = fresh.database();
    make_counter(database);
    std::latch both_have_read(2);
    std::atomic<int> runs = 0;
    auto move = [&](int64_t from, int64_t to) {
        bool first = true;
        return database.write([&](Transaction& transaction) -> Result<> {
            ++runs;
            const Rows rows = TRY(transaction.query("SELECT n FROM counter WHERE id = ?", from));
            if (std::exchange(first, false)) both_have_read.arrive_and_wait();
            TRY(transaction.execute("UPDATE counter SET n = ? WHERE id = ?", rows.front().integer(0) + 1, to));
            return {};
        });
    };
    Result<> there = internal("not run");
    Result<> back = internal("not run");
    std::thread one([&] { there = move(1, 2); });
    std::thread two([&] { back = move(2, 1); });
    one.join();
    two.join();
    CHECK(there.ok());
    CHECK(back.ok());
    CHECK(runs == 3);
    const Rows rows = database.query("SELECT SUM(n) FROM counter").value();
    CHECK(rows.front().integer(0) == 3); // 1, then 2 made from it
}

TEST_CASE("attempts are bounded") {
    FreshDatabase fresh(Engine::postgres, Schema::empty, {.attempts = 3});
    Database& database = fresh.database();
    make_counter(database);
    int runs = 0;
    const auto outcome = database.write([&](Transaction& transaction) -> Result<> {
        ++runs;
        const Rows rows = TRY(transaction.query("SELECT n FROM counter WHERE id = 1"));
        std::thread([&] { CHECK(increment(database).ok()); }).join(); // somebody else is always quicker
        TRY(transaction.execute("UPDATE counter SET n = ? WHERE id = 1", rows.front().integer(0) + 100));
        return {};
    });
    CHECK(outcome.error().code == Code::busy);
    CHECK(runs == 3);
    CHECK(counter(database) == 3);
}

TEST_CASE("a lock of another process is waited for, then named") {
    FreshDatabase fresh(Engine::sqlite, Schema::empty);
    make_counter(fresh.database());
    const auto other =
        Database::open({.url = fresh.url(), .wait = 50ms}).value(); // a connection as another process has it
    const auto outcome = fresh.database().write([&](Transaction&) -> Result<> {
        const Error error = increment(*other).error();
        CHECK(error.code == Code::busy);
        CHECK(error.message.find("locked by another process") != std::string::npos);
        return {};
    });
    CHECK(outcome.ok());
    CHECK(increment(*other).ok());
}
