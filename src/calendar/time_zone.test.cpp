#include "calendar/time_zone.h"
#include "base/time.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::calendar;

namespace {

int64_t second(std::string_view text) {
    return to_ns(parse_time(text).value()) / 1'000'000'000;
}

} // namespace

TEST_CASE("time zone: a period begins and ends at the changes of its offset") {
    const auto berlin = TimeZone::find("Europe/Berlin");
    REQUIRE(berlin.ok());
    const int64_t spring = second("2026-03-29T01:00:00Z"), autumn = second("2026-10-25T01:00:00Z");
    for (const int64_t at : {spring, spring + 1, second("2026-07-01T00:00:00Z"), autumn - 1}) {
        const TimeZone::Period period = berlin.value().at(at);
        CHECK(period.begin == spring);
        CHECK(period.end == autumn);
        CHECK(period.offset == 7200);
    }
    CHECK(berlin.value().at(spring - 1).end == spring);
    CHECK(berlin.value().at(spring - 1).offset == 3600);
    CHECK(berlin.value().at(autumn).begin == autumn);
    CHECK(berlin.value().at(autumn).offset == 3600);
}

TEST_CASE("time zone: half hours and zones without changes") {
    const auto lord_howe = TimeZone::find("Australia/Lord_Howe");
    REQUIRE(lord_howe.ok());
    CHECK(lord_howe.value().at(second("2026-07-01T00:00:00Z")).offset == 37'800);
    CHECK(lord_howe.value().at(second("2026-12-01T00:00:00Z")).offset == 39'600);
    const TimeZone::Period utc = TimeZone().at(0);
    CHECK(utc.offset == 0);
    CHECK(utc.begin < -10'000'000'000);
    CHECK(utc.end > 10'000'000'000);
    const auto kathmandu = TimeZone::find("Asia/Kathmandu");
    REQUIRE(kathmandu.ok());
    CHECK(kathmandu.value().at(second("2026-07-01T00:00:00Z")).offset == 20'700);
    CHECK(kathmandu.value().at(second("2026-07-01T00:00:00Z")).end > second("2100-01-01T00:00:00Z"));
}

TEST_CASE("time zone: names that are no IANA zone are refused") {
    for (const char* name : {"Mars/Olympus", "../../etc/passwd", "/etc/passwd", "localtime", "libc:localtime",
                             "file:/etc/passwd", "Fixed/UTC+99:00:00"})
        CHECK_MESSAGE(!TimeZone::find(name).ok(), name);
    for (const char* name : {"", "UTC", "Z", "Etc/UTC", "America/New_York"})
        CHECK_MESSAGE(TimeZone::find(name).ok(), name);
}
