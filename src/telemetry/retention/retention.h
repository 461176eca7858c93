// Deletes spans: by age, by trace, by filter, whole projects; and reports the disk use of each project. Old spans are
// deleted by whole days where no other project needs the day, which frees the disk immediately. Thread-safe, blocking.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hone::telemetry {

struct RetentionPolicy {
    std::map<std::string, int64_t> days;  // by project id; 0: without a limit
    int64_t default_days = 30;            // of projects not named
    std::map<std::string, int64_t> bytes; // by project id: disk its spans may take
    // By project: sources of examples, evidence of issues. What people evaluated stays too.
    std::map<std::string, std::vector<std::string>> kept_traces;
};

struct RetentionReport {
    int64_t dropped_days = 0;  // partitions that went whole
    int64_t deleted_spans = 0; // single rows
    int64_t bytes_before = 0;
    int64_t bytes_after = 0;
};

struct DiskUse {
    std::string project;
    int64_t spans = 0;
    int64_t bytes = 0; // its share of the compressed parts
    int64_t oldest_ns = 0;
    int64_t newest_ns = 0;
};

class Retention {
public:
    // `deleted_sessions` is called after times of chat sessions were deleted.
    Retention(ClickHouse& engine, const Clock& clock, std::function<void()> deleted_sessions = {})
        : m_engine(engine),
          m_clock(clock),
          m_deleted_sessions(std::move(deleted_sessions)) {}

    Result<RetentionReport> apply(const RetentionPolicy& policy);
    // How many spans are gone; their evals, those of the traces and their history go with them.
    Result<int64_t> delete_traces(const std::string& project, const std::vector<std::string>& trace_ids);
    // A chat session: these traces of it, and its own evals.
    Result<int64_t> delete_session(const std::string& project, const std::string& chat_session,
                                   const std::vector<std::string>& trace_ids);
    Result<int64_t> delete_spans(const std::string& project, const std::vector<std::string>& span_ids);
    Result<int64_t> delete_matching(const std::string& project, const std::string& filter, int64_t from_ns,
                                    int64_t to_ns);
    // Everything of the project, evals too. Harmless to call twice.
    Result<> delete_project(const std::string& project);
    Result<std::vector<DiskUse>> disk_use();

private:
    Result<int64_t> delete_where(ClickHouseQuery query, const std::string& condition);
    Result<int64_t> delete_with_evals(const std::string& project, const ClickHouseQuery& query,
                                      const std::string& condition);
    Result<> delete_evals(ClickHouseQuery query, const std::string& condition);
    // The times of chat sessions without spans.
    Result<> delete_sessions(const std::string& project, std::string_view names);
    // The times of traces and chat sessions that ended before the cut of their project.
    Result<> delete_times(const std::map<std::string, int64_t>& cuts);
    Result<int64_t> bytes_on_disk();
    // Those of these traces that have a span on the day, as a list for SQL; empty: none.
    Result<std::string> kept_on(int64_t day, const std::vector<std::string>& traces);
    // Before which moment a project's spans go, so that the rest fits its bytes. Whole hours.
    Result<std::map<std::string, int64_t>> cuts_by_bytes(const RetentionPolicy& policy);

    ClickHouse& m_engine;
    const Clock& m_clock;
    const std::function<void()> m_deleted_sessions;
};

} // namespace hone::telemetry
