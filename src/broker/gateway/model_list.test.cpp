// Lists of models as providers send them, and what is not one.
#include "broker/gateway/model_list.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

std::string listed(std::string_view protocol, std::string_view body) {
    const auto models = read_model_list(protocol, body);
    if (!models.ok()) return std::string("error: ") + models.error().message;
    std::string text;
    for (const ListedModel& model : models.value())
        text += (text.empty() ? "" : " ") + model.name + (model.title.empty() ? "" : "=" + model.title);
    return text;
}

} // namespace

TEST_CASE("the lists of three providers are read") {
    CHECK(
        listed("anthropic", R"({"data":[{"id":"claude-a","display_name":"A"},{"id":"claude-b"}],"has_more":false})") ==
        "claude-a=A claude-b");
    CHECK(listed("openai", R"({"object":"list","data":[{"id":"m-1","created":1},{"id":"org/m-2"}]})") == "m-1 org/m-2");
    CHECK(listed("gemini", R"({"models":[{"name":"models/g-1","displayName":"G",
        "supportedGenerationMethods":["generateContent"]},
        {"name":"models/embed","supportedGenerationMethods":["embedContent"]},{"name":"tuned"}]})") == "g-1=G tuned");
}

TEST_CASE("names that a setting cannot contain are left out, and what is no list is an error") {
    CHECK(listed("openai", R"({"data":[{"id":"a b"},{"id":"a,b"},{"id":""},{"id":7},"x",{"id":"fine"}]})") == "fine");
    CHECK(listed("openai", R"({"data":[]})").empty());
    CHECK(listed("openai", "<html>").starts_with("error: "));
    CHECK(listed("openai", R"({"error":{"message":"no"}})").starts_with("error: "));
    CHECK(listed("openai", R"([{"id":"x"}])").starts_with("error: "));
}
