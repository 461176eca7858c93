// Each detector on data that holds the fault and on data that does not; on the real engine.
#include "signal/detectors.h"
#include "demo/demo_traces.h"
#include "telemetry/store_fixture.h"

#include <cstdio>

using namespace hone;
using namespace hone::signal;
using telemetry::testing::fixture;

namespace {

Findings look_at(const std::string& project, int64_t hours_of_window, int64_t hours_before, int64_t to_ns) {
    const Window window{"project_" + project, to_ns - (hours_of_window + hours_before) * hour_ns,
                        to_ns - hours_of_window * hour_ns, to_ns};
    auto found = look(fixture().telemetry->engine(), window, fixture().clock);
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message + " | " + found.error().trail));
    for (const DetectorCost& cost : found.value().costs) CHECK_MESSAGE(cost.failed == "", cost.name);
    return std::move(found).value();
}

} // namespace

TEST_CASE("every fault of the demo is found, and nothing else") {
    fixture();
    const Time now = fixture().clock.now();
    for (size_t at = 0; at < demo::trace_count; at += 500) {
        otlp::Batch batch = demo::make_traces(now, at, at + 500);
        REQUIRE(fixture().telemetry->ingester().take(batch, "space", "demo").ok());
    }
    fixture().wait();
    const Findings findings = look_at("demo", 24, 48, to_ns(now));
    std::vector<std::string> said;
    for (const Candidate& candidate : findings.candidates) {
        said.push_back(std::string(name_of(candidate.detector)) + " " + candidate.title);
        std::printf("%-20s %-60s %lld (%lld before) share %.3f growth %.1f conf %.2f\n   %s\n",
                    name_of(candidate.detector).data(), candidate.title.c_str(), (long long)candidate.traces,
                    (long long)candidate.traces_before, candidate.share, candidate.growth, candidate.confidence,
                    candidate.filter.c_str());
    }
    CHECK(findings.candidates.size() == 7);
}
