// Lets people and workers ask in SQL, reading only, inside one project (ADR 0015). Fences that each hold by themselves:
// this guard, which runs the engine's own rendering of a query after checking its words and its tree; the engine's
// access control, which shows the reader only the views of the project whose database is current
// in; and the engine process, which can reach nothing but its directory.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/project_views.h"

#include <string>
#include <string_view>

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

// A query that was checked, as the engine renders it, and where it may run.
struct CheckedSql {
    std::string text;
    std::string database;
};

// Thread-safe.
class SqlGuard {
public:
    explicit SqlGuard(ClickHouse& engine) : m_engine(engine), m_views(engine) {}

    // The result in the requested format. invalid and forbidden state what is wrong with the query.
    Result<std::string> run(const SqlRequest& request);
    // Only checks. The text has passed the checks of words and of the written tree before any part of it runs; then, to
    // resolve names, the engine can run scalar subqueries, as the reader and with the limits of the query.
    Result<CheckedSql> check(const SqlRequest& request);

private:
    ClickHouse& m_engine;
    ProjectViews m_views;
};

} // namespace hone::telemetry
