// A background duty: calls `step` until it says that nothing is to be done, then waits to be woken, or a while. The
// thread begins with `start` and ends with the object; stopping twice, or without starting, is fine.
#pragma once

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace hone::review {

class Duty {
public:
    Duty(std::string name, std::function<Result<bool>()> step) : m_name(std::move(name)), m_step(std::move(step)) {}
    ~Duty() { stop(); }
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;

    void start() {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    void wake() {
        {
            const Lock lock(m_mutex);
            m_woken = true;
        }
        m_changed.notify_all();
    }
    void stop() {
        if (!m_thread.joinable()) return;
        m_thread.request_stop();
        wake();
        m_thread.join();
    }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const Result<bool> more = m_step();
            if (more.ok() && more.value()) continue;
            if (!more.ok())
                log(Level::warning, "a duty of reviews failed", {{"duty", m_name}, {"why", more.error().message}});
            const Lock lock(m_mutex);
            if (!m_woken) m_changed.wait_for(m_mutex, std::chrono::seconds(5));
            m_woken = false;
        }
    }

    const std::string m_name;
    const std::function<Result<bool>()> m_step;
    Mutex m_mutex;
    Condition m_changed;
    bool m_woken GUARDED_BY(m_mutex) = false;
    std::jthread m_thread; // last: it joins before what it uses is gone
};

} // namespace hone::review
