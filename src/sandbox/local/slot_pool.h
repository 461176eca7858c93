// Slots kept ready by a provider: taken by a start, made again in the background. Nothing is made before the first
// start: a server that runs no sandboxes has none lying about. A slot that died is thrown away; an empty pool is no
// error. Any thread; one thread of its own makes slots.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/provider/spec.h"
#include "sandbox/wall/channel.h"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

namespace hone::sandbox {

// A prepared sandbox that waits for its claim on this channel. Closing the channel ends it.
struct ReadySlot {
    SandboxId id;
    Channel channel;
};

class SlotPool {
public:
    // `make` blocks until a slot is ready; called from the pool's thread only.
    SlotPool(size_t wanted, std::function<Result<ReadySlot>()> make);
    ~SlotPool();
    SlotPool(const SlotPool&) = delete;
    SlotPool& operator=(const SlotPool&) = delete;

    std::optional<ReadySlot> take();
    // Waits until the pool is full; false after `timeout_ms`.
    bool await_full(int64_t timeout_ms);

private:
    using Moment = std::chrono::steady_clock::time_point;
    void run();
    void drop_dead() REQUIRES_LOCK(m_mutex);

    const size_t m_wanted;
    const std::function<Result<ReadySlot>()> m_make;
    Mutex m_mutex;
    Condition m_changed;
    std::deque<ReadySlot> m_slots GUARDED_BY(m_mutex);
    Moment m_not_before GUARDED_BY(m_mutex){};
    bool m_wanting GUARDED_BY(m_mutex) = false; // a sandbox was requested
    bool m_stopping GUARDED_BY(m_mutex) = false;
    std::thread m_thread; // the last member: it uses all others
};

} // namespace hone::sandbox
