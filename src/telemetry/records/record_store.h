// Queries of log records and of metrics as series; their retention. A series is computed from points when it is read:
// cumulative points count their difference to the point before, so that a point that is sent again counts once.
// Thread-safe, blocking.
#pragma once

#include "telemetry/engine/clickhouse.h"
#include "telemetry/records/known_metrics.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hone::telemetry {

struct ListLogs {
    std::string project;
    int64_t from_ns = 0;       // inclusive
    int64_t to_ns = INT64_MAX; // exclusive
    std::string text{};        // part of the message, the name or the attributes, in any case
    std::string severity{};    // this one or worse; a word that is no level: exactly this one
    std::string service{};
    std::string trace_id{};
    size_t limit = 100;
    std::string cursor{};
    std::shared_ptr<net::Cancel> cancel{};
};

struct LogEntry {
    int64_t time_ns = 0;
    std::string severity, name, body, service, scope, trace_id, span_id;
    std::string attributes; // JSON
};
struct LogPage {
    std::vector<LogEntry> entries; // newest first
    std::string next_cursor;
};

struct KnownSeries {
    std::string metric, use, unit, kind;
    int64_t points = 0;
    int64_t last_ns = 0;
    std::vector<std::string> services;
};

struct MetricSeries {
    std::string project;
    std::string metric;
    int64_t from_ns = 0;
    int64_t to_ns = 0;
    Duration bucket{300'000'000'000};
    std::string group_by{}; // service, model, provider, type or attributes["key"]; empty: one group
    size_t groups = 20;
    std::shared_ptr<net::Cancel> cancel{};
};

struct MetricBucket {
    int64_t time_ns = 0;
    std::string group;
    double sum = 0;   // of a gauge: the mean of its points
    double count = 0; // values; of a sum: points
    double p50 = 0;   // of a histogram, estimated from its buckets; NaN where there are none
    double p95 = 0;
};
struct MetricResult {
    std::string metric, use, unit, kind; // empty: no point of it is there
    std::vector<MetricBucket> buckets;   // by time, then by group
};

struct RecordRetention {
    std::map<std::string, int64_t> log_days; // of projects with their own setting; negative: none are kept
    int64_t default_log_days = 7;
    std::map<std::string, int64_t> metric_days; // as long as spans
    int64_t default_metric_days = 30;           // 0: without a limit
};

class RecordStore {
public:
    RecordStore(ClickHouse& engine, const Clock& clock) : m_engine(engine), m_clock(clock) {}

    Result<LogPage> logs(const ListLogs& request);
    Result<std::vector<KnownSeries>> metrics(const std::string& project, int64_t from_ns, int64_t to_ns);
    Result<MetricResult> series(const MetricSeries& request);

    // Returns how many days were dropped as a whole.
    Result<int64_t> apply(const RecordRetention& policy);
    Result<> delete_project(const std::string& project);

private:
    Result<int64_t> apply(const std::string& table, const std::map<std::string, int64_t>& days, int64_t default_days);

    ClickHouse& m_engine;
    const Clock& m_clock;
};

} // namespace hone::telemetry
