// Which tools of a recorded trace are replayed, whether an input holds its conversation, and what a replay may read.
#include "evaluate/runner/replay_task.h"
#include "access/testing.h"
#include "evaluate/evaluate.h"

namespace hone::evaluate {

namespace {

using access::testing::must, access::testing::outcome, access::testing::World;

telemetry::SpanRow recorded_span(std::string id, std::string parent, telemetry::SpanKind kind) {
    telemetry::SpanRow span;
    span.span_id = std::move(id);
    span.parent_id = std::move(parent);
    span.kind = kind;
    return span;
}

std::string ids_of(const std::vector<telemetry::SpanRow>& spans) {
    std::string ids;
    for (const auto& span : spans) ids += (ids.empty() ? "" : " ") + span.span_id;
    return ids;
}

} // namespace

TEST_CASE("the tools that a span called are replayed, not those of another span and not those that a tool called") {
    using enum telemetry::SpanKind;
    const std::vector<telemetry::SpanRow> trace{
        recorded_span("root", "", agent),     recorded_span("step", "root", chain),
        recorded_span("first", "step", tool), recorded_span("inner", "first", llm),
        recorded_span("deep", "inner", tool), recorded_span("other", "", chain),
        recorded_span("away", "other", tool), recorded_span("second", "root", tool)};
    CHECK(ids_of(tool_calls_below(trace, "root")) == "first second");
    CHECK(ids_of(tool_calls_below(trace, "step")) == "first");
    CHECK(ids_of(tool_calls_below(trace, "first")) == "deep");
    CHECK(ids_of(tool_calls_below(trace, "unknown")).empty());
    // A span that claims to be below itself ends the search.
    const std::vector<telemetry::SpanRow> circle{recorded_span("a", "b", tool), recorded_span("b", "a", chain)};
    CHECK(ids_of(tool_calls_below(circle, "root")).empty());
    CHECK(ids_of(tool_calls_below(circle, "b")) == "a");
}

TEST_CASE("an input with a message of the application holds its conversation") {
    const auto holds = [](std::string_view text) { return holds_conversation(must(json::parse(text))); };
    CHECK(holds(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})"));
    CHECK(holds(R"([{"role":"model"}])"));
    CHECK(!holds(R"({"messages":[{"role":"user","content":"a"}]})"));
    CHECK(!holds(R"({"role":"assistant"})"));
    CHECK(!holds(R"({"input":"assistant"})"));
    CHECK(!holds("[7,null,[]]"));
}

TEST_CASE("a replay reads only projects of its caller, and lists what it did with each example") {
    access::testing::for_each_world([](World& world) {
        Evaluate evaluate(world.database, world.clock, world.access);
        const auto project = must(world.access.projects.create(world.admin, world.space, "recorded", "", false, {}));
        Upload upload;
        upload.name = "recorded";
        for (const std::string& from : {project.id.text(), std::string("project_gone"), std::string()}) {
            NewExample example;
            example.input = json::Object{{"from", from}};
            if (!from.empty()) example.source = ExampleSource{from, std::string(32, 'a'), std::string(16, 'b')};
            upload.examples.push_back(std::move(example));
        }
        const auto dataset = must(evaluate.datasets.upload(world.admin, world.space, std::move(upload))).dataset;
        const auto experiment = must(evaluate.experiments.create(world.admin, dataset, {}));
        StartTask wanted;
        wanted.task.kind = TaskKind::replay;
        const auto refused = [&](auto change) {
            StartTask other = wanted;
            change(other.task);
            const auto tried = evaluate.tasks.start(world.admin, experiment.id, other, {});
            return tried.ok() ? "started" : tried.error().message;
        };
        CHECK(refused([](auto& task) { task.replay_tools = ReplayTools::recorded; }) ==
              "replay_tools belongs to a replay through a command or a url");
        CHECK(refused([](auto& task) {
                  task.command = std::string("cat");
                  task.replay_tools = ReplayTools::none;
              }) == "replay_tools must be live or recorded");
        CHECK(refused([](auto& task) {
                  task.command = std::string("cat");
                  task.url = std::string("http://example.com/");
              }) == "give a command or a url, not both");
        CHECK(refused([](auto& task) { task.repo = std::string("app"); }) ==
              "command, files and repo belong to a task of kind command");
        const auto task = must(evaluate.tasks.start(world.admin, experiment.id, wanted, {}));
        CHECK(task.source_projects == std::vector{project.id.text()});

        const auto examples = must(evaluate.datasets.examples(world.admin, dataset, newest_version, {}, -1, 10));
        CHECK(outcome(Recordings(nullptr).find(task, examples[0])) == "unavailable");
        for (const Example& example : examples) {
            Replay replay;
            replay.example_id = example.id;
            replay.tools = ReplayTools::recorded;
            replay.tool_results = 2;
            if (!example.source_project) replay.reason = "no trace";
            must(evaluate.tasks.set_replay(experiment.id, replay));
        }
        CHECK(must(evaluate.tasks.find(world.admin, experiment.id)).not_replayed == 1);
        const auto first = must(evaluate.tasks.replays(world.admin, experiment.id, false, {2, {}}));
        REQUIRE(first.data.size() == 2);
        CHECK(first.data[0].source_project == project.id.text());
        CHECK(first.data[0].tools == ReplayTools::recorded);
        CHECK(first.data[0].tool_results == 2);
        const auto rest = must(evaluate.tasks.replays(world.admin, experiment.id, false, {2, first.next_cursor}));
        REQUIRE(rest.data.size() == 1);
        CHECK(rest.data[0].reason == "no trace");
        CHECK(!rest.next_cursor);
        CHECK(must(evaluate.tasks.replays(world.admin, experiment.id, true, {10, {}})).data.size() == 1);
        // It ended well at the next attempt.
        Replay again;
        again.example_id = examples[2].id;
        must(evaluate.tasks.set_replay(experiment.id, again));
        CHECK(must(evaluate.tasks.find(world.admin, experiment.id)).not_replayed == 0);
        // Nothing to replay at all.
        Upload plain;
        plain.name = "plain";
        plain.examples.emplace_back().input = json::Object{};
        const auto without = must(evaluate.datasets.upload(world.admin, world.space, std::move(plain))).dataset;
        const auto empty = must(evaluate.experiments.create(world.admin, without, {}));
        CHECK(outcome(evaluate.tasks.start(world.admin, empty.id, wanted, {})) == "invalid");
    });
}

} // namespace hone::evaluate
