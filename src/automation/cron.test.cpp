#include "automation/cron.h"
#include "base/testing.h"

#include <doctest/doctest.h>
#include <random>

using namespace hone;
using namespace hone::automation;

namespace {

Time at(std::string_view text) {
    return parse_time(text).value();
}
Cron cron(std::string_view text) {
    const auto parsed = Cron::parse(text);
    if (!parsed.ok()) FAIL(text, ": ", parsed.error().message);
    return parsed.value();
}
calendar::TimeZone zone(std::string_view name) {
    const auto found = calendar::TimeZone::find(name);
    if (!found.ok()) FAIL(found.error().message);
    return found.value();
}
// "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"
std::string next(std::string_view schedule, std::string_view after, size_t count, std::string_view where = "UTC") {
    std::string all;
    for (const Time time : cron(schedule).next(at(after), zone(where), count))
        all += (all.empty() ? "" : " ") + to_text(time).substr(0, 19);
    return all;
}

} // namespace

TEST_CASE("cron: fields, names, ranges, steps, lists and nicknames") {
    CHECK(next("*/15 * * * *", "2026-03-01T12:00:00Z", 3) ==
          "2026-03-01T12:15:00 2026-03-01T12:30:00 2026-03-01T12:45:00");
    CHECK(next("0 9 * * mon-fri", "2026-03-06T09:00:00Z", 2) == "2026-03-09T09:00:00 2026-03-10T09:00:00");
    CHECK(next("0 0 * * FRI-SUN", "2026-03-05T00:00:00Z", 4) ==
          "2026-03-06T00:00:00 2026-03-07T00:00:00 2026-03-08T00:00:00 2026-03-13T00:00:00");
    CHECK(next("0 0 * * 7", "2026-03-01T00:00:00Z", 1) == "2026-03-08T00:00:00");
    CHECK(next("5,10 3 1 jan,jul *", "2026-03-01T00:00:00Z", 3) ==
          "2026-07-01T03:05:00 2026-07-01T03:10:00 2027-01-01T03:05:00");
    CHECK(next("10-20/5 * * * * *", "2026-03-01T00:00:12Z", 3) ==
          "2026-03-01T00:00:15 2026-03-01T00:00:20 2026-03-01T00:01:10");
    CHECK(next("* * * * * *", "2026-03-01T00:00:12.5Z", 2) == "2026-03-01T00:00:13 2026-03-01T00:00:14");
    CHECK(next("@hourly", "2026-03-01T00:00:00Z", 1) == "2026-03-01T01:00:00");
    CHECK(next("@Weekly", "2026-03-01T00:00:00Z", 1) == "2026-03-08T00:00:00");
    CHECK(next("0 12 L * *", "2026-01-31T12:00:00Z", 2) == "2026-02-28T12:00:00 2026-03-31T12:00:00");
    CHECK(next("0 12 15,l * *", "2026-01-31T12:00:00Z", 3) ==
          "2026-02-15T12:00:00 2026-02-28T12:00:00 2026-03-15T12:00:00");
    CHECK(next("*/60 * * * *", "2026-03-01T00:00:00Z", 1) == "2026-03-01T01:00:00");
    // Both restricted: either of them.
    CHECK(next("0 0 13 * fri", "2026-03-01T00:00:00Z", 3) ==
          "2026-03-06T00:00:00 2026-03-13T00:00:00 2026-03-20T00:00:00");
    CHECK(next("0 0 ? * mon", "2026-03-01T00:00:00Z", 1) == "2026-03-02T00:00:00");
}

TEST_CASE("cron: what is wrong is named") {
    const auto refused = [](std::string_view text) {
        const auto parsed = Cron::parse(text);
        REQUIRE_FALSE(parsed.ok());
        return parsed.error().message;
    };
    CHECK(refused("").find("empty") != std::string::npos);
    CHECK(refused("* * * *").find("4 fields") != std::string::npos);
    CHECK(refused("60 * * * *").find("minute") != std::string::npos);
    CHECK(refused("* 24 * * *").find("hour") != std::string::npos);
    CHECK(refused("* * 0 * *").find("day of month") != std::string::npos);
    CHECK(refused("* * * noon *").find("month") != std::string::npos);
    CHECK(refused("* * * * 8").find("weekday") != std::string::npos);
    CHECK(refused("*/0 * * * *").find("step of 0") != std::string::npos);
    CHECK(refused("*/90 * * * *").find("not fire every 90") != std::string::npos);
    CHECK(refused("0 0 15W * *").find("L for the last day") != std::string::npos);
    CHECK(refused("0 0 L, * *").find("day of month") != std::string::npos);
    CHECK(refused("0 0 * * 1#2").find("weekday") != std::string::npos);
    CHECK(refused("20-10 * * * *").find("backwards") != std::string::npos);
    CHECK(refused("1, * * * *").find("minute") != std::string::npos);
    CHECK(refused("@noon").find("@hourly") != std::string::npos);
    CHECK(refused(std::string(300, '*')).find("200") != std::string::npos);
    CHECK_FALSE(calendar::TimeZone::find("Mars/Olympus").ok());
    CHECK_FALSE(calendar::TimeZone::find("../../etc/passwd").ok());
    CHECK_FALSE(calendar::TimeZone::find("/etc/passwd").ok());
}

TEST_CASE("cron: leap days come, and days that never come are found out") {
    CHECK(next("0 0 29 2 *", "2026-03-01T00:00:00Z", 2) == "2028-02-29T00:00:00 2032-02-29T00:00:00");
    CHECK(next("0 0 29 2 *", "2096-03-01T00:00:00Z", 1) == "2104-02-29T00:00:00"); // 2100 has none
    CHECK(next("0 0 L 2 *", "2028-01-01T00:00:00Z", 1) == "2028-02-29T00:00:00");
    CHECK(next("0 0 30 2 *", "2026-03-01T00:00:00Z", 1).empty());
}

TEST_CASE("cron: when clocks are put forward, a time that does not exist fires at the moment of the jump") {
    // Berlin leaps from 02:00 to 03:00 on 2026-03-29, at 01:00 UTC.
    CHECK(next("30 2 * * *", "2026-03-28T00:00:00Z", 3, "Europe/Berlin") ==
          "2026-03-28T01:30:00 2026-03-29T01:00:00 2026-03-30T00:30:00");
    // Several leapt-over times and the first one after them are one moment.
    CHECK(next("0,20,40 2,3 * * *", "2026-03-29T00:30:00Z", 3, "Europe/Berlin") ==
          "2026-03-29T01:00:00 2026-03-29T01:20:00 2026-03-29T01:40:00");
    // From the moment itself: it is over.
    CHECK(next("30 2 * * *", "2026-03-29T01:00:00Z", 1, "Europe/Berlin") == "2026-03-30T00:30:00");
    CHECK(next("30 2 * * *", "2026-03-29T00:59:59Z", 1, "Europe/Berlin") == "2026-03-29T01:00:00");
    // Every hour means every hour that passes.
    CHECK(next("30 * * * *", "2026-03-29T00:00:00Z", 3, "Europe/Berlin") ==
          "2026-03-29T00:30:00 2026-03-29T01:30:00 2026-03-29T02:30:00");
    // Half an hour on Lord Howe Island: 02:00 becomes 02:30.
    CHECK(next("15 2 * * *", "2026-10-03T00:00:00Z", 1, "Australia/Lord_Howe") == "2026-10-03T15:30:00");
}

TEST_CASE("cron: when clocks are put back, a time that exists twice fires once, at the first") {
    // Berlin shows 02:00 to 03:00 twice on 2026-10-25: from 00:00 and from 01:00 UTC.
    CHECK(next("30 2 * * *", "2026-10-24T12:00:00Z", 2, "Europe/Berlin") == "2026-10-25T00:30:00 2026-10-26T01:30:00");
    // Asked in the second pass.
    CHECK(next("30 2 * * *", "2026-10-25T01:10:00Z", 1, "Europe/Berlin") == "2026-10-26T01:30:00");
    CHECK(next("0 2,3 * * *", "2026-10-24T12:00:00Z", 3, "Europe/Berlin") ==
          "2026-10-25T00:00:00 2026-10-25T02:00:00 2026-10-26T01:00:00");
    // Every hour means every hour that passes.
    CHECK(next("30 * * * *", "2026-10-25T00:00:00Z", 3, "Europe/Berlin") ==
          "2026-10-25T00:30:00 2026-10-25T01:30:00 2026-10-25T02:30:00");
    CHECK(next("30 1 * * *", "2026-11-01T00:00:00Z", 2, "America/New_York") ==
          "2026-11-01T05:30:00 2026-11-02T06:30:00");
}

TEST_CASE("cron: through a year each wall-clock time fires on each of its days, whatever the clocks do") {
    const std::string_view zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                      "Asia/Kathmandu"};
    std::mt19937 luck(test_seed());
    for (const std::string_view name : zones) {
        const calendar::TimeZone here = zone(name);
        for (int round = 0; round < 8; ++round) {
            const unsigned hour = round == 0 ? 2 : luck() % 24, minute = luck() % 60;
            const Cron daily = cron(std::to_string(minute) + " " + std::to_string(hour) + " * * *");
            const Time start = at("2027-12-31T12:00:00Z"), end = at("2028-12-31T12:00:00Z");
            int count = 0;
            Time before = start;
            for (auto moment = daily.next(start, here); moment && *moment <= end; moment = daily.next(*moment, here)) {
                REQUIRE(*moment > before);
                before = *moment;
                ++count;
                // It is the time on the wall, or the moment of a jump over it.
                const int64_t second = to_ns(*moment) / 1'000'000'000;
                const calendar::TimeZone::Period stretch = here.at(second);
                const int64_t wall = (second + stretch.offset) % 86'400;
                const bool shown = wall == hour * 3600 + minute * 60;
                CHECK((shown || second == stretch.begin));
            }
            INFO(name, " ", hour, ":", minute);
            CHECK(count == 366); // a leap year
        }
        // By passing time: no two moments are further apart than the step.
        const Cron quarters = cron("*/15 * * * *");
        Time before = at("2028-01-01T00:00:00Z");
        int count = 0;
        for (auto moment = quarters.next(before, here); *moment <= at("2029-01-01T00:00:00Z");
             moment = quarters.next(*moment, here)) {
            REQUIRE(*moment - before == std::chrono::minutes(15));
            before = *moment;
            ++count;
        }
        CHECK(count == 366 * 96);
    }
}

TEST_CASE("cron: the next moment is the one that a search second by second finds") {
    std::mt19937 luck(test_seed());
    const auto pick = [&](std::initializer_list<std::string_view> choices) {
        return std::string(choices.begin()[luck() % choices.size()]);
    };
    const calendar::TimeZone here = zone("Europe/Berlin");
    for (int round = 0; round < 60; ++round) {
        const std::string text = pick({"*", "0", "*/20", "5-10"}) + " " + pick({"*", "*/7", "30", "0,59"}) + " * " +
                                 pick({"*", "1", "*/3", "29-31"}) + " " + pick({"*", "3", "2,10"}) + " " +
                                 pick({"*", "sun", "mon-wed"});
        const Cron schedule = cron(text);
        const Time after = from_ns(to_ns(at("2026-03-28T22:00:00Z")) + int64_t(luck() % 20'000) * 1'000'000'000);
        const auto found = schedule.next(after, here);
        REQUIRE(found);
        // Every second between has no match: asking from there leads to the same moment.
        for (int probe = 0; probe < 20; ++probe) {
            const int64_t between = (*found - after).count() / 1'000'000'000;
            if (between == 0) break;
            const Time other = after + std::chrono::seconds(luck() % uint64_t(between));
            INFO(text, " from ", to_text(other));
            CHECK(schedule.next(other, here) == found);
        }
    }
}
