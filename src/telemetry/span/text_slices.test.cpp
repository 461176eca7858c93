#include "telemetry/span/text_slices.h"

#include "base/testing.h"
#include "otlp/attribute_text.h"

#include <doctest/doctest.h>
#include <random>

using namespace hone;
using namespace hone::telemetry;

namespace {

std::string json_text(std::string_view text) {
    std::string quoted;
    otlp::append_json_string(quoted, text);
    return quoted;
}

std::string mark_of(TextSlicer& slicer, std::string_view text) {
    std::string mark;
    return slicer.append_mark(mark, text) ? mark : std::string();
}

std::string sliced_text(std::mt19937& random, size_t bytes) {
    static constexpr std::string_view pieces[] = {"word ", "\"", "\\", "\n",  "é", "{\"$slice\":[\"input\",0,9]}",
                                                  "\x01",  "/",  "a",  "中文"};
    std::string text;
    while (text.size() < bytes) text += pieces[random() % std::size(pieces)];
    return text;
}

} // namespace

TEST_CASE("a text that is part of the input or the output is stored as its place") {
    const std::string question = "What is the state of order 1234, and when will the parcel be at my door, please?";
    const std::string answer = "The order left our house on Monday.\nIt will be at your \"door\" on Wednesday morning.";
    const std::string input = R"([{"role":"user","content":)" + json_text(question) +
                              R"(},{"role":"assistant","content":)" + json_text(answer) + "}]";
    TextSlicer slicer(input, answer);
    CHECK(mark_of(slicer, question) == R"({"$slice":["input",27,)" + std::to_string(question.size()) + "]}");
    CHECK(mark_of(slicer, answer) == R"({"$slice":["output",0,)" + std::to_string(answer.size()) + "]}");
    TextSlicer only_input(input, "");
    const std::string escaped = mark_of(only_input, answer);
    CHECK(escaped.starts_with(R"({"$slice":["input_json",)"));
    CHECK(restore_slices(R"({"a":)" + escaped + "}", input, "") == R"({"a":)" + json_text(answer) + "}");
    CHECK(mark_of(slicer, "short").empty());
    CHECK(mark_of(slicer, std::string(100, 'x')).empty());
}

TEST_CASE("marks that the sender wrote, and marks that lead nowhere, stay as they are") {
    for (const char* text : {R"({"m":{"$map":{"$slice":["input",0,3]}}})", R"({"m":{"$slice":["input",0,3],"b":1}})",
                             R"({"m":{"$slice":["other",0,3]}})", R"({"m":{"$slice":["input",0,4]}})",
                             R"({"m":{"$slice":["input",18446744073709551615,3]}})", R"({"m":{"$slice":["input",0)",
                             R"({"m":"{\"$slice\":[\"input\",0,3]}"})"})
        CHECK(restore_slices(text, "abc", "") == text);
    CHECK(restore_slices(R"({"m":{"$slice":["input",0,3]}})", "abc", "") == R"({"m":"abc"})");
}

TEST_CASE("attributes are the same bytes after marks were written and replaced, whatever the texts are") {
    std::mt19937 random(test_seed());
    size_t marks = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> texts;
        for (size_t i = random() % 6 + 1; i > 0; --i) texts.push_back(sliced_text(random, random() % 300));
        std::string input, output;
        for (const std::string& text : texts) {
            if (random() % 3 == 0) input += random() % 2 ? text : json_text(text);
            if (random() % 3 == 0) output += random() % 2 ? text : json_text(text);
        }
        if (random() % 2) input = "[" + input;
        if (random() % 4 == 0) output = texts.front();
        TextSlicer slicer(input, output);
        std::string stored = "{", plain = "{";
        for (const std::string& text : texts) {
            const std::string key = json_text(sliced_text(random, random() % 20)) + ":";
            stored += key;
            plain += key + json_text(text) + ",";
            const size_t before = stored.size();
            if (slicer.append_mark(stored, text))
                ++marks;
            else
                stored.resize(before), stored += json_text(text);
            stored += ',';
        }
        stored += '}', plain += '}';
        REQUIRE(restore_slices(stored, input, output) == plain);
        REQUIRE(stored.size() <= plain.size());
    }
    CHECK(marks > 500);
}
