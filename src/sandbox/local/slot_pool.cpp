#include "sandbox/local/slot_pool.h"

#include "base/log.h"

#include <poll.h>

namespace hone::sandbox {

namespace {

using std::chrono::steady_clock;

// A start has the machine for itself for a moment before its slot is replaced, unless the pool is empty.
constexpr auto pause_after_start = std::chrono::milliseconds(20);
constexpr auto pause_after_failure = std::chrono::seconds(10);
constexpr auto look_every = std::chrono::seconds(60);

// A slot sends a message only when it ends.
bool is_dead(const ReadySlot& slot) {
    pollfd state{slot.channel.descriptor(), POLLIN, 0};
    return ::poll(&state, 1, 0) != 0;
}

} // namespace

SlotPool::SlotPool(size_t wanted, std::function<Result<ReadySlot>()> make)
    : m_wanted(wanted),
      m_make(std::move(make)),
      m_thread([this] { run(); }) {}

SlotPool::~SlotPool() {
    {
        const Lock lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

std::optional<ReadySlot> SlotPool::take() {
    std::optional<ReadySlot> taken;
    {
        const Lock lock(m_mutex);
        m_wanting = true;
        drop_dead();
        if (!m_slots.empty()) {
            taken = std::move(m_slots.front());
            m_slots.pop_front();
        }
        // An empty pool is filled immediately, but a start that must do without it goes first.
        if (taken && m_slots.empty())
            m_not_before = {};
        else
            m_not_before = steady_clock::now() + pause_after_start;
    }
    m_changed.notify_all();
    return taken;
}

bool SlotPool::await_full(int64_t timeout_ms) {
    const auto end = steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    const Lock lock(m_mutex);
    m_wanting = true;
    m_changed.notify_all();
    while (m_slots.size() < m_wanted && steady_clock::now() < end) m_changed.wait_until(m_mutex, end);
    return m_slots.size() >= m_wanted;
}

void SlotPool::drop_dead() {
    std::erase_if(m_slots, is_dead);
}

void SlotPool::run() {
    m_mutex.lock();
    while (!m_stopping) {
        drop_dead();
        const auto now = steady_clock::now();
        if (!m_wanting || m_slots.size() >= m_wanted) {
            m_changed.wait_until(m_mutex, now + look_every);
            continue;
        }
        if (now < m_not_before) {
            m_changed.wait_until(m_mutex, m_not_before);
            continue;
        }
        m_mutex.unlock();
        auto made = m_make();
        m_mutex.lock();
        if (made.ok()) {
            m_slots.push_back(std::move(made).value());
        } else {
            log(Level::warning, "no sandbox could be prepared", {{"error", made.error().message}});
            m_not_before = steady_clock::now() + pause_after_failure;
        }
        m_changed.notify_all();
    }
    m_mutex.unlock();
}

} // namespace hone::sandbox
