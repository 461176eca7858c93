// Time zones by name ("Europe/Berlin"), from the machine's zoneinfo. UTC works without one. The only place that knows
// the date library. Values are cheap to copy and live as long as the process; any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>

namespace hone::automation {

class Zone {
public:
    // UTC.
    Zone() = default;
    // By its IANA name; errors name what to write instead.
    static Result<Zone> find(std::string_view name);

    // A stretch of time in which the clocks on the wall keep the same distance to UTC. Seconds since 1970.
    struct Stretch {
        int64_t begin = 0;  // inclusive
        int64_t end = 0;    // exclusive
        int64_t offset = 0; // wall clock minus UTC
    };
    Stretch at(int64_t second) const;

private:
    explicit Zone(const void* zone) : m_zone(zone) {}
    const void* m_zone = nullptr; // of the library's table, which is never freed
};

} // namespace hone::automation
