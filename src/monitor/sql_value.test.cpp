#include "monitor/sql_value.h"

#include "monitor/evaluate.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::monitor;
using namespace std::chrono_literals;

namespace {

const std::string good = "SELECT count() FROM spans WHERE start_ns >= {{window.from}} AND start_ns < {{window.to}}";

// Remembers what is run; its value is the number of the window's hour.
class SqlSource final : public SeriesSource {
public:
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series&) override {
        return internal("only SQL here");
    }
    Result<std::optional<double>> number(const access::ProjectId&, const std::string& sql) override {
        ran.push_back(sql);
        return value;
    }
    std::vector<std::string> ran;
    std::optional<double> value = 7;
};

} // namespace

TEST_CASE("sql of a monitor is over its window and has no other variables") {
    CHECK(check_sql(good).ok());
    CHECK_FALSE(check_sql("SELECT 1").ok());
    CHECK_FALSE(check_sql(good + " AND name = {{name}}").ok());
    CHECK_FALSE(check_sql(good + std::string(longest_monitor_sql, ' ')).ok());
    const std::string sql = sql_for_window(good, Time(1h), Time(2h));
    CHECK(sql.find("{{") == std::string::npos);
    CHECK(sql.ends_with("start_ns >= 3600000000000 AND start_ns < 7200000000000"));
}

TEST_CASE("one row with one number is the value; no row and null are none; everything else is an error") {
    const auto read = [](const char* text) { return number_in_result(text); };
    CHECK(read(R"({"data":[{"spans":"42"}]})").value() == 42);
    CHECK(read(R"({"data":[{"x":0.5}]})").value() == 0.5);
    CHECK_FALSE(read(R"({"data":[]})").value());
    CHECK_FALSE(read(R"({"data":[{"x":null}]})").value());
    CHECK_FALSE(read(R"({"data":[{"x":1},{"x":2}]})").ok());
    CHECK_FALSE(read(R"({"data":[{"x":1,"y":2}]})").ok());
    CHECK_FALSE(read(R"({"data":[{"x":"seven"}]})").ok());
    CHECK_FALSE(read("[]").ok());
}

TEST_CASE("a monitor with sql compares its number with a limit and with the window before") {
    SqlSource source;
    Evaluator evaluator(source);
    MonitorSettings settings;
    settings.sql = good;
    settings.window_seconds = 3600;
    settings.frequency_seconds = 3600;
    settings.condition.threshold = 5;
    const auto read = [&] {
        const auto reading = evaluator.read(access::ProjectId(), settings, Time(1000h));
        REQUIRE(reading.ok());
        return reading.value();
    };
    CHECK(check_condition(settings, read()) == Verdict::bad);
    source.value = 3;
    CHECK(check_condition(settings, read()) == Verdict::good);
    source.value.reset();
    CHECK(check_condition(settings, read()) == Verdict::no_data);
    source.value = 3;
    settings.condition.type = ConditionType::change;
    source.ran.clear();
    CHECK(read().usual == 3);
    CHECK(source.ran.size() == 2);
    source.ran.clear();
    CHECK(evaluator.replay(access::ProjectId(), settings, Time(1000h), Time(1168h)).ok());
    CHECK(source.ran.size() <= 26); // a dry run is at most a dozen points
}

TEST_CASE("sql excludes what belongs to metrics of spans") {
    MonitorSettings settings;
    settings.sql = good;
    settings.condition.threshold = 1;
    CHECK(check_settings(settings).ok());
    MonitorSettings both = settings;
    both.metric = telemetry::Metric::count;
    CHECK_FALSE(check_settings(both).ok());
    MonitorSettings none = settings;
    none.sql.reset();
    CHECK_FALSE(check_settings(none).ok());
    MonitorSettings filtered = settings;
    filtered.filter = std::string("name = \"x\"");
    CHECK_FALSE(check_settings(filtered).ok());
    MonitorSettings grouped = settings;
    grouped.group_by = "name";
    CHECK_FALSE(check_settings(grouped).ok());
    for (const ConditionType type : {ConditionType::automatic, ConditionType::absence}) {
        MonitorSettings other = settings;
        other.condition = {};
        other.condition.type = type;
        CHECK_FALSE(check_settings(other).ok());
    }
}
