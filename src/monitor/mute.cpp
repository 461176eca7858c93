#include "monitor/mute.h"

#include "calendar/time_zone.h"

#include <algorithm>
#include <array>

namespace hone::monitor {

namespace {

constexpr std::array<std::string_view, 7> day_names = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int minutes_per_day = 24 * 60;

// "22:00" → 1320; "24:00" is the end of the day.
Result<int> minute_of_day(const std::string& text) {
    const bool formed = text.size() == 5 && text[2] == ':' && std::all_of(text.begin(), text.end(), [](char letter) {
                            return letter == ':' || (letter >= '0' && letter <= '9');
                        });
    if (!formed)
        return invalid("mute_windows: \"" + std::string(truncate_utf8(text, 20)) + "\" is not a time like 22:00");
    const int hour = (text[0] - '0') * 10 + (text[1] - '0');
    const int minute = (text[3] - '0') * 10 + (text[4] - '0');
    if (hour * 60 + minute > minutes_per_day || minute > 59)
        return invalid("mute_windows: \"" + text + "\" is not a time of day");
    return hour * 60 + minute;
}

Result<int64_t> offset_seconds(const std::string& zone, Time now) {
    auto found = calendar::TimeZone::find(zone);
    if (!found.ok()) return invalid("mute_windows: " + found.error().message);
    return found.value().at(to_ns(now) / 1'000'000'000).offset;
}

bool has_day(const MuteWindow& window, int64_t day_of_week) {
    if (!window.days || window.days->empty()) return true;
    const auto name = day_names[static_cast<size_t>(day_of_week)];
    return std::find(window.days->begin(), window.days->end(), name) != window.days->end();
}

} // namespace

Result<> check_mute_window(const MuteWindow& window) {
    if (window.from || window.to) {
        if (window.days || window.start || window.end || window.time_zone)
            return invalid("mute_windows: either from and to, or start and end with days and time_zone");
        if (!window.from || !window.to || *window.from >= *window.to)
            return invalid("mute_windows: from must be before to");
        return {};
    }
    if (!window.start || !window.end) return invalid("mute_windows: start and end are needed, or from and to");
    const int start = TRY(minute_of_day(*window.start));
    const int end = TRY(minute_of_day(*window.end));
    if (start == end) return invalid("mute_windows: start and end are the same; the whole day is 00:00 to 24:00");
    if (window.days)
        for (const std::string& day : *window.days)
            if (std::find(day_names.begin(), day_names.end(), day) == day_names.end())
                return invalid("mute_windows: days are mon, tue, wed, thu, fri, sat, sun");
    TRY(offset_seconds(window.time_zone.value_or(""), Time{}));
    return {};
}

bool is_in(const MuteWindow& window, Time now) {
    if (window.from && window.to) return now >= *window.from && now < *window.to;
    if (!window.start || !window.end) return false;
    const auto start = minute_of_day(*window.start);
    const auto end = minute_of_day(*window.end);
    const auto offset = offset_seconds(window.time_zone.value_or(""), now);
    if (!start.ok() || !end.ok() || !offset.ok()) return false;
    const int64_t wall = to_ns(now) / 1'000'000'000 + offset.value();
    const int64_t day = wall / 86'400;
    const int64_t minute = wall % 86'400 / 60;
    const int64_t today = (day + 4) % 7; // 1970 began on a Thursday
    if (start.value() < end.value()) return minute >= start.value() && minute < end.value() && has_day(window, today);
    // Over midnight: the evening of its day, or the morning after it.
    if (minute >= start.value()) return has_day(window, today);
    return minute < end.value() && has_day(window, (today + 6) % 7);
}

bool is_muted_by(const std::vector<MuteWindow>& windows, Time now) {
    return std::any_of(windows.begin(), windows.end(), [&](const MuteWindow& window) { return is_in(window, now); });
}

} // namespace hone::monitor
