// Cron schedules: five fields (minute hour day month weekday) or six (second first), names, ranges, steps, lists, `L`
// for the last day of a month, @hourly and its like. Pure values; any thread.
//
// Like every cron, a day matches when its day of month or its weekday does, if both are restricted. When clocks are
// put forward or back, a schedule with fixed hours fires once for each wall-clock time it names: a time that does not
// exist fires at the moment of the jump, one that exists twice fires at the first. A schedule for every hour goes by
// the time that passes: nothing is skipped, nothing is doubled.
#pragma once

#include "calendar/time_zone.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hone::automation {

class Cron {
public:
    // Errors name the field and what may stand there.
    static Result<Cron> parse(std::string_view expression);

    // The first moment after `after`; none when there is none within twelve years (30 February).
    std::optional<Time> next(Time after, const calendar::TimeZone& zone) const;
    // At most `count` moments after `after`.
    std::vector<Time> next(Time after, const calendar::TimeZone& zone, size_t count) const;

private:
    bool day_matches(int year, unsigned month, unsigned day, unsigned weekday) const;
    std::optional<int64_t> second_of_day(int64_t from) const;
    std::optional<int64_t> next_on_wall(int64_t from, int64_t to) const;

    uint64_t m_seconds = 1;
    uint64_t m_minutes = 0;
    uint64_t m_hours = 0;
    uint64_t m_days = 0;
    uint64_t m_months = 0;
    uint64_t m_weekdays = 0;
    bool m_last_day = false;
    bool m_any_day = false;     // the field was * or ?
    bool m_any_weekday = false; // likewise
    bool m_any_hour = false;
};

} // namespace hone::automation
