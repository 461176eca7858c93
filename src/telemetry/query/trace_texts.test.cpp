#include "telemetry/query/trace_texts.h"

#include "telemetry/store_fixture.h"

#include <algorithm>
#include <tuple>

namespace hone::telemetry::testing {

namespace {

TraceText text_of_trace(const std::string& project, uint64_t trace) {
    Fixture& f = fixture();
    f.store();
    f.wait();
    Scope scope;
    scope.project = "project_" + project;
    const auto texts = trace_texts(f.telemetry->engine(), scope, {hex_number(trace, 32), hex_number(99, 32)});
    REQUIRE_MESSAGE(texts.ok(), (texts.ok() ? "" : texts.error().message));
    REQUIRE(texts.value().size() == 1); // the other one does not exist
    return texts.value().front();
}

const std::string llm_kind = text_attribute("openinference.span.kind", "LLM");

std::string words(std::string_view input, std::string_view output) {
    return text_attribute("input.value", input) + "," + text_attribute("output.value", output);
}

} // namespace

TEST_CASE("a trace is described by the words of its root") {
    fixture().send_json("texts",
                        request({{1, 1, 0, base_ns, 1000, "agent",
                                  text_attribute("openinference.span.kind", "AGENT") + "," + words("Hello?", "Hi."), 0},
                                 {1, 2, 1, base_ns + 1, 10, "chat", llm_kind + "," + words("other", "other"), 0}}));
    const TraceText text = text_of_trace("texts", 1);
    CHECK(text.title == "agent");
    CHECK(text.input == "Hello?");
    CHECK(text.output == "Hi.");
    CHECK(!text.has_failed);
}

TEST_CASE("a root without words shows those of the first and the last model call, as people read them") {
    const std::string asked = R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Where is it?"}])";
    fixture().send_json(
        "texts",
        request({{2, 1, 0, base_ns, 1000, "invoke_agent m", text_attribute("gen_ai.agent.name", "shop agent"), 0},
                 {2, 2, 1, base_ns + 1, 10, "chat", llm_kind + "," + words(asked, "First I look."), 0},
                 {2, 3, 1, base_ns + 2, 20, "chat", llm_kind + "," + words("[]", "It is on its way."), 0}}));
    const TraceText text = text_of_trace("texts", 2);
    CHECK(text.title == "shop agent");
    CHECK(text.input == "Where is it?");
    CHECK(text.output == "It is on its way.");
}

TEST_CASE("a trace whose root is in a program that sends no spans is described by its first span") {
    const std::string agent = text_attribute("openinference.span.kind", "AGENT");
    fixture().send_json("texts",
                        request({{7, 2, 1, base_ns + 1, 10, "chat", llm_kind, 0},
                                 {7, 1, 50, base_ns, 1000, "interaction", agent + "," + words("Why?", "So."), 0},
                                 {7, 3, 1, base_ns, 10, "prepare", words("no", "no"), 0}}));
    const TraceText text = text_of_trace("texts", 7);
    CHECK(text.title == "interaction");
    CHECK(text.input == "Why?");
    CHECK(text.output == "So.");
}

TEST_CASE("the name that an application gives to a call of the AI SDK is the title") {
    fixture().send_json("texts", request({{3, 1, 0, base_ns, 1000, "ai.generateText",
                                           text_attribute("ai.operationId", "ai.generateText") + "," +
                                               text_attribute("ai.telemetry.functionId", "answer a question") + "," +
                                               words(std::string(5000, 'x'), "done"),
                                           0}}));
    const TraceText text = text_of_trace("texts", 3);
    CHECK(text.title == "answer a question");
    CHECK(text.input.size() == 2000);
}

TEST_CASE("a root that failed with a state shows the reason") {
    std::string failed = request({{6, 1, 0, base_ns, 1000, "ChatOpenAI", words("hi", R"({"generations":[[]]})"), 2}});
    failed.replace(failed.find(R"("code":2)"), 8, R"("code":2,"message":"429 rate limit")");
    fixture().send_json("texts", failed);
    CHECK(text_of_trace("texts", 6).output == "429 rate limit");
}

TEST_CASE("the failure that ended first names the error of a trace, in one line") {
    std::string failed = request({{16, 1, 0, base_ns, 1000, "run", words("hi", "sorry"), 2},
                                  {16, 2, 1, base_ns + 10, 100, "lookup", "", 2},
                                  {16, 3, 1, base_ns + 200, 100, "search", "", 0}});
    const size_t root = failed.find(R"("code":2)");
    failed.replace(root, 8, R"("code":2,"message":"the run failed")");
    failed.replace(failed.find(R"("code":2)", root + 20), 8, R"("code":2,"message":"no such order\n at line 7")");
    fixture().send_json("texts", failed);
    CHECK(text_of_trace("texts", 16).error == "no such order");
    fixture().send_json("texts", request({{17, 1, 0, base_ns, 1000, "run", words("hi", "done"), 0}}));
    CHECK(text_of_trace("texts", 17).error.empty());
}

TEST_CASE("a root that failed without words shows how; a trace whose root is missing shows its model calls") {
    std::string failed = request({{4, 1, 0, base_ns, 1000, "run", "", 2}});
    failed.replace(failed.find(R"("code":2)"), 8, R"("code":2,"message":"no such order")");
    fixture().send_json("texts", failed);
    const TraceText text = text_of_trace("texts", 4);
    CHECK(text.output == "no such order");
    CHECK(text.has_failed);
    fixture().send_json("texts", request({{5, 2, 1, base_ns, 10, "chat m", llm_kind + "," + words("a", "b"), 0}}));
    const TraceText orphan = text_of_trace("texts", 5);
    CHECK(orphan.title == "chat m");
    CHECK(orphan.input == "a");
    CHECK(orphan.output == "b");
}

TEST_CASE("spans are described by their own words, also those with the same id in two traces") {
    const std::string messages =
        R"([{"role":"system","content":"Be brief."},{"role":"user","content":"Where is it?"}])";
    Fixture& f = fixture();
    f.send_json("span_texts",
                request({{21, 7, 0, base_ns, 1000, "run", words(std::string(5000, 'x'), "done"), 0},
                         {21, 8, 7, base_ns + 1, 10, "chat", llm_kind + "," + words(messages, "Here."), 0},
                         {21, 9, 7, base_ns + 2, 10, "silent", "", 0},
                         {22, 7, 0, base_ns + 5, 1000, "run", words("second", ""), 0}}));
    f.store();
    f.wait();
    Scope scope;
    scope.project = "project_span_texts";
    auto found = span_texts(f.telemetry->engine(), scope, {hex_number(7, 16), hex_number(8, 16), hex_number(9, 16)});
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
    std::vector<SpanText>& texts = found.value();
    std::sort(texts.begin(), texts.end(), [](const SpanText& a, const SpanText& b) {
        return std::tie(a.trace_id, a.span_id) < std::tie(b.trace_id, b.span_id);
    });
    REQUIRE(texts.size() == 3); // the silent one is left out
    CHECK(texts[0].input.size() == 2000);
    CHECK(texts[0].output == "done");
    CHECK(texts[1].span_id == hex_number(8, 16));
    CHECK(texts[1].input == "Where is it?");
    CHECK(texts[1].output == "Here.");
    CHECK(texts[2].trace_id == hex_number(22, 32));
    CHECK(texts[2].input == "second");
    scope.from_ns = base_ns + 5;
    found = span_texts(f.telemetry->engine(), scope, {hex_number(7, 16)});
    REQUIRE(found.ok());
    REQUIRE(found.value().size() == 1);
    CHECK(found.value().front().trace_id == hex_number(22, 32));
}

} // namespace hone::telemetry::testing
