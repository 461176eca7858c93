#include "telemetry/span/normalise.h"
#include "base/testing.h"

#include "base/file.h"
#include "otlp/attribute_text.h"
#include "otlp/decode.h"
#include "telemetry/span/conversation.h"
#include "telemetry/span/usage.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <simdjson.h>

using namespace hone;
using namespace hone::telemetry;

namespace {

namespace dom = simdjson::dom;

std::string as_json(std::string_view text) {
    std::string out;
    otlp::append_json_string(out, text);
    return out;
}

std::string describe(const std::vector<std::string_view>& tags) {
    std::string out;
    for (const std::string_view tag : tags) out += (out.empty() ? "" : ",") + as_json(tag);
    return "[" + out + "]";
}

std::string describe(const std::vector<std::pair<std::string_view, std::string_view>>& metadata) {
    std::string out;
    for (const auto& [name, value] : metadata) out += (out.empty() ? "" : ",") + as_json(name) + ":" + as_json(value);
    return "{" + out + "}";
}

// Every field of the model as JSON text, by name.
std::map<std::string, std::string> describe(const Span& span) {
    return {{"kind", as_json(name_of(span.kind))},
            {"status", as_json(name_of(span.status))},
            {"status_message", as_json(span.status_message)},
            {"service", as_json(span.service)},
            {"version", as_json(span.version)},
            {"model", as_json(span.model)},
            {"provider", as_json(span.provider)},
            {"input_tokens", std::to_string(span.tokens.input)},
            {"cache_read", std::to_string(span.tokens.cache_read)},
            {"cache_write", std::to_string(span.tokens.cache_write)},
            {"output_tokens", std::to_string(span.tokens.output)},
            {"reasoning", std::to_string(span.tokens.reasoning)},
            {"cost_nano_usd", std::to_string(span.cost_nano_usd)},
            {"cost_source", as_json(name_of(span.cost_source))},
            {"user_id", as_json(span.user_id)},
            {"chat_session", as_json(span.chat_session)},
            {"tool_name", as_json(span.tool_name)},
            {"finish_reason", as_json(span.finish_reason)},
            {"documents", std::to_string(span.documents)},
            {"response_id", as_json(span.response_id)},
            {"first_token_ns", std::to_string(span.first_token_ns)},
            {"tags", describe(span.tags)},
            {"metadata", describe(span.metadata)},
            {"exception_type", as_json(span.exception_type)},
            {"exception_message", as_json(span.exception_message)},
            {"input", as_json(span.input)},
            {"input_mime", as_json(span.input_mime)},
            {"output", as_json(span.output)},
            {"output_mime", as_json(span.output_mime)}};
}

std::string describe(const std::vector<Message>& messages) {
    std::string out = "[";
    for (const Message& message : messages) {
        if (out.size() > 1) out += ',';
        out += "{\"role\":" + as_json(message.role) + ",\"content\":" + as_json(message.content) +
               ",\"tool_call_id\":" + as_json(message.tool_call_id) + ",\"tool_calls\":[";
        for (const ToolCall& call : message.tool_calls) {
            if (out.back() == '}') out += ',';
            out += "{\"id\":" + as_json(call.id) + ",\"name\":" + as_json(call.name) +
                   ",\"arguments\":" + as_json(call.arguments) + "}";
        }
        out += "]}";
    }
    return out + "]";
}

std::string describe(const std::vector<Document>& documents) {
    std::string out = "[";
    for (const Document& document : documents) {
        if (out.size() > 1) out += ',';
        std::string score = "null";
        if (document.score) {
            score.clear();
            otlp::append_value_text(score, otlp::Value{*document.score});
        }
        out += "{\"id\":" + as_json(document.id) + ",\"content\":" + as_json(document.content) + ",\"score\":" + score +
               ",\"metadata\":" + as_json(document.metadata) + "}";
    }
    return out + "]";
}

std::map<std::string, std::string> describe(const Conversation& conversation) {
    std::string tools = "[";
    for (const auto& tool : conversation.tools) tools += (tools.size() > 1 ? "," : "") + as_json(tool);
    std::string prompt;
    if (const auto& made = conversation.prompt_template)
        prompt = "{\"text\":" + as_json(made->text) + ",\"variables\":" + as_json(made->variables) +
                 ",\"version\":" + as_json(made->version) + "}";
    return {{"input", describe(conversation.input)},
            {"output", describe(conversation.output)},
            {"documents", describe(conversation.documents)},
            {"tools", tools + "]"},
            {"prompt_template", prompt}};
}

void check_fields(const dom::object& expected, const std::map<std::string, std::string>& found) {
    for (const auto [key, value] : expected) {
        const std::string name(key);
        CAPTURE(name);
        REQUIRE(found.contains(name));
        CHECK(found.at(name) == simdjson::minify(value));
    }
}

void run_corpus_file(const std::string& path) {
    auto text = read_file(path);
    REQUIRE(text.ok());
    dom::parser parser;
    const dom::element file = parser.parse(text.value());
    const std::string resource = simdjson::minify(file["resource"]);
    const Prices prices = Prices::built_in();
    for (const dom::element& entry : dom::array(file["cases"])) {
        std::string_view scope;
        if (entry["scope"].get(scope) != simdjson::SUCCESS) scope = {};
        const std::string body = R"({"resourceSpans":[{"resource":{"attributes":)" + resource +
                                 R"(},"scopeSpans":[{"scope":{"name":)" + as_json(scope) + R"(},"spans":[)" +
                                 simdjson::minify(entry["span"]) + "]}]}]}";
        auto batch = otlp::decode_json(body);
        REQUIRE(batch.ok());
        REQUIRE(batch.value().spans.size() == 1);
        const otlp::Span& raw = batch.value().spans[0];
        CAPTURE(std::string(raw.name));
        const Span span = normalise(batch.value(), raw, prices);
        check_fields(entry["expected"], describe(span));
        dom::object conversation;
        if (entry["conversation"].get(conversation) == simdjson::SUCCESS)
            check_fields(conversation, describe(derive_conversation(raw)));
    }
}

} // namespace

TEST_CASE("spans of every convention become the one span model") {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tests/corpus"))
        if (entry.path().extension() == ".json") files.insert(entry.path().string());
    CHECK(files.size() >= 21);
    for (const std::string& file : files) {
        CAPTURE(file);
        run_corpus_file(file);
    }
}

TEST_CASE("token buckets never overlap: when a total is consistent with the parts, the buckets add up to it") {
    std::mt19937_64 random(test_seed());
    const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
    for (int i = 0; i < 20'000; ++i) {
        const int64_t read = below(500), write = below(500), plain = below(1000), reasoning = below(300),
                      output = below(400);
        const int64_t total = read + write + plain + reasoning + output;
        const ReportedUsage inside{read + write + plain, output + reasoning, read, write, reasoning, total, false};
        const ReportedUsage beside{plain, output, read, write, reasoning, total, false};
        CHECK(to_buckets(inside).total() == total);
        CHECK(to_buckets(beside).total() == total);
        const Tokens tokens = to_buckets(inside);
        CHECK(tokens == Tokens{plain, read, write, output, reasoning});
    }
}

TEST_CASE("only a total, contradictions and hostile numbers still give buckets that are not negative") {
    CHECK(to_buckets({{}, {}, {}, {}, {}, 30, false}) == Tokens{30, 0, 0, 0, 0});
    CHECK(to_buckets({5, 1, 10, {}, {}, {}, false}) == Tokens{5, 10, 0, 1, 0});
    CHECK(to_buckets({-5, INT64_MIN, -1, {}, {}, INT64_MAX, false}).total() >= 0);
    CHECK(to_buckets({INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, {}, false}).total() > 0);
}

TEST_CASE("prices: own lines win, versions match, other models do not") {
    Prices prices = Prices::built_in();
    const Time now = parse_time("2026-06-01T00:00:00Z").value();
    REQUIRE(prices.find("openai/gpt-4o-2024-08-06", now));
    CHECK(prices.find("us.anthropic.claude-3-5-sonnet-20241022-v2:0", now));
    CHECK(!prices.find("gpt-4omega", now));
    CHECK(!prices.find("", now));
    CHECK(prices.add("my-model 1 2 # comment\n\ngpt-4o 100 200 50 60").ok());
    CHECK(prices.find("my-model", now)->cache_read == 1000);
    CHECK(prices.find("GPT-4o", now)->output == 200'000);
    CHECK(prices.find("GPT-4o", now)->line() == "gpt-4o 100 200 50 60");
    for (const char* bad : {"bad", "bad 1 -2", "bad 1 2 since", "bad 1 since 2026-01-01", "bad 1 2 since 2026-02-30"})
        CHECK_MESSAGE(!prices.add(bad).ok(), bad);
}

TEST_CASE("prices: each time has its own, and the price that was used is recorded") {
    const auto at = [](const char* day) { return parse_time(std::string(day) + "T12:00:00Z").value(); };
    Prices prices = Prices::built_in();
    CHECK(prices.find("gpt-5", at("2026-01-01"))->line() == "gpt-5 1.25 10 0.125 1.25 since 2025-12-01");
    CHECK(prices.find("gpt-5", at("2025-08-07"))->input == 1250); // before the first day that is known
    CHECK(prices.add("gpt-5 1 8 since 2026-03-01\ngpt-5 0.5 4 since 2026-06-01\ngpt-5 2 9 since 2026-03-01").ok());
    CHECK(prices.find("gpt-5", at("2026-02-28"))->input == 1250);
    CHECK(prices.find("gpt-5", at("2026-03-01"))->line() == "gpt-5 2 9 2 2 since 2026-03-01");
    CHECK(prices.find("gpt-5", at("2026-12-31"))->input == 500);
    CHECK(prices.add("gpt-5 7 7").ok()); // no day: always
    CHECK(prices.find("gpt-5", at("2025-01-01"))->input == 7000);
    CHECK(prices.find("gpt-5", at("2026-12-31"))->input == 7000);
}

TEST_CASE("the project is the resource's project name, else its service, else default") {
    otlp::Resource resource;
    CHECK(project_name(resource) == "default");
    resource.attributes.push_back({"service.name", {std::string_view("shop")}});
    CHECK(project_name(resource) == "shop");
    resource.attributes.push_back({"openinference.project.name", {std::string_view("bot")}});
    CHECK(project_name(resource) == "bot");
}

TEST_CASE("a span names the project of a sender without a name") {
    otlp::Batch batch;
    batch.resources.resize(2);
    batch.resources[0].attributes.push_back({"service.name", {std::string_view("unknown_service:node")}});
    batch.resources[1].attributes.push_back({"service.name", {std::string_view("shop")}});
    for (const uint32_t resource : {0, 1}) {
        otlp::Span span;
        span.resource = resource;
        span.attributes.push_back({"langsmith.trace.session_name", {std::string_view("bot")}});
        batch.spans.push_back(std::move(span));
    }
    CHECK(project_name(batch, 0) == "bot");
    CHECK(project_name(batch, 1) == "shop");
    batch.spans.clear();
    CHECK(project_name(batch, 0) == "unknown_service:node");
}
