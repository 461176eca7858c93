// Spans as they become visible, for watchers. After each block the loader reports what it stored; one thread queries
// the engine for the part that a watcher's filter lets through and hands it on. A watcher gets at most `most_in_batch`
// spans of a block, the newest; the rest is counted. Nothing happens without a watcher.
// With servers that share a span store, what another server stored is read twice a second (span_arrivals.h).
// watch, unwatch and loaded may be called from any thread and do not block; watchers are called on the tail's thread.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/cluster/span_arrivals.h"
#include "telemetry/query/span_store.h"
#include "telemetry/span/span_row.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>

namespace hone::telemetry {

struct TailBatch {
    std::vector<SpanRow> spans; // by start
    int64_t dropped = 0;        // matching ones that are left out
    int64_t position_ns = 0;    // to continue from here: Watch::after_ns
};

struct Watch {
    std::string project;
    std::string filter;
    // First what was received since then, so that a lost connection leaves no gap: what was stored in the two seconds
    // before may come again. Absent: only what comes from now on.
    std::optional<int64_t> after_ns{};
    // False: over, forget the watcher. Must not block.
    std::function<bool(TailBatch&&)> take{};
    // From announce(): what other servers stored before is not new.
    int64_t announced_ns = 0;
};

class Tail {
public:
    static constexpr size_t most_watchers = 100;
    static constexpr size_t most_in_batch = 500;

    // `store` starts the engine if it sleeps. `arrivals`: other servers store spans there too.
    explicit Tail(std::function<Result<SpanStore*>()> store, SpanArrivals* arrivals = nullptr);
    ~Tail();

    // Before a watch begins: other servers report what they store of the project from now on. Blocks for the database.
    // For Watch::announced_ns.
    int64_t announce(const std::string& project);
    // busy when there are too many; invalid when the filter cannot be read.
    Result<uint64_t> watch(Watch watch);
    // A call that is under way may still end after this.
    void unwatch(uint64_t id);
    bool has_room();
    // Rows that are in the engine now, from the loader.
    void loaded(std::span<const SpanRowHead> rows);

private:
    // What one block holds of one project.
    struct Part {
        std::string project;
        int64_t first_start_ns = INT64_MAX, last_start_ns = 0;
        int64_t first_received_ns = INT64_MAX, last_received_ns = 0;
        std::unordered_set<std::string> ids; // trace id and span id; of another server's block not known
        int64_t foreign_spans = 0;           // of another server's block
    };
    struct Watcher {
        Watch watch;
        std::unordered_set<std::string> first_ids; // of the first batch, which may overlap the blocks after it
        bool had_first = false;
        std::set<std::string> seen_arrivals;       // only the tail's thread, as the next two
        std::unordered_set<std::string> delivered; // with other servers: times of blocks overlap
        std::deque<std::string> delivered_order;
        int64_t missed = 0; // of blocks that came quicker than they could be handed on
    };

    void run(std::stop_token stop);
    void hand_first(uint64_t id, Watcher& watcher);
    void hand_part(uint64_t id, Watcher& watcher, const Part& part);
    Result<TailBatch> matching(const Watcher& watcher, const Scope& scope);
    void read_arrivals();
    void leave_out_delivered(Watcher& watcher, TailBatch& batch) const;
    void deliver(uint64_t id, Watcher& watcher, TailBatch&& batch);
    std::shared_ptr<Watcher> next_new(uint64_t& id) REQUIRES_LOCK(m_mutex);

    const std::function<Result<SpanStore*>()> m_store;
    SpanArrivals* const m_arrivals;
    std::chrono::steady_clock::time_point m_announced_at{}; // only the tail's thread
    std::chrono::steady_clock::time_point m_read_at{};      // as well
    Mutex m_mutex;
    Condition m_changed;
    uint64_t m_next_id GUARDED_BY(m_mutex) = 1;
    std::map<uint64_t, std::shared_ptr<Watcher>> m_watchers GUARDED_BY(m_mutex);
    std::deque<std::shared_ptr<const Part>> m_parts GUARDED_BY(m_mutex);
    std::jthread m_thread; // last
};

} // namespace hone::telemetry
