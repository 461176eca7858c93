#include "base/time.h"

#include <cstdio>
#include <ctime>

namespace hone {

namespace {

// Reads exactly `count` digits at `position`; -1 if there are none.
int digits(std::string_view text, size_t position, size_t count) {
    if (position + count > text.size()) return -1;
    int value = 0;
    for (size_t i = position; i < position + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

bool has(std::string_view text, size_t position, std::string_view any_of) {
    return position < text.size() && any_of.find(text[position]) != std::string_view::npos;
}

} // namespace

std::string to_text(Time time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const int64_t in_day = (time - day).count();
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%04d-%02u-%02uT%02d:%02d:%02d.%09lldZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(in_day / 3'600'000'000'000), static_cast<int>(in_day / 60'000'000'000 % 60),
                  static_cast<int>(in_day / 1'000'000'000 % 60), static_cast<long long>(in_day % 1'000'000'000));
    return buffer;
}

Result<Time> parse_time(std::string_view text) {
    const auto wrong = [&] {
        return invalid("not a time: \"" + std::string(text.substr(0, 40)) +
                       "\" (expected RFC 3339, like 2026-01-31T12:00:00Z)");
    };
    const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
    const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
    if (year < 1970 || year > 2261 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60 || !has(text, 4, "-") || !has(text, 7, "-") || !has(text, 10, "Tt ") ||
        !has(text, 13, ":") || !has(text, 16, ":"))
        return wrong();
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return wrong();

    size_t at = 19;
    int64_t fraction = 0;
    if (has(text, at, ".,")) {
        int64_t unit = 100'000'000;
        size_t start = ++at;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
            fraction += (text[at] - '0') * unit;
        if (at == start || at - start > 9) return wrong();
    }
    int64_t offset_seconds = 0;
    if (has(text, at, "Zz") && at + 1 == text.size()) {
    } else if (has(text, at, "+-") && at + 6 == text.size() && text[at + 3] == ':') {
        const int offset_hour = digits(text, at + 1, 2), offset_minute = digits(text, at + 4, 2);
        if (offset_hour < 0 || offset_hour > 23 || offset_minute < 0 || offset_minute > 59) return wrong();
        offset_seconds = (offset_hour * 3600 + offset_minute * 60) * (text[at] == '-' ? -1 : 1);
    } else {
        return wrong();
    }
    const int64_t seconds = std::chrono::sys_days(date).time_since_epoch().count() * 86400LL + hour * 3600 +
                            minute * 60 + second - offset_seconds;
    return from_ns(seconds * 1'000'000'000 + fraction);
}

namespace {
Duration read_clock(clockid_t id) {
    timespec spec{};
    clock_gettime(id, &spec);
    return Duration(spec.tv_sec * 1'000'000'000LL + spec.tv_nsec);
}
} // namespace

Time SystemClock::now() const {
    return Time(read_clock(CLOCK_REALTIME));
}

Duration SystemClock::steady() const {
    return read_clock(CLOCK_MONOTONIC);
}

} // namespace hone
