// What every engine must do alike: values, transactions, rules, errors.
#include "sql/testing.h"

#include <doctest/doctest.h>
#include <limits>
#include <thread>

using namespace hone;
using namespace hone::sql;
using namespace hone::sql::testing;

namespace {

struct ThingTag {
    static constexpr std::string_view kind = "thing";
};

const std::vector<Migration> things = {
    {1, "things",
     "CREATE TABLE owner (id TEXT PRIMARY KEY);"
     "CREATE TABLE thing (id TEXT PRIMARY KEY, owner TEXT REFERENCES owner (id), count BIGINT, weight DOUBLE, body "
     "BLOB,"
     " name TEXT UNIQUE, CHECK (count >= 0));"},
};

// An empty database with the two tables, on each engine.
template <class Test>
void with_things(Test&& test) {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        REQUIRE(migrate(fresh.database(), SystemClock(), things).ok());
        test(fresh.database());
    }
}

int64_t count_things(Database& database) {
    const Rows rows = database.query("SELECT COUNT(*) FROM thing").value();
    return rows.front().integer(0);
}

} // namespace

TEST_CASE("values come back as they went in") {
    with_things([](Database& database) {
        const std::string all_bytes = [] {
            std::string bytes;
            for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
            return bytes;
        }();
        for (const int64_t number : {std::numeric_limits<int64_t>::max(), int64_t{0}, int64_t{1} << 40})
            for (const double real : {0.1, -1e300, 5e-324, HUGE_VAL, 3.0})
                for (const std::string& bytes : {std::string(), std::string("\0x\0", 3), all_bytes}) {
                    REQUIRE(database.execute("DELETE FROM thing").ok());
                    REQUIRE(database
                                .execute("INSERT INTO thing (id, count, weight, body, name) VALUES (?, ?, ?, ?, ?)",
                                         "a", number, real, Blob{bytes}, "it's \"ü\" \\ ? 🙂")
                                .value() == 1);
                    const Rows rows =
                        database.query("SELECT count, weight, body, name, owner FROM thing WHERE id = ?", "a").value();
                    REQUIRE(rows.size() == 1);
                    CHECK(rows.front().integer(0) == number);
                    CHECK(rows.front().real(1) == real);
                    CHECK(rows.front().blob(2) == bytes);
                    CHECK(rows.front().text(3) == "it's \"ü\" \\ ? 🙂");
                    CHECK(rows.front().is_null(4));
                }
    });
}

TEST_CASE("every kind of argument can be bound") {
    with_things([](Database& database) {
        const Time time = from_ns(1'794'733'514'123'456'789);
        const Id<ThingTag> id = make_id<ThingTag>(SystemClock());
        REQUIRE(database
                    .execute("INSERT INTO thing (id, count, name, body, weight) VALUES (?, ?, ?, ?, ?)", id, time,
                             std::optional<std::string>("optional"), nullptr, 2)
                    .ok());
        const Rows rows = database.query("SELECT id, count, name, body, weight FROM thing WHERE id = ?", id).value();
        const Row row = rows.front();
        CHECK(row.id<ThingTag>(0) == id);
        CHECK(row.time(1) == time);
        CHECK(row.optional_text(2) == "optional");
        CHECK(row.is_null(3));
        CHECK(row.real(4) == 2.0);
        REQUIRE(database
                    .execute("UPDATE thing SET count = ?, name = ?, weight = ?", true, std::optional<std::string>(),
                             std::optional<double>(0.5))
                    .value() == 1);
        const Rows after = database.query("SELECT count, name, weight, count = 1 FROM thing").value();
        CHECK(after.front().flag(0));
        CHECK(after.front().optional_text(1) == std::nullopt);
        CHECK(after.front().optional_real(2) == 0.5);
        CHECK(after.front().flag(3));
    });
}

TEST_CASE("sums and averages have the same types on both engines") {
    with_things([](Database& database) {
        REQUIRE(database.execute("INSERT INTO thing (id, count, weight) VALUES ('a', 1, 0.5), ('b', 2, 1.5)").value() ==
                2);
        const Rows rows = database
                              .query("SELECT SUM(count), AVG(count), SUM(weight), MAX(id), COUNT(*), count(owner), "
                                     "SUM(count) + ? FROM thing",
                                     5)
                              .value();
        const Row row = rows.front();
        CHECK(row.integer(0) == 3);
        CHECK(row.real(1) == 1.5);
        CHECK(row.real(2) == 2.0);
        CHECK(row.text(3) == "b");
        CHECK(row.integer(4) == 2);
        CHECK(row.integer(5) == 0);
        CHECK(row.integer(6) == 8);
    });
}

TEST_CASE("a broken rule has the same code on both engines") {
    with_things([](Database& database) {
        REQUIRE(database.execute("INSERT INTO thing (id, name) VALUES ('a', 'x')").ok());
        const auto code = [&](std::string_view sql) { return database.execute(sql).error().code; };
        CHECK(code("INSERT INTO thing (id) VALUES ('a')") == Code::conflict);
        CHECK(code("INSERT INTO thing (id, name) VALUES ('b', 'x')") == Code::conflict);
        CHECK(code("INSERT INTO thing (id, owner) VALUES ('b', 'nobody')") == Code::conflict);
        CHECK(code("INSERT INTO thing (id, count) VALUES ('b', -1)") == Code::invalid);
        CHECK(code("INSERT INTO schema_version (version, name, applied_ns) VALUES (99, 'x', 1)") == Code::invalid);
        CHECK(code("INSERT INTO nothing (id) VALUES ('b')") == Code::internal);
        CHECK(code("no sql at all") == Code::internal);
        CHECK(count_things(database) == 1);
        REQUIRE(database.execute("INSERT INTO owner (id) VALUES ('o')").ok());
        REQUIRE(database.execute("UPDATE thing SET owner = 'o'").ok());
        CHECK(code("DELETE FROM owner") == Code::conflict);
    });
}

TEST_CASE("messages for people do not show the statement") {
    with_things([](Database& database) {
        REQUIRE(database.execute("INSERT INTO thing (id) VALUES ('a')").ok());
        const Error error = database.execute("INSERT INTO thing (id) VALUES ('a')").error();
        CHECK(error.message == "it exists already");
        CHECK(error.trail.find("INSERT INTO thing") != std::string::npos);
    });
}

TEST_CASE("write commits a value and rolls back an error") {
    with_things([](Database& database) {
        const int64_t count = database
                                  .write([&](Transaction& transaction) -> Result<int64_t> {
                                      TRY(transaction.execute("INSERT INTO thing (id, count) VALUES (?, ?)", "a", 7));
                                      const Rows rows =
                                          TRY(transaction.query("SELECT count FROM thing WHERE id = ?", "a"));
                                      return rows.front().integer(0);
                                  })
                                  .value();
        CHECK(count == 7);
        const auto refused = database.write([&](Transaction& transaction) -> Result<> {
            TRY(transaction.execute("DELETE FROM thing"));
            return forbidden("no");
        });
        CHECK(refused.error().code == Code::forbidden);
        CHECK(count_things(database) == 1);
    });
}

TEST_CASE("a transaction in which a statement failed commits nothing, even when the failure is ignored") {
    with_things([](Database& database) {
        const auto outcome = database.write([&](Transaction& transaction) -> Result<> {
            TRY(transaction.execute("INSERT INTO thing (id) VALUES ('a')"));
            CHECK(transaction.execute("INSERT INTO thing (id) VALUES ('a')").error().code == Code::conflict);
            CHECK(transaction.execute("INSERT INTO thing (id) VALUES ('b')").error().code == Code::conflict);
            return {};
        });
        CHECK(outcome.error().code == Code::conflict);
        CHECK(count_things(database) == 0);
    });
}

TEST_CASE("an exception in the work rolls back and frees the connection") {
    with_things([](Database& database) {
        auto throws = [&](Transaction& transaction) -> Result<> {
            TRY(transaction.execute("INSERT INTO thing (id) VALUES ('a')"));
            throw 1;
        };
        CHECK_THROWS_AS((void)database.write(throws), int);
        CHECK(count_things(database) == 0);
        CHECK(database.execute("INSERT INTO thing (id) VALUES ('b')").ok());
    });
}

TEST_CASE("upsert and RETURNING work alike") {
    with_things([](Database& database) {
        for (int64_t i = 1; i <= 3; ++i) {
            const int64_t count =
                database
                    .write([&](Transaction& transaction) -> Result<int64_t> {
                        const Rows rows = TRY(transaction.query(
                            "INSERT INTO thing (id, count) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET "
                            "count = thing.count + excluded.count RETURNING count",
                            "a", 2));
                        return rows.front().integer(0);
                    })
                    .value();
            CHECK(count == 2 * i);
        }
        CHECK(database.execute("INSERT INTO thing (id) VALUES ('a') ON CONFLICT DO NOTHING").value() == 0);
        CHECK(database.execute("UPDATE thing SET count = 1 WHERE id = 'none'").value() == 0);
        CHECK(database.execute("DELETE FROM thing").value() == 1);
    });
}

TEST_CASE("text is ordered by its bytes and LIKE minds the case") {
    with_things([](Database& database) {
        REQUIRE(
            database.execute("INSERT INTO thing (id) VALUES ('a'), ('B'), ('_'), ('ä'), ('Z'), ('10'), ('9')").ok());
        std::string order;
        const Rows ordered = database.query("SELECT id FROM thing ORDER BY id").value();
        for (const Row row : ordered) order += row.text(0) + " ";
        CHECK(order == "10 9 B Z _ a ä ");
        CHECK(database.query("SELECT id FROM thing WHERE id LIKE ?", "A%").value().empty());
        CHECK(database.query("SELECT id FROM thing WHERE id LIKE ?", "a%").value().size() == 1);
        CHECK(database.query("SELECT id FROM thing WHERE id LIKE ? ESCAPE '\\'", "\\_%").value().size() == 1);
        // The next page of a list: keyset, not OFFSET.
        CHECK(database.query("SELECT id FROM thing WHERE id > ? ORDER BY id LIMIT ?", "B", 2).value().size() == 2);
    });
}

TEST_CASE("query cannot write") {
    with_things([](Database& database) {
        CHECK(database.query("INSERT INTO thing (id) VALUES ('a') RETURNING id").error().code == Code::internal);
        CHECK(database.query("DELETE FROM thing").error().code == Code::internal);
        const auto in_read =
            database.read([](Transaction& transaction) { return transaction.execute("DELETE FROM thing"); });
        CHECK(in_read.error().code == Code::internal);
        CHECK(count_things(database) == 0);
    });
}

TEST_CASE("the database is not called inside a transaction of the same thread") {
    with_things([](Database& database) {
        for (int i = 0; i < 20; ++i) { // more often than there are connections
            const auto outcome = database.write([&](Transaction&) -> Result<> {
                CHECK(database.query("SELECT 1").error().code == Code::internal);
                CHECK(database.execute("DELETE FROM thing").error().code == Code::internal);
                CHECK(database.read([](Transaction&) { return Result<>(); }).error().code == Code::internal);
                return {};
            });
            CHECK(outcome.ok());
        }
    });
}

TEST_CASE("read sees one moment") {
    with_things([](Database& database) {
        const auto outcome = database.read([&](Transaction& transaction) -> Result<int64_t> {
            TRY(transaction.query("SELECT COUNT(*) FROM thing"));
            Result<int64_t> written = internal("not run");
            std::thread other([&] { written = database.execute("INSERT INTO thing (id) VALUES ('a')"); });
            other.join();
            TRY(std::move(written));
            const Rows rows = TRY(transaction.query("SELECT COUNT(*) FROM thing"));
            return rows.front().integer(0);
        });
        CHECK(outcome.value() == 0);
        CHECK(count_things(database) == 1);
    });
}

TEST_CASE("text that is not text and numbers that are no numbers are refused") {
    with_things([](Database& database) {
        const auto insert = [&](auto name, double weight) {
            return database.execute("INSERT INTO thing (id, name, weight) VALUES ('a', ?, ?)", name, weight);
        };
        CHECK(insert(std::string("a\0b", 3), 1.0).error().code == Code::invalid);
        CHECK(insert(std::string("\xff"), 1.0).error().code == Code::invalid);
        CHECK(insert(std::string("\xed\xa0\x80"), 1.0).error().code == Code::invalid);
        CHECK(insert("fine", NAN).error().code == Code::invalid);
        CHECK(count_things(database) == 0);
    });
}

TEST_CASE("a wrong number of values is found") {
    with_things([](Database& database) {
        CHECK(database.query("SELECT ?").error().code == Code::internal);
        CHECK(database.query("SELECT 1", 1).error().code == Code::internal);
        CHECK(database.query("SELECT CAST(? AS BIGINT)", 1).ok());
    });
}

TEST_CASE("a statement that never ends is stopped") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty, {.statement_timeout = std::chrono::milliseconds(500)});
        const auto outcome = fresh.database().query("WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n + 0 "
                                                    "FROM forever) SELECT COUNT(*) FROM forever");
        CHECK(outcome.error().code == Code::busy);
        CHECK(fresh.database().query("SELECT 1").ok());
    }
}

TEST_CASE("a result without bounds is rejected") {
    with_things([](Database& database) {
        REQUIRE(database.execute("INSERT INTO thing (id, body) VALUES ('a', ?)", Blob{std::string(1 << 20, 'x')}).ok());
        const auto outcome = database.query("WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many "
                                            "WHERE n < 70) SELECT body FROM thing, many");
        CHECK(outcome.error().code == Code::too_large);
        CHECK(database.query("SELECT 1").ok());
    });
}

TEST_CASE("more different statements than the cache keeps") {
    with_things([](Database& database) {
        for (int round = 0; round < 2; ++round)
            for (int i = 0; i < 300; ++i) {
                const Rows rows = database.query("SELECT " + std::to_string(i) + " + ?", 1).value();
                CHECK(rows.front().integer(0) == i + 1);
            }
    });
}

TEST_CASE("a table that changes does not break prepared statements") {
    with_things([](Database& database) {
        REQUIRE(database.query("SELECT * FROM owner").ok());
        REQUIRE(database.execute("ALTER TABLE owner ADD COLUMN extra TEXT").ok());
        REQUIRE(database.execute("INSERT INTO owner (id) VALUES ('o')").ok());
        const Rows rows = database.query("SELECT * FROM owner").value();
        CHECK(rows.front().size() == 2);
    });
}

TEST_CASE("a database that is none of ours is refused by its name") {
    CHECK(Database::open({.url = "mysql://x"}).error().code == Code::invalid);
    CHECK(Database::open({.url = "sqlite:"}).error().code == Code::invalid);
    CHECK(Database::open({.url = "postgres://user:secret%zz@host/x"}).error().message.find("secret") ==
          std::string::npos);
}
