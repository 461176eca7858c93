// Finds new targets of tasks, and past ones of backfills, and makes their jobs. The server that moves the next time of
// a task on searches; what it finds and how far it came are stored together, so that a killed server leaves out nothing
// and counts nothing twice. Targets that were loaded late are found within twenty minutes. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "evaluate/tasks/job_queue.h"
#include "telemetry/telemetry.h"

#include <map>

namespace hone::evaluate {

class TargetSearch {
public:
    static constexpr Duration cadence = std::chrono::seconds(1);
    static constexpr Duration slow_cadence = std::chrono::seconds(5); // where each search needs a query
    // Spans may be loaded this long after they were received, and traces whose root is missing are evaluated after it.
    static constexpr Duration late = std::chrono::minutes(10);
    // A chat session that never pauses is evaluated once after this time.
    static constexpr Duration longest_session = std::chrono::hours(24);
    static constexpr size_t at_once = 5000;
    static constexpr size_t past_at_once = 20'000; // of a backfill: each page groups all its spans

    // `telemetry`: null: nothing is found.
    TargetSearch(sql::Database& database, const Clock& clock, const JobQueue& queue, telemetry::Telemetry* telemetry)
        : m_database(database),
          m_clock(clock),
          m_queue(queue),
          m_telemetry(telemetry) {}

    // Searches for everything that is due. Returns how many jobs it made.
    Result<int64_t> step();

private:
    struct Seen {
        int64_t stored = -1;
        int64_t revision = 0;
        Duration changed{}; // steady time at which spans last arrived
        std::optional<Duration> counted{};
    };

    Result<int64_t> search(const EvalTask& task);
    Result<int64_t> search_pages(Backfill backfill);
    Result<int64_t> search_past(const Backfill& backfill);
    Result<> count(const EvalTask& task, const telemetry::ReadyTargets& ready);
    bool has_nothing_new(const EvalTask& task);

    sql::Database& m_database;
    const Clock& m_clock;
    const JobQueue& m_queue;
    telemetry::Telemetry* const m_telemetry;
    Mutex m_mutex;
    std::map<std::string, Seen> m_seen GUARDED_BY(m_mutex); // by task
};

// The sample of a task.
telemetry::TargetSample sample_of(const EvalTask& task);

} // namespace hone::evaluate
