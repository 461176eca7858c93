// Metric triggers over real spans in the real engine.
#include "automation/metric.h"

#include "telemetry/store_fixture.h"

#include <cmath>

using namespace hone;
using namespace hone::automation;
using telemetry::Metric;
using telemetry::testing::fixture;
using telemetry::testing::TestSpan;

namespace {

constexpr int64_t metric_second = 1'000'000'000;

Trigger metric(Metric wanted, double threshold) {
    Trigger trigger;
    trigger.type = TriggerType::metric;
    trigger.metric = wanted;
    trigger.threshold = threshold;
    return checked_trigger(trigger).value();
}

} // namespace

TEST_CASE("a metric is measured over its window, and the dry run shows when it would have fired") {
    const access::ProjectId project("project_dry");
    // A span a minute for two hours; in ten minutes of the second hour all of them fail and are slow.
    const int64_t end = telemetry::testing::base_ns / (3600 * metric_second) * (3600 * metric_second);
    std::vector<TestSpan> spans;
    for (int minute = 0; minute < 120; ++minute) {
        const bool bad = minute >= 80 && minute < 90;
        TestSpan span;
        span.trace = span.id = static_cast<uint64_t>(minute) + 1;
        span.start_ns = end - (120 - minute) * 60 * metric_second + metric_second;
        span.duration_ns = bad ? 5 * metric_second : metric_second / 10;
        span.status = bad ? 2 : 1;
        spans.push_back(span);
    }
    REQUIRE(fixture().send_json("dry", telemetry::testing::request(spans)).status == 200);
    fixture().wait();
    telemetry::SpanStore& store = fixture().store();
    const Time now = from_ns(end);
    const auto at = [&](int minute) { return from_ns(end - (120 - minute) * 60 * metric_second); };

    const Trigger errors = metric(Metric::errors, 3);
    const Measured measured = measure(store, project, errors, at(75), at(90)).value();
    CHECK(measured.value == 10);
    CHECK(measured.samples == 15);
    CHECK(measure(store, project, metric(Metric::latency_p95, 1), at(80), at(90)).value().value ==
          doctest::Approx(5000));
    CHECK(measure(store, project, metric(Metric::error_rate, 1), at(-20), at(-10)).value().samples == 0);
    CHECK(std::isnan(measure(store, project, metric(Metric::error_rate, 1), at(-20), at(-10)).value().value));
    CHECK(measure(store, project, metric(Metric::count, 1), at(-20), at(-10)).value().value == 0);

    for (const Trigger& trigger : {errors, metric(Metric::error_rate, 0.2), metric(Metric::latency_mean, 1500)}) {
        INFO(name_of(*trigger.metric));
        const TriggerPreview preview = dry_run(store, project, trigger, 0, now).value();
        REQUIRE(preview.past.size() == 1);
        CHECK(preview.past[0].outcome == SlotOutcome::fired);
        CHECK(preview.past[0].due_at > at(82));
        CHECK(preview.past[0].due_at < at(100));
        // Every point is what a look at that moment would have measured.
        for (const PreviewPoint& point : preview.points) {
            if (point.time < at(0) || point.samples == 0) continue;
            const Measured looked =
                measure(store, project, trigger, point.time - std::chrono::minutes(15), point.time).value();
            REQUIRE(looked.samples == point.samples);
            REQUIRE(*point.value == doctest::Approx(looked.value));
        }
    }
    CHECK(dry_run(store, project, metric(Metric::errors, 100), 0, now).value().past.empty());
    // What happened since the last step counts, too: these are from two minutes before.
    for (const Trigger& trigger : {errors, metric(Metric::latency_p99, 1000)}) {
        const TriggerPreview preview = dry_run(store, project, trigger, 0, at(84)).value();
        REQUIRE(preview.past.size() == 1);
        CHECK(preview.past[0].due_at == at(84));
        CHECK(preview.points.back().time == at(84));
    }
    // What cannot be put together from parts is asked window by window when looks would be too far apart.
    const TriggerPreview slow = dry_run(store, project, metric(Metric::latency_p95, 1000), 0, now).value();
    REQUIRE(slow.past.size() == 1);
    CHECK(slow.past[0].due_at == at(90));
    CHECK(*slow.past[0].value == doctest::Approx(5000));
    CHECK(slow.points.size() == 7 * 24 * 4);
    const TriggerPreview traces = dry_run(store, project, metric(Metric::traces, 14), 0, now).value();
    REQUIRE(traces.past.size() == 1);
    CHECK(traces.past[0].due_at == at(15));
    CHECK(traces.points.front().value == 0.0);
}
