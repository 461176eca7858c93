#include "api/core/rate_limit.h"

#include <cmath>

namespace hone::api {

int64_t RateLimit::take(const std::string& caller) {
    if (m_per_minute == 0) return 0;
    const auto full = static_cast<double>(m_per_minute);
    const double per_second = full / 60;
    const Duration now = m_clock.steady();
    const Lock lock(m_mutex);
    auto found = m_buckets.find(caller);
    if (found == m_buckets.end()) {
        if (m_buckets.size() >= m_capacity) {
            m_buckets.erase(m_recent.back());
            m_recent.pop_back();
        }
        m_recent.push_front(caller);
        found = m_buckets.emplace(caller, Bucket{full, now, m_recent.begin()}).first;
    } else {
        m_recent.splice(m_recent.begin(), m_recent, found->second.place);
    }
    Bucket& bucket = found->second;
    const double elapsed = std::chrono::duration<double>(now - bucket.filled_at).count();
    bucket.tokens = std::min(full, bucket.tokens + elapsed * per_second);
    bucket.filled_at = now;
    if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return 0;
    }
    return static_cast<int64_t>(std::ceil((1 - bucket.tokens) / per_second));
}

} // namespace hone::api
