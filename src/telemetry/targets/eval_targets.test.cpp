#include "telemetry/targets/eval_targets.h"
#include "telemetry/store_fixture.h"

#include <algorithm>

namespace hone::telemetry::testing {

namespace {

constexpr int64_t target_second = 1'000'000'000;
constexpr int64_t target_hour = 3600 * target_second;
constexpr int64_t target_now = base_ns + 48 * target_hour;

struct TargetSpan {
    int64_t number = 1; // of its trace and of itself
    int64_t ago_ns = 0; // when it began and was received
    std::string session = {};
    std::string parent = {};
    std::string kind = "agent";
    std::string status = "ok";
};

void insert_target_spans(const std::string& project, const std::vector<TargetSpan>& spans) {
    std::string rows;
    for (const TargetSpan& span : spans) {
        const std::string at = std::to_string(target_now - span.ago_ns);
        rows += (rows.empty() ? "('" : ", ('") + project + "', '" + hex_number(static_cast<uint64_t>(span.number), 32) +
                "', '" + hex_number(static_cast<uint64_t>(span.number), 16) + "', '" + span.parent + "', " + at + ", " +
                at + ", '" + span.session + "', '" + span.kind + "', '" + span.status + "')";
    }
    ClickHouseQuery query("INSERT INTO hone.spans (project, trace_id, span_id, parent_id, start_ns, received_ns, "
                          "chat_session, kind, status) VALUES " +
                          rows);
    query.deadline = 60s;
    const auto done = fixture().telemetry->engine().query(query);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
}

// As a search at `target_now` with this delay.
ReadyTargets ready_after(int64_t delay_ns) {
    ReadyTargets ready;
    ready.received_after = target_now - 2 * target_hour;
    ready.last_until = target_now - delay_ns;
    ready.rootless_until = std::min(ready.last_until, target_now - 600 * target_second);
    ready.first_until = target_now - 24 * target_hour;
    return ready;
}

std::vector<FoundTarget> new_targets(const TargetSample& sample, int64_t delay_ns) {
    EvalTargets targets(fixture().telemetry->engine());
    auto found = targets.find_new(sample, ready_after(delay_ns), {}, 1000);
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
    return std::move(found).value();
}

std::vector<std::string> sorted_ids(const std::vector<FoundTarget>& found) {
    std::vector<std::string> ids;
    for (const FoundTarget& one : found) ids.push_back(one.id);
    std::sort(ids.begin(), ids.end());
    return ids;
}

} // namespace

TEST_CASE("a chat session is a target after its pause, and one that never pauses after a day") {
    fixture().store();
    std::vector<TargetSpan> spans{{1, 3 * target_hour, "paused"}, {2, 1000 * target_second, "paused"},
                                  {3, target_hour, "young"},      {4, 10 * target_second, "young"},
                                  {5, 5 * target_hour, "old"},    {6, 10 * target_second}};
    for (int64_t hour = 0; hour <= 25; ++hour) spans.push_back({100 + hour, hour * target_hour, "endless"});
    insert_target_spans("project_sessions", spans);
    TargetSample sample{"project_sessions", EvalTarget::chat_session, "", whole_ppm, {}};
    const auto found = new_targets(sample, 900 * target_second);
    CHECK(sorted_ids(found) == std::vector<std::string>{"endless", "paused"});
    for (const FoundTarget& one : found) {
        CHECK(one.is_complete == (one.id == "paused"));
        CHECK(one.start_ns == target_now - (one.id == "paused" ? 3 : 25) * target_hour);
    }
    // Any of its spans decides whether it matches.
    sample.filter = "kind = tool";
    CHECK(new_targets(sample, 900 * target_second).empty());
    insert_target_spans("project_sessions", {{7, 1100 * target_second, "paused", "", "tool"}});
    CHECK(sorted_ids(new_targets(sample, 900 * target_second)) == std::vector<std::string>{"paused"});
}

TEST_CASE("a trace is a target after its delay, without its root later, and spans of evaluators never are") {
    fixture().store();
    const std::string parent = hex_number(999, 16);
    insert_target_spans("project_traces", {{1, 60 * target_second},
                                           {2, 10 * target_second},
                                           {3, 60 * target_second, "", parent},
                                           {4, 700 * target_second, "", parent},
                                           {5, 60 * target_second, "", "", "evaluator"}});
    const TargetSample sample{"project_traces", EvalTarget::trace, "", whole_ppm, {}};
    CHECK(sorted_ids(new_targets(sample, 30 * target_second)) ==
          std::vector<std::string>{hex_number(1, 32), hex_number(4, 32)});
    const TargetSample spans{"project_traces", EvalTarget::span, "", whole_ppm, {}};
    CHECK(sorted_ids(new_targets(spans, 0)).size() == 4);
}

TEST_CASE("a higher rate keeps the sample of a lower one, and strata have rates of their own") {
    fixture().store();
    std::vector<TargetSpan> spans;
    for (int64_t number = 1; number <= 400; ++number)
        spans.push_back({number, 60 * target_second, "", "", "agent", number % 10 == 0 ? "error" : "ok"});
    insert_target_spans("project_sample", spans);
    TargetSample sample{"project_sample", EvalTarget::trace, "", 200'000, {}};
    const auto fifth = new_targets(sample, 30 * target_second);
    sample.rate_ppm = 600'000;
    const auto more = sorted_ids(new_targets(sample, 30 * target_second));
    CHECK(fifth.size() > 40);
    CHECK(fifth.size() < 120);
    CHECK(more.size() > 180);
    CHECK(more.size() < 300);
    for (const FoundTarget& one : fifth) {
        CHECK(one.inclusion == 0.2);
        CHECK(std::binary_search(more.begin(), more.end(), one.id));
    }
    sample.rate_ppm = 200'000;
    sample.strata = {{"status = error", whole_ppm}};
    const auto stratified = new_targets(sample, 30 * target_second);
    CHECK(std::count_if(stratified.begin(), stratified.end(),
                        [](const FoundTarget& one) { return one.inclusion == 1; }) == 40);
    CHECK(stratified.size() > 70);
    CHECK(stratified.size() < 160);
    EvalTargets targets(fixture().telemetry->engine());
    const auto past = targets.count_past(sample, target_now - target_hour, target_now);
    REQUIRE(past.ok());
    CHECK(past.value().received == 400);
    CHECK(past.value().sampled == static_cast<int64_t>(stratified.size()));
}

} // namespace hone::telemetry::testing
