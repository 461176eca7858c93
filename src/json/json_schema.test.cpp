// Schemas of users: what is accepted, and which reason a value gets that does not fit.
#include "json/json_schema.h"

#include <doctest/doctest.h>

namespace hone::json {

namespace {

std::string created(std::string_view text) {
    const auto schema = JsonSchema::create(parse(text).value());
    return schema.ok() ? "ok" : schema.error().message;
}

} // namespace

TEST_CASE("a value is compared with a schema, and the reason names its place") {
    const auto schema =
        JsonSchema::create(parse(R"({"type":"object","required":["question"],"additionalProperties":false,
        "properties":{"question":{"type":"string","minLength":1,"maxLength":10},"n":{"type":"integer","minimum":0},
        "tags":{"type":"array","maxItems":2,"items":{"enum":["a","b"]}}}})")
                               .value());
    REQUIRE(schema.ok());
    const auto outcome = [&](std::string_view text) {
        const auto valid = schema.value().validate(parse(text).value());
        return valid.ok() ? std::string("ok") : valid.error().message;
    };
    CHECK(outcome(R"({"question":"why","n":3,"tags":["a","b"]})") == "ok");
    CHECK(outcome(R"({"n":3})").find("question") != std::string::npos);
    CHECK(outcome(R"({"question":7})").find("question: ") == 0);
    CHECK(outcome(R"({"question":""})").find("question: ") == 0);
    CHECK(outcome(R"({"question":"why","n":"3"})").find("n: ") == 0);
    CHECK(outcome(R"({"question":"why","n":-1})").find("n: ") == 0);
    CHECK(outcome(R"({"question":"why","tags":["a","c"]})").find("tags") == 0);
    CHECK(outcome(R"({"question":"why","other":1})") != "ok");
    CHECK(outcome("[]") != "ok");
}

TEST_CASE("a schema that could cost without bound or fetch something is refused") {
    CHECK(created(R"({"type":"object"})") == "ok");
    CHECK(created(R"({"anyOf":[{"type":"string"},{"type":"null"}]})") == "ok");
    for (const char* text :
         {R"({"$ref":"https://example.com/schema.json"})", R"({"properties":{"a":{"$ref":"#"}}})",
          R"({"pattern":"(a+)+$"})", R"({"patternProperties":{"(a+)+$":{}}})", R"({"format":"date"})",
          R"({"items":{"uniqueItems":true}})", R"({"anyOf":[{"pattern":"a"}]})"})
        CHECK(created(text).find("is not supported") != std::string::npos);
    for (const char* text : {"[]", "7", R"({"properties":7})", R"({"anyOf":7})", R"({"properties":{"a":7}})",
                             R"({"type":7})", R"({"required":"a"})", R"({"minLength":-1})"})
        CHECK(created(text) != "ok");
    CHECK(JsonSchema::create(Object{{"title", std::string(70'000, 'x')}}).error().code == Code::too_large);
}

} // namespace hone::json
