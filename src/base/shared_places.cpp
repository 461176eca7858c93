#include "base/shared_places.h"

#include "base/log.h"
#include "base/time.h"

namespace hone {

void SharedPlaces::set_runs(std::function<Result<int64_t>()> runs, std::function<void()> freed) {
    const Lock lock(m_mutex);
    m_runs = std::move(runs);
    m_freed = std::move(freed);
}

int64_t SharedPlaces::lanes() const {
    const Lock lock(m_mutex);
    return m_lanes;
}

bool SharedPlaces::take(const std::function<bool()>& ended) {
    // Runs begin and end without a sign to here, so that it is compared again now and then.
    constexpr Duration again = std::chrono::milliseconds(200);
    const Lock lock(m_mutex);
    for (;;) {
        if (ended()) return false;
        if (m_lanes < m_share) {
            const Result<int64_t> runs = m_runs ? m_runs() : Result<int64_t>(int64_t{0});
            if (!runs.ok())
                log(Level::warning, "runs could not be counted", {{"why", runs.error().message}});
            else if (runs.value() + m_lanes < m_all) {
                ++m_lanes;
                return true;
            }
        }
        m_changed.wait_for(m_mutex, again);
    }
}

void SharedPlaces::give() {
    std::function<void()> freed;
    {
        const Lock lock(m_mutex);
        --m_lanes;
        freed = m_freed;
    }
    m_changed.notify_all();
    if (freed) freed();
}

} // namespace hone
