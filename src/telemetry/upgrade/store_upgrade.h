// What a store of an earlier version lacks, made in the background, one day of spans after the other, the newest first:
// the times of chat sessions, and indexes of texts in their present form. Queries work meanwhile; what is not there yet
// they read from the spans. A day that is done is in the table `upgraded_days`, so that a restart continues. step() is
// for one thread, the rest for any.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/recent_spans.h"

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

class StoreUpgrade {
public:
    // `recent` learns what was stored before this process.
    StoreUpgrade(ClickHouse& engine, RecentSpans& recent, const Clock& clock)
        : m_engine(engine),
          m_recent(recent),
          m_clock(clock) {}

    // The next piece, at most a day; false: nothing can be done now. The tables exist.
    Result<bool> step();
    // Whether step() would read the engine: else it can rest.
    bool is_due() const;
    // `session_times` has all sessions of the store.
    bool knows_sessions() const { return m_knows_sessions; }
    int64_t days_left() const { return m_days_left; }

private:
    Result<> read_recent();
    Result<bool> fill_sessions();
    Result<bool> index_texts();
    Result<bool> begin_indexes();
    Result<std::deque<int64_t>> days_without(std::string_view step, int64_t last);
    Result<> record(std::string_view step, int64_t day);
    int64_t today() const;

    ClickHouse& m_engine;
    RecentSpans& m_recent;
    const Clock& m_clock;
    bool m_has_read_recent = false;
    std::atomic<int64_t> m_sessions_of_day = -1; // the day on which the days of sessions were listed
    std::deque<int64_t> m_session_days;
    std::atomic<bool> m_knows_sessions = false;
    std::atomic<bool> m_has_indexes = false; // in their present form, in all parts
    std::optional<std::deque<int64_t>> m_index_days;
    std::optional<int64_t> m_indexing; // the day that the engine works on
    std::atomic<int64_t> m_days_left = 0;
};

// After parts of another store were added: those that are there now may lack indexes.
Result<> index_texts_of_stored(ClickHouse& engine);

} // namespace hone::telemetry
