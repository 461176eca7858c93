// From numbers to states: bounds, the usual band on seasonal data, hysteresis, for-duration, mute windows.
#include "monitor/condition.h"
#include "access/testing.h"
#include "base/testing.h"
#include "monitor/mute.h"

#include <cmath>
#include <random>

using namespace hone;
using namespace hone::monitor;
using access::testing::must;
using access::testing::outcome;
using namespace std::chrono_literals;

namespace {

constexpr int64_t hour = 3'600'000'000'000;
const int64_t monday = to_ns(must(parse_time("2026-03-02T00:00:00Z")));

MonitorSettings threshold_of(double limit, std::optional<double> recover = {}, Direction direction = Direction::above) {
    MonitorSettings settings;
    settings.metric = telemetry::Metric::error_rate;
    settings.condition.threshold = limit;
    settings.condition.recover_threshold = recover;
    settings.condition.direction = direction;
    return settings;
}

Reading reading_of(const MonitorSettings& settings, std::optional<double> value, std::optional<double> before = {}) {
    Reading reading;
    reading.value = value;
    reading.samples = value ? 100 : 0;
    set_bounds(settings, reading, before, {}, 0);
    return reading;
}

// Calls per hour of an office product: busy on weekdays at noon, quiet at night and on Sundays, with noise.
double seasonal(int64_t at, std::mt19937& random) {
    const int64_t hour_of_day = at / hour % 24;
    const int64_t day = (at / (24 * hour) + 3) % 7; // 0: Monday
    const double base = 200 + 1800 * std::max(0.0, std::sin((static_cast<double>(hour_of_day) - 6) / 12 * 3.14159));
    const double calls = day >= 5 ? base * 0.2 : base;
    return std::max(0.0, std::normal_distribution<double>(calls, 0.05 * calls)(random));
}

} // namespace

TEST_CASE("a threshold triggers above it and recovers only below the recover threshold") {
    const MonitorSettings settings = threshold_of(10, 5);
    CHECK(check_condition(settings, reading_of(settings, 11)) == Verdict::bad);
    CHECK(check_condition(settings, reading_of(settings, 10)) == Verdict::lingering);
    CHECK(check_condition(settings, reading_of(settings, 5)) == Verdict::good);
    CHECK(check_condition(settings, reading_of(settings, std::nullopt)) == Verdict::no_data);
    const MonitorSettings low = threshold_of(10, 20, Direction::below);
    CHECK(check_condition(low, reading_of(low, 9)) == Verdict::bad);
    CHECK(check_condition(low, reading_of(low, 15)) == Verdict::lingering);
    CHECK(check_condition(low, reading_of(low, 20)) == Verdict::good);
}

TEST_CASE("a value that flaps around the threshold triggers once with hysteresis, many times without") {
    const auto triggers = [](const MonitorSettings& settings) {
        ConditionState state_now;
        int count = 0;
        for (int i = 0; i < 100; ++i) {
            const ConditionState next =
                advance(state_now, check_condition(settings, reading_of(settings, i % 2 == 0 ? 10.5 : 9.5)),
                        Time(std::chrono::minutes(i)), 0s);
            count += next.state == MonitorState::triggered && state_now.state != MonitorState::triggered;
            state_now = next;
        }
        return count;
    };
    CHECK(triggers(threshold_of(10)) == 50);
    CHECK(triggers(threshold_of(10, 8)) == 1);
}

TEST_CASE("for-duration: a condition triggers only after it was true for this time") {
    ConditionState state_now{MonitorState::healthy, {}};
    state_now = advance(state_now, Verdict::bad, Time(0min), 10min);
    CHECK(state_now.state == MonitorState::healthy);
    CHECK(state_now.bad_since == Time(0min));
    CHECK(advance(state_now, Verdict::good, Time(5min), 10min).bad_since == std::nullopt);
    state_now = advance(state_now, Verdict::bad, Time(9min), 10min);
    CHECK(state_now.state == MonitorState::healthy);
    state_now = advance(state_now, Verdict::bad, Time(10min), 10min);
    CHECK(state_now.state == MonitorState::triggered);
    CHECK(advance(state_now, Verdict::no_data, Time(11min), 10min).state == MonitorState::no_data);
}

TEST_CASE("change compares with the window before, by ratio or by difference") {
    MonitorSettings settings = threshold_of(1.5);
    settings.condition.type = ConditionType::change;
    CHECK(check_condition(settings, reading_of(settings, 151, 100)) == Verdict::bad);
    CHECK(check_condition(settings, reading_of(settings, 149, 100)) == Verdict::good);
    CHECK(check_condition(settings, reading_of(settings, 1, 0)) == Verdict::bad); // from nothing to something
    const Reading alone = reading_of(settings, 151);
    CHECK(check_condition(settings, alone) == Verdict::no_data);
    CHECK(!alone.note.empty());
    settings.condition.change_by = ChangeBy::difference;
    settings.condition.direction = Direction::below;
    settings.condition.threshold = -20;
    CHECK(check_condition(settings, reading_of(settings, 79, 100)) == Verdict::bad);
    CHECK(check_condition(settings, reading_of(settings, 81, 100)) == Verdict::good);
}

TEST_CASE("absence is bad when there is too little, and a low count needs no first span") {
    MonitorSettings settings;
    settings.metric = telemetry::Metric::error_rate;
    settings.condition.type = ConditionType::absence;
    settings.minimum_samples = 10;
    Reading reading;
    reading.samples = 9;
    CHECK(check_condition(settings, reading) == Verdict::bad);
    reading.samples = 10;
    CHECK(check_condition(settings, reading) == Verdict::good);
    MonitorSettings low = threshold_of(5, {}, Direction::below);
    low.metric = telemetry::Metric::count;
    Reading nothing;
    nothing.value = 0;
    set_bounds(low, nothing, {}, {}, 0);
    CHECK(check_condition(low, nothing) == Verdict::bad);
}

TEST_CASE("the usual range has no finding on clean seasonal data and finds the fault at night and at noon") {
    std::mt19937 random(test_seed(7));
    std::vector<PastValue> history;
    const int64_t weeks = 4;
    for (int64_t at = monday; at < monday + weeks * 7 * 24 * hour; at += hour)
        history.push_back({at, seasonal(at, random)});
    MonitorSettings settings;
    settings.metric = telemetry::Metric::count;
    settings.condition.type = ConditionType::automatic;
    settings.condition.direction = Direction::outside;
    const int64_t start = monday + weeks * 7 * 24 * hour;
    int alarms = 0, missed = 0;
    for (int64_t at = start; at < start + 7 * 24 * hour; at += hour) {
        const auto verdict_of = [&](double value) {
            Reading reading;
            reading.value = value;
            reading.samples = 1000;
            set_bounds(settings, reading, {}, history, at);
            CHECK(reading.note.find("this hour of the week") != std::string::npos);
            return check_condition(settings, reading);
        };
        alarms += verdict_of(seasonal(at, random)) == Verdict::bad;
        // Three times as much as usual at this hour; at night that is still far below noon.
        missed += verdict_of(3 * seasonal(at, random)) != Verdict::bad;
    }
    CHECK(alarms <= 2); // of 168 hours
    CHECK(missed <= 4);
}

TEST_CASE("one extreme day in the history does not widen the range; too little history is reported") {
    std::vector<PastValue> history;
    for (int64_t i = 0; i < 28 * 24; ++i)
        history.push_back({monday + i * hour, i / 24 == 9 ? 50'000.0 : 100.0 + static_cast<double>(i % 5)});
    std::string why_not;
    const auto band = usual_band(telemetry::Metric::tokens, history, monday + 28 * 24 * hour, why_not);
    REQUIRE(band);
    CHECK(band->usual < 110);
    CHECK(band->deviation < 20);

    MonitorSettings settings = threshold_of(500);
    settings.condition.type = ConditionType::automatic;
    history.resize(10);
    Reading reading;
    reading.value = 501;
    reading.samples = 10;
    set_bounds(settings, reading, {}, history, monday + 10 * hour);
    CHECK(reading.note == "too little history: 10 of 24 windows; the fixed threshold counts until then");
    CHECK(check_condition(settings, reading) == Verdict::bad);
    settings.condition.threshold.reset();
    Reading learning;
    learning.value = 501;
    learning.samples = 10;
    set_bounds(settings, learning, {}, history, monday + 10 * hour);
    CHECK(check_condition(settings, learning) == Verdict::good);
}

TEST_CASE("settings that make no sense are refused with the name of what is wrong") {
    const auto problem = [](auto change) {
        MonitorSettings settings = threshold_of(1);
        change(settings);
        const auto checked = check_settings(settings);
        return checked.ok() ? std::string("ok") : checked.error().message;
    };
    CHECK(problem([](MonitorSettings&) {}) == "ok");
    CHECK(problem([](MonitorSettings& s) { s.condition.threshold.reset(); }).find("threshold") != std::string::npos);
    CHECK(problem([](MonitorSettings& s) { s.condition.recover_threshold = 2; }).find("recover_threshold") !=
          std::string::npos);
    CHECK(problem([](MonitorSettings& s) { s.filter.value = "status = "; }).find("filter: column") == 0);
    CHECK(problem([](MonitorSettings& s) { s.window_seconds = 10; }).find("window_seconds") == 0);
    CHECK(problem([](MonitorSettings& s) { s.metric = telemetry::Metric::eval_score; }) == "eval_name is missing");
    CHECK(problem([](MonitorSettings& s) { s.condition.threshold = std::nan(""); }) != "ok");
    CHECK(problem([](MonitorSettings& s) { s.condition.type = ConditionType::absence, s.group_by = "model"; }) != "ok");
    CHECK(problem([](MonitorSettings& s) { s.mute_windows.value.resize(1); }) != "ok");
}

TEST_CASE("mute windows: between moments, weekly over midnight, by the clocks of a time zone") {
    const auto at = [](const char* text) { return must(parse_time(text)); };
    MuteWindow once;
    once.from = at("2026-03-01T10:00:00Z");
    once.to = at("2026-03-01T12:00:00Z");
    CHECK(is_in(once, at("2026-03-01T10:00:00Z")));
    CHECK(!is_in(once, at("2026-03-01T12:00:00Z")));
    MuteWindow nights;
    nights.days = std::vector<std::string>{"fri"};
    nights.start = "22:00";
    nights.end = "06:00";
    nights.time_zone = "Europe/Berlin";
    REQUIRE(outcome(check_mute_window(nights)) == "ok");
    CHECK(is_in(nights, at("2026-07-03T20:30:00Z")));  // Friday 22:30 in summer
    CHECK(!is_in(nights, at("2026-01-02T20:30:00Z"))); // Friday 21:30 in winter
    CHECK(is_in(nights, at("2026-07-04T03:59:00Z")));  // Saturday 05:59
    CHECK(!is_in(nights, at("2026-07-04T04:00:00Z")));
    CHECK(!is_in(nights, at("2026-07-04T20:30:00Z"))); // Saturday night
    for (const auto& [start, end, zone] :
         {std::tuple{"25:00", "26:00", "UTC"}, std::tuple{"10:00", "10:00", "UTC"}, std::tuple{"1:00", "02:00", "UTC"},
          std::tuple{"01:00", "02:00", "../etc"}}) {
        MuteWindow bad;
        bad.start = start;
        bad.end = end;
        bad.time_zone = zone;
        CHECK(outcome(check_mute_window(bad)) == "invalid");
    }
}
