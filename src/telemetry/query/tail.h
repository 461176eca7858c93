// Spans as they become visible, for watchers. After each block the loader reports what it stored; one thread queries
// the engine for the part that a watcher's filter lets through and hands it on. A watcher gets at most `most_in_batch`
// spans of a block, the newest; the rest is counted. Nothing happens without a watcher.
// watch, unwatch and loaded may be called from any thread and do not block; watchers are called on the tail's thread.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "telemetry/query/span_store.h"
#include "telemetry/span/span_row.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
};

class Tail {
public:
    static constexpr size_t most_watchers = 100;
    static constexpr size_t most_in_batch = 500;

    // `store` starts the engine if it sleeps.
    explicit Tail(std::function<Result<SpanStore*>()> store);
    ~Tail();

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
        std::unordered_set<std::string> ids; // trace id and span id
    };
    struct Watcher {
        Watch watch;
        std::unordered_set<std::string> first_ids; // of the first batch, which may overlap the blocks after it
        bool had_first = false;
        int64_t missed = 0; // of blocks that came quicker than they could be handed on
    };

    void run(std::stop_token stop);
    void hand_first(uint64_t id, Watcher& watcher);
    void hand_part(uint64_t id, Watcher& watcher, const Part& part);
    Result<TailBatch> matching(const Watcher& watcher, const Scope& scope);
    void deliver(uint64_t id, Watcher& watcher, TailBatch&& batch);
    std::shared_ptr<Watcher> next_new(uint64_t& id) REQUIRES_LOCK(m_mutex);

    const std::function<Result<SpanStore*>()> m_store;
    Mutex m_mutex;
    Condition m_changed;
    uint64_t m_next_id GUARDED_BY(m_mutex) = 1;
    std::map<uint64_t, std::shared_ptr<Watcher>> m_watchers GUARDED_BY(m_mutex);
    std::deque<std::shared_ptr<const Part>> m_parts GUARDED_BY(m_mutex);
    std::jthread m_thread; // last
};

} // namespace hone::telemetry
