#include "broker/gateway/model_spans.h"
#include "broker/gateway/model_response.h"
#include "crypto/crypto.h"
#include "telemetry/span/normalise.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

ModelCall sample_call() {
    ModelCall call;
    call.id = "call_1";
    call.place.trace_id = "0af7651916cd43dd8448eb211c80319c";
    call.place.parent_id = "b7ad6b7169203331";
    call.place.run_id = "run_1";
    call.capture = Capture::full;
    call.api = ModelApi::messages;
    call.form = ResponseFormat::json;
    call.provider = "api.anthropic.com";
    call.requested_model = "claude-sonnet-4";
    call.started = from_ns(1'700'000'000'000'000'000);
    call.took = std::chrono::milliseconds(1500);
    call.status = 200;
    call.usage.tokens = {100, 600, 30, 50, 0};
    call.usage.reported = call.usage.complete = true;
    call.usage.model = "claude-sonnet-4-20250514";
    call.usage.finish_reason = "tool_use";
    call.cost_nano_usd = 1'234'567;
    call.request = R"({"model":"claude-sonnet-4","max_tokens":99,"system":[{"type":"text","text":"Be kind."}],
        "tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"},
        {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"made.txt"}]}]})";
    call.response =
        R"({"content":[{"type":"text","text":"One file."},{"type":"tool_use","id":"t2","name":"Bash","input":{}}]})";
    return call;
}

std::string attribute(const otlp::Span& span, std::string_view key) {
    const otlp::Value* value = otlp::find(span.attributes, key);
    if (value == nullptr) return "none";
    if (value->text()) return std::string(*value->text());
    if (value->integer()) return std::to_string(*value->integer());
    return "other";
}

} // namespace

TEST_CASE("a call becomes an LLM span that telemetry reads back to the token") {
    crypto::start();
    otlp::Batch batch;
    add_model_call_span(batch, sample_call());
    REQUIRE(batch.spans.size() == 1);
    const otlp::Span& raw = batch.spans[0];
    const telemetry::Span span = telemetry::normalise(batch, raw, telemetry::Prices::built_in());
    CHECK(span.trace_id == "0af7651916cd43dd8448eb211c80319c");
    CHECK(span.parent_id == "b7ad6b7169203331");
    CHECK(span.kind == telemetry::SpanKind::llm);
    CHECK(span.model == "claude-sonnet-4-20250514");
    CHECK(span.tokens == telemetry::Tokens{100, 600, 30, 50, 0});
    CHECK(span.cost_nano_usd == 1'234'567);
    CHECK(span.duration_ns == 1'500'000'000);
    CHECK(span.status == otlp::StatusCode::ok);
    CHECK(span.output == "One file.");
    CHECK(attribute(raw, "llm.input_messages.0.message.role") == "system");
    CHECK(attribute(raw, "llm.input_messages.1.message.content") == "hi");
    CHECK(attribute(raw, "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments") ==
          R"({"command":"ls"})");
    CHECK(attribute(raw, "llm.input_messages.3.message.role") == "tool");
    CHECK(attribute(raw, "llm.input_messages.3.message.tool_call_id") == "t1");
    CHECK(attribute(raw, "llm.tools.0.tool.json_schema") == R"({"name":"Bash"})");
    CHECK(attribute(raw, "llm.output_messages.0.message.tool_calls.0.tool_call.id") == "t2");
    CHECK(attribute(raw, "llm.invocation_parameters") == R"({"max_tokens":99})");
    CHECK(attribute(raw, "hone.run_id") == "run_1");
}

TEST_CASE("metadata keeps no text") {
    crypto::start();
    ModelCall call = sample_call();
    call.capture = Capture::metadata;
    otlp::Batch batch;
    add_model_call_span(batch, call);
    for (const otlp::KeyValue& entry : batch.spans[0].attributes)
        if (entry.value.text()) {
            INFO(entry.key);
            CHECK(entry.value.text()->find("kind.") == std::string_view::npos);
            CHECK(entry.value.text()->find("One file") == std::string_view::npos);
            CHECK(entry.value.text()->find("made.txt") == std::string_view::npos);
        }
    CHECK(attribute(batch.spans[0], "llm.token_count.total") == "780");
}

TEST_CASE("a call that failed is an error span with the reason") {
    crypto::start();
    ModelCall call = sample_call();
    call.status = 529;
    call.usage = {};
    call.response = "{}";
    otlp::Batch batch;
    add_model_call_span(batch, call);
    CHECK(batch.spans[0].status == otlp::StatusCode::error);
    CHECK(batch.spans[0].status_message == "the model endpoint returned 529");
    CHECK(attribute(batch.spans[0], "llm.token_count.total") == "none");
}

TEST_CASE("streams of all formats give the text and the tool calls") {
    const auto told = [](ModelApi api, std::string_view stream) {
        const ModelMessage message = read_response_message(api, ResponseFormat::events, stream);
        std::string text = message.thought + "|" + message.text;
        for (const ModelToolCall& call : message.calls) text += "|" + call.name + " " + call.arguments;
        return text;
    };
    CHECK(told(ModelApi::messages,
               "event: x\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"thinking\":\"hm\"}}\n\n"
               "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"text\":\"a\"}}\n\n"
               "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"text\":\"b\"}}\n\n"
               "data: "
               "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"name\":\"T\"}}"
               "\n\n"
               "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"partial_json\":\"{}\"}}\n\n") ==
          "hm|ab|T {}");
    CHECK(
        told(
            ModelApi::chat,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
            "data: "
            "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"T\",\"arguments\":\"\"}}]}"
            "}]}\n\n"
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n"
            "data: [DONE]\n\n") == "|a|T {}");
    CHECK(told(ModelApi::responses,
               "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"role\":\"assistant\","
               "\"content\":[{\"type\":\"output_text\",\"text\":\"ab\"}]}}\n\n"
               "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"T\","
               "\"arguments\":\"{}\"}}\n\n") == "|ab|T {}");
    CHECK(
        told(
            ModelApi::gemini,
            "data: "
            "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"a\"}]}}]}\r\n\r\n"
            "data: "
            "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"T\",\"args\":{}}}]}}]}\r\n\r\n") ==
        "hm|a|T {}");
}

TEST_CASE("a long history keeps its beginning and its end") {
    std::string body = R"({"messages":[)";
    for (int i = 0; i < 1000; ++i)
        body += std::string(i ? "," : "") + R"({"role":"user","content":"m)" + std::to_string(i) + "\"}";
    const ModelInput request = read_request_messages(ModelApi::chat, body + "]}");
    CHECK(request.messages.size() == 400);
    CHECK(request.left_out == 600);
    CHECK(request.messages.front().text == "m0");
    CHECK(request.messages.back().text == "m999");
}
