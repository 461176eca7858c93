#include "telemetry/doctor/attribute_names.h"

#include <doctest/doctest.h>

using namespace hone::telemetry;

TEST_CASE("a key that fills a field is read, by the convention whose namespace it is in") {
    CHECK(meaning_of_key("llm.model_name").use == KeyUse::read);
    CHECK(meaning_of_key("llm.model_name").convention == "OpenInference");
    CHECK(meaning_of_key("llm.input_messages.12.message.content").use == KeyUse::read);
    CHECK(meaning_of_key("gen_ai.request.model").use == KeyUse::read);
    CHECK(meaning_of_key("gen_ai.prompt.0.content").convention == "Traceloop");
    CHECK(meaning_of_key("ai.usage.inputTokens").convention == "Vercel AI SDK");
    CHECK(meaning_of_key("langfuse.observation.metadata.tier").use == KeyUse::read);
    CHECK(meaning_of_key("genkit:input").convention == "Genkit");
}

TEST_CASE("keys that every convention uses name none") {
    for (const char* key : {"session.id", "user.id", "input.value", "output", "usage.total_tokens", "tool.name"}) {
        CHECK(meaning_of_key(key).use == KeyUse::read);
        CHECK(meaning_of_key(key).convention == "");
    }
}

TEST_CASE("a key of a known namespace that fills no field is kept") {
    CHECK(meaning_of_key("gen_ai.request.seed_of_tomorrow").use == KeyUse::kept);
    CHECK(meaning_of_key("mastra.something.new").use == KeyUse::kept);
    CHECK(meaning_of_key("mastra.something.new").convention == "Mastra");
}

TEST_CASE("keys of no convention count as unknown when a word of them is about models") {
    for (const char* key : {"acme.llm_prompt", "acme.promptTokens", "MODEL", "acme:tool-name", "x.agent", "acme.usage"})
        CHECK_MESSAGE(meaning_of_key(key).use == KeyUse::unknown, key);
    for (const char* key : {"http.request.method", "db.query.text", "order.id", "tokenizer", "remodelled", "", ".",
                            "messaging.message.model", "code.function.name", "\xff\xfe"})
        CHECK_MESSAGE(meaning_of_key(key).use == KeyUse::general, key);
}
