#include "calendar/time_zone.h"

#include "base/text.h"

#include <absl/time/time.h>
#include <algorithm>
#include <string>

namespace hone::calendar {

namespace {

// Beyond any time that we compute with, far from overflow.
constexpr int64_t far_past = -100'000'000'000;
constexpr int64_t far_future = 100'000'000'000;

bool is_utc(std::string_view name) {
    return name.empty() || name == "UTC" || name == "Etc/UTC" || name == "Z";
}

// The library opens a file of this name; "localtime" would be the machine's own zone.
bool is_plain(std::string_view name) {
    if (name.size() > 64 || name.front() == '/' || name.find("..") != name.npos || name == "localtime") return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
               c == '-' || c == '+';
    });
}

} // namespace

struct TimeZone::Table {
    absl::TimeZone zone;
};

Result<TimeZone> TimeZone::find(std::string_view name) {
    if (is_utc(name)) return TimeZone();
    const std::string shown(truncate_utf8(name, 64));
    if (!is_plain(name)) return invalid("time_zone \"" + shown + "\" is not a name like Europe/Berlin");
    auto table = std::make_shared<Table>();
    if (!absl::LoadTimeZone(std::string(name), &table->zone))
        return invalid("time_zone \"" + shown +
                       "\" is unknown on this machine; write a name like Europe/Berlin, or UTC");
    TimeZone found;
    found.m_table = std::move(table);
    return found;
}

TimeZone::Period TimeZone::at(int64_t second) const {
    if (!m_table) return {far_past, far_future, 0};
    const absl::TimeZone& zone = m_table->zone;
    const absl::Time time = absl::FromUnixSeconds(second);
    Period period{far_past, far_future, zone.At(time).offset};
    absl::TimeZone::CivilTransition change;
    // Strictly before the next second: a change at `second` begins this period.
    if (zone.PrevTransition(time + absl::Seconds(1), &change))
        period.begin = std::max(far_past, absl::ToUnixSeconds(zone.At(change.to).trans));
    if (zone.NextTransition(time, &change))
        period.end = std::min(far_future, absl::ToUnixSeconds(zone.At(change.to).trans));
    return period;
}

} // namespace hone::calendar
