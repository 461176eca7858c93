#include "base/duty.h"

#include "base/log.h"

namespace hone {

Duty::Duty(DutyOptions options, TimedStep step) : m_options(std::move(options)), m_step(std::move(step)) {}

Duty::Duty(DutyOptions options, Step step)
    : m_options(std::move(options)),
      m_step([step = std::move(step), period = m_options.period]() -> Result<Duration> {
          TRY(step());
          return period;
      }) {}

void Duty::start() {
    stop();
    for (size_t i = 0; i < m_options.threads; ++i)
        m_threads.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

void Duty::wake() {
    {
        const Lock lock(m_mutex);
        ++m_wakes;
    }
    m_woken.notify_all();
}

void Duty::stop() {
    for (std::jthread& thread : m_threads) thread.request_stop();
    m_threads.clear(); // joins
}

void Duty::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        uint64_t seen = 0;
        {
            const Lock lock(m_mutex);
            seen = m_wakes; // a wake from here on is about something that this step may have missed
        }
        const Result<Duration> next = m_step();
        if (!next.ok())
            log(Level::warning, "background duty failed",
                {{"duty", m_options.name}, {"why", next.error().message}, {"detail", next.error().trail}});
        const Duration wait = next.ok() ? next.value() : m_options.period;
        if (wait <= Duration::zero()) continue;
        const Lock lock(m_mutex);
        m_woken.wait_for(m_mutex, stop, wait, [&]() REQUIRES_LOCK(m_mutex) { return m_wakes != seen; });
    }
}

} // namespace hone
