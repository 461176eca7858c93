// The traces of an issue are those with its fault, on the real engine.
#include "signal/issue_traces.h"
#include "signal/replay/fix_traces.h"
#include "signal/testing.h"

using namespace hone;
using namespace hone::signal;
using namespace hone::access::testing;
using hone::signal::testing::Shop;
using telemetry::testing::TestSpan;
using telemetry::testing::text_attribute;

namespace {

constexpr int loops = 8, alike = 8;

// Traces 1 to 8 call `stock` seven times with one input, 9 to 16 once: all of them match the filter of the issue.
void send_loops(Shop& shop) {
    std::vector<TestSpan> spans;
    uint64_t id = 0;
    for (int i = 0; i < loops + alike; ++i) {
        const auto trace = static_cast<uint64_t>(++shop.traces);
        const int64_t start = to_ns(shop.world.clock.now()) - 300'000'000'000 + i * 1'000'000;
        TestSpan root{.trace = trace, .id = ++id, .start_ns = start, .name = "ticket"};
        root.attributes = text_attribute("input.value", "item " + std::to_string(i));
        spans.push_back(root);
        for (int call = 0; call < (i < loops ? 7 : 1); ++call) {
            TestSpan tool{.trace = trace, .id = ++id, .parent = root.id, .start_ns = start + 1 + call};
            tool.name = "stock";
            tool.attributes = text_attribute("openinference.span.kind", "TOOL") + "," +
                              text_attribute("input.value", "the same") + "," + text_attribute("output.value", "3");
            spans.push_back(tool);
        }
    }
    shop.send(spans);
}

std::set<std::string> as_set(const std::vector<std::string>& traces) {
    return {traces.begin(), traces.end()};
}

std::set<std::string> trace_ids(uint64_t from, uint64_t to) {
    std::set<std::string> ids;
    for (uint64_t trace = from; trace <= to; ++trace) ids.insert(telemetry::testing::hex_number(trace, 32));
    return ids;
}

struct LoopingShop {
    explicit LoopingShop(World& world)
        : shop(world),
          projects(world.access, world.database, world.clock, 90),
          spans(*shop.telemetry, projects, world.access, world.clock) {
        send_loops(shop);
        shop.enable();
        must(shop.signal->step());
        for (const Issue& issue : shop.issues())
            if (issue.detector == Detector::tool_loop) loop = issue;
        REQUIRE(loop.detector == Detector::tool_loop);
    }
    std::vector<std::string> traces(const Issue& issue, size_t limit = 100) {
        return must(traces_of_issue(spans, shop.signal->issues, issue, limit));
    }

    Shop shop;
    telemetry::TraceProjects projects;
    telemetry::Spans spans;
    Issue loop;
};

} // namespace

TEST_CASE("traces that match the filter of an issue and do not have its fault are not traces of the issue") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    LoopingShop made(world);
    CHECK(made.loop.traces == loops);
    CHECK(made.loop.filter == R"(kind = tool and name = "stock")");
    CHECK(made.loop.examples.size() == 5);
    const auto found = made.traces(made.loop);
    CHECK(as_set(found) == trace_ids(1, loops));
    CHECK(found.front() == telemetry::testing::hex_number(loops, 32)); // newest first
    CHECK(made.traces(made.loop, 6) == std::vector(found.begin(), found.begin() + 6));

    // By the filter alone it would be all of them.
    must(world.database.execute("UPDATE issue_fingerprints SET narrower = ''"));
    CHECK(as_set(made.traces(made.loop)) == trace_ids(1, loops + alike));
    must(made.shop.signal->scan(made.shop.project.id, "schedule", false));
    CHECK(as_set(made.traces(made.loop)) == trace_ids(1, loops));

    // An evaluator of the filter would fail all of them.
    CHECK(outcome(made.shop.signal->make_evaluator(world.admin, made.loop.id)) == "conflict");

    // A replay: those that loop are the evidence, the others are the control set.
    review::ReplaySettings settings;
    settings.command = std::string("true");
    settings.evidence = 20;
    settings.control = 20;
    const ChosenTraces chosen = must(choose_traces(made.spans, made.shop.signal->issues, settings, made.loop));
    std::set<std::string> evidence, control;
    for (const auto& one : chosen.examples)
        (one.set == review::ReplaySet::evidence ? evidence : control).insert(one.example.source->trace);
    CHECK(evidence == trace_ids(1, loops));
    CHECK(control == trace_ids(loops + 1, loops + alike));
}

TEST_CASE("the traces of an issue follow its fingerprints when issues are merged and split") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    LoopingShop made(world);
    Issues& issues = made.shop.signal->issues;
    NewIssue report;
    report.title = "One call is enough";
    report.filter = R"(input ~ "item 15")";
    const Issue reported =
        must(issues.report(world.admin, world.space, made.shop.project.id, world.admin.name, report));
    CHECK(as_set(made.traces(reported)) == trace_ids(16, 16));

    const Issue merged = must(issues.merge(world.admin, reported.id, made.loop.id));
    auto all = trace_ids(1, loops);
    all.merge(trace_ids(16, 16));
    CHECK(as_set(made.traces(merged)) == all);
    const Issue apart = must(issues.split(world.admin, merged.id, made.loop.fingerprint));
    CHECK(apart.examples.empty());
    CHECK(as_set(made.traces(apart)) == trace_ids(1, loops));

    // Of a finding of an earlier version only the examples are known, until a scan finds it again.
    must(world.database.execute("UPDATE issue_fingerprints SET narrower = NULL"));
    CHECK(made.traces(apart).empty());
    world.clock.advance(std::chrono::minutes(1));
    must(made.shop.signal->scan(made.shop.project.id, "schedule", false));
    CHECK(as_set(made.traces(apart)) == trace_ids(1, loops));
}
