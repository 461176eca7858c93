#include "kubernetes/api/rate_limit.h"

#include <algorithm>

namespace hone::kubernetes {

RateLimit::RateLimit(const Clock& clock, double per_second, double burst)
    : m_clock(clock),
      m_per_second(per_second),
      m_burst(burst),
      m_tokens(burst),
      m_filled_at(clock.steady()) {}

Duration RateLimit::take() {
    using Seconds = std::chrono::duration<double>;
    const Lock lock(m_mutex);
    const Duration now = m_clock.steady();
    m_tokens = std::min(m_burst, m_tokens + Seconds(now - m_filled_at).count() * m_per_second);
    m_filled_at = now;
    m_tokens -= 1; // below zero: owed by those who wait
    if (m_tokens >= 0) return Duration(0);
    return std::chrono::duration_cast<Duration>(Seconds(-m_tokens / m_per_second));
}

} // namespace hone::kubernetes
