// The servers that share a database. Each has a row with a lease that it renews; a server whose lease has ended is
// dead, frozen or cut off. Named leases give a duty to one server at a time. On SQLite there is one server, and the
// same code grants everything to it. Times are the database's. Thread-safe.
#pragma once

#include "sql/sql.h"

#include <atomic>

namespace hone::lease {

struct ServerInfo {
    std::string name{};
    std::string boot{}; // of the process
    std::string version{};
    int64_t schema_version = 0;
    std::string roles{};
    std::string address{};
    std::string span_store{};   // where its spans are: servers that share a database share it too
    std::string object_store{}; // where its objects are; empty: a version before did not write it
    Time started_at{};
    Time lease_until{};
    bool is_live = false;
};

struct ServersOptions {
    Duration length = std::chrono::seconds(15);
    // False in tests: the given clock decides, on PostgreSQL too.
    bool uses_database_clock = true;
};

class Servers {
public:
    // `self` without lease_until and is_live; `boot` is filled in.
    Servers(sql::Database& database, const Clock& clock, ServerInfo self, ServersOptions options = {});

    const std::string& name() const { return m_self.name; }
    const std::string& boot() const { return m_self.boot; }

    // Writes the row of this server with a new lease. Replaces an earlier process of this name.
    Result<> join();
    void set_address(std::string address) { m_self.address = std::move(address); }
    // False: another process has joined under this name; this one must end.
    Result<bool> renew();
    // Ends the lease of this server and those that it has by name.
    Result<> leave();
    // When the last renewal began, on the steady clock. Any thread.
    Duration renewed_at() const { return Duration(m_renewed_at_ns.load()); }

    Result<std::vector<ServerInfo>> list() const;
    // Names of the other servers that are live, or whose lease ended no longer ago than this.
    Result<std::vector<std::string>> others(Duration ago) const;
    // How far the clock of this server is before that of the database.
    Result<Duration> clock_offset() const;
    // Why queries on one server miss spans of another: a live server has its spans elsewhere. Empty: none has.
    Result<std::string> spans_apart() const;
    // The same of objects: artifacts that one stored are not found by the other. Empty: all live servers agree.
    Result<std::string> objects_apart() const;
    // Deletes rows of servers whose lease ended at least so long ago.
    Result<> forget(Duration ago);

    // The epoch with which this server has the lease now; none: another server has it. Renews it.
    Result<std::optional<int64_t>> hold(const std::string& lease);

private:
    Result<Time> now() const;

    sql::Database& m_database;
    const Clock& m_clock;
    ServerInfo m_self;
    const ServersOptions m_options;
    std::atomic<int64_t> m_renewed_at_ns{0};
};

// Live servers whose program has an older schema; for a migration that they would not survive. Reads a database of any
// version: without the table there are none.
Result<std::vector<std::string>> live_servers_before(sql::Database& database, const Clock& clock,
                                                     int64_t schema_version);

} // namespace hone::lease
