#include "base/duty.h"

#include "base/log.h"
#include "base/metrics.h"

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

Result<Duration> Duty::timed_step() {
    constexpr Duration worth_a_report = std::chrono::milliseconds(20); // others find that there is nothing to do
    if (!m_options.is_reported || !has_operation_sink()) return m_step();
    OperationTimer timer("job", m_options.name);
    Result<Duration> next = m_step();
    if (!next.ok())
        timer.fail(next.error().message);
    else if (timer.length() < worth_a_report)
        timer.forget();
    return next;
}

void Duty::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        uint64_t seen = 0;
        {
            const Lock lock(m_mutex);
            seen = m_wakes; // a wake from here on is about something that this step may have missed
        }
        const Result<Duration> next = timed_step();
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
