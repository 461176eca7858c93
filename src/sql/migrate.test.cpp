// Migrations: the framework, and the migrations of this build from every earlier version, on both engines.
#include "base/file.h"
#include "sql/statement.h"
#include "sql/testing.h"

#include <doctest/doctest.h>
#include <thread>

using namespace hone;
using namespace hone::sql;
using namespace hone::sql::testing;

namespace {

const std::vector<Migration> four = {
    {1, "people",
     "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL); CREATE INDEX person_by_name ON person (name);"},
    {2, "pets",
     "-- who; owns what\nCREATE TABLE pet (id TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES person (id));"},
    {3, "ages", "ALTER TABLE person ADD COLUMN age BIGINT; UPDATE person SET age = 7;"},
    {4, "weights", "ALTER TABLE pet ADD COLUMN weight DOUBLE; CREATE TABLE note (id BIGINT PRIMARY KEY, body BLOB);"},
};

std::span<const Migration> first(const std::vector<Migration>& migrations, size_t count) {
    return std::span(migrations).first(count);
}

// Everything that makes up the schema, one line per column and index.
std::string schema_of(Database& database) {
    const Rows rows =
        database.engine() == Engine::sqlite
            ? database.query("SELECT tbl_name, name, COALESCE(sql, '') FROM sqlite_schema ORDER BY tbl_name, name")
                  .value()
            : database
                  .query("SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT) || "
                         "CAST(is_nullable AS TEXT) || COALESCE(CAST(collation_name AS TEXT), '') FROM "
                         "information_schema.columns WHERE table_schema = 'public' UNION ALL SELECT CAST(tablename AS "
                         "TEXT), "
                         "CAST(indexname AS TEXT), indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2")
                  .value();
    std::string text;
    for (const Row row : rows) text += row.text(0) + " " + row.text(1) + " " + row.text(2) + "\n";
    return text;
}

// tests/migrations/NNNN.sql: rows as that version would have written them.
void insert_fixture(Database& database, size_t version) {
    if (version == 0) return; // nothing yet
    std::string number = std::to_string(version);
    number.insert(0, 4 - number.size(), '0');
    const std::string path = std::string(HONE_SOURCE_DIR) + "/tests/migrations/" + number + ".sql";
    const std::string script = read_file(path).value(); // every version has one
    const auto statements = split_script(script).value();
    for (const std::string& statement : statements) {
        const auto inserted = database.execute(statement);
        CHECK_MESSAGE(inserted.ok(), path, ": ", (inserted.ok() ? "" : inserted.error().trail));
    }
}

enum class Fixtures { use, none };

void migrate_from_every_version(const std::vector<Migration>& migrations, Fixtures fixtures) {
    const SystemClock clock;
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase newest(engine, Schema::empty);
        REQUIRE(migrate(newest.database(), clock, migrations).value() == static_cast<int64_t>(migrations.size()));
        const std::string expected = schema_of(newest.database());
        for (size_t version = 0; version <= migrations.size(); ++version) {
            INFO("from version ", version);
            FreshDatabase old(engine, Schema::empty);
            REQUIRE(migrate(old.database(), clock, first(migrations, version)).value() ==
                    static_cast<int64_t>(version));
            if (fixtures == Fixtures::use) insert_fixture(old.database(), version);
            old.reopen();
            REQUIRE(migrate(old.database(), clock, migrations).ok());
            CHECK(schema_of(old.database()) == expected);
            CHECK(old.database().check_integrity().ok());
        }
    }
}

int64_t version_of(Database& database) {
    const Rows rows = database.query("SELECT MAX(version) FROM schema_version").value();
    return rows.front().integer(0);
}

} // namespace

TEST_CASE("the migrations of this build lead from every earlier version to the newest") {
    REQUIRE(!embedded_migrations().empty());
    migrate_from_every_version(embedded_migrations(), Fixtures::use);
}

TEST_CASE("what is pending is known before it is applied, and whether older programs survive it") {
    std::vector<Migration> five = four;
    five.push_back({5, "no pets", "-- contract: version 0.2 does not read them\nDROP TABLE pet;"});
    const SystemClock clock;
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        CHECK(pending_migrations(fresh.database(), five).value().size() == 5);
        REQUIRE(migrate(fresh.database(), clock, first(five, 3)).ok());
        const auto pending = pending_migrations(fresh.database(), five).value();
        REQUIRE(pending.size() == 2);
        CHECK_FALSE(pending[0].is_contract());
        CHECK(pending[1].is_contract());
        REQUIRE(migrate(fresh.database(), clock, five).ok());
        CHECK(pending_migrations(fresh.database(), five).value().empty());
        CHECK(pending_migrations(fresh.database(), first(five, 4)).error().code == Code::conflict);
    }
    for (const Migration& migration : embedded_migrations())
        if (migration.version <= 44) CHECK_FALSE(migration.is_contract());
}

TEST_CASE("an older program runs where newer migrations only added, and nowhere else") {
    std::vector<Migration> six = four;
    six.push_back({5, "toys", "CREATE TABLE toy (id TEXT PRIMARY KEY);"});
    six.push_back({6, "no toys", "-- contract: nobody reads them\nDROP TABLE toy;"});
    const SystemClock clock;
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        Database& database = fresh.database();
        REQUIRE(migrate(database, clock, first(six, 5)).value() == 5);
        // Both of the newer ones add.
        CHECK(migrate(database, clock, first(six, 3)).value() == 3);
        CHECK(pending_migrations(database, first(six, 3)).value().empty());
        CHECK(version_of(database) == 5); // nothing was applied a second time
        // Also then, ours must be those that were applied, and all must be there.
        auto edited = six;
        edited[1].sql += " ";
        CHECK(migrate(database, clock, first(edited, 3)).error().code == Code::conflict);
        REQUIRE(migrate(database, clock, six).value() == 6);
        for (const size_t known : {3, 4, 5}) {
            const Error error = migrate(database, clock, first(six, known)).error();
            CHECK(error.code == Code::conflict);
            CHECK(error.message == "this data directory was written by a newer Hone (schema 6, this build knows " +
                                       std::to_string(known) + "): upgrade hone or restore a backup");
            CHECK(pending_migrations(database, first(six, known)).error().code == Code::conflict);
        }
        REQUIRE(database.execute("DELETE FROM schema_version WHERE version IN (4, 6)").ok());
        CHECK(migrate(database, clock, first(six, 3)).error().code == Code::corrupt);
    }
}

TEST_CASE("rows of versions that did not store the kind of a migration are of an unknown kind") {
    const SystemClock clock;
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        Database& database = fresh.database();
        REQUIRE(migrate(database, clock, first(four, 2)).ok());
        REQUIRE(database.execute("ALTER TABLE schema_version DROP COLUMN kind").ok());
        CHECK(migrate(database, clock, first(four, 1)).error().code == Code::conflict);
        CHECK(pending_migrations(database, four).value().size() == 2);
        CHECK_FALSE(database.query("SELECT kind FROM schema_version").ok()); // looking and refusing write nothing
        REQUIRE(migrate(database, clock, first(four, 3)).value() == 3);
        const Rows rows = database.query("SELECT COALESCE(kind, '') FROM schema_version ORDER BY version").value();
        CHECK(rows[0].text(0).empty());
        CHECK(rows[2].text(0) == "expand");
        CHECK(migrate(database, clock, first(four, 2)).value() == 2);
        CHECK(migrate(database, clock, first(four, 1)).error().code == Code::conflict);
    }
}

TEST_CASE("a longer list of migrations leads from every version to the newest") {
    migrate_from_every_version(four, Fixtures::none);
}

TEST_CASE("rows survive a migration and get what it gives them") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        Database& database = fresh.database();
        FakeClock clock(from_ns(42));
        REQUIRE(migrate(database, clock, first(four, 2)).value() == 2);
        REQUIRE(database.execute("INSERT INTO person (id, name) VALUES ('p', 'Ada')").ok());
        REQUIRE(database.execute("INSERT INTO pet (id, person) VALUES ('q', 'p')").ok());
        clock.advance(Duration(1));
        REQUIRE(migrate(database, clock, four).value() == 4);
        const Rows rows = database.query("SELECT name, age FROM person").value();
        CHECK(rows.front().text(0) == "Ada");
        CHECK(rows.front().integer(1) == 7);
        const Rows versions =
            database.query("SELECT version, name, applied_ns FROM schema_version ORDER BY version").value();
        REQUIRE(versions.size() == 4);
        CHECK(versions[0].text(1) == "people");
        CHECK(versions[0].integer(2) == 42);
        CHECK(versions[3].integer(2) == 43);
        CHECK(migrate(database, clock, four).value() == 4); // nothing left to do
        if (engine == Engine::sqlite) {
            const Rows user_version = database.query("PRAGMA user_version").value();
            CHECK(user_version.front().integer(0) == 4);
        }
    }
}

TEST_CASE("a database of a newer version is refused with advice") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        auto contracted = four;
        contracted[3].sql = "-- contract\n" + contracted[3].sql;
        REQUIRE(migrate(fresh.database(), SystemClock(), contracted).ok());
        const Error error = migrate(fresh.database(), SystemClock(), first(contracted, 3)).error();
        CHECK(error.code == Code::conflict);
        CHECK(error.message ==
              "this data directory was written by a newer Hone (schema 4, this build knows 3): upgrade hone "
              "or restore a backup");
        CHECK(version_of(fresh.database()) == 4);
    }
}

TEST_CASE("a migration that changed after it was applied is refused") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        REQUIRE(migrate(fresh.database(), SystemClock(), first(four, 3)).ok());
        auto edited = four;
        edited[1].sql += " ";
        const Error error = migrate(fresh.database(), SystemClock(), edited).error();
        CHECK(error.code == Code::conflict);
        CHECK(error.message.find("migration 2 (pets)") != std::string::npos);
        CHECK(version_of(fresh.database()) == 3); // nothing was applied on top
    }
}

TEST_CASE("a migration that fails leaves nothing behind and can be repeated") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        auto broken = four;
        broken[1].sql += " INSERT INTO absent (x) VALUES (1);";
        CHECK(!migrate(fresh.database(), SystemClock(), broken).ok());
        CHECK(version_of(fresh.database()) == 1);
        CHECK(!fresh.database().query("SELECT id FROM pet").ok());
        CHECK(migrate(fresh.database(), SystemClock(), four).value() == 4);
    }
}

TEST_CASE("migrations without a number are refused") {
    FreshDatabase fresh(Engine::sqlite, Schema::empty);
    auto gap = four;
    gap.erase(gap.begin() + 1);
    CHECK(migrate(fresh.database(), SystemClock(), gap).error().code == Code::internal);
}

TEST_CASE("several servers may migrate the same database at the same time") {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::empty);
        std::vector<Result<int64_t>> outcomes(4, internal("not run"));
        std::vector<std::thread> servers;
        for (auto& outcome : outcomes)
            servers.emplace_back([&] {
                auto database = Database::open({.url = fresh.url()});
                outcome = database.ok() ? migrate(*database.value(), SystemClock(), four) : database.error();
            });
        for (auto& server : servers) server.join();
        for (auto& outcome : outcomes) {
            REQUIRE_MESSAGE(outcome.ok(), outcome.error().message, outcome.error().trail);
            CHECK(outcome.value() == 4);
        }
        const Rows rows = fresh.database().query("SELECT version FROM schema_version").value();
        CHECK(rows.size() == 4);
    }
}
