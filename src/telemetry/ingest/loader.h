// Moves frames from the write-ahead log into the engine, in blocks, with exactly-once effect: before a block goes in,
// the engine is queried for those of its spans that it has. Equal ones are left out, changed ones replace the old row.
// So a retry of a client and a replay after a crash are the same case. It also decides which spans' usage counts
// (usage_counter.h), and corrects rows of earlier blocks. One thread; counts and the backlog may be read
// from any.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/cluster/block_claims.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/ingest/ingest_frame.h"
#include "telemetry/ingest/known_spans.h"
#include "telemetry/ingest/usage_counter.h"
#include "telemetry/log/backlog.h"
#include "telemetry/log/wal.h"
#include "telemetry/span/session_times.h"
#include "telemetry/span/span_row.h"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>

namespace hone::telemetry {

struct LoaderOptions {
    std::string state_file;
    std::function<Result<>()> prepare;                        // before the first block: makes the tables
    std::function<void(std::span<const SpanRowHead>)> loaded; // rows that can be queried now; short
    size_t block_bytes = 64 << 20;
    Duration gather{200'000'000};         // after the first frame, so that blocks are worth their cost; not when behind
    Duration rest_after{600'000'000'000}; // without a frame: memory is given back
    Duration insert_deadline{60'000'000'000};
    Duration same_span_window{600'000'000'000}; // how far a span's start may move when it is sent again
    bool is_only_writer = true;                 // of the engine: then our own rows need no query
    Duration wait_limit{60'000'000'000};        // spans that wait longer are late
    BlockClaims* claims = nullptr;              // other servers write too: a block waits for its turn
};

class Loader {
public:
    // Reads the state file; an unreadable one means loading the whole log again, which is harmless.
    static Result<LoaderState> read_state(const std::string& state_file);

    Loader(LoaderOptions options, Wal& wal, ClickHouse& engine, LoaderState state, const Clock& clock);
    ~Loader();
    void start();

    // Loads one block of what is durable; false when there was nothing. Called by the thread, and by tests.
    Result<bool> step();
    // Gives back the memory that loading took. Called by the thread when it is idle, and by tests.
    void rest();

    // While it lives no block goes into the engine; acknowledging continues. For backups.
    std::unique_lock<std::mutex> hold() { return std::unique_lock(m_step_mutex); }
    // The content of the state file; call it while holding.
    std::string encoded_state() const { return encode_state(m_state); }

    // Times of sessions may have been deleted: those of later spans are written again.
    void forget_sessions() { m_forgets_sessions = true; }

    // Up to date with what was acknowledged: loaded frames and those still in the log.
    Ledger ledger() const;
    // A frame was acknowledged.
    void accepted(uint64_t sequence, const Ledger& ledger);
    // What is acknowledged and not loaded. Never waits for the engine.
    Backlog backlog() const;
    uint64_t next_sequence() const { return m_next; }
    // Until all frames below `sequence` are in the engine; false when the time is over.
    bool wait_loaded(uint64_t sequence, Duration most);

private:
    struct Row {
        std::string_view bytes;
        SpanRowHead head;
        bool is_left_out = false;
    };
    struct Block {
        Wal::Frames frames;
        std::vector<IngestFrame> decoded;
        std::vector<Row> rows;
        std::vector<size_t> replaced; // rows whose older version must go
        std::deque<std::string> made; // bytes of rows that are not as they were sent
        Ledger outcome;               // stored and repeated
    };
    Result<Block> read_block();
    Result<> claim(const Block& block);
    Result<> read_store_clock();
    Result<> renew_claim();
    void leave_out_repetitions(Block& block);
    Result<> begin_known();
    Result<> compare_with_engine(Block& block);
    Result<> delete_replaced(const Block& block);
    Result<> count_usage(Block& block);
    Result<> put_stored_calls(const Block& block, std::vector<UsageCounter::Change>& doubled);
    Result<> read_stored_calls(const std::set<std::string>& traces, int64_t from_ns, int64_t to_ns,
                               std::vector<UsageCounter::Change>& doubled);
    Result<> correct_stored(const std::vector<UsageCounter::Change>& changes);
    Result<> insert_session_times(const Block& block);
    Result<> insert(const Block& block);
    bool is_uncounted(uint64_t sequence) const;
    Result<> finish(Block& block);
    Result<bool> load_block();
    void note(const Result<bool>& loaded);
    void count_waiting(uint64_t sequence, const Ledger& ledger, Duration since) REQUIRES_LOCK(m_mutex);
    void run(std::stop_token stop);

    LoaderOptions m_options;
    Wal& m_wal;
    ClickHouse& m_engine;
    const Clock& m_clock;
    std::mutex m_step_mutex;               // held while a block is loaded
    LoaderState m_state;                   // with m_step_mutex
    KnownSpans m_known;                    // with m_step_mutex
    UsageCounter m_usage;                  // with m_step_mutex
    int64_t m_stored_until_ns = INT64_MAX; // traces that start later are not in the engine from before; m_step_mutex
    SessionTimes m_sessions;               // with m_step_mutex
    std::string m_rows;                    // of the block that goes in; its memory is used again; with m_step_mutex
    int64_t m_store_until_s = 0;           // with claims: later than this, by its own clock, the store takes no rows
    std::vector<std::pair<uint64_t, uint64_t>> m_uncounted; // frames that were elsewhere at the start; m_step_mutex
    bool m_is_behind = false; // the last block was large: more waits; only the loader's thread
    std::atomic<bool> m_forgets_sessions = false;
    std::atomic<uint64_t> m_next;
    mutable Mutex m_mutex;
    Condition m_loaded;
    Ledger m_ledger GUARDED_BY(m_mutex);
    WaitingFrames m_waiting GUARDED_BY(m_mutex);
    uint64_t m_after_last GUARDED_BY(m_mutex) = 0; // the sequence after the last frame that was counted
    int64_t m_failures GUARDED_BY(m_mutex) = 0;
    std::string m_why GUARDED_BY(m_mutex); // the last attempt failed
    std::stop_token m_stop;                // of the thread; with m_step_mutex
    std::jthread m_thread;                 // last
};

} // namespace hone::telemetry
