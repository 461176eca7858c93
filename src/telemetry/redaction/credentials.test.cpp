#include "telemetry/redaction/credentials.h"
#include "base/testing.h"

#include "telemetry/redaction/redact.h"

#include <doctest/doctest.h>
#include <random>

using namespace hone;
using namespace hone::telemetry;

namespace {

// Letters and digits that no scanner of secrets takes for a real key when it reads this file.
std::string made_up(size_t length) {
    std::string text;
    for (size_t i = 0; i < length; ++i) text += "abcdefgh01"[i % 10];
    return text;
}

} // namespace

TEST_CASE("an attribute that is named like a credential is one") {
    for (const char* key : {"authorization", "http.request.header.authorization", "X-API-Key", "openai.api_key",
                            "config.apiKey", "db.password", "client_secret"})
        CHECK_MESSAGE(names_credential(key), key);
    for (const char* key : {"", "user_api_key_hash", "gen_ai.usage.input_tokens", "monkey", "llm.model_name",
                            "tool.name", "authorization.type", "passwords_checked"})
        CHECK_MESSAGE(!names_credential(key), key);
}

TEST_CASE("keys and headers inside texts are taken out, and nothing else") {
    const std::string key = made_up(40);
    const auto redacted = [](const std::string& text) { return without_credentials(text).value_or(text); };
    CHECK(redacted("use sk-" + key + " now") == "use [redacted] now");
    CHECK(redacted("ghp_" + key) == "[redacted]");
    CHECK(redacted("{\"Authorization\":\"Bearer " + key + "\"}") == "{\"Authorization\":\"[redacted]\"}");
    CHECK(redacted("{\\\"authorization\\\": \\\"" + key + "\\\"}") == "{\\\"authorization\\\": \\\"[redacted]\\\"}");
    CHECK(redacted("{\"x-api-key\": \"" + key + "\", \"a\": 1}") == "{\"x-api-key\": \"[redacted]\", \"a\": 1}");
    CHECK(redacted("apiKey: '" + key + "'") == "apiKey: '[redacted]'");
    CHECK(redacted("OPENAI_API_KEY=" + key + "\nA=1") == "OPENAI_API_KEY=[redacted]\nA=1");
    CHECK(redacted("Bearer " + key + ", Bearer " + key) == "Bearer [redacted], Bearer [redacted]");
    CHECK(redacted("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----!") == "[redacted]!");
    CHECK(redacted("eyJ" + key + ".eyJ" + key + "." + key) == "[redacted]");
    for (const char* text :
         {"", "the authorization: required by the shop", "a risk-free ask-me-anything",
          "{\"api_key\":{\"type\":\"string\"}}", "{\"api_key\":null,\"model\":\"gpt-4o-mini-2024-07-18\"}",
          "Bearer of news", "Basic knowledge of tokens", "[redacted]", "disk-0123456789012345678901234567890123456789"})
        CHECK_MESSAGE(!without_credentials(text), text);
}

TEST_CASE("a credential is found anywhere in a text") {
    std::mt19937_64 random(test_seed());
    const std::string key = "sk-" + made_up(40);
    for (int i = 0; i < 2000; ++i) {
        std::string before, after;
        for (size_t left = random() % 100; left > 0; --left) before += "abc -_zJAB{}\":,\n"[random() % 16];
        for (size_t left = random() % 100; left > 0; --left) after += " {}\":,\n"[random() % 7];
        const auto made = without_credentials(before + " " + key + " " + after);
        REQUIRE(made);
        CHECK(made->find(key) == std::string::npos);
        CHECK(made->find(redacted_text) != std::string::npos);
    }
}

TEST_CASE("a redactor with no other rule takes credentials out of attributes, events and lists") {
    auto redactor = Redactor::make({{}, {}, false, false, true});
    REQUIRE(redactor.ok());
    const std::string header = "Bearer " + made_up(40);
    otlp::Batch batch;
    otlp::Span span;
    span.name = "call";
    span.attributes.push_back(
        {"http.request.header.authorization", {std::vector{otlp::Value{std::string_view(header)}}}});
    span.attributes.push_back({"note", {std::string_view(header)}});
    span.attributes.push_back({"model", {std::string_view("gpt-4o")}});
    otlp::Event event;
    event.attributes.push_back({"config", {std::string_view(header)}});
    span.events.push_back(std::move(event));
    CHECK(redactor.value()->apply(batch, span) == 3);
    CHECK(*span.attributes[0].value.text() == redacted_text);
    CHECK(*span.attributes[1].value.text() == "Bearer [redacted]");
    CHECK(*span.attributes[2].value.text() == "gpt-4o");
    CHECK(*span.events[0].attributes[0].value.text() == "Bearer [redacted]");
}
