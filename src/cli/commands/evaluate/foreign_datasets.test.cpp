// Datasets of other tools: what becomes input, output and metadata, and what is refused with its row.
#include "cli/commands/evaluate/foreign_datasets.h"

#include <doctest/doctest.h>

namespace hone::cli {

namespace {

std::vector<std::string> rows(ForeignFormat format, std::string_view text) {
    const auto read = read_foreign(format, text);
    if (!read.ok()) return {read.error().message};
    std::vector<std::string> printed;
    for (const json::Object& row : read.value().rows) printed.push_back(json::print(row));
    return printed;
}

bool refuses(ForeignFormat format, std::string_view text, std::string_view reason) {
    const auto read = read_foreign(format, text);
    return !read.ok() && read.error().message.find(reason) != std::string::npos;
}

} // namespace

TEST_CASE("tests of promptfoo become examples, one per combination of variables") {
    const std::vector<std::string> expected{
        R"({"input":{"tone":"calm","city":"Rome"},"output":{"expected":"Italy"},"metadata":{"description":"capitals","assert":[{"type":"equals","value":"Italy"}]}})",
        R"({"input":{"tone":"calm","city":"Rome","day":1},"output":{},"metadata":{"assert":[{"type":"contains","value":"x"}]}})",
        R"({"input":{"tone":"calm","city":"Rome","day":2},"output":{},"metadata":{"assert":[{"type":"contains","value":"x"}]}})"};
    CHECK(rows(ForeignFormat::promptfoo,
               "prompts: [hello]\nproviders: [openai:gpt-x]\ndefaultTest:\n  vars:\n    tone: calm\n"
               "tests:\n  - description: capitals\n    vars:\n      city: Rome\n    assert:\n"
               "      - type: equals\n        value: Italy\n  - vars:\n      city: Rome\n"
               "      day: [1, 2]\n    assert:\n      - type: contains\n        value: x\n") == expected);
    CHECK(refuses(ForeignFormat::promptfoo, "prompts: [a]\n", "no tests"));
    CHECK(refuses(ForeignFormat::promptfoo, "tests: file://tests.csv\n", "another file"));
    CHECK(refuses(ForeignFormat::promptfoo, "tests:\n  - file://a.yaml\n", "row 1"));
    CHECK(
        refuses(ForeignFormat::promptfoo, "tests:\n  - vars:\n      a: file:///etc/passwd\n", "write its value here"));
    CHECK(refuses(ForeignFormat::promptfoo, "tests: []\n", "no examples"));
    std::string many = "tests:\n  - vars:\n";
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        many += std::string("      ") + name + ": [1,2,3,4,5,6,7,8,9,10]\n";
    CHECK(refuses(ForeignFormat::promptfoo, many, "too many combinations"));
}

TEST_CASE("lines of OpenAI Evals become examples") {
    CHECK(
        rows(ForeignFormat::openai_evals,
             "{\"input\":[{\"role\":\"user\",\"content\":\"2+2\"}],\"ideal\":[\"4\"],\"topic\":\"math\"}\r\n\n"
             "{\"item\":{\"question\":\"why\",\"ground_truth\":\"so\"}}\n") ==
        std::vector<std::string>{
            R"({"input":{"messages":[{"role":"user","content":"2+2"}]},"output":{"ideal":["4"]},"metadata":{"topic":"math"}})",
            R"({"input":{"question":"why"},"output":{"ground_truth":"so"},"metadata":{}})"});
    CHECK(refuses(ForeignFormat::openai_evals, "{\"a\":1}\n{\"b\":2}\n", "row 1: it has neither item nor input"));
    CHECK(refuses(ForeignFormat::openai_evals, "{\"input\":\"a\"}\nnot json\n", "line 2"));
}

TEST_CASE("items of Langfuse become examples, archived ones do not") {
    CHECK(rows(ForeignFormat::langfuse,
               R"({"data":[{"id":"i1","input":{"q":1},"expectedOutput":"yes","metadata":null,"status":"ACTIVE",
               "sourceTraceId":"t1"},{"id":"i2","input":"text","status":"ARCHIVED"},{"id":"i3","input":"text"}]})") ==
          std::vector<std::string>{
              R"({"input":{"q":1},"output":{"output":"yes"},"metadata":{"langfuse_trace":"t1"},"id":"i1"})",
              R"({"input":{"input":"text"},"output":{},"metadata":{},"id":"i3"})"});
    CHECK(refuses(ForeignFormat::langfuse, R"([{"id":"i1"}])", "row 1: it has no input"));
}

TEST_CASE("examples of LangSmith become examples with their splits") {
    CHECK(
        rows(ForeignFormat::langsmith, "\xef\xbb\xbf[{\"id\":\"e1\",\"inputs\":{\"q\":1},\"outputs\":{\"a\":2},"
                                       "\"metadata\":{\"dataset_split\":[\"base\"],\"k\":1}},{\"inputs\":{\"q\":2},"
                                       "\"outputs\":null,\"split\":\"test\"}]") ==
        std::vector<std::string>{R"({"input":{"q":1},"output":{"a":2},"metadata":{"k":1},"splits":["base"],"id":"e1"})",
                                 R"({"input":{"q":2},"output":{},"metadata":{},"splits":["test"]})"});
    CHECK(refuses(ForeignFormat::langsmith, R"([{"outputs":{}}])", "row 1: it has no inputs"));
    CHECK(refuses(ForeignFormat::langsmith, "[{", "end"));
}

} // namespace hone::cli
