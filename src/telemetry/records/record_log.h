// The durable log of log records and points of metrics in front of the engine, and the thread that loads it. A row may
// be loaded twice after a crash: the tables keep one of equal rows. append: any thread; the rest: one thread of its
// own. The backlog may be read from any.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/log/backlog.h"
#include "telemetry/log/wal.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace hone::telemetry {

struct RecordLogOptions {
    WalOptions wal;
    std::string state_file;            // how far the log is loaded
    std::function<Result<>()> prepare; // starts the engine and makes the tables
    Duration gather{500'000'000};      // after the first frame, so that an insert is worth its cost
    size_t block_bytes = 16 << 20;
    Duration wait_limit{60'000'000'000}; // what waits longer is late
};

// What one frame holds; fuzzed.
struct RecordFrame {
    std::string_view logs;    // rows of hone.logs
    std::string_view metrics; // rows of hone.metric_points
};
std::string encode_record_frame(const RecordFrame& frame);
Result<RecordFrame> decode_record_frame(std::string_view payload);

class RecordLog {
public:
    static Result<std::unique_ptr<RecordLog>> open(RecordLogOptions options, ClickHouse& engine, const Clock& clock);
    ~RecordLog();
    void start();

    // On disk when it returns. busy: over the limit of the log, try later.
    Result<> append(const RecordFrame& rows);
    // Until everything that was appended before is in the engine; false when the time is over.
    bool wait_loaded(Duration most);
    bool is_empty() const { return m_next >= m_wal->stats().next_sequence; }
    // What is on disk and not loaded. Never waits for the engine.
    RecordBacklog backlog() const;

    // Loads one block; false when there was nothing. Called by the thread, and by tests.
    Result<bool> step();

private:
    RecordLog(RecordLogOptions options, ClickHouse& engine, const Clock& clock)
        : m_options(std::move(options)),
          m_engine(engine),
          m_clock(clock) {}
    Result<bool> load_block();
    void count_waiting(uint64_t sequence);
    void run(std::stop_token stop);

    RecordLogOptions m_options;
    ClickHouse& m_engine;
    const Clock& m_clock;
    std::unique_ptr<Wal> m_wal;
    std::mutex m_step_mutex;
    std::atomic<uint64_t> m_next{1};
    mutable Mutex m_mutex;
    Condition m_loaded;
    WaitingFrames m_waiting GUARDED_BY(m_mutex);
    int64_t m_failures GUARDED_BY(m_mutex) = 0;
    std::string m_why GUARDED_BY(m_mutex); // the last attempt failed
    std::jthread m_thread;                 // last
};

} // namespace hone::telemetry
