// Time zones by name ("Europe/Berlin"), from the machine's zoneinfo. UTC works without it. The only place that knows
// abseil's time library. Values are cheap to copy; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace hone::calendar {

class TimeZone {
public:
    // UTC.
    TimeZone() = default;
    // By its IANA name; an error names what to write instead. The empty name is UTC.
    static Result<TimeZone> find(std::string_view name);

    // A period with one distance between local time and UTC. Seconds since 1970.
    struct Period {
        int64_t begin = 0;  // inclusive
        int64_t end = 0;    // exclusive
        int64_t offset = 0; // local time minus UTC
    };
    Period at(int64_t second) const;

private:
    struct Table;
    std::shared_ptr<const Table> m_table; // null: UTC
};

} // namespace hone::calendar
