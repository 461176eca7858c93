// Behaviour of agents, in traces that are built here.
#include "signal/detect/behaviour.h"
#include "signal/analysis/small_clusters.h"
#include "signal/detect/evidence.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace hone::signal;

namespace {

constexpr const char* prompt =
    "You solve tasks. You only have access to these tools:\n"
    "- search_web: searches\n- read_file(path): reads\n- final_answer: returns the result\n\n"
    "Rules:\n- never: guess";

// A sample, built span by span.
class Builder {
public:
    Builder& trace() {
        sample.traces.push_back({fmt::format("{:032x}", sample.traces.size() + 1), {}});
        m_now = 0;
        return *this;
    }
    // Below the span with this index; -1: a root.
    SampledSpan& add(int parent, std::string name, std::string kind) {
        SampledTrace& at = sample.traces.back();
        SampledSpan span;
        span.span_id = fmt::format("{:016x}", ++m_id);
        if (parent >= 0) span.parent_id = at.spans[static_cast<size_t>(parent)].span_id;
        span.name = std::move(name);
        span.kind = std::move(kind);
        span.start_ns = ++m_now;
        span.end_ns = span.start_ns + 1;
        at.spans.push_back(std::move(span));
        return at.spans.back();
    }
    SampledSpan& call(int parent, std::string output, const char* instruction = prompt) {
        SampledSpan& span = add(parent, "model", "llm");
        span.output = std::move(output);
        sample.messages.push_back(std::make_unique<hone::telemetry::Message>());
        sample.messages.back()->role = "system";
        sample.messages.back()->content = instruction;
        span.head.push_back(sample.messages.back().get());
        span.newest.role = "user";
        return span;
    }
    void fail(SampledSpan& span, std::string type, std::string message) {
        span.failed = true;
        span.exception = std::move(type);
        span.message = std::move(message);
        span.in_exception = true;
    }
    Sample& done() {
        for (SampledTrace& one : sample.traces) one.link();
        sample.is_whole = true;
        return sample;
    }
    Sample sample;

private:
    uint64_t m_id = 0;
    int64_t m_now = 0;
};

// An agent with one step; with a call of a tool or without.
void add_agent(Builder& build, const std::string& output, bool uses_tool) {
    build.trace().add(-1, "Agent 1", "agent");
    build.add(0, "Step 1", "chain");
    build.call(1, output);
    if (uses_tool) build.add(1, "SearchWeb", "tool");
    build.add(1, "FinalAnswerTool", "tool");
}

std::string abouts(const std::vector<Sighting>& sightings) {
    std::string all;
    for (const Sighting& one : sightings) all += fmt::format("{}:{} ", one.trace, one.about);
    return all;
}

} // namespace

TEST_CASE("a result without any call of a tool is seen, unless the agent never uses tools") {
    Builder build;
    add_agent(build, "I use search_web to look it up. The result is 4.", false);
    add_agent(build, "The result is 4.", false);
    add_agent(build, "search_web(query='x')", true);
    const auto seen = unused_tools(build.done());
    CHECK(abouts(seen) == "0:named 1: ");
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].place == "Agent #");
    CHECK(seen[0].excerpt == "I use search_web to look it up");
    CHECK(seen[0].span == build.sample.traces[0].spans.back().span_id);

    Builder never;
    add_agent(never, "The result is 4.", false);
    add_agent(never, "The result is 5.", false);
    CHECK(unused_tools(never.done()).empty());
}

TEST_CASE("an agent that converses needs no tool") {
    Builder build;
    for (int i = 0; i < 5; ++i) {
        build.trace().add(-1, "chat", "agent");
        build.call(0, "Hello.");
        if (i == 0) build.add(0, "SearchWeb", "tool");
    }
    CHECK(unused_tools(build.done()).empty());
}

TEST_CASE("a step that announces a tool and does not call it") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.add(0, "Step 1", "chain");
    build.call(1, "I will ask search_web for it.\n```py\ntask = 'find it'\nprint(task)\n```");
    build.add(0, "Step 2", "chain");
    build.call(3, "Now I call search_web.\n```py\nsearch_web('it')\n```");
    build.add(0, "Step 3", "chain");
    build.call(5, "The page of search_web was empty.");
    CHECK(abouts(announced_calls(build.done())) == "0:search_web ");
}

TEST_CASE("calls of unknown tools and with arguments that do not fit") {
    Builder build;
    auto tools = std::make_unique<std::vector<std::string>>();
    tools->push_back(
        R"({"type":"function","function":{"name":"page_down","parameters":{"type":"object","properties":{}}}})");
    tools->push_back(R"({"name":"search","input_schema":{"properties":{"query":{},"year":{}},"required":["query"]}})");
    build.trace().add(-1, "agent", "agent");
    const auto call = [&](const char* name, const char* arguments) {
        SampledSpan& span = build.call(0, "");
        span.tools = tools.get();
        span.calls.push_back({"1", name, arguments});
    };
    call("page_down", "{}");
    call("page_down", R"({"": ""})");
    call("search", R"({"query": "x", "year": 3})");
    call("search", R"({"year": 3})");
    call("search", "x");
    call("scroll", "{}");
    CHECK(abouts(invalid_calls(build.done())) ==
          "0:page_down\narguments 0:search\narguments 0:search\narguments 0:scroll\nunknown ");
}

TEST_CASE("steps that repeat or alternate are seen from the third and the fourth on") {
    CHECK(likeness("a b c d", "a b c d") == 1);
    CHECK(likeness("a b", "c d") == 0);
    Builder build;
    build.trace().add(-1, "agent", "agent");
    for (const char* step : {"open the file one two three four five", "open the file one two three four five",
                             "think about something else entirely", "open the file one two three four six five"})
        build.call(0, step);
    build.trace().add(-1, "agent", "agent");
    for (const char* step : {"scroll the page down now", "read the other long text", "scroll the page down now",
                             "read the other long text"})
        build.call(0, step);
    build.trace().add(-1, "agent", "agent");
    for (const char* step : {"yes", "yes", "yes", "first step of the plan", "second part of a program"})
        build.call(0, step);
    CHECK(abouts(repeated_steps(build.done())) == "0:repeats 1:alternates ");
}

TEST_CASE("limits, tags and formats of an instruction are checked") {
    constexpr const char* limit = "Print only the first 500 characters of a file.";
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.call(0, "```py\nprint(text[:500])\n```", limit);
    build.call(0, "```py\nprint(text[:1000])\n```", limit);
    build.call(0, "```py\nprint(text[at:at + 2000])\n```", limit);
    build.call(0, "```py\nrows = text[:1000]\n```", limit);
    build.call(0, "```py\nprint(text[:1000])\n```", "The novel has 500 characters.");
    for (int i = 0; i < 4; ++i)
        build.call(0, i == 0 ? "1. search" : "1. search <end_plan>").newest.content =
            "Then write the '<end_plan>' tag.";
    for (const char* output : {"{\"a\": 1}", "```json\n[1]\n```", "Sure: {"})
        build.call(0, output).newest.content = "Classify it. Respond only with JSON.";
    CHECK(abouts(ignored_instructions(build.done())) == "0:500 characters 0:500 characters 0:JSON 0:<end_plan> ");
}

TEST_CASE("a tag that no output has is a stop sequence") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    for (int i = 0; i < 4; ++i) build.call(0, "1. search").newest.content = "Then write the '<end_plan>' tag.";
    CHECK(ignored_instructions(build.done()).empty());
}

TEST_CASE("an agent that ends at its limit, or without a result that others have") {
    Builder build;
    for (int i = 0; i < 4; ++i) {
        build.trace().add(-1, "agent", "agent").output = i == 0 ? "None" : "a result";
        build.add(0, "Step 1", "chain");
        build.call(1, "working");
        build.add(0, "Step 2", "chain");
        build.sample.traces.back().spans[0].most_steps = i == 3 ? 2 : 20;
    }
    CHECK(abouts(missing_results(build.done())) == "3:steps 0:empty ");
}

TEST_CASE("a conversation that grows until a call is rejected") {
    Builder build;
    for (const bool is_rejected : {true, false}) {
        build.trace().add(-1, "agent", "agent");
        for (const int64_t tokens : {2000, 9000, 40000}) build.call(0, "step").input_tokens = tokens;
        SampledSpan& last = build.call(0, "");
        if (is_rejected) build.fail(last, "BadRequestError", "This model's maximum context length is 32768 tokens");
    }
    CHECK(abouts(growing_contexts(build.done())) == "0:context ");
}

TEST_CASE("failures of a small window: by place and cause, where they begin, with the calls that receive them") {
    Builder build;
    for (int i = 0; i < 2; ++i) {
        build.trace().add(-1, "agent", "agent");
        const std::string name = fmt::format("Step {}", i + 1);
        SampledSpan& step = build.add(0, name, "chain");
        build.fail(
            step, "ExecutionError",
            fmt::format("failed at line 'x = {}' due to: TypeError: f() got an unexpected keyword argument 'k{}'", i,
                        i));
        SampledSpan& next = build.call(0, "I try again");
        next.newest.role = "tool";
        next.newest.content = fmt::format("Error:\nfailed at line 'x' due to: TypeError: f() got a value '{}'", i);
        // The tool fails, and its parent with it: only the tool counts.
        SampledSpan& parent = build.add(0, "Step 9", "chain");
        build.fail(parent, "ExecutionError", "Error in tool: TimeoutError: no reply");
        build.fail(build.add(3, "fetch", "tool"), "TimeoutError", "no reply");
        build.add(0, "Step 10", "chain");
    }
    const Sample& sample = build.done();
    const auto others = small_clusters(sample, FailedPart::others);
    REQUIRE(others.size() == 1);
    CHECK(others[0].name == "Step #");
    CHECK(others[0].pattern == "TypeError: f got an unexpected keyword argument *");
    CHECK(others[0].traces == 2);
    CHECK(others[0].ended == 0);
    CHECK(others[0].names.size() == 2);
    CHECK(others[0].reports.size() == 2);
    const auto tools = small_clusters(sample, FailedPart::tools);
    REQUIRE(tools.size() == 1);
    CHECK(tools[0].name == "fetch");
    CHECK(small_clusters(sample, FailedPart::limits).empty());
    // What a failed span states already is no failure of a text.
    CHECK(text_failures(sample).empty());
}

TEST_CASE("in a small window one failure counts when it ends the trace; rare ones of a place are one cluster") {
    Builder build;
    const auto add = [&](const char* message, bool ends) {
        build.trace().add(-1, "agent", "agent");
        build.fail(build.add(0, "run", "chain"), "ExecutionError", message);
        if (!ends) build.add(0, "later", "chain");
    };
    add("due to: KeyError: 'a'", true);
    add("due to: ValueError: bad", false);
    add("due to: IndexError: far", false);
    const auto found = small_clusters(build.done(), FailedPart::others);
    REQUIRE(found.size() == 2);
    CHECK(found[0].pattern == "KeyError: *");
    CHECK(found[0].ended == 1);
    CHECK(found[1].has_rest);
    CHECK(found[1].parts.size() == 2);

    Builder single;
    single.trace().add(-1, "agent", "agent");
    single.fail(single.add(0, "run", "chain"), "ExecutionError", "due to: KeyError: 'a'");
    single.add(0, "later", "chain");
    CHECK(small_clusters(single.done(), FailedPart::others).empty());
}

TEST_CASE("limits of a provider are a part of their own") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.fail(build.call(0, ""), "openai.RateLimitError", "Rate limit reached");
    const Sample& sample = build.done();
    CHECK(small_clusters(sample, FailedPart::limits).size() == 1);
    CHECK(small_clusters(sample, FailedPart::others).empty());
}

TEST_CASE("failures that only a text reports") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.add(0, "lookup", "tool").output = R"({"error": "no such order"})";
    SampledSpan& next = build.call(0, "It does not exist.");
    next.newest.role = "tool";
    next.newest.content = "HTTP 503 Service Unavailable";
    build.add(0, "read", "tool").output = "A page about error handling.";
    const auto found = text_failures(build.done());
    REQUIRE(found.size() == 2);
    CHECK(found[0].cause.detail == "no such order");
    CHECK(found[1].cause.detail == "HTTP 503 Service Unavailable");
}

TEST_CASE("a failure that passes through spans which do not record it begins once, below") {
    Builder build;
    const auto fail_assistant = [&](const char* message) {
        SampledSpan& assistant = build.add(0, "assistant", "agent");
        assistant.end_ns = 100; // after all that it does
        build.fail(assistant, "", message);
    };
    build.trace().add(-1, "workflow", "agent");
    fail_assistant("Error in agent run: {'error': 'Error code: 500 - it is down'}");
    build.add(1, "turn", "chain");
    build.fail(build.call(2, ""), "", "Error getting response: {'error': 'Error code: 500 - it is down'}");
    // Another cause than that of the spans below it.
    build.trace().add(-1, "workflow", "agent");
    fail_assistant("Error in agent run: {'error': 'the budget is used up'}");
    build.add(1, "turn", "chain");
    build.fail(build.add(2, "fetch", "tool"), "", "no such page");
    const auto found = small_clusters(build.done(), FailedPart::others);
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "assistant");
    CHECK(found[0].pattern == "the budget is used up");
    CHECK(found[1].name == "model");
    CHECK(found[1].pattern == "Error code # - it is down");
}

TEST_CASE("a tool whose span has another name is known by its own") {
    Builder build;
    for (const char* tool : {"lookup_order", "lookup_order", "search"}) {
        build.trace().add(-1, "agent", "agent");
        SampledSpan& span = build.add(0, "ToolCall", "tool");
        span.tool = tool;
        build.fail(span, "TimeoutError", "no reply");
    }
    const auto found = small_clusters(build.done(), FailedPart::tools);
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "lookup_order");
    CHECK(found[0].by_tool);
    CHECK(found[0].traces == 2);
    const Candidate candidate = candidate_of(found[0], Detector::tool_failure, "fails");
    CHECK(candidate.title == "lookup_order fails: no reply");
    CHECK(candidate.filter.find(R"(name = "ToolCall" and tool in ("lookup_order"))") != std::string::npos);
    CHECK(found[1].name == "search");
}

TEST_CASE("a failed phase of a tool's call is a failure of the tool") {
    Builder build;
    for (int i = 0; i < 2; ++i) {
        build.trace().add(-1, "interaction", "agent");
        build.add(0, "claude_code.tool", "tool").tool = "lookup_order";
        build.fail(build.add(1, "claude_code.tool.execution", "chain"), "ToolError", "no such order");
    }
    const auto found = small_clusters(build.done(), FailedPart::tools);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "lookup_order");
    CHECK(found[0].traces == 2);
    const Candidate candidate = candidate_of(found[0], Detector::tool_failure, "fails");
    CHECK(candidate.title == "lookup_order fails: no such order");
    CHECK(candidate.filter.find(R"(name = "claude_code.tool.execution")") != std::string::npos);
    CHECK(candidate.filter.find("tool in") == std::string::npos); // the phase does not name its tool
    CHECK(small_clusters(build.sample, FailedPart::others).empty());
}

TEST_CASE("of a failed call that two instrumentations saw, the span that has the reason counts") {
    Builder build;
    for (int i = 0; i < 2; ++i) {
        build.trace().add(-1, "agent", "agent");
        SampledSpan& outer = build.add(0, "Messages", "llm");
        outer.end_ns = 100;
        build.fail(outer, "APIError", "the model is down");
        build.fail(build.add(1, "anthropic.messages.create", "llm"), "APIError", "");
    }
    const auto found = small_clusters(build.done(), FailedPart::others);
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "Messages");
    CHECK(found[0].spans == 2);
}

TEST_CASE("a title has the name as spans have it where there is only one") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.fail(build.add(0, "chat gpt-4o", "chain"), "ServerError", "it is down");
    const auto one = small_clusters(build.done(), FailedPart::others);
    REQUIRE(one.size() == 1);
    CHECK(candidate_of(one[0], Detector::error_cluster, "fails").title == "chat gpt-4o fails: it is down");
}

TEST_CASE("an agent that fails because its model refuses is a consequence of the refusals") {
    Candidate refusals;
    refusals.detector = Detector::refused_output;
    refusals.title = "gpt refuses requests in response";
    refusals.sample = {1, 2, 3, 4, 5, 6};
    Candidate failure;
    failure.detector = Detector::error_cluster;
    failure.title = "assistant fails: Model refused to produce output";
    failure.severity = Severity::critical;
    failure.facts = {{"message", "Error in agent run: Model refused to produce output"}};
    failure.sample = {1, 2, 3, 4, 5, 6};
    Candidate other = failure;
    other.title = "assistant fails: the disk is full";
    other.facts = {{"message", "the disk is full"}};
    const auto kept = without_consequences({failure, refusals, other});
    REQUIRE(kept.size() == 2);
    for (const Candidate& candidate : kept) CHECK(candidate.title != failure.title);
    const Candidate& cause = kept[0].detector == Detector::refused_output ? kept[0] : kept[1];
    CHECK(cause.severity == Severity::critical);
    REQUIRE(cause.facts.size() == 1);
    CHECK(cause.facts[0].value == failure.title);
    // Of other traces it is a problem of its own.
    failure.sample = {1, 7, 8, 9, 10, 11};
    CHECK(without_consequences({failure, refusals}).size() == 2);
}

TEST_CASE("a message that repeats the failure of a tool in other words is no failure of its own") {
    Builder build;
    build.trace().add(-1, "agent", "agent");
    build.call(0, "I look it up.");
    build.fail(build.add(0, "lookup", "tool"), "OrderError", "Error running tool: order 7 is unknown");
    SampledSpan& next = build.call(0, "It does not exist.");
    next.newest.role = "tool";
    next.newest.content = "An error occurred while running the tool. Please try again.";
    CHECK(text_failures(build.done()).empty());
    // A call later the agent receives another one, which no span records.
    SampledSpan& last = build.call(0, "Still not.");
    last.newest.role = "tool";
    last.newest.content = "An error occurred while running the tool.";
    const auto found = text_failures(build.done());
    REQUIRE(found.size() == 1);
    CHECK(found[0].span == 4);
}
