// The places of one server (`run_places`), which runs of workers and lanes of experiments share. Runs go first: a lane
// begins only when a place is left beside the runs that execute and those that could begin, and lanes have at most half
// of the places, at least one. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/result.h"

#include <cstdint>
#include <functional>

namespace hone {

class SharedPlaces {
public:
    explicit SharedPlaces(int64_t all) : m_all(all), m_share(all > 3 ? all / 2 : 1) {}

    // For runs, before lanes begin. `runs` counts those that execute here or could begin; `freed` is called after a
    // lane left its place. Without them there are no runs.
    void set_runs(std::function<Result<int64_t>()> runs, std::function<void()> freed);
    // Calls `claim` with the number of lanes; meanwhile no lane begins.
    template <class Claim>
    auto claim(Claim claim) {
        const Lock lock(m_mutex);
        return claim(m_lanes);
    }
    int64_t lanes() const;

    // For lanes: waits for a place. False: `ended` returned true, and there is nothing to give back.
    bool take(const std::function<bool()>& ended);
    void give();

private:
    const int64_t m_all;
    const int64_t m_share;
    mutable Mutex m_mutex;
    Condition m_changed;
    std::function<Result<int64_t>()> m_runs GUARDED_BY(m_mutex);
    std::function<void()> m_freed GUARDED_BY(m_mutex);
    int64_t m_lanes GUARDED_BY(m_mutex) = 0;
};

// The place of a lane, until the end of the scope. Without `places` it is always taken.
class SharedPlace {
public:
    SharedPlace(SharedPlaces* places, const std::function<bool()>& ended)
        : m_places(places),
          m_is_taken(places == nullptr || places->take(ended)) {}
    ~SharedPlace() {
        if (m_places != nullptr && m_is_taken) m_places->give();
    }
    SharedPlace(const SharedPlace&) = delete;
    SharedPlace& operator=(const SharedPlace&) = delete;
    bool is_taken() const { return m_is_taken; }

private:
    SharedPlaces* const m_places;
    const bool m_is_taken;
};

} // namespace hone
