// One lane: a bounded queue and the ordinary threads that work it off. Any thread may submit; tasks run on the lane's
// threads and may block.
#pragma once

#include "base/mutex.h"
#include "net/server.h"

#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace hone::net {

class Task {
public:
    virtual ~Task() = default;
    virtual void run() = 0;
};

class LanePool {
public:
    explicit LanePool(LaneOptions options);
    ~LanePool() { stop(); }
    LanePool(const LanePool&) = delete;
    LanePool& operator=(const LanePool&) = delete;

    // False, and the task unharmed, when the queue is full or the lane is stopped.
    bool submit(std::unique_ptr<Task>& task);
    // For the next step of something already admitted: no bound, since each connection has at most one.
    void submit_next(std::unique_ptr<Task> task);
    bool is_full() const;
    ServerCounts::LaneCounts counts() const;
    // Drops what waits, waits for what runs. May be called twice.
    void stop();

private:
    void work();

    const LaneOptions m_options;
    mutable Mutex m_mutex;
    Condition m_changed;
    std::deque<std::unique_ptr<Task>> m_queue GUARDED_BY(m_mutex);
    size_t m_running GUARDED_BY(m_mutex) = 0;
    bool m_stopped GUARDED_BY(m_mutex) = false;
    std::vector<std::thread> m_threads;
};

} // namespace hone::net
