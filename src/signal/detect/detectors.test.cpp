// Each detector on data that holds the fault and on data that does not; on the real engine.
#include "signal/detect/detectors.h"
#include "bench/signal_corpus.h"
#include "demo/demo_traces.h"
#include "telemetry/query/filter.h"
#include "telemetry/store_fixture.h"

#include <set>

using namespace hone;
using namespace hone::signal;
using telemetry::testing::fixture;

namespace {

Findings look_at(const std::string& project, int64_t hours_of_window, int64_t hours_before, int64_t to_ns) {
    const Window window{"project_" + project, to_ns - (hours_of_window + hours_before) * hour_ns,
                        to_ns - hours_of_window * hour_ns, to_ns};
    auto found = run_detectors(fixture().telemetry->engine(), window, fixture().clock);
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message + " | " + found.error().trail));
    for (const DetectorCost& cost : found.value().costs) CHECK_MESSAGE(cost.failed == "", cost.name);
    return std::move(found).value();
}

std::set<std::string> titles(const Findings& findings) {
    std::set<std::string> all;
    for (const Candidate& candidate : findings.candidates)
        all.insert(std::string(name_of(candidate.detector)) + ": " + candidate.title);
    return all;
}

std::string joined(const std::set<std::string>& all) {
    std::string text;
    for (const std::string& one : all) text += one + "\n";
    return text;
}

// The corpus with this fault, looked at.
Findings corpus_with(Detector fault, uint64_t seed, double season = 0, double growth = 1) {
    bench::CorpusOptions options;
    options.season = season;
    options.growth = growth;
    options.fault = fault;
    options.seed = seed;
    options.to_ns = to_ns(fixture().clock.now());
    const std::string project = std::string(name_of(fault)) + std::to_string(seed) + (growth > 1 ? "growing" : "");
    const auto loaded = bench::load_corpus(*fixture().telemetry, options, project, "project_" + project);
    REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().message));
    return look_at(project, options.window_hours, options.baseline_hours, options.to_ns);
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
    const std::set<std::string> expected{
        "version_regression: rank_articles became 3.1 times slower with version 1.9.0",
        "version_regression: answer uses 2.0 times as many tokens with version 1.9.0",
        "empty_retrieval: search_articles finds nothing",
        "tool_failure: lookup_order fails: order service did not answer for # within # ms",
        "tool_loop: The agent calls check_stock repeatedly with the same input",
        "truncated_output: Outputs of gpt-4o-mini are cut off in answer",
        "unparsable_output: parse_intent cannot parse an output: Expecting value line # column # char #"};
    CHECK(joined(titles(findings)) == joined(expected));
    for (const Candidate& candidate : findings.candidates) {
        INFO(candidate.title);
        CHECK(telemetry::parse_filter(candidate.filter).ok());
        CHECK(candidate.traces >= candidate.least);
        CHECK(candidate.share > 0);
        CHECK(candidate.share <= 1);
        CHECK(candidate.confidence > 0.5);
        CHECK(candidate.examples.size() == 5);
        int64_t volume = 0;
        for (const auto& [hour, traces] : candidate.volume) volume += traces;
        CHECK(volume == candidate.traces + candidate.traces_before);
    }
    // The same spans give the same findings.
    CHECK(titles(look_at("demo", 24, 48, to_ns(now))) == titles(findings));
}

TEST_CASE("span ids are looked up within their trace: programs may number the spans of each trace alike") {
    fixture();
    const Time now = fixture().clock.now();
    otlp::Batch batch;
    batch.resources.emplace_back();
    batch.scopes.emplace_back();
    const auto add = [&](std::string_view trace, char id, char parent, std::string_view name, bool fails) {
        otlp::Span span;
        span.trace_id = trace;
        span.span_id = batch.keep(std::string(8, id));
        if (parent != 0) span.parent_span_id = batch.keep(std::string(8, parent));
        span.name = name;
        span.start_ns = static_cast<uint64_t>(to_ns(now) - hour_ns);
        span.end_ns = span.start_ns + 1000;
        span.status = fails ? otlp::StatusCode::error : otlp::StatusCode::ok;
        if (fails) span.status_message = "no answer";
        batch.spans.push_back(std::move(span));
    };
    for (int i = 0; i < 60; ++i) {
        // Where one trace has a step that fails, the other has the parent of one.
        const std::string_view one = batch.keep(fmt::format("numbered-a-{:05}", i));
        add(one, 'a', 0, "task", false);
        add(one, 'b', 'a', "first_step", true);
        const std::string_view other = batch.keep(fmt::format("numbered-b-{:05}", i));
        add(other, 'b', 0, "task", false);
        add(other, 'c', 'b', "second_step", true);
    }
    REQUIRE(fixture().telemetry->ingester().take(batch, "space", "numbered").ok());
    fixture().wait();
    const Findings findings = look_at("numbered", 24, 48, to_ns(now));
    CHECK(joined(titles(findings)) ==
          "error_cluster: first_step fails: no answer\nerror_cluster: second_step fails: no answer\n");
    for (const Candidate& candidate : findings.candidates) CHECK(candidate.traces == 60);
}

TEST_CASE("in a large window a failed phase of a tool's call is a failure of the tool") {
    fixture();
    const Time now = fixture().clock.now();
    otlp::Batch batch;
    batch.resources.emplace_back();
    batch.scopes.emplace_back();
    const auto add = [&](std::string_view trace, char id, char parent, std::string_view name, std::string_view kind,
                         std::string_view tool, std::string_view error) {
        otlp::Span span;
        span.trace_id = trace;
        span.span_id = batch.keep(std::string(8, id));
        if (parent != 0) span.parent_span_id = batch.keep(std::string(8, parent));
        span.name = name;
        span.start_ns = static_cast<uint64_t>(to_ns(now) - hour_ns);
        span.end_ns = span.start_ns + 1000;
        span.status = error.empty() ? otlp::StatusCode::ok : otlp::StatusCode::error;
        span.status_message = error;
        span.attributes.push_back({"openinference.span.kind", {kind}});
        if (!tool.empty()) span.attributes.push_back({"tool.name", {tool}});
        batch.spans.push_back(std::move(span));
    };
    for (int i = 0; i < 240; ++i) {
        const std::string_view trace = batch.keep(fmt::format("phase-{:010}", i));
        add(trace, 'a', 0, "interaction", "AGENT", "", "");
        add(trace, 'b', 'a', "tool", "TOOL", i % 3 == 0 ? "lookup_order" : "read_file", "");
        add(trace, 'c', 'b', "tool.execution", "CHAIN", "", i % 3 == 0 ? "no such order" : "");
        add(trace, 'd', 'a', "save", "CHAIN", "", i % 4 == 0 ? "the disk is full" : "");
    }
    REQUIRE(fixture().telemetry->ingester().take(batch, "space", "phases").ok());
    fixture().wait();
    const Findings findings = look_at("phases", 24, 48, to_ns(now));
    CHECK(joined(titles(findings)) ==
          "error_cluster: save fails: the disk is full\ntool_failure: lookup_order fails: no such order\n");
    for (const Candidate& candidate : findings.candidates)
        if (candidate.detector == Detector::tool_failure) {
            CHECK(candidate.traces == 80);
            CHECK(candidate.explanation.starts_with("100 %")); // of the traces that call this tool
        }
}

TEST_CASE("a small project: failures by place and cause, behaviour of agents, and few cases as evidence") {
    fixture();
    const Time now = fixture().clock.now();
    otlp::Batch batch;
    batch.resources.emplace_back();
    batch.scopes.emplace_back();
    uint64_t ids = 0;
    int64_t at = to_ns(now) - hour_ns;
    std::string_view trace;
    // Returns the id of the span.
    const auto add = [&](std::string_view parent, std::string name, std::string_view kind, std::string input,
                         std::string output, std::string failure) {
        otlp::Span span;
        span.trace_id = trace;
        span.span_id = batch.keep(fmt::format("s{:07}", ++ids));
        span.parent_span_id = parent;
        span.name = batch.keep(std::move(name));
        span.start_ns = static_cast<uint64_t>(at += 1000);
        span.end_ns = span.start_ns + 10;
        span.status = failure.empty() ? otlp::StatusCode::ok : otlp::StatusCode::error;
        span.attributes.push_back({"openinference.span.kind", {kind}});
        span.attributes.push_back({"input.value", {batch.keep(std::move(input))}});
        span.attributes.push_back({"output.value", {batch.keep(std::move(output))}});
        if (!failure.empty()) {
            otlp::Event event;
            event.name = "exception";
            event.attributes.push_back({"exception.type", {std::string_view("ExecutionError")}});
            event.attributes.push_back({"exception.message", {batch.keep(std::move(failure))}});
            span.events.push_back(std::move(event));
        }
        batch.spans.push_back(std::move(span));
        return batch.spans.back().span_id;
    };
    const std::string prompt = R"({"role":"system","content":"You have these tools:\n- search_web: searches"})";
    const auto messages = [&](const std::string& newest) {
        return R"({"messages":[)" + prompt + R"(,{"role":"tool","content":")" + newest + R"("}]})";
    };
    for (int i = 0; i < 12; ++i) {
        trace = batch.keep(fmt::format("small-trace-{:04}", i));
        const auto agent = add("", "agent", "AGENT", "task", "result", "");
        const auto first =
            add(agent, fmt::format("Step {}", i % 3 + 1), "CHAIN", "", "",
                i < 4 ? fmt::format("failed at line 'x = {}' due to: NameError: name 'v{}' is not defined", i, i) : "");
        add(first, "model", "LLM", messages("go"), "I plan.", "");
        const auto second = add(agent, "Step 9", "CHAIN", "", "", "");
        add(second, "model", "LLM",
            messages(i < 4 ? "Error: failed at line 'x' due to: NameError: name 'v' is not defined" : "fine"),
            "I use search_web for it.", "");
        if (i >= 3) add(second, "SearchWeb", "TOOL", "query", i < 6 ? R"({"error":"no such page"})" : "a page", "");
        add(second, "final_answer", "TOOL", "4", "4", "");
    }
    REQUIRE(fixture().telemetry->ingester().take(batch, "space", "agents").ok());
    fixture().wait();
    const Findings findings = look_at("agents", 24, 48, to_ns(now));
    CHECK(joined(titles(findings)) == "error_cluster: Step # fails: NameError: name * is not defined\n"
                                      "reported_error: SearchWeb returns an error as its result: no such page\n"
                                      "unused_tools: agent names its tools and returns a result without calling one\n");
    for (const Candidate& candidate : findings.candidates) {
        INFO(candidate.title);
        CHECK(telemetry::parse_filter(candidate.filter).ok());
        CHECK(candidate.traces == (candidate.detector == Detector::error_cluster ? 4 : 3));
        CHECK(candidate.confidence < 0.5);
        // The failed steps, and the calls that receive the error.
        if (candidate.detector == Detector::error_cluster)
            CHECK(candidate.filter.find(") or span_id in (") != std::string::npos);
    }
}

TEST_CASE("each detector finds its fault and no other detector reports it") {
    for (const Detector fault : bench::corpus_faults) {
        const Findings findings = corpus_with(fault, 1);
        INFO("with ", std::string(name_of(fault)), ":\n", joined(titles(findings)));
        CHECK(findings.candidates.size() == 1);
        if (!findings.candidates.empty()) CHECK(findings.candidates.front().detector == fault);
    }
}

TEST_CASE("clean data gives no findings") {
    for (const uint64_t seed : {11, 12, 13}) {
        const Findings findings = corpus_with(Detector::reported, seed);
        CHECK(joined(titles(findings)) == "");
        CHECK(findings.spans > 1000);
        CHECK(findings.cost.rows_read > 0);
    }
}

TEST_CASE("busy hours that are slow every day, and traffic that grows, are no findings") {
    for (const uint64_t seed : {21, 22}) CHECK(joined(titles(corpus_with(Detector::reported, seed, 0.6, 1.3))) == "");
}

TEST_CASE("a model that starts to respond later is found, though its calls do not take longer") {
    fixture();
    const int64_t now = to_ns(fixture().clock.now());
    otlp::Batch batch;
    batch.resources.emplace_back();
    batch.scopes.emplace_back();
    const int count = 1200;
    for (int i = 0; i < count; ++i) {
        otlp::Span span;
        span.trace_id = batch.keep(fmt::format("slow-start-{:05}", i));
        span.span_id = batch.keep(fmt::format("s{:07}", i));
        span.name = "chat";
        span.start_ns = static_cast<uint64_t>(now - (count - i) * (72 * hour_ns / count));
        span.end_ns = span.start_ns + 4'000'000'000 + static_cast<uint64_t>(i * 37 % 100) * 5'000'000;
        span.attributes.push_back({"openinference.span.kind", {std::string_view("LLM")}});
        span.attributes.push_back({"llm.model_name", {std::string_view("gpt-4o")}});
        const int64_t milliseconds = (i < count * 2 / 3 ? 300 : 1200) + i * 53 % 60;
        span.attributes.push_back({"ttft_ms", {milliseconds}});
        batch.spans.push_back(std::move(span));
    }
    REQUIRE(fixture().telemetry->ingester().take(batch, "space", "slowstart").ok());
    fixture().wait();
    const Findings findings = look_at("slowstart", 24, 48, now);
    INFO(joined(titles(findings)));
    REQUIRE(findings.candidates.size() == 1);
    const Candidate& candidate = findings.candidates.front();
    CHECK(candidate.detector == Detector::latency_regression);
    CHECK(candidate.title.ends_with("slower to its first token"));
    CHECK(candidate.filter.find("first_token > ") != std::string::npos);
    CHECK(telemetry::parse_filter(candidate.filter).ok());
}

TEST_CASE("a project without spans, or with a window that is none") {
    fixture().store();
    CHECK(look_at("nothing", 24, 72, to_ns(fixture().clock.now())).candidates.empty());
    CHECK_FALSE(run_detectors(fixture().telemetry->engine(), {"project_x", 5, 5, 7}, fixture().clock).ok());
}
