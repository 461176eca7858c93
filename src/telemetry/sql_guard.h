// Lets people and workers ask in SQL, reading only, inside one project. Three fences, each enough by itself for the
// common case: this guard (lexer, then an allowlist over the engine's own syntax tree), the engine's row policy with
// readonly = 1, and the engine process, which can reach nothing but its directory. Pure parts are fuzzed.
#pragma once

#include "base/result.h"
#include "telemetry/clickhouse.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct SqlRequest {
    std::string project;
    std::string sql;
    std::string format = "JSON"; // JSON, JSONEachRow, CSVWithNames, Arrow, Parquet
    size_t most_rows = 10'000;
    size_t most_bytes = 16 << 20;
    size_t most_memory = 512 << 20;
    Duration deadline{10'000'000'000};
    std::shared_ptr<net::Cancel> cancel{};
};

class SqlGuard {
public:
    explicit SqlGuard(ClickHouse& engine) : m_engine(engine) {}

    // The result in the format asked for. invalid and forbidden say what is wrong with the query.
    Result<std::string> run(const SqlRequest& request);

private:
    ClickHouse& m_engine;
};

// One SELECT without separators, unbalanced brackets or open quotes, so that it can be put between brackets.
Result<> check_sql_text(std::string_view sql);
// Reads the engine's EXPLAIN AST: only our tables and the query's own names (WITH name AS …), only known functions, no
// table functions, no settings.
Result<> check_sql_tree(std::string_view tree, const std::set<std::string, std::less<>>& own_names);
// The names that a checked query gives to subqueries: WITH name AS (…).
std::set<std::string, std::less<>> names_in_sql(std::string_view sql);

// What people may read: the names and columns of the tables, for the SQL page.
std::vector<std::string> sql_tables();

} // namespace hone::telemetry
