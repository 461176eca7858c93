// From documents to arguments and from results to verdicts: what fits, and what is refused with which reason.
#include "evaluate/evaluators/verdict.h"

#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

json::Value value(std::string_view text) {
    auto parsed = json::parse(text);
    REQUIRE(parsed.ok());
    return std::move(parsed).value();
}

// "label score", or the reason why there is no verdict.
std::string judged(const OutputConfig& config, std::string_view result) {
    const auto verdict = verdict_of(config, value(result));
    if (!verdict.ok()) return verdict.error().message;
    std::string text = verdict.value().label.value_or("-");
    if (verdict.value().score) text += " " + json::print(json::Value(*verdict.value().score));
    return text;
}

// "name label score" of each of several results, or the reason why there are none.
std::string several(const OutputConfig& config, std::string_view result) {
    const auto verdict = verdict_of(config, value(result), "tone");
    if (!verdict.ok()) return verdict.error().message;
    std::string text = verdict.value().is_only_named() ? "" : "tone " + verdict.value().label.value_or("-");
    for (const NamedVerdict& one : *verdict.value().results) {
        text += (text.empty() ? "" : ", ") + one.name + " " + one.label.value_or("-");
        if (one.score) text += " " + json::print(json::Value(*one.score));
    }
    return text;
}

std::string found(std::string_view document, std::string_view path) {
    const auto there = value_at(value(document), path);
    return there.ok() ? json::print(there.value()) : there.error().message;
}

OutputConfig labels() {
    OutputConfig config;
    config.type = OutputType::categorical;
    config.values = std::vector<OutputValue>{{"pass", 1.0}, {"fail", 0.0}, {"unclear", std::nullopt}};
    return config;
}

} // namespace

TEST_CASE("a result that fits the output of an evaluator is a verdict") {
    OutputConfig config;
    CHECK(judged(config, "true") == "true 1.0");
    CHECK(judged(config, R"({"score":0,"explanation":"no"})") == "false 0.0");
    CHECK(judged(config, R"("cannot_judge")") == "cannot_judge");
    CHECK(judged(labels(), R"("pass")") == "pass 1.0");
    CHECK(judged(labels(), R"({"label":"unclear"})") == "unclear");
    config.type = OutputType::numeric;
    config.minimum = 0;
    config.maximum = 1;
    CHECK(judged(config, "0.5") == "- 0.5");
    CHECK(judged(config, R"({"score":1,"label":"high"})") == "high 1.0");
    config = {};
    config.type = OutputType::text;
    CHECK(judged(config, R"("any text")") == "any text");
}

TEST_CASE("a result that does not fit is an error with the reason, never a score") {
    OutputConfig numeric;
    numeric.type = OutputType::numeric;
    numeric.minimum = 0;
    numeric.maximum = 1;
    for (const auto& [config, result, reason] :
         std::initializer_list<std::tuple<OutputConfig, std::string, std::string>>{
             {{}, "null", "it is null"},
             {{}, "[true]", "it is a list"},
             {{}, "0.5", "must be 0 or 1"},
             {{}, R"("maybe")", "must be true or false"},
             {{}, R"({"label":"true","score":0})", "contradict"},
             {{}, R"({"verdict":true})", "unknown key \"verdict\""},
             {{}, R"({"label":{"a":1}})", "label must be text"},
             {{}, R"({"explanation":"only this"})", "neither a label nor a score"},
             {labels(), R"("Pass")", "the labels are pass, fail, unclear"},
             {labels(), "1", "no label"},
             {labels(), R"({"label":"pass","score":0.3})", "not the score of the label pass"},
             {labels(), R"({"label":"cannot_judge","score":0})", "cannot_judge has no score"},
             {numeric, "1.5", "above 1"},
             {numeric, "-1", "below 0"},
             {numeric, R"("0.5")", "no score"},
             {numeric, R"({"score":"0.5"})", "score must be a number"},
             {numeric, R"({"score":0.5,"metadata":[]})", "metadata must be an object"},
         }) {
        CAPTURE(result);
        CHECK(judged(config, result).find(reason) != std::string::npos);
    }
}

TEST_CASE("a path finds its value or fails") {
    const std::string_view document = R"({"output":{"items":[{"n":1},{"n":2}],"text":"t"},"empty":null})";
    CHECK(found(document, "output.text") == R"("t")");
    CHECK(found(document, "$.output.items[1].n") == "2");
    CHECK(found(document, "output.items[*].n") == "[1,2]");
    CHECK(found(document, "empty") == "null");
    for (const char* path : {"output.absent", "output.items[2]", "output.text.more", "absent[*]"}) {
        CAPTURE(path);
        CHECK(found(document, path).find("not found") != std::string::npos);
    }
    for (const char* path : {"", "..", "output..text", "$..text", "$[?(@.n==1)]", "output.items[-1]", "output.items[",
                             "output.", ".output", "output.items[0]n"}) {
        CAPTURE(path);
        CHECK(found(document, path).find("path \"") == 0);
        CHECK(found(document, path).find("write names and indexes") != std::string::npos);
    }
}

TEST_CASE("mapped arguments replace the document, and one that is missing fails") {
    const json::Value document = value(R"({"input":{"q":"why"},"output":"so"})");
    CHECK(arguments_of({}, document).value() == document);
    std::map<std::string, MappedArgument> mapping;
    mapping["question"].path = "input.q";
    mapping["output"];
    mapping["policy"].literal = json::Value("short");
    CHECK(json::print(arguments_of(mapping, document).value()) ==
          R"({"output":"so","policy":"short","question":"why"})");
    mapping["reference"].path = "reference.answer";
    const auto missing = arguments_of(mapping, document);
    REQUIRE(!missing.ok());
    CHECK(missing.error().message.find("argument reference: path \"reference.answer\"") == 0);
}

TEST_CASE("a definition that could never work is refused when it is saved") {
    CodeDefinition code;
    code.source = "def evaluate(document): return True";
    CHECK(check(code).ok());
    const auto refusal = [&](auto change) {
        CodeDefinition changed = code;
        change(changed);
        const auto checked = check(changed);
        return checked.ok() ? std::string("accepted") : checked.error().message;
    };
    CHECK(refusal([](auto& c) { c.source = "  "; }).find("source is empty") == 0);
    CHECK(refusal([](auto& c) { c.source = std::string(300 << 10, 'x'); }).find("at most 256 KiB") !=
          std::string::npos);
    CHECK(refusal([](auto& c) { c.timeout_ms = int64_t{1}; }).find("timeout_ms") == 0);
    CHECK(refusal([](auto& c) { c.mapping.value["a"].path = "$[?()]"; }).find("mapping.a: ") == 0);
    CHECK(refusal([](auto& c) { c.output.value.type = OutputType::categorical; }).find("output.values") == 0);
    CHECK(refusal([](auto& c) {
              c.output.value.type = OutputType::categorical;
              c.output.value.values = std::vector<OutputValue>{{"a", 1.0}, {"a", 0.0}};
          }).find("output.values has the label a twice") == 0);
    CHECK(refusal([](auto& c) {
              c.output.value.type = OutputType::numeric;
              c.output.value.minimum = 2;
              c.output.value.maximum = 1;
          }).find("output.minimum must be below") == 0);
}

TEST_CASE("an evaluator returns several results, each with a name") {
    const OutputConfig config = labels();
    CHECK(several(config, R"([{"name":"polite","label":"pass"},{"name":"short","label":"fail"}])") ==
          "tone.polite pass 1.0, tone.short fail 0.0");
    CHECK(several(config, R"({"results":[{"name":"tone.polite","label":"cannot_judge"}]})") ==
          "tone.polite cannot_judge");
    // The one with the name of the evaluator is its own verdict.
    CHECK(several(config, R"([{"name":"a","label":"pass"},{"name":"tone","label":"fail"}])") ==
          "tone fail, tone.a pass 1.0");
    CHECK(several(config, R"({"label":"pass"})") == "tone pass");
    OutputConfig numbers;
    numbers.type = OutputType::numeric;
    numbers.maximum = 1;
    CHECK(several(numbers, R"([{"name":"a","score":0.5}])") == "tone.a - 0.5");
    CHECK(several(numbers, R"([{"name":"a","score":0.5},{"name":"b","score":2}])")
              .starts_with("tone.b: the result does not"));
}

TEST_CASE("several results need names that differ, and no other result beside them") {
    const OutputConfig config = labels();
    const auto refused = [&](std::string_view result, std::string_view why) {
        const std::string text = several(config, result);
        CHECK_MESSAGE(text.find("does not fit the output") != std::string::npos, text);
        CHECK_MESSAGE(text.find(why) != std::string::npos, text);
    };
    refused("[]", "empty");
    refused(R"([{"label":"pass"}])", "result 1 of the list is not an object with a name");
    refused(R"([{"name":"a","label":"pass"},"pass"])", "result 2 of the list");
    refused(R"([{"name":"a","label":"pass"},{"name":"a","label":"pass"}])", "tone.a is there twice");
    refused(R"([{"name":"a","label":"pass"},{"name":"tone.a","label":"pass"}])", "tone.a is there twice");
    refused(R"([{"name":"","label":"pass"}])", "the name of a result");
    refused(R"([{"name":" a","label":"pass"}])", "the name of a result");
    refused(R"([{"name":"a\nb","label":"pass"}])", "the name of a result");
    refused(R"([{"name":7,"label":"pass"}])", "the name of a result");
    refused(R"([{"name":")" + std::string(101, 'x') + R"(","label":"pass"}])", "the name of a result");
    refused(R"([{"name":"a","label":"great"}])", "unknown");
    refused(R"([{"name":"a","label":"pass","results":[]}])", "unknown key");
    refused(R"([[{"name":"a","label":"pass"}]])", "result 1 of the list");
    refused(R"({"results":7})", "results must be a list");
    refused(R"({"results":[{"name":"a","label":"pass"}],"label":"pass"})", "without other keys");
    std::string many = "[";
    for (size_t i = 0; i <= most_results; ++i)
        many += (i == 0 ? "" : ",") + (R"({"name":"n)" + std::to_string(i)) + R"(","label":"pass"})";
    refused(many + "]", "more than 50 results");
    // Where no name is known, such as what a model reported, a list is no verdict.
    CHECK(judged(config, R"([{"name":"a","label":"pass"}])").find("it is a list") != std::string::npos);
}

} // namespace hone::evaluate
