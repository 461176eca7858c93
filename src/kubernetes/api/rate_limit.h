// How many requests a server may send to a cluster: a bucket of `burst` that fills at a rate. Any thread.
#pragma once

#include "base/mutex.h"
#include "base/time.h"

namespace hone::kubernetes {

class RateLimit {
public:
    RateLimit(const Clock& clock, double per_second, double burst);
    // Takes one request from the bucket; how long to wait before it may be sent. Requests that wait do so in order.
    Duration take();

private:
    const Clock& m_clock;
    const double m_per_second, m_burst;
    Mutex m_mutex;
    double m_tokens GUARDED_BY(m_mutex);
    Duration m_filled_at GUARDED_BY(m_mutex);
};

} // namespace hone::kubernetes
