// What a worker is shown of a trace, and when a quote counts.
#include "signal/reading.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace hone;
using namespace hone::signal;

namespace {

SampledTrace trace_of(size_t steps) {
    SampledTrace trace;
    trace.id = std::string(32, 'a');
    const auto add = [&](size_t parent, std::string name, std::string kind, std::string input, std::string output) {
        SampledSpan span;
        span.span_id = fmt::format("{:016x}", trace.spans.size() + 1);
        if (!trace.spans.empty()) span.parent_id = trace.spans[parent].span_id;
        span.name = std::move(name);
        span.kind = std::move(kind);
        span.input = std::move(input);
        span.output = std::move(output);
        span.start_ns = static_cast<int64_t>(trace.spans.size()) * 2'000'000;
        span.end_ns = span.start_ns + 1'000'000;
        trace.spans.push_back(std::move(span));
    };
    add(0, "agent", "agent", "How much is it?", "7");
    for (size_t i = 0; i < steps; ++i) {
        add(0, fmt::format("step {}", i), "chain", "", "");
        add(trace.spans.size() - 1, "model", "llm", "", fmt::format("secret thought number {}", i));
        add(trace.spans.size() - 2, "lookup", "tool", "x", fmt::format("secret result number {}", i));
    }
    trace.link();
    return trace;
}

size_t count_of(const std::string& text, const std::string& word) {
    size_t count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

} // namespace

TEST_CASE("a worker is shown the skeleton of a trace and the texts of a few spans, never the whole trace") {
    const std::string small = json::print(digest_of(trace_of(1), {}));
    CHECK(count_of(small, "\"parent_id\"") == 4);
    // Two of four spans: the task with its result, and the last model call.
    CHECK(count_of(small, "How much is it?") == 1);
    CHECK(count_of(small, "secret thought number 0") == 1);
    CHECK(count_of(small, "secret result") == 0);

    SampledTrace large = trace_of(200);
    large.spans[500].failed = true;
    const std::string marked = large.spans[300].span_id;
    const json::Value digest = digest_of(large, {marked});
    const json::Object& object = digest.get_object();
    CHECK(object.at("texts").get_array().size() == 8);
    CHECK(std::string(object.at("texts").get_array()[0].get_object().at("span_id").get_string()) == marked);
    const std::string text = json::print(digest);
    CHECK(count_of(text, large.spans[500].span_id) == 2); // a row and its texts
    CHECK(object.at("spans").get_array().size() <= 158);
    CHECK(object.at("spans").get_array().size() + static_cast<size_t>(object.at("spans_left_out").get_int64()) ==
          large.spans.size());
    CHECK(text.size() < 64'000);
}

TEST_CASE("a long text is cut to its beginning and its end") {
    SampledTrace trace = trace_of(3);
    trace.spans[0].output = "begin " + std::string(100'000, 'x') + " end";
    const std::string text = json::print(digest_of(trace, {}));
    CHECK(count_of(text, "begin") == 1);
    CHECK(count_of(text, " end") == 1);
    CHECK(text.size() < 10'000);
}

TEST_CASE("a quote must be in the span, word for word") {
    SampledSpan span;
    span.output = "The total\n  is 7 euros.";
    span.message = "order 9 is unknown";
    span.newest.content = "newest message of the call";
    span.calls.push_back({});
    span.calls.back().name = "lookup";
    span.calls.back().arguments = R"({"order": 9})";
    CHECK(has_quote(span, "The total is 7"));
    CHECK(has_quote(span, " total   is\t7 euros. "));
    CHECK(has_quote(span, "order 9 is"));
    CHECK(has_quote(span, "newest message"));
    CHECK(has_quote(span, R"(lookup {"order")"));
    CHECK_FALSE(has_quote(span, "The total is 8"));
    CHECK_FALSE(has_quote(span, "is 7"));     // too short to show anything
    CHECK_FALSE(has_quote(span, "        ")); // nothing
    CHECK_FALSE(has_quote(span, ""));
}

TEST_CASE("every kind has its words, in the order of the enumeration") {
    size_t at = 0;
    for (const auto& name : enum_names(ReadKind{})) {
        REQUIRE(at < read_kinds().size());
        CHECK(read_kinds()[at].kind == name.value);
        CHECK(&about_kind(name.value) == &read_kinds()[at]);
        CHECK_FALSE(read_kinds()[at].title.empty());
        ++at;
    }
    CHECK(at == read_kinds().size());
}
