// Limits the requests of one caller: a token bucket per API key, login or address, in memory and bounded. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/time.h"

#include <list>
#include <string>
#include <unordered_map>

namespace hone::api {

class RateLimit {
public:
    // `per_minute` 0: no limit. `capacity` is how many callers are remembered; the longest idle one is forgotten.
    RateLimit(const Clock& clock, int64_t per_minute, size_t capacity = 10'000)
        : m_clock(clock),
          m_per_minute(per_minute),
          m_capacity(capacity) {}

    // 0 when the request is allowed, else the seconds until it is.
    int64_t take(const std::string& caller);

private:
    struct Bucket {
        double tokens = 0;
        Duration filled_at{};
        std::list<std::string>::iterator place;
    };

    const Clock& m_clock;
    const int64_t m_per_minute;
    const size_t m_capacity;
    Mutex m_mutex;
    std::unordered_map<std::string, Bucket> m_buckets GUARDED_BY(m_mutex);
    std::list<std::string> m_recent GUARDED_BY(m_mutex); // the latest first
};

} // namespace hone::api
