// Windows of a monitor over a series that the test draws: what is compared with what.
#include "monitor/evaluate.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::monitor;
using namespace std::chrono_literals;

namespace {

// A span every second since `begin`, ten since `rush`.
class SteadySeries final : public SeriesSource {
public:
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override {
        const auto seconds = [&](Time since) {
            const int64_t from = std::max(request.scope.from_ns, to_ns(since));
            return static_cast<double>(std::max<int64_t>(0, request.scope.to_ns - from) / 1'000'000'000);
        };
        const double count = seconds(begin) + 9 * seconds(rush);
        std::vector<telemetry::SeriesPoint> points;
        if (count > 0) points.push_back({request.scope.from_ns, "", {count, count}});
        return points;
    }
    Time begin = Time(1000h);
    Time rush = Time(9000h);
};

} // namespace

TEST_CASE("change reports too little history until the previous window is complete") {
    SteadySeries line;
    Evaluator evaluator(line);
    MonitorSettings settings;
    settings.metric = telemetry::Metric::count;
    settings.condition.type = ConditionType::change;
    settings.condition.threshold = 1.5;
    settings.window_seconds = 3600;
    const auto read = [&](Duration after) {
        auto reading = evaluator.read(access::ProjectId(), settings, line.begin + after);
        REQUIRE(reading.ok());
        return reading.value();
    };
    CHECK(check_condition(settings, read(30min)) == Verdict::no_data); // nothing before
    const Reading piece = read(90min);                                 // twice what half a window held
    CHECK(check_condition(settings, piece) == Verdict::no_data);
    CHECK(piece.value == 3600);
    CHECK_FALSE(piece.upper.has_value());
    CHECK(piece.note.find("not enough history") != std::string::npos);
    CHECK(check_condition(settings, read(2h + 1s)) == Verdict::good);
    line.rush = line.begin + 3h;
    CHECK(check_condition(settings, read(4h)) == Verdict::bad);
    CHECK(read(4h).usual == 3600);
}
