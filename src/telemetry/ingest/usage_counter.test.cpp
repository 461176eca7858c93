#include "telemetry/ingest/usage_counter.h"
#include "base/testing.h"

#include "telemetry/store_fixture.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <random>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

using Call = UsageCounter::Call;

Call model_call(uint64_t span, uint64_t parent, int64_t tokens, uint64_t response = 0, SpanKind kind = SpanKind::llm) {
    return {span, parent, kind, {tokens, 0, 0, 0, 0}, tokens * 10, response, static_cast<int64_t>(span), true};
}

Call frame(uint64_t span, uint64_t parent, SpanKind kind, int64_t tokens = 0) {
    return model_call(span, parent, tokens, 0, kind);
}

struct Scenario {
    const char* name;
    std::vector<std::pair<std::string, Call>> spans;
    int64_t tokens; // that really were used
};

std::vector<Scenario> scenarios() {
    Call detailed = model_call(3, 2, 100);
    detailed.tokens = {40, 60, 0, 0, 0};
    return {
        {"a call inside a call", {{"a", model_call(1, 0, 100)}, {"a", model_call(2, 1, 100)}}, 100},
        {"a call inside a call with a span between",
         {{"a", model_call(1, 0, 100)}, {"a", frame(2, 1, SpanKind::unknown)}, {"a", detailed}},
         100},
        {"two spans of one response beside each other",
         {{"a", frame(1, 0, SpanKind::agent)}, {"a", model_call(2, 1, 100, 7)}, {"a", model_call(3, 1, 100, 7)}},
         100},
        {"one response in two traces", {{"a", model_call(1, 0, 100, 7)}, {"b", model_call(2, 0, 100, 7)}}, 100},
        {"an agent repeats the sum of its calls",
         {{"a", frame(1, 0, SpanKind::agent, 300)},
          {"a", frame(2, 1, SpanKind::chain, 300)},
          {"a", model_call(3, 2, 100)},
          {"a", model_call(4, 2, 200)}},
         300},
        {"an agent without calls below counts itself",
         {{"a", frame(1, 0, SpanKind::agent, 300)}, {"a", frame(2, 1, SpanKind::tool)}},
         300},
        {"an agent that knows more than the calls below",
         {{"a", frame(1, 0, SpanKind::agent, 500)}, {"a", model_call(2, 1, 100)}, {"a", model_call(3, 1, 200)}},
         500},
        {"a call that a tool makes below a call is another one",
         {{"a", model_call(1, 0, 100)}, {"a", frame(2, 1, SpanKind::tool)}, {"a", model_call(3, 2, 500)}},
         600},
        {"different responses are different calls",
         {{"a", model_call(1, 0, 100, 7)}, {"a", model_call(2, 0, 100, 8)}},
         200},
        {"nested and repeated at once",
         {{"a", frame(1, 0, SpanKind::agent, 250)},
          {"a", model_call(2, 1, 100, 7)},
          {"a", model_call(3, 2, 100, 7)},
          {"a", model_call(4, 1, 100, 7)},
          {"a", model_call(5, 1, 150, 8)},
          {"b", model_call(6, 0, 150, 8)}},
         250},
        {"a circle of parents", {{"a", model_call(1, 2, 100)}, {"a", frame(2, 1, SpanKind::chain)}}, 100},
    };
}

} // namespace

TEST_CASE("each model call counts once, in whatever order and pieces its spans arrive") {
    std::mt19937_64 random(test_seed());
    for (const Scenario& scenario : scenarios()) {
        CAPTURE(scenario.name);
        for (int round = 0; round < 50; ++round) {
            auto spans = scenario.spans;
            std::shuffle(spans.begin(), spans.end(), random);
            UsageCounter counter;
            std::map<std::pair<std::string, uint64_t>, bool> stored;
            for (const auto& [trace, call] : spans) {
                counter.put(trace, call);
                stored[{trace, call.span}] = true;
                if (random() % 2 == 0) continue;
                for (const auto& change : counter.settle()) stored[{change.trace, change.span}] = change.is_counted;
            }
            for (const auto& change : counter.settle()) stored[{change.trace, change.span}] = change.is_counted;
            int64_t tokens = 0;
            for (const auto& [trace, call] : spans)
                if (stored.at({trace, call.span})) tokens += call.tokens.total();
            CHECK(tokens == scenario.tokens);
            CHECK(counter.settle().empty());
        }
    }
}

TEST_CASE("a span that is sent again with another response counts as that one") {
    for (const bool other_is_higher : {false, true}) { // responses are settled in the order of their numbers
        const uint64_t shared = 50, other = other_is_higher ? 51 : 49;
        UsageCounter counter;
        counter.put("a", model_call(1, 0, 100, shared));
        counter.put("a", model_call(2, 0, 100, shared));
        counter.settle();
        CHECK(!counter.is_counted("a", 2));
        counter.put("a", model_call(2, 0, 100, other));
        counter.settle();
        CHECK(counter.is_counted("a", 1));
        CHECK(counter.is_counted("a", 2));
        counter.put("a", model_call(3, 0, 100, other));
        counter.settle();
        CHECK(counter.is_counted("a", 2));
        CHECK(!counter.is_counted("a", 3));
        counter.put("a", model_call(1, 0, 100, other));
        counter.settle();
        CHECK(counter.is_counted("a", 1));
        CHECK(!counter.is_counted("a", 2));
        CHECK(!counter.is_counted("a", 3));
    }
}

TEST_CASE("traces over the limit are dropped, oldest first, and can be requested") {
    UsageCounter counter(10);
    CHECK(!counter.may_be_forgotten("trace 0"));
    for (uint64_t i = 0; i < 30; ++i) {
        counter.put("trace " + std::to_string(i), model_call(i + 1, 0, 10, i + 100));
        counter.settle();
        counter.trim();
    }
    CHECK(!counter.has_trace("trace 0"));
    CHECK(counter.may_be_forgotten("trace 0"));
    CHECK(counter.may_be_forgotten(uint64_t{100}));
    CHECK(!counter.has_response(100));
    CHECK(counter.has_trace("trace 29"));
    CHECK(counter.has_response(129));
}

namespace {

TestSpan stored_span(const Scenario& scenario, uint64_t number, const std::string& trace, const Call& call) {
    TestSpan span;
    span.trace = number * 10 + (trace == "a" ? 1 : 2);
    span.id = call.span;
    span.parent = call.parent;
    span.start_ns = base_ns + call.start_ns;
    span.name = scenario.name;
    constexpr std::pair<SpanKind, const char*> kinds[] = {
        {SpanKind::llm, "LLM"}, {SpanKind::agent, "AGENT"}, {SpanKind::chain, "CHAIN"}, {SpanKind::tool, "TOOL"}};
    for (const auto& [kind, name] : kinds)
        if (kind == call.kind) span.attributes += text_attribute("openinference.span.kind", name) + ",";
    if (call.has_usage())
        span.attributes += number_attribute("llm.token_count.prompt", call.tokens.total()) + "," +
                           number_attribute("llm.token_count.prompt_details.cache_read", call.tokens.cache_read) + ",";
    if (call.response != 0)
        span.attributes += text_attribute("gen_ai.response.id",
                                          "answer-" + std::to_string(number) + "-" + std::to_string(call.response)) +
                           ",";
    span.attributes += text_attribute("llm.model_name", "gpt-4o");
    return span;
}

} // namespace

TEST_CASE("each model call counts once in the store, when its spans come in different requests in random order") {
    std::mt19937_64 random(test_seed());
    Fixture& f = fixture();
    uint64_t number = 0;
    for (const Scenario& scenario : scenarios()) {
        CAPTURE(scenario.name);
        const std::string project = "once" + std::to_string(++number);
        auto spans = scenario.spans;
        std::shuffle(spans.begin(), spans.end(), random);
        for (const auto& [trace, call] : spans) {
            REQUIRE(f.send_json(project, request({stored_span(scenario, number, trace, call)})).status == 200);
            f.wait();
            if (random() % 2 == 0) f.telemetry->loader().rest(); // it must read what is stored
        }
        CHECK(count_spans(project) == static_cast<int64_t>(spans.size()));
        ListSpans list;
        list.scope = scope_of(project);
        auto page = f.store().list_spans(list);
        REQUIRE(page.ok());
        int64_t tokens = 0, cost = 0;
        for (const SpanRow& row : page.value().spans) {
            tokens += row.tokens.total();
            cost += row.cost_nano_usd;
            CHECK((row.tokens.total() > 0) == (row.cost_source == CostSource::prices));
        }
        CHECK(tokens == scenario.tokens);
        CHECK(cost > 0);
    }
}
