#include "net/lane.h"

#include <algorithm>

namespace hone::net {

LanePool::LanePool(LaneOptions options) : m_options(options) {
    for (unsigned i = 0; i < std::max(1u, options.threads); ++i) m_threads.emplace_back([this] { work(); });
}

// A task counts against the queue only when no thread is free to take it.
bool LanePool::submit(std::unique_ptr<Task>& task) {
    {
        const Lock lock(m_mutex);
        if (m_stopped || m_queue.size() + m_running >= m_options.queue + m_threads.size()) return false;
        m_queue.push_back(std::move(task));
    }
    m_changed.notify_one();
    return true;
}

void LanePool::submit_next(std::unique_ptr<Task> task) {
    {
        const Lock lock(m_mutex);
        if (m_stopped) return;
        m_queue.push_back(std::move(task));
    }
    m_changed.notify_one();
}

bool LanePool::is_full() const {
    const Lock lock(m_mutex);
    return m_stopped || m_queue.size() + m_running >= m_options.queue + m_threads.size();
}

ServerCounts::LaneCounts LanePool::counts() const {
    const Lock lock(m_mutex);
    return {m_queue.size(), m_running};
}

void LanePool::stop() {
    std::deque<std::unique_ptr<Task>> dropped;
    {
        const Lock lock(m_mutex);
        m_stopped = true;
        dropped.swap(m_queue);
    }
    m_changed.notify_all();
    for (std::thread& thread : m_threads)
        if (thread.joinable()) thread.join();
}

void LanePool::work() {
    for (;;) {
        std::unique_ptr<Task> task;
        {
            const Lock lock(m_mutex);
            while (m_queue.empty() && !m_stopped) m_changed.wait(m_mutex);
            if (m_stopped) return;
            task = std::move(m_queue.front());
            m_queue.pop_front();
            ++m_running;
        }
        task->run();
        task.reset();
        const Lock lock(m_mutex);
        --m_running;
    }
}

} // namespace hone::net
