#include "json/yaml.h"

#include <doctest/doctest.h>
#include <string>

using namespace hone;

namespace {

json::Value read_text(std::string_view text) {
    auto value = json::parse_yaml(text);
    REQUIRE_MESSAGE(value.ok(), (value.ok() ? "" : value.error().message));
    return std::move(value).value();
}

std::string refusal(std::string_view text) {
    const auto value = json::parse_yaml(text);
    return value.ok() ? "taken: " + json::print(value.value()) : value.error().message;
}

} // namespace

TEST_CASE("YAML is read as the JSON it means") {
    const std::string_view text = "# who looks\n"
                                  "name: analyst\n"
                                  "settings:\n"
                                  "  harness: claude-code\n"
                                  "  cpus: 1.5\n"
                                  "  pids: 512\n"
                                  "  skills: [one, 'two', \"three\\n\"]\n"
                                  "  system_prompt: |\n"
                                  "    Look at errors.\n"
                                  "\n"
                                  "    Then write.\n"
                                  "  repos:\n"
                                  "  - url: https://example.com/a.git\n"
                                  "    ref: main\n"
                                  "  budget: {tokens: ~, cost_micro_usd: null}\n"
                                  "paused: false\n";
    CHECK(
        read_text(text) ==
        json::parse(
            R"({"name":"analyst","settings":{"harness":"claude-code","cpus":1.5,"pids":512,"skills":["one","two","three\n"],)"
            R"("system_prompt":"Look at errors.\n\nThen write.\n","repos":[{"url":"https://example.com/a.git","ref":"main"}],)"
            R"("budget":{"tokens":null,"cost_micro_usd":null}},"paused":false})")
            .value());
}

TEST_CASE("words that only look like something else stay words") {
    for (const char* word : {"no",    "yes", "on", "off",  "y",   "2026-01-01", "1_000", "0x10", "0o7", "007",
                             "12:30", ".5",  "+5", ".inf", "nan", "tRUE",       "1.2.3", "-",    "1e",  "--5"}) {
        CAPTURE(word);
        const json::Value value = read_text("key: " + std::string(word == std::string_view("-") ? "'-'" : word));
        CHECK(value.at("key") == json::Value(word));
    }
    CHECK(read_text("[true, True, FALSE, null, ~, -5, 1.0, 1e3]") ==
          json::parse("[true,true,false,null,null,-5,1.0,1000.0]").value());
}

TEST_CASE("what JSON cannot say, and what would be a trap, is refused with its line") {
    CHECK(refusal("") == "the file is empty");
    CHECK(refusal("a: &x 1\nb: *x\n") == "line 1: anchors (&name) are not supported: write the value");
    CHECK(refusal("a: 1\nb: *x\n") == "line 2: aliases (*name) are not supported: write the value");
    CHECK(refusal("a: !!binary aGk=\n") == "line 1: tags (!name) are not supported");
    CHECK(refusal("a: 1\nb: 2\na: 3\n") == "line 3: the key \"a\" appears twice");
    CHECK(refusal("a: 1\n---\nb: 2\n").find("more than one document") != std::string::npos);
    CHECK(refusal("? [a, b]\n: c\n") == "line 1: a key must be a string");
    CHECK(refusal("a: [1, 2\n").starts_with("line "));
    CHECK(refusal("a:\n\t- b\n").starts_with("line 2"));
    CHECK(refusal("a: \xff\n") == "the file is not valid UTF-8");
    CHECK(refusal(std::string(100, '[')).find("nested deeper than 64") != std::string::npos);
    CHECK(refusal("a: 99999999999999999999999999\n").starts_with("taken")); // text or number: the server decides
}
