#include "json/path.h"

#include <doctest/doctest.h>

using namespace hone;

TEST_CASE("a value is found by its path of keys") {
    const json::Value value = json::parse(R"({"a": {"text": "x", "count": 3, "set": true}, "list": [1]})").value();
    CHECK(json::text_at(value, {"a", "text"}) == "x");
    CHECK(json::number_at(value, {"a", "count"}) == 3);
    CHECK(json::true_at(value, {"a", "set"}));
    CHECK(json::member(value, {}) == &value);
    REQUIRE(json::member(value, {"list"}) != nullptr);
    CHECK(json::member(value, {"list"})->is_array());
}

TEST_CASE("what is absent or of another type reads as nothing") {
    const json::Value value =
        json::parse(R"({"a": {"text": "x", "count": 3.5, "set": 1}, "list": [{"text": "y"}]})").value();
    CHECK(json::member(value, {"b"}) == nullptr);
    CHECK(json::member(value, {"a", "text", "more"}) == nullptr);
    CHECK(json::member(value, {"list", "text"}) == nullptr);
    CHECK(json::text_at(value, {"a", "count"}) == "");
    CHECK(json::number_at(value, {"a", "count"}) == 0);
    CHECK(json::number_at(value, {"a", "text"}) == 0);
    CHECK_FALSE(json::true_at(value, {"a", "set"}));
}
