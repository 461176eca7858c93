// Time: UTC nanoseconds inside, as OTLP has them; RFC 3339 text only at the API.
// Only Clock reads the system's clocks, so that tests can move time. Thread-safe.
#pragma once

#include "base/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::sys_time<Duration>;

// "2026-11-15T09:05:14.123456789Z"; always nine digits, so text order is time order.
std::string to_text(Time time);
// Accepts RFC 3339 with any offset and up to nine fraction digits, years 1970 to 2261.
Result<Time> parse_time(std::string_view text);

inline int64_t to_ns(Time time) {
    return time.time_since_epoch().count();
}
inline Time from_ns(int64_t ns) {
    return Time(Duration(ns));
}

class Clock {
public:
    virtual ~Clock() = default;
    // Wall time. May jump, also backwards: use it for stamps, never to measure.
    virtual Time now() const = 0;
    // Only ever grows: for time-outs, leases in memory and measurements.
    virtual Duration steady() const = 0;
};

class SystemClock final : public Clock {
public:
    Time now() const override;
    Duration steady() const override;
};

// A clock that tests move by hand.
class FakeClock final : public Clock {
public:
    explicit FakeClock(Time start) : m_now_ns(to_ns(start)) {}
    Time now() const override { return from_ns(m_now_ns); }
    Duration steady() const override { return Duration(m_steady_ns); }
    // Advances both clocks.
    void advance(Duration by) {
        m_now_ns += by.count();
        m_steady_ns += by.count();
    }
    // Only the wall clock jumps, as when an administrator sets it.
    void jump(Duration by) { m_now_ns += by.count(); }

private:
    std::atomic<int64_t> m_now_ns;
    std::atomic<int64_t> m_steady_ns{0};
};

} // namespace hone
