// Several servers that store spans in one ClickHouse: a live tail on one of them shows what another one stored. Who has
// watchers writes their projects into the database that the servers share; who stores spans of such a project writes
// where they are. Without a watcher a stored block costs one query of a small table. Any thread; blocks.
#pragma once

#include "sql/sql.h"
#include "telemetry/span/span_row.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace hone::telemetry {

// Spans of one project in one stored block: all that are within these times.
struct SpanArrival {
    std::string id;
    std::string project;
    int64_t first_start_ns = INT64_MAX, last_start_ns = INT64_MIN;
    int64_t first_received_ns = INT64_MAX, last_received_ns = INT64_MIN;
    int64_t spans = 0;
    int64_t stored_ns = 0; // by the clock of the database
};

class SpanArrivals {
public:
    static constexpr Duration watch_length = std::chrono::seconds(20); // renewed by each third of it
    static constexpr Duration kept = std::chrono::seconds(60);         // older rows were read, or are for no watcher

    SpanArrivals(sql::Database& database, const Clock& clock, std::string server)
        : m_database(database),
          m_clock(clock),
          m_server(std::move(server)) {}

    // Spans that servers store after this returned are found by read(), for watch_length. Returns the time of the
    // database.
    Result<int64_t> watch(const std::set<std::string>& projects);
    // From the loader: these are stored.
    Result<> publish(std::span<const SpanRowHead> rows);
    // What other servers have stored of these projects in the last half minute.
    Result<std::vector<SpanArrival>> read(const std::set<std::string>& projects);

private:
    std::string now() const; // for SQL

    sql::Database& m_database;
    const Clock& m_clock;
    const std::string m_server;
    Duration m_deleted_at{}; // on the steady clock; the loader's thread
};

} // namespace hone::telemetry
