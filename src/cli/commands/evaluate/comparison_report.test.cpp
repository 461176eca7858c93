#include "cli/commands/evaluate/comparison_report.h"

#include <doctest/doctest.h>

namespace hone::cli {

namespace {

json::Value example(const std::string& name) {
    return json::
        parse(R"({"base_name":"base","other_name":"<b>|new\u001b[31m","common_examples":20,"metrics":[{"name":")" +
              name +
              R"(","pairs":20,"base_mean":0.9,"other_mean":0.4,"delta":-0.5,"low":-0.7,"high":-0.3,"p":0.002,"q":0.002,)"
              R"("test":"exact_mcnemar","is_pass_fail":true,"fixed":2,"broken":12,"passed_both":6,"failed_both":0,)"
              R"("flaky":0,"verdict":"regressed"}],"latency":{"pairs":0},"gate":{"verdict":"failed","reasons":[)"
              R"({"metric":")" +
              name + R"(","guard":"significance","message":")" + name +
              R"(: -0.500"}],"notes":[],"coverage":{"expected":20,"runs":20,"failed":0,"missing":0}}})")
            .value();
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a comparison as text names the difference, the flips and the reason") {
    const std::string text = comparison_text(example("correct"));
    CHECK(has(text, "correct  -0.500  regressed"));
    CHECK(has(text, "2 fixed, 12 broken"));
    CHECK(has(text, "gate failed"));
    CHECK(!has(text, "\x1b"));
    CHECK(first_reason(example("correct")) == "correct: -0.500");
}

TEST_CASE("names in Markdown and XML are harmless") {
    const auto hostile = example("a|b <img src=x> @team & [x](y)");
    const std::string markdown = comparison_markdown(hostile);
    CHECK(has(markdown, "a\\|b \\<img"));
    CHECK(has(markdown, "\\@team"));
    CHECK(!has(markdown, "[x](y)"));
    const std::string xml = comparison_junit(hostile);
    CHECK(has(xml, "&lt;img src=x&gt;"));
    CHECK(has(xml, "tests=\"2\" failures=\"1\""));
    CHECK(has(xml, "<failure type=\"significance\""));
    CHECK(!has(xml, "<img"));
}

TEST_CASE("an empty comparison is still readable") {
    CHECK(has(comparison_text(json::Object{}), "gate"));
    CHECK(has(comparison_junit(nullptr), "tests=\"1\" failures=\"0\""));
    CHECK(first_reason(nullptr) == "no reason is given");
}

} // namespace hone::cli
