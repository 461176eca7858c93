// What SQL that people wrote can see: a database for each project, `hone_project_…`, with a view for each table. A view
// shows its own project's rows, and only to a connection whose current database it is; the user of the query may read
// views and not the tables behind them. Made on first use, again after each start, so that views follow the tables.
// Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace hone::telemetry {

// The names of the views.
std::span<const std::string_view> project_tables();

// internal: a project's id that cannot name a database.
Result<std::string> project_database(std::string_view project);
// When the project is deleted.
Result<> drop_project_database(ClickHouse& engine, std::string_view project);

class ProjectViews {
public:
    explicit ProjectViews(ClickHouse& engine) : m_engine(engine) {}

    // The database to use. unavailable: the engine does not isolate projects, with the reason.
    Result<std::string> open(const std::string& project);

private:
    Result<> create(const std::string& project, const std::string& database);
    Result<> create_policies();
    Result<> verify(const std::string& project, const std::string& database);
    Result<bool> check_policies();

    ClickHouse& m_engine;
    Mutex m_mutex;
    // Projects, with the time until which they need not be verified again.
    std::map<std::string, std::chrono::steady_clock::time_point> m_open GUARDED_BY(m_mutex);
    bool m_has_policies GUARDED_BY(m_mutex) = false;
};

} // namespace hone::telemetry
