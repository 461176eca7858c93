#include "lease/servers.h"

#include "base/id.h"

namespace hone::lease {

namespace {

// Clocks of servers differ, that of the database is one. Read before the statement that uses it: leases end a little
// early, never late.
Result<Time> database_time(sql::Database& database) {
    const auto rows =
        TRY(database.query("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS now"));
    return Time(std::chrono::microseconds(rows.front().integer(0)));
}

ServerInfo server_of(const sql::Row& row, Time now) {
    ServerInfo info;
    info.name = row.text(0);
    info.boot = row.text(1);
    info.version = row.text(2);
    info.schema_version = row.integer(3);
    info.roles = row.text(4);
    info.address = row.text(5);
    info.span_store = row.text(6);
    info.started_at = from_ns(row.integer(7));
    info.lease_until = from_ns(row.integer(8));
    info.object_store = row.text(9);
    info.is_live = info.lease_until > now;
    return info;
}

} // namespace

Servers::Servers(sql::Database& database, const Clock& clock, ServerInfo self, ServersOptions options)
    : m_database(database),
      m_clock(clock),
      m_self(std::move(self)),
      m_options(options) {
    m_self.boot = "boot_" + make_ulid(clock.now());
}

Result<Time> Servers::now() const {
    if (m_database.engine() == sql::Engine::sqlite || !m_options.uses_database_clock) return m_clock.now();
    return database_time(m_database);
}

Result<> Servers::join() {
    const Duration began = m_clock.steady();
    const Time time = TRY(now());
    TRY(m_database.execute(
        "INSERT INTO servers (name, boot, version, schema_version, roles, address, span_store, started_at, "
        "lease_until, object_store) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET boot = "
        "excluded.boot, "
        "version = excluded.version, schema_version = excluded.schema_version, roles = excluded.roles, address = "
        "excluded.address, span_store = excluded.span_store, started_at = excluded.started_at, lease_until = "
        "excluded.lease_until, object_store = excluded.object_store",
        m_self.name, m_self.boot, m_self.version, m_self.schema_version, m_self.roles, m_self.address,
        m_self.span_store, m_self.started_at, time + m_options.length, m_self.object_store));
    m_renewed_at_ns = began.count();
    return {};
}

Result<bool> Servers::renew() {
    const Duration began = m_clock.steady();
    const Time time = TRY(now());
    const int64_t renewed =
        TRY(m_database.execute("UPDATE servers SET lease_until = ?, address = ? WHERE name = ? AND boot = ?",
                               time + m_options.length, m_self.address, m_self.name, m_self.boot));
    if (renewed > 0) {
        m_renewed_at_ns = began.count();
        return true;
    }
    const auto rows = TRY(m_database.query("SELECT boot FROM servers WHERE name = ?", m_self.name));
    if (!rows.empty()) return false;
    TRY(join()); // forgotten meanwhile: it was away for long
    return true;
}

Result<> Servers::leave() {
    const Time time = TRY(now());
    TRY(m_database.execute("UPDATE servers SET lease_until = ? WHERE name = ? AND boot = ?", time, m_self.name,
                           m_self.boot));
    TRY(m_database.execute("UPDATE leases SET lease_until = 0 WHERE holder = ?", m_self.boot));
    return {};
}

Result<std::vector<ServerInfo>> Servers::list() const {
    const Time time = TRY(now());
    const auto rows =
        TRY(m_database.query("SELECT name, boot, version, schema_version, roles, address, span_store, "
                             "started_at, lease_until, object_store FROM servers ORDER BY name LIMIT 1000"));
    std::vector<ServerInfo> servers;
    for (const auto& row : rows) servers.push_back(server_of(row, time));
    return servers;
}

Result<std::vector<std::string>> Servers::others(Duration ago) const {
    const Time time = TRY(now());
    const auto rows =
        TRY(m_database.query("SELECT name FROM servers WHERE lease_until > ? AND name <> ? ORDER BY name LIMIT 1000",
                             time - ago, m_self.name));
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(row.text(0));
    return names;
}

Result<Duration> Servers::clock_offset() const {
    const Time theirs = TRY(now());
    return m_clock.now() - theirs;
}

Result<std::string> Servers::spans_apart() const {
    const Time time = TRY(now());
    const auto rows = TRY(m_database.query("SELECT name, span_store FROM servers WHERE lease_until > ? AND name <> ? "
                                           "AND span_store <> ? ORDER BY name LIMIT 1",
                                           time, m_self.name, m_self.span_store));
    if (rows.empty()) return std::string();
    return "server " + rows.front().text(0) + " stores spans in " + rows.front().text(1) + ", this server in " +
           m_self.span_store +
           ": queries on one do not find spans of the other. Give all servers of a database the same "
           "clickhouse_url";
}

Result<std::string> Servers::objects_apart() const {
    const Time time = TRY(now());
    const auto rows = TRY(m_database.query("SELECT name, object_store FROM servers WHERE lease_until > ? AND name <> ? "
                                           "AND object_store <> ? AND object_store <> '' ORDER BY name LIMIT 1",
                                           time, m_self.name, m_self.object_store));
    if (rows.empty()) return std::string();
    return "server " + rows.front().text(0) + " keeps objects in " + rows.front().text(1) + ", this server in " +
           m_self.object_store + ": artifacts that one of them stored cannot be read at the other";
}

Result<> Servers::forget(Duration ago) {
    const Time time = TRY(now());
    TRY(m_database.execute("DELETE FROM servers WHERE lease_until <= ? AND name <> ?", time - ago, m_self.name));
    return {};
}

Result<std::optional<int64_t>> Servers::hold(const std::string& lease) {
    const Time time = TRY(now());
    return m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<int64_t>> {
        const Time until = time + m_options.length;
        const auto mine = TRY(transaction.query(
            "UPDATE leases SET lease_until = ? WHERE name = ? AND holder = ? AND lease_until > ? RETURNING epoch",
            until, lease, m_self.boot, time));
        if (!mine.empty()) return std::optional(mine.front().integer(0));
        const auto taken = TRY(transaction.query("UPDATE leases SET lease_until = ?, holder = ?, epoch = epoch + 1 "
                                                 "WHERE name = ? AND lease_until <= ? RETURNING epoch",
                                                 until, m_self.boot, lease, time));
        if (!taken.empty()) return std::optional(taken.front().integer(0));
        const int64_t made = TRY(transaction.execute("INSERT INTO leases (name, holder, epoch, lease_until) VALUES (?, "
                                                     "?, 1, ?) ON CONFLICT (name) DO NOTHING",
                                                     lease, m_self.boot, until));
        return made > 0 ? std::optional<int64_t>(1) : std::nullopt;
    });
}

Result<std::vector<std::string>> live_servers_before(sql::Database& database, const Clock& clock,
                                                     int64_t schema_version) {
    std::vector<std::string> names;
    const bool is_sqlite = database.engine() == sql::Engine::sqlite;
    const auto tables =
        TRY(is_sqlite ? database.query("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'servers'")
                      : database.query("SELECT COUNT(*) FROM pg_tables WHERE tablename = 'servers' AND schemaname = "
                                       "current_schema()"));
    if (tables.front().integer(0) == 0) return names;
    const Time time = is_sqlite ? clock.now() : TRY(database_time(database));
    const auto rows = TRY(database.query(
        "SELECT name || ' (' || address || ', ' || version || ')' FROM servers WHERE lease_until > ? AND "
        "schema_version < ? ORDER BY name LIMIT 100",
        time, schema_version));
    for (const auto& row : rows) names.push_back(row.text(0));
    return names;
}

} // namespace hone::lease
