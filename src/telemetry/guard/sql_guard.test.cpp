// SQL that people wrote: the guard's checks, the engine's own access control without the guard, and both together.
// tests/e2e/sql.py has the long list of attacks, random statements and the queries that must keep working.
#include "telemetry/guard/sql_guard.h"

#include "telemetry/guard/sql_text.h"
#include "telemetry/guard/sql_tree.h"
#include "telemetry/retention/retention.h"
#include "telemetry/store_fixture.h"

#include <doctest/doctest.h>

namespace hone::telemetry::testing {

namespace {

Result<std::string> run_sql(const std::string& project, const std::string& sql, Duration deadline = 20s,
                            size_t most_rows = 10'000) {
    SqlRequest request;
    request.most_rows = most_rows;
    request.project = "project_" + project;
    request.sql = sql;
    request.format = "CSVWithNames";
    request.deadline = deadline;
    return SqlGuard(fixture().telemetry->engine()).run(request);
}

// The result, or the error.
std::string sql_result(const std::string& project, const std::string& sql) {
    auto answer = run_sql(project, sql);
    return answer.ok() ? answer.value() : "error: " + answer.error().message;
}

// Past the guard: as the engine's reader, in a project's database.
Result<std::string> run_in_engine(const std::string& project, const std::string& sql) {
    ClickHouseQuery query(sql);
    query.as_reader = true;
    query.database = "hone_project_" + project;
    query.set("default_format", "TSVRaw");
    return fixture().telemetry->engine().query(query);
}

// Two projects with a span each, and their views.
void fill_projects() {
    Fixture& f = fixture();
    f.send_json("asks", request({{1, 1, 0, base_ns, 5, "root", text_attribute("input.value", "my own words"), 0}}));
    f.send_json("hides", request({{1, 1, 0, base_ns, 5, "canary", text_attribute("input.value", "canary"), 0}}));
    f.wait();
    f.store();
    REQUIRE(run_sql("asks", "SELECT 1").ok());
    REQUIRE(run_sql("hides", "SELECT 1").ok());
}

std::string reason_of(const std::optional<Refusal>& refusal) {
    return refusal ? refusal->why : "";
}

// A tree with one node in the place of a table.
std::string tree_of(const std::string& node) {
    return "QUERY id: 0\n  PROJECTION\n    LIST id: 1, nodes: 1\n      CONSTANT id: 2, constant_value: UInt64_1\n  "
           "JOIN "
           "TREE\n    " +
           node + "\n";
}

constexpr const char* sql_attacks[] = {
    "SELECT * APPLY(x -> (SELECT groupArray(input) FROM hone.spans SETTINGS log_comment='*')) FROM (SELECT 1 AS a)",
    "SELECT * APPLY(x -> (SELECT groupArray(query) FROM system.processes)) FROM (SELECT 1 AS a)",
    "SELECT * APPLY(x -> (SELECT groupArray(token) FROM mergeTreeTextIndex(hone, spans, input_words))) FROM (SELECT 1)",
    "SELECT 1 // '\n); SELECT 'x' INTO OUTFILE 'stolen' FORMAT TSV; SELECT * FROM (SELECT 2 // '\n",
    "SELECT 'WITH processes AS (SELECT 1)', count() FROM system.processes",
    "SELECT file('/etc/passwd')",
    "SELECT 1 AS file, file('/etc/passwd')",
    "WITH x -> file(x) AS f SELECT f('/etc/passwd')",
    "SELECT COLUMNS('name') APPLY(file) FROM spans",
    "SELECT * FROM file('/etc/passwd', 'CSV', 'a String')",
    "SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')",
    "SELECT * FROM system.tables",
    "SELECT * FROM merge('hone', 'spans')",
    "SELECT * FROM hone.trace_times",
    "SELECT * FROM hone_project_hides.spans",
    "SELECT (SELECT any(input) FROM hone_project_hides.spans)",
    "SELECT * FROM numbers(10)",
    "SELECT * FROM spans SETTINGS log_comment = '*'",
    "SELECT 1 UNION ALL SELECT 2 SETTINGS readonly = 0",
    "SELECT sleep(3)",
    "SELECT getSetting('log_comment')",
    "SELECT currentDatabase()",
    "SELECT * FROM spans INTO OUTFILE '/tmp/x'",
    "SELECT dictGet('d', 'a', 1)",
    "SELECT * FROM mergeTreeIndex('hone', 'spans')",
    "SELECT joinGet('a', 'b', 1)",
    "SELECT name FROM spans FORMAT Null",
    "SELECT * FROM view(SELECT * FROM system.tables)",
    "SELECT 0 IN system.one",
    "SELECT 0 GLOBAL IN (system.one)",
    "WITH hone.trace_times AS x SELECT 0 IN x",
    "SELECT name IN trace_times FROM spans",
    "SELECT {x:String}",
    "SELECT _table FROM spans",
    "SELECT * FROM hone.trace_times AS `x, table_name: hone_project_asks.spans`",
    "SELECT file('x') AS `x, function_name: plus`",
    "SELECT 1 AS `x\nPROJECTION COLUMNS`, (SELECT count() FROM hone_project_hides.spans)",
    "SELECT 1; SET ROLE ALL; USE hone; SELECT groupArray(input) FROM hone.spans",
    "SELECT 1 PARALLEL WITH SELECT 2",
    "DROP TABLE spans",
    "DESCRIBE spans",
    "EXPLAIN SELECT 1",
};

} // namespace

TEST_CASE("a rendered query is read strictly: what is not known is refused") {
    for (const char* sql :
         {"SELECT 1", "WITH x AS (SELECT 1) SELECT ';)' FROM x", "(SELECT 1) UNION ALL (SELECT 2)",
          "SELECT a.1, x[1], -1.5e-7, `a b`, 'SETTINGS -- {x}' FROM spans AS s",
          "SELECT sum(x) AS TOTAL ORDER BY TOTAL ASC", "WITH (x -> (x / 2)) AS half SELECT half(4)",
          "SELECT COLUMNS('a') APPLY sum FROM spans", "SELECT arrayMap((K, V) -> (K, V), [1], [2])"}) {
        CAPTURE(sql);
        CHECK(reason_of(check_sql_text(sql)) == "");
    }
    for (const char* sql : {"",
                            "()",
                            "DROP TABLE spans",
                            "SELECT 1; SELECT 2",
                            "SELECT 1) UNION ALL (SELECT 2",
                            "SELECT (1",
                            "SELECT 'x",
                            "SELECT `x",
                            "SELECT 1 -- x",
                            "SELECT 1 /* x */",
                            "SELECT 1 // x",
                            "SELECT 1 # x",
                            "SELECT $$x$$",
                            "SELECT {x:Int}",
                            "SELECT \\1",
                            "SELECT 1 SETTINGS a = 1",
                            "SELECT 1 FORMAT CSV",
                            "SELECT 1 INTO OUTFILE 'x'",
                            "SELECT 1 AS SETTINGS",
                            "SELECT 1 NEWCLAUSE",
                            "SELECT 1 PARALLEL WITH SELECT 2",
                            "SELECT `a\\nb`",
                            "SELECT file('x')",
                            "SELECT `file`('x')",
                            "SELECT 1 AS file, file('x')",
                            "SELECT * APPLY file FROM spans",
                            "SELECT * APPLY(file) FROM spans",
                            "SELECT * FROM system.one",
                            "SELECT * FROM `System`.`one`",
                            "SELECT x\xc2\xa0y",
                            "SELECT @@x",
                            "SELECT a ? b : c",
                            "SELECT arrayReduce('flameGraph', [1])",
                            "SELECT arrayReduce(concat('s', 'um'), [1])",
                            "SELECT arrayReduce('x)', [1])",
                            "SELECT CAST(x, 'Array(AggregateFunction(uniq, String))')"}) {
        CAPTURE(sql);
        CHECK(reason_of(check_sql_text(sql)) != "");
    }
    CHECK(reason_of(check_sql_text("SELECT 1 SETTINGS a = 1")) == "SETTINGS is not available");
    CHECK(check_sql_text("SELECT 1 SETTINGS a = 1")->part == "SETTINGS");
}

TEST_CASE("a query over hone.spans or with PREWHERE becomes the same over the project's views") {
    CHECK(over_views("SELECT name FROM spans") == "SELECT name FROM spans");
    CHECK(over_views("SELECT hone.spans.name FROM hone.spans") == "SELECT spans.name FROM spans");
    CHECK(over_views("SELECT x.hone.spans, hone.x FROM hone.trace_times") ==
          "SELECT x.hone.spans, hone.x FROM hone.trace_times");
    CHECK(over_views("SELECT 'hone.spans' FROM `hone`.`spans`") == "SELECT 'hone.spans' FROM `spans`");
    CHECK(over_views("SELECT 1 FROM spans PREWHERE a = 1 GROUP BY b") ==
          "SELECT 1 FROM spans WHERE ( a = 1 )GROUP BY b");
    CHECK(over_views("(SELECT 1 FROM spans PREWHERE a OR b WHERE c OR d)") ==
          "(SELECT 1 FROM spans WHERE ( a OR b ) AND ( c OR d))");
}

TEST_CASE("a tree is checked by allow lists, and names that imitate it do not help") {
    const std::string database = "hone_project_a-b";
    CHECK(reason_of(check_written_tree(tree_of("IDENTIFIER id: 3, identifier: spans"))) == "");
    CHECK(reason_of(check_written_tree(tree_of("IDENTIFIER id: 3, identifier: trace_times"))) ==
          "there is no table \"trace_times\"; there are spans, evals, traces and chat_sessions");
    CHECK(reason_of(check_written_tree(tree_of("IDENTIFIER id: 3, alias: x, identifier: spans, identifier: secret"))) !=
          "");
    CHECK(reason_of(check_written_tree(tree_of("TABLE_FUNCTION id: 3, table_function_name: numbers"))) ==
          "the table function \"numbers\" is not available");
    CHECK(reason_of(check_written_tree(tree_of("IDENTIFIER id: 3, identifier: spans\n  SETTINGS a=1"))) ==
          "SETTINGS is not available");
    CHECK(reason_of(check_written_tree(tree_of("TABLE id: 3, table_name: hone_project_a-b.spans"))) != "");
    CHECK(reason_of(check_written_tree("QUERY id: 0\n  PROJECTION COLUMNS\n    TABLE id: 1, table_name: x")) != "");
    CHECK(reason_of(check_written_tree("")) != "");
    const auto resolved = [&](const std::string& node) {
        return reason_of(check_resolved_tree(tree_of(node), database));
    };
    CHECK(resolved("TABLE id: 3, alias: __table1, table_name: `hone_project_a-b`.spans") == "");
    CHECK(resolved("TABLE id: 3, alias: __table1, table_name: hone_project_a-b.spans, final: 1") == "");
    CHECK(resolved("TABLE id: 3, table_name: system.one") == "");
    for (const char* node :
         {"TABLE id: 3, table_name: hone.spans", "TABLE id: 3, table_name: hone_project_a-bc.spans",
          "TABLE id: 3, alias: x", "TABLE id: 3, alias: x, table_name: hone_project_a-b.spans, table_name: hone.spans",
          "TABLE id: 3, table_name: system.tables",
          "TABLE id: 3, table_name: _temporary_and_external_tables._tmp_1, temporary_table_name: x", "DICTIONARY id: 3",
          "FUNCTION id: 3, function_name: file, function_type: ordinary",
          "FUNCTION id: 3, alias: x, function_name: plus, function_name: file",
          "APPLY COLUMN TRANSFORMER id: 3, apply_transformer_type: LAMBDA", "SOMETHING NEW"}) {
        CAPTURE(node);
        CHECK(resolved(node) != "");
    }
    CHECK(reason_of(check_resolved_tree(tree_of("TABLE id: 3, table_name: .spans"), "")) != "");
}

TEST_CASE("people can query only their own project in SQL") {
    Fixture& f = fixture();
    f.send_json("sql", request({{1, 1, 0, base_ns, 5, "root", text_attribute("session.id", "s"), 0},
                                {1, 2, 1, base_ns + 1, 5, "child", "", 2}}));
    f.send_json("sql-other", request({{1, 1, 0, base_ns, 5, "root", "", 0}}));
    f.wait();
    f.store();
    CHECK(sql_result("sql", "SELECT count() AS n FROM spans") == "\"n\"\n2\n");
    CHECK(sql_result("sql", "SELECT root_name, spans, errors FROM traces") ==
          "\"root_name\",\"spans\",\"errors\"\n\"root\",2,1\n");
    CHECK(sql_result("sql", "SELECT chat_session, traces FROM chat_sessions") ==
          "\"chat_session\",\"traces\"\n\"s\",1\n");
    CHECK(sql_result("sql", "WITH x AS (SELECT name FROM hone.spans WHERE status = 'error') SELECT name FROM x") ==
          "\"name\"\n\"child\"\n");
    CHECK(sql_result("sql", "WITH x AS (SELECT 'child') SELECT count() AS n FROM spans WHERE name IN x; -- a CTE\n") ==
          "\"n\"\n1\n");
    CHECK(sql_result("sql", "SELECT count() AS n FROM spans WHERE name IN ('child', 'x') AND name IN (SELECT name FROM "
                            "spans)") == "\"n\"\n1\n");
    CHECK(run_sql("sql",
                  "SELECT countIf(status = 'error') AS e, quantile(0.5)(duration_ns) AS q, avgOrNull(duration_ns) "
                  "AS a FROM spans")
              .ok());
}

TEST_CASE("a result of SQL is cut at its limit, whatever was read for it; one of too many bytes is rejected") {
    fixture().store();
    CHECK(run_sql("sql", "SELECT arrayJoin(range(100000)) AS a", 20s, 3).value() == "\"a\"\n0\n1\n2\n");
    CHECK(sql_result("sql", "SELECT count() AS n FROM (SELECT arrayJoin(range(100000)) AS a)") == "\"n\"\n100000\n");
    const auto heavy = run_sql("sql", "SELECT repeat('x', 10000) AS x FROM (SELECT arrayJoin(range(10000)) AS a)");
    REQUIRE(!heavy.ok());
    CHECK(heavy.error().code == Code::too_large);
    CHECK(sql_result("sql", "SELECT 1 AS n") == "\"n\"\n1\n"); // the engine is well
}

TEST_CASE("SQL that reaches for more is refused before any of it runs") {
    fill_projects();
    SqlGuard guard(fixture().telemetry->engine());
    for (const char* sql : sql_attacks) {
        CAPTURE(sql);
        SqlRequest request;
        request.project = "project_asks";
        request.sql = sql;
        const auto checked = guard.check(request);
        REQUIRE(!checked.ok());
        CHECK(checked.error().code == Code::invalid);
        CHECK(checked.error().message.find("canary") == std::string::npos);
        CHECK(checked.error().message.find("hone_project_asks") == std::string::npos);
    }
    CHECK(sql_result("asks", "SELECT count() FROM span") ==
          "error: character 21: there is no table \"span\"; there are spans, evals, traces and chat_sessions");
    CHECK(sql_result("asks", "SELECT 1,\n file('x')") == "error: character 12: the function \"file\" is not available");
    CHECK(sql_result("asks", "SELECT 1 settings max_threads = 1") == "error: character 10: SETTINGS is not available");
    CHECK(sql_result("asks", "SELECT 1 FROM spans WHERE").find("error: Syntax error: failed at position 26") == 0);
    CHECK(sql_result("asks", "SELECT 1; SELECT 2").find("Multi-statements are not allowed") != std::string::npos);
    CHECK(sql_result("asks", "SELECT '" + std::string(70'000, 'x') + "'") == "error: the query is longer than 64 KB");
    CHECK(sql_result("asks", std::string("SELECT 1\0", 9)) == "error: the query is not text");
}

TEST_CASE("without the guard the engine still shows a reader nothing but its own project's views") {
    fill_projects();
    for (const char* sql : sql_attacks) {
        if (std::string_view(sql).find("file(") != std::string_view::npos) continue; // the guard's own lists, twice
        CAPTURE(sql);
        const auto answer = run_in_engine("asks", sql);
        CHECK((answer.ok() ? answer.value() : answer.error().message).find("canary") == std::string::npos);
    }
    CHECK(run_in_engine("asks", "SELECT any(input) FROM spans").value() == "my own words\n");
    CHECK(run_in_engine("asks", "SELECT count() FROM hone_project_hides.spans").value() == "0\n");
    CHECK(run_in_engine("asks", "SELECT count() FROM hone_project_hides.traces").value() == "0\n");
    CHECK(run_in_engine("asks", "SELECT count() FROM system.processes").value() == "0\n");
    CHECK(run_in_engine("asks", "SELECT count() FROM system.errors").value() == "0\n");
    CHECK(run_in_engine("asks", "SELECT count() FROM system.databases").value() == "0\n");
    for (const char* sql :
         {"SELECT count() FROM hone.spans", "SELECT * FROM mergeTreeTextIndex(hone, spans, input_words)",
          "SELECT * FROM mergeTreeIndex(hone, spans)", "SELECT 1; SELECT 2", "SET ROLE ALL", "SET readonly = 0",
          "USE hone", "SELECT 1 INTO OUTFILE 'stolen'", "KILL QUERY WHERE 1", "DROP DATABASE hone",
          "INSERT INTO hone_project_asks.spans SELECT * FROM spans", "CREATE TABLE x (a Int8) ENGINE = Memory"}) {
        CAPTURE(sql);
        const auto answer = run_in_engine("asks", sql);
        REQUIRE(!answer.ok());
        CHECK(answer.error().code == Code::forbidden);
    }
    ClickHouseQuery astray("SELECT 1");
    astray.as_reader = true; // and its database is the one of all projects
    CHECK(!fixture().telemetry->engine().query(astray).ok());
}

TEST_CASE("the views of a project go with it") {
    Fixture& f = fixture();
    f.send_json("leaving", request({{1, 1, 0, base_ns, 5, "root", "", 0}}));
    f.wait();
    f.store();
    CHECK(sql_result("leaving", "SELECT count() AS n FROM spans") == "\"n\"\n1\n");
    const auto databases = [&] {
        ClickHouseQuery query("SELECT count() FROM system.databases WHERE name = 'hone_project_leaving' FORMAT TSVRaw");
        return f.telemetry->engine().query(query).value();
    };
    CHECK(databases() == "1\n");
    REQUIRE(Retention(f.telemetry->engine(), f.clock).delete_project("project_leaving").ok());
    CHECK(databases() == "0\n");
    CHECK(!project_database("project_a.b").ok());
    CHECK(!project_database("system").ok());
}

} // namespace hone::telemetry::testing
