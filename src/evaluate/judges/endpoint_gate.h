// How many calls of one endpoint are under way at the same time: one more after each full round of successes, half
// after a refusal. Thread-safe; `enter` blocks.
#pragma once

#include "base/mutex.h"
#include "base/time.h"

#include <algorithm>
#include <functional>

namespace hone::evaluate {

class EndpointGate {
public:
    static constexpr int first = 5;
    static constexpr int most = 32;

    // False: `ended` returned true meanwhile.
    bool enter(const std::function<bool()>& ended) {
        const Lock lock(m_mutex);
        while (m_inside >= m_limit) {
            if (ended && ended()) return false;
            m_changed.wait_for(m_mutex, std::chrono::milliseconds(100));
        }
        ++m_inside;
        return true;
    }
    // `is_refused`: the endpoint is busy.
    void leave(bool is_refused) {
        const Lock lock(m_mutex);
        --m_inside;
        if (is_refused) {
            m_limit = std::max(1, m_limit / 2);
            m_successes = 0;
        } else if (++m_successes >= m_limit) {
            m_limit = std::min(most, m_limit + 1);
            m_successes = 0;
        }
        m_changed.notify_all();
    }
    int limit() {
        const Lock lock(m_mutex);
        return m_limit;
    }

private:
    Mutex m_mutex;
    Condition m_changed;
    int m_limit GUARDED_BY(m_mutex) = first;
    int m_inside GUARDED_BY(m_mutex) = 0;
    int m_successes GUARDED_BY(m_mutex) = 0;
};

} // namespace hone::evaluate
