// The input of a turn of a chat session: what the span has, with the conversation before it.
#include "evaluate/datasets/chat_turns.h"

#include <doctest/doctest.h>

namespace hone::evaluate {

namespace {

telemetry::SpanPayload turn_root(std::string input, std::string output = "") {
    telemetry::SpanPayload root;
    root.input = std::move(input);
    root.output = std::move(output);
    return root;
}

std::string turn_text(const std::vector<TurnTexts>& before, std::string input) {
    return json::print(input_of_turn(before, turn_root(std::move(input))));
}

const std::vector<TurnTexts> greeted{{"hello", "hi"}};

} // namespace

TEST_CASE("the input of a turn has the conversation before it, oldest first, and its own input last") {
    CHECK(turn_text({{"hello", "hi"}, {"a red one", "which size?"}}, "large") ==
          R"({"input":"large","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},)"
          R"({"role":"user","content":"a red one"},{"role":"assistant","content":"which size?"},)"
          R"({"role":"user","content":"large"}]})");
    // The first turn has no conversation before it; a turn that failed has no reply.
    CHECK(turn_text({}, "hello") == R"({"input":"hello","messages":[{"role":"user","content":"hello"}]})");
    CHECK(turn_text({{"hello", ""}}, "again") ==
          R"({"input":"again","messages":[{"role":"user","content":"hello"},{"role":"user","content":"again"}]})");
}

TEST_CASE("what the application has beside the conversation stays in the input of a turn") {
    CHECK(
        turn_text(greeted, R"({"question":"when?","tier":"gold"})") ==
        R"({"question":"when?","tier":"gold","messages":[{"role":"user","content":"hello"},)"
        R"({"role":"assistant","content":"hi"},{"role":"user","content":"{\"question\":\"when?\",\"tier\":\"gold\"}"}]})");
    // One text is the message of the user.
    CHECK(turn_text(greeted, R"({"question":"when?"})") ==
          R"({"question":"when?","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},)"
          R"({"role":"user","content":"when?"}]})");
    // Instructions of the application come first, and its own messages keep their form.
    CHECK(turn_text(greeted,
                    R"([{"role":"system","content":"be short"},{"role":"user","content":[{"type":"image"}]}])") ==
          R"({"messages":[{"role":"system","content":"be short"},{"role":"user","content":"hello"},)"
          R"({"role":"assistant","content":"hi"},{"role":"user","content":[{"type":"image"}]}]})");
    CHECK(turn_text(greeted, R"({"messages":7})") ==
          R"({"messages":7,"conversation":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},)"
          R"({"role":"user","content":"{\"messages\":7}"}]})");
}

TEST_CASE("an input that holds the conversation already is not changed") {
    const std::string whole =
        R"({"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},{"role":"user","content":"bye"}]})";
    CHECK(turn_text(greeted, whole) == whole);
    CHECK(turn_text(greeted, R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])") ==
          R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})");
}

TEST_CASE("the texts of a turn are the last message of each side") {
    const auto texts = texts_of_turn(turn_root(
        R"({"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]})",
        R"({"answer":"four"})"));
    CHECK(texts.user == "three");
    CHECK(texts.assistant == "four");
    CHECK(texts_of_turn(turn_root("", "")).user.empty());
    CHECK(texts_of_turn(turn_root("\"quoted\"", "[1,2]")).user == "quoted");
    CHECK(texts_of_turn(turn_root("", "[1,2]")).assistant == "[1,2]");
}

} // namespace hone::evaluate
