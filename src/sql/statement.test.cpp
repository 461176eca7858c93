#include "sql/statement.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::sql;

namespace {
std::string on_postgres(std::string_view sql) {
    auto statement = translate(sql, Engine::postgres);
    return statement.ok() ? statement.value().text : "refused: " + statement.error().trail;
}
std::string definition(std::string_view sql, Engine engine) {
    return translate_definition(sql, engine).value();
}
} // namespace

TEST_CASE("placeholders become numbers for PostgreSQL") {
    CHECK(on_postgres("SELECT a FROM t WHERE b = ? AND c IN (?,?)") == "SELECT a FROM t WHERE b = $1 AND c IN ($2,$3)");
    CHECK(translate("SELECT ?, ?", Engine::sqlite).value().text == "SELECT ?, ?");
    CHECK(translate("SELECT ?, ?", Engine::sqlite).value().parameters == 2);
    CHECK(on_postgres("SELECT 1;  ") == "SELECT 1  ");
}

TEST_CASE("question marks in strings, names and comments are no placeholders") {
    CHECK(on_postgres("SELECT '?', 'it''s ?', ?") == "SELECT '?', 'it''s ?', $1");
    CHECK(on_postgres("SELECT \"a?\"\"b?\" FROM t WHERE x = ?") == "SELECT \"a?\"\"b?\" FROM t WHERE x = $1");
    CHECK(on_postgres("SELECT ? -- why?\n, ? /* or ? */") == "SELECT $1  \n, $2  ");
    CHECK(on_postgres("SELECT '--', ?") == "SELECT '--', $1");
    CHECK(on_postgres("SELECT 'ü?', ?") == "SELECT 'ü?', $1");
}

TEST_CASE("what the engines read differently is refused") {
    for (const char* sql :
         {"", " -- nothing", "SELECT 1; SELECT 2", "SELECT ?1", "SELECT ??", "SELECT :a", "SELECT @a", "SELECT $1",
          "SELECT $$a$$", "SELECT a::text", "SELECT E'a'", "SELECT x'00'", "SELECT `a`", "SELECT [a]", "SELECT 'open",
          "SELECT \"open", "SELECT /* open", "SELECT /* a /* b */ */ 1"})
        CHECK_MESSAGE(!translate(sql, Engine::postgres).ok(), sql);
    CHECK(!translate(std::string("SELECT 1\0", 9), Engine::sqlite).ok());
    CHECK(!translate("SELECT '" + std::string(2 << 20, 'a') + "'", Engine::sqlite).ok());
}

TEST_CASE("a script is split at its semicolons only") {
    const auto statements =
        split_script("-- first; comment\nCREATE TABLE a (b TEXT); /* ; */\n;INSERT INTO a VALUES (';');\n").value();
    REQUIRE(statements.size() == 2);
    CHECK(statements[0] == "CREATE TABLE a (b TEXT)");
    CHECK(statements[1] == "INSERT INTO a VALUES (';')");
}

TEST_CASE("column types are translated in definitions and nowhere else") {
    const std::string_view table = "CREATE TABLE t (a TEXT PRIMARY KEY, b BIGINT, c double, d BLOB, \"BLOB\" TEXT)";
    CHECK(definition(table, Engine::sqlite) ==
          "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c REAL, d BLOB, \"BLOB\" TEXT) STRICT");
    CHECK(definition(table, Engine::postgres) == "CREATE TABLE t (a TEXT COLLATE \"C\" PRIMARY KEY, b BIGINT, c DOUBLE "
                                                 "PRECISION, d BYTEA, \"BLOB\" TEXT COLLATE \"C\")");
    CHECK(definition("ALTER TABLE t ADD COLUMN e BIGINT", Engine::sqlite) == "ALTER TABLE t ADD COLUMN e INTEGER");
    CHECK(definition("CREATE INDEX i ON t (a)", Engine::sqlite) == "CREATE INDEX i ON t (a)");
    CHECK(definition("UPDATE t SET a = CAST(b AS TEXT)", Engine::postgres) == "UPDATE t SET a = CAST(b AS TEXT)");
    CHECK(definition("CREATE TABLE t (a TEXT CHECK (CAST(a AS TEXT) <> ''))", Engine::postgres) ==
          "CREATE TABLE t (a TEXT COLLATE \"C\" CHECK (CAST(a AS TEXT) <> ''))");
    CHECK(definition("CREATE TABLE t (a TEXT); -- end", Engine::sqlite) == "CREATE TABLE t (a TEXT) STRICT");
}
