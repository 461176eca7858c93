// Traces and chat sessions with their totals, in the orders and with the bounds of Phoenix' lists: a trace counts by
// its own start, a session by all spans of its traces. Thread-safe, blocking.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

struct TraceTotals {
    std::string trace_id;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t prompt_tokens = 0;     // input, from caches too
    int64_t completion_tokens = 0; // output and reasoning
};

struct ListTraceTotals {
    std::string project;
    int64_t from_ns = 0;                    // of the trace's start, inclusive
    int64_t to_ns = INT64_MAX;              // exclusive
    std::vector<std::string> chat_sessions; // empty: all
    std::optional<bool> has_error;          // whether a span of it failed
    int64_t least_latency_ns = 0;
    int64_t most_latency_ns = INT64_MAX;
    bool by_latency = false; // else by start
    bool ascending = false;
    size_t limit = 100; // at most 1000
    std::string cursor;
};

struct TraceTotalsPage {
    std::vector<TraceTotals> traces;
    std::string next_cursor; // empty: no more
};

struct SessionTotals {
    std::string chat_session;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t prompt_tokens = 0;
    int64_t completion_tokens = 0;
    std::vector<TraceTotals> traces; // by start
};

struct SessionTotalsPage {
    std::vector<SessionTotals> sessions;
    std::string next_cursor;
};

class TraceList {
public:
    explicit TraceList(ClickHouse& engine) : m_engine(engine) {}

    Result<TraceTotalsPage> traces(const ListTraceTotals& request);
    // By start.
    Result<SessionTotalsPage> sessions(const std::string& project, bool ascending, size_t limit,
                                       const std::string& cursor);
    Result<SessionTotals> session(const std::string& project, const std::string& name);

private:
    Result<> fill(const std::string& project, std::vector<SessionTotals>& sessions);

    ClickHouse& m_engine;
};

} // namespace hone::telemetry
