#include "cli/toolkit/yaml.h"

#include <doctest/doctest.h>
#include <string>

using namespace hone;
using namespace hone::cli;

namespace {

json::Value read(std::string_view text) {
    auto value = parse_yaml(text);
    REQUIRE_MESSAGE(value.ok(), (value.ok() ? "" : value.error().message));
    return std::move(value).value();
}

} // namespace

TEST_CASE("what is written reads back as the same, strings as strings") {
    json::Object object;
    for (const char* text : {"no",
                             "1.0",
                             "1",
                             "-7",
                             "2026-01-01",
                             "true",
                             "~",
                             "",
                             " ",
                             "a: b",
                             "a #b",
                             "- a",
                             "|",
                             "\xEF\xBF\xBF",
                             "two\n\xEF\xBF\xBE",
                             "two\nlines\n",
                             "two\nlines",
                             "ends\n\n\n",
                             "\nstarts",
                             " indented\nmore",
                             "tab\tinside\nand",
                             "# no comment\nreally",
                             "'",
                             "\"",
                             "\\",
                             "{{window.from}}",
                             "*",
                             "&a",
                             "!tag",
                             "%",
                             "@at",
                             "`",
                             "colon:",
                             "a\r\nb",
                             "---",
                             "...\n---\n",
                             "grüße\nan alle",
                             "日本",
                             "\xE2\x80\xA8",
                             "\xC2\x85",
                             "\xEF\xBB\xBF",
                             "\x7f",
                             "\x1b[2J",
                             "\xE2\x80\xAE",
                             "x\n \ny",
                             "x\n   \n",
                             "null",
                             "Null",
                             "0",
                             "1e5",
                             ".5",
                             "trailing ",
                             "\n",
                             "\n\n",
                             "a\n\n"})
        object["key " + std::to_string(object.size())] = text;
    object["no"] = 1;
    object["2"] = nullptr;
    object[""] = json::Array{json::Array{},
                             json::Object{},
                             json::Array{json::Array{1, 2}},
                             0.05,
                             5.0,
                             1e300,
                             1e-7,
                             -0.5,
                             json::Object{{"a", "x\ny\n"}, {"b", json::Array{"p\nq"}}},
                             true,
                             int64_t{-9007199254740993}};
    const std::string text = print_yaml(object);
    CAPTURE(text);
    CHECK(json::print(read(text)) == json::print(object));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
    CHECK(print_yaml(json::parse(R"({"a":{"b":[{"c":1,"d":"two\nlines\n"}],"e":"no"}})").value()) ==
          "a:\n  b:\n    - c: 1\n      d: |\n        two\n        lines\n  e: \"no\"\n");
    for (const json::Value& alone : {json::Value("x"), json::Value("x\ny\n"), json::Value(nullptr), json::Value(3)})
        CHECK(read(print_yaml(alone)) == alone);
}
