#include "telemetry/cluster/span_arrivals.h"

#include "base/id.h"

#include <algorithm>
#include <map>

namespace hone::telemetry {

namespace {

std::string placeholders(size_t count) {
    std::string list;
    for (size_t i = 0; i < count; ++i) list += i == 0 ? "?" : ", ?";
    return list;
}

} // namespace

// One clock for all servers: that of the database.
std::string SpanArrivals::now() const {
    if (m_database.engine() == sql::Engine::sqlite) return std::to_string(to_ns(m_clock.now()));
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000000 AS BIGINT)";
}

Result<int64_t> SpanArrivals::watch(const std::set<std::string>& projects) {
    if (projects.empty()) return int64_t{0};
    std::string rows;
    std::vector<sql::Value> values;
    for (const std::string& project : projects) {
        rows += (rows.empty() ? "(?, ?, " : ", (?, ?, ") + now() + " + ?)";
        values.insert(values.end(),
                      {sql::to_value(m_server), sql::to_value(project), sql::to_value(watch_length.count())});
    }
    TRY(m_database.run_execute("INSERT INTO span_watches (server, project, until_ns) VALUES " + rows +
                                   " ON CONFLICT (server, project) DO UPDATE SET until_ns = excluded.until_ns",
                               values));
    TRY(m_database.execute("DELETE FROM span_watches WHERE until_ns < " + now()));
    const auto time = TRY(m_database.query("SELECT " + now()));
    return time.front().integer(0);
}

Result<> SpanArrivals::publish(std::span<const SpanRowHead> rows) {
    if (rows.empty()) return {};
    const auto watched = TRY(m_database.query(
        "SELECT DISTINCT project FROM span_watches WHERE server <> ? AND until_ns > " + now(), m_server));
    if (watched.empty()) return {};
    std::map<std::string, SpanArrival, std::less<>> parts;
    for (const auto& row : watched) parts[row.text(0)].project = row.text(0);
    for (const SpanRowHead& row : rows) {
        const auto wanted = parts.find(row.project);
        if (wanted == parts.end()) continue;
        SpanArrival& part = wanted->second;
        part.first_start_ns = std::min(part.first_start_ns, row.start_ns);
        part.last_start_ns = std::max(part.last_start_ns, row.start_ns);
        part.first_received_ns = std::min(part.first_received_ns, row.received_ns);
        part.last_received_ns = std::max(part.last_received_ns, row.received_ns);
        ++part.spans;
    }
    for (const auto& [project, part] : parts)
        if (part.spans > 0)
            TRY(m_database.execute(
                "INSERT INTO span_arrivals (id, server, project, first_start_ns, last_start_ns, "
                "first_received_ns, last_received_ns, spans, stored_ns) VALUES (?, ?, ?, ?, ?, ?, ?, "
                "?, " +
                    now() + ")",
                make_ulid(m_clock.now()), m_server, project, part.first_start_ns, part.last_start_ns,
                part.first_received_ns, part.last_received_ns, part.spans));
    if (const auto steady = m_clock.steady(); steady - m_deleted_at > kept / 6) {
        m_deleted_at = steady;
        TRY(m_database.execute("DELETE FROM span_arrivals WHERE stored_ns < " + now() + " - ?", kept.count()));
    }
    return {};
}

Result<std::vector<SpanArrival>> SpanArrivals::read(const std::set<std::string>& projects) {
    if (projects.empty()) return std::vector<SpanArrival>();
    std::vector<sql::Value> values{sql::to_value(m_server)};
    for (const std::string& project : projects) values.push_back(sql::to_value(project));
    // By time and not from the last one on: a row that was written before may become visible after it.
    values.push_back(sql::to_value(kept.count() / 2));
    const auto rows = TRY(m_database.run_query(
        "SELECT id, project, first_start_ns, last_start_ns, first_received_ns, last_received_ns, spans, stored_ns FROM "
        "span_arrivals WHERE server <> ? AND project IN (" +
            placeholders(projects.size()) + ") AND stored_ns > " + now() + " - ? ORDER BY stored_ns, id",
        values));
    std::vector<SpanArrival> arrivals;
    for (const auto& row : rows)
        arrivals.push_back({row.text(0), row.text(1), row.integer(2), row.integer(3), row.integer(4), row.integer(5),
                            row.integer(6), row.integer(7)});
    return arrivals;
}

} // namespace hone::telemetry
