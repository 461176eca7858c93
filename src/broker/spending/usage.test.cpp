#include "broker/spending/usage.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;
using telemetry::Tokens;

namespace {

ModelUsage meter(ModelApi api, ResponseFormat form, std::string_view body, bool is_whole = true,
                 size_t step = 1 << 20) {
    UsageMeter meter(api, form);
    for (size_t at = 0; at < body.size(); at += step) meter.observe(body.substr(at, step));
    meter.finish(is_whole);
    return meter.usage();
}

const std::string anthropic_stream =
    "event: message_start\n"
    R"(data: {"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":400,"cache_creation_input_tokens":30,"cache_read_input_tokens":600,"output_tokens":1}}})"
    "\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"usage {\"input_tokens\":9}"}})"
    "\n\n"
    R"(data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":50}})"
    "\n\ndata: {\"type\":\"message_stop\"}\n\n";

} // namespace

TEST_CASE("an Anthropic stream: input from its start, output from its last delta, whatever the pieces") {
    for (const size_t step : {size_t{1}, size_t{7}, size_t{1} << 20}) {
        const ModelUsage usage = meter(ModelApi::messages, ResponseFormat::events, anthropic_stream, true, step);
        CHECK(usage.tokens == Tokens{400, 600, 30, 50, 0});
        CHECK(usage.complete);
        CHECK(usage.estimated_output == 0);
        CHECK(usage.model == "claude-x");
        CHECK(usage.response_id == "msg_1");
        CHECK(usage.finish_reason == "end_turn");
    }
}

TEST_CASE("a stream that ends early keeps the provider's last numbers and is marked") {
    const size_t end = anthropic_stream.find("data: {\"type\":\"message_delta\"");
    const ModelUsage usage = meter(ModelApi::messages, ResponseFormat::events, anthropic_stream.substr(0, end), false);
    CHECK(usage.tokens == Tokens{400, 600, 30, 1, 0});
    CHECK_FALSE(usage.complete);
    CHECK(usage.estimated_output == 6); // 26 bytes of text are about 7 tokens, one of them is counted
    SUBCASE("also when the transfer ends properly but the stream does not") {
        CHECK_FALSE(meter(ModelApi::messages, ResponseFormat::events, anthropic_stream.substr(0, end), true).complete);
    }
}

TEST_CASE("pieces of text that look alike are measured as each by itself, whatever their text") {
    const auto piece = [](std::string_view text) {
        return R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
               std::string(text) + "\"}}\n\n";
    };
    // As the bytes stand in JSON: escaped quotes, backslashes at the end, words of the format, nothing at all.
    const std::vector<std::string> texts{"abcd",   R"(a \"quoted\" word)", R"(C:\\)", "", R"(\",\"usage\":{)", "}}",
                                         "the end"};
    std::string stream;
    size_t bytes = 0;
    for (const std::string& text : texts) {
        stream += piece(text);
        bytes += text.size();
    }
    CHECK(meter(ModelApi::messages, ResponseFormat::events, stream, false).estimated_output ==
          static_cast<int64_t>(bytes + 3) / 4);
    SUBCASE("and what differs beside the text is read") {
        const ModelUsage usage = meter(ModelApi::messages, ResponseFormat::events, piece("abcd") + anthropic_stream);
        CHECK(usage.tokens == Tokens{400, 600, 30, 50, 0});
        CHECK(usage.complete);
    }
}

TEST_CASE("events with names that look alike are measured as each by itself, whatever the pieces and line ends") {
    const auto piece = [](std::string_view text, std::string_view name = "content_block_delta") {
        return "event: " + std::string(name) +
               "\n"
               R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
               std::string(text) + "\"}}\n\n";
    };
    std::string stream;
    size_t bytes = 0;
    for (const std::string_view text :
         {"abcd", "more", R"(a \"quoted\" word)", "plain", R"(C:\\)", "", "}}", "the end"}) {
        stream += piece(text);
        bytes += text.size();
    }
    stream += piece("abcd", "another_name") + ": a comment\n" + piece("abcd");
    bytes += 8;
    // A line that ends inside a text: an event of its own, whose numbers count.
    stream += piece("abcd\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":3}}\n\n") + piece("x");
    std::string with_returns;
    for (const char c : stream) with_returns += c == '\n' ? "\r\n" : std::string(1, c);
    const ModelUsage expected = meter(ModelApi::messages, ResponseFormat::events, stream, false, 1);
    CHECK(expected.tokens.output == 3);
    CHECK(expected.estimated_output > static_cast<int64_t>(bytes) / 4 - 3);
    for (const std::string& body : {stream, with_returns})
        for (const size_t step : {size_t{1}, size_t{17}, size_t{250}, size_t{1} << 20}) {
            const ModelUsage usage = meter(ModelApi::messages, ResponseFormat::events, body, false, step);
            CHECK(usage.estimated_output == expected.estimated_output);
            CHECK(usage.tokens == expected.tokens);
        }
}

TEST_CASE("an error inside a stream is kept") {
    const ModelUsage usage =
        meter(ModelApi::messages, ResponseFormat::events,
              "event: error\ndata: "
              "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
    CHECK(usage.error == "Overloaded");
    CHECK_FALSE(usage.complete);
}

TEST_CASE("whole responses of all formats") {
    CHECK(meter(ModelApi::messages, ResponseFormat::json,
                R"({"model":"c","usage":{"input_tokens":4,"cache_read_input_tokens":5,"output_tokens":6}})")
              .tokens == Tokens{4, 5, 0, 6, 0});
    CHECK(
        meter(
            ModelApi::responses, ResponseFormat::json,
            R"({"id":"r","status":"completed","usage":{"input_tokens":1630,"input_tokens_details":{"cached_tokens":600},
                   "output_tokens":70,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":1700}})")
            .tokens == Tokens{1030, 600, 0, 50, 20});
    CHECK(
        meter(
            ModelApi::chat, ResponseFormat::json,
            R"({"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}})")
            .tokens == Tokens{10, 0, 0, 4, 0});
    const ModelUsage gemini = meter(
        ModelApi::gemini, ResponseFormat::json,
        R"({"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,
                 "candidatesTokenCount":20,"thoughtsTokenCount":5,"totalTokenCount":125},"modelVersion":"gemini-2.5-pro"})");
    CHECK(gemini.tokens == Tokens{40, 60, 0, 20, 5});
    CHECK(gemini.complete);
    CHECK(gemini.model == "gemini-2.5-pro");
}

TEST_CASE("a Responses stream is counted from response.completed") {
    const std::string stream =
        R"(data: {"type":"response.created","response":{"id":"resp_1","model":"gpt-5","usage":null}})"
        "\n\n"
        R"(data: {"type":"response.output_text.delta","delta":"hello"})"
        "\n\n"
        R"(data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":9,"output_tokens":3}}})"
        "\n\n";
    const ModelUsage usage = meter(ModelApi::responses, ResponseFormat::events, stream, true, 3);
    CHECK(usage.tokens == Tokens{9, 0, 0, 3, 0});
    CHECK(usage.complete);
    CHECK(usage.model == "gpt-5");
}

TEST_CASE("a chat stream without numbers is not complete and its output is estimated") {
    const std::string stream = R"(data: {"id":"c","choices":[{"delta":{"content":"12345678"}}]})"
                               "\n\ndata: [DONE]\n\n";
    const ModelUsage usage = meter(ModelApi::chat, ResponseFormat::events, stream);
    CHECK_FALSE(usage.reported);
    CHECK_FALSE(usage.complete);
    CHECK(usage.estimated_output == 2);
}

TEST_CASE("reasoning beside the completion is seen by the total") {
    const ModelUsage usage = meter(
        ModelApi::chat, ResponseFormat::json,
        R"({"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":20,"completion_tokens_details":{"reasoning_tokens":6}}})");
    CHECK(usage.tokens == Tokens{10, 0, 0, 4, 6});
}

TEST_CASE("a Gemini stream as a JSON list is read as far as it came") {
    const std::string list =
        R"([{"candidates":[],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1}},
            {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":9}}])";
    CHECK(meter(ModelApi::gemini, ResponseFormat::json, list).tokens == Tokens{7, 0, 0, 9, 0});
    const ModelUsage cut = meter(ModelApi::gemini, ResponseFormat::json, list.substr(0, list.size() - 20), false);
    CHECK(cut.tokens == Tokens{7, 0, 0, 1, 0});
    CHECK_FALSE(cut.complete);
}

TEST_CASE("absurd numbers are bounded and others ignored") {
    const ModelUsage usage = meter(
        ModelApi::messages, ResponseFormat::json,
        R"({"usage":{"input_tokens":1e300,"output_tokens":-5,"cache_read_input_tokens":"7","cache_creation_input_tokens":2.0}})");
    CHECK(usage.tokens == Tokens{1'000'000'000'000, 0, 2, 0, 0});
}

TEST_CASE("an event above the limit is left out, the next one is read") {
    std::string stream = "data: {\"type\":\"ping\",\"x\":\"" + std::string(UsageMeter::event_limit, 'x') + "\"}\n\n";
    stream += anthropic_stream;
    const ModelUsage usage = meter(ModelApi::messages, ResponseFormat::events, stream, true, 60'000);
    CHECK(usage.tokens.output == 50);
}

TEST_CASE("the format of a response is found by its content type") {
    CHECK(response_format("text/event-stream; charset=utf-8") == ResponseFormat::events);
    CHECK(response_format("application/json") == ResponseFormat::json);
    CHECK(response_format("") == ResponseFormat::json);
}

TEST_CASE("plain deltas are recognised without being parsed, and count the same") {
    // 12 bytes of text in each stream, written tightly and with blanks; quotes inside do not mislead.
    const std::string text = R"(a\"usage\"b)";
    const auto estimated = [](ModelApi api, const std::string& first, const std::string& delta) {
        return meter(api, ResponseFormat::events, "data: " + first + "\n\ndata: " + delta + "\n\n", false)
            .estimated_output;
    };
    CHECK(estimated(ModelApi::messages, R"({"type":"message_start","message":{"id":"m"}})",
                    R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + text +
                        "\"}}") == 3);
    CHECK(estimated(ModelApi::messages, R"({"type":"message_start","message":{"id":"m"}})",
                    R"({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": ")" +
                        text + "\"}}") == 3);
    CHECK(estimated(ModelApi::responses, R"({"type":"response.created","response":{"id":"m"}})",
                    R"({"type":"response.output_text.delta","item_id":"x","delta":")" + text + "\",\"logprobs\":[]}") ==
          3);
    CHECK(estimated(ModelApi::chat, R"({"id":"m","choices":[]})",
                    R"({"id":"m","choices":[{"delta":{"content":")" + text +
                        R"("},"finish_reason":null}],"usage":null})") == 3);
    // A chunk that does tell its usage is always read.
    CHECK(
        meter(
            ModelApi::chat, ResponseFormat::events,
            "data: {\"id\":\"m\"}\n\ndata: "
            R"({"choices":[{"delta":{"content":"x"},"finish_reason":null}],"usage":{"prompt_tokens":4,"completion_tokens":1}})"
            "\n\n")
            .tokens == Tokens{4, 0, 0, 1, 0});
}

TEST_CASE("a response that was not read to its end has final numbers only where the provider has sent them") {
    const auto is_final = [](ModelApi api, ResponseFormat form, std::string_view body) {
        UsageMeter meter(api, form);
        meter.observe(body);
        meter.finish(false);
        return meter.has_final_numbers();
    };
    const size_t end = anthropic_stream.find("data: {\"type\":\"message_stop\"");
    const size_t reason = anthropic_stream.find("data: {\"type\":\"message_delta\"");
    CHECK(is_final(ModelApi::messages, ResponseFormat::events, anthropic_stream));
    CHECK(is_final(ModelApi::messages, ResponseFormat::events, anthropic_stream.substr(0, end)));
    CHECK_FALSE(is_final(ModelApi::messages, ResponseFormat::events, anthropic_stream.substr(0, reason)));
    const std::string completed =
        R"(data: {"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":6}}})"
        "\n\n";
    CHECK(is_final(ModelApi::responses, ResponseFormat::events, completed));
    CHECK_FALSE(is_final(ModelApi::responses, ResponseFormat::events, "data: {\"type\":\"response.created\"}\n\n"));
    const std::string so_far =
        R"(data: {"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":1}})"
        "\n\n";
    CHECK_FALSE(is_final(ModelApi::chat, ResponseFormat::events, so_far));
    CHECK(is_final(ModelApi::chat, ResponseFormat::events, so_far + "data: [DONE]\n\n"));
    const std::string item = R"([{"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":7}})";
    CHECK_FALSE(is_final(ModelApi::gemini, ResponseFormat::json, item));
    CHECK(is_final(ModelApi::gemini, ResponseFormat::json,
                   item + R"(,{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7}})"));
    CHECK(is_final(ModelApi::messages, ResponseFormat::json, R"({"usage":{"input_tokens":1,"output_tokens":2},"cont)"));
    CHECK_FALSE(is_final(ModelApi::messages, ResponseFormat::json, R"({"content":[{"type":"text","te)"));
}

TEST_CASE("what is written into a cache of one hour is counted by itself") {
    const auto usage = meter(
        ModelApi::messages, ResponseFormat::json,
        R"({"usage":{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":2}})");
    CHECK(usage.tokens == Tokens{1, 0, 30, 2, 0});
    CHECK(usage.hour_cache_write == 20);
    CHECK(meter(ModelApi::messages, ResponseFormat::events, anthropic_stream).hour_cache_write == 0);
}
