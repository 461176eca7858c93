#include "telemetry/imports/imports.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "otlp/decode.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::telemetry;

namespace {

// An element and the spans that its OTLP holds.
struct ReadElement {
    ImportElement element;
    otlp::Batch batch;

    explicit ReadElement(Result<ImportElement> result) {
        REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
        element = std::move(result).value();
        auto decoded = otlp::decode_protobuf(element.otlp, {});
        REQUIRE(decoded.ok());
        batch = std::move(decoded).value();
        CHECK(batch.resources.size() == element.resources);
    }

    const otlp::Span& span(std::string_view name) const {
        for (const otlp::Span& one : batch.spans)
            if (one.name == name) return one;
        FAIL("no span named ", std::string(name));
        return batch.spans.front();
    }

    std::string at(std::string_view name, std::string_view key) const {
        const otlp::Value* value = otlp::find(span(name).attributes, key);
        if (value && value->text()) return std::string(*value->text());
        return value && value->integer() ? std::to_string(*value->integer()) : "";
    }
};

struct StartCrypto {
    StartCrypto() { crypto::start(); }
};
const StartCrypto started;

constexpr std::string_view langfuse_trace_json =
    R"({"id":"0123456789abcdef0123456789abcdef","name":"support","timestamp":"2026-11-01T10:00:00.000Z",
 "sessionId":"chat-1","userId":"ann","tags":["beta"],"metadata":{"tier":"gold"},"input":"Where is it?","output":"Here.",
 "observations":[
 {"id":"00000000000000a1","traceId":"0123456789abcdef0123456789abcdef","type":"SPAN","name":"agent",
  "startTime":"2026-11-01T10:00:00.000Z","endTime":"2026-11-01T10:00:02.000Z","level":"DEFAULT"},
 {"id":"00000000000000a2","traceId":"0123456789abcdef0123456789abcdef","parentObservationId":"00000000000000a1",
  "type":"GENERATION","name":"answer","startTime":"2026-11-01T10:00:00.500Z","endTime":"2026-11-01T10:00:01.500Z",
  "completionStartTime":"2026-11-01T10:00:00.750Z","model":"gpt-4o-mini","modelParameters":{"temperature":0.2},
  "input":[{"role":"user","content":"Where is it?"}],"output":{"role":"assistant","content":"Here."},
  "usageDetails":{"input":10,"output":4,"total":14},"costDetails":{"total":0.0012},"level":"ERROR",
  "statusMessage":"rate limited","metadata":{"attempt":2}}]})";

} // namespace

TEST_CASE("a trace of Langfuse with one root observation keeps its ids, tree, times and texts") {
    const ReadElement read(read_langfuse(langfuse_trace_json));
    REQUIRE(read.batch.spans.size() == 2);
    const otlp::Span& root = read.span("agent");
    const otlp::Span& call = read.span("answer");
    CHECK(to_hex(root.trace_id) == "0123456789abcdef0123456789abcdef");
    CHECK(to_hex(root.span_id) == "00000000000000a1");
    CHECK(root.parent_span_id.empty());
    CHECK(call.parent_span_id == root.span_id);
    CHECK(root.end_ns - root.start_ns == 2'000'000'000);
    CHECK(read.at("agent", "langfuse.observation.input") == "Where is it?");
    CHECK(read.at("agent", "langfuse.observation.output") == "Here.");
    CHECK(read.at("agent", "langfuse.trace.metadata.tier") == "gold");
    CHECK(read.at("answer", "langfuse.session.id") == "chat-1");
    CHECK(read.at("answer", "langfuse.user.id") == "ann");
    CHECK(read.at("answer", "langfuse.observation.type") == "generation");
    CHECK(read.at("answer", "langfuse.observation.model.name") == "gpt-4o-mini");
    CHECK(read.at("answer", "langfuse.observation.usage_details") == R"({"input":10,"output":4,"total":14})");
    CHECK(read.at("answer", "langfuse.observation.input") == R"([{"role":"user","content":"Where is it?"}])");
    CHECK(read.at("answer", "langfuse.observation.metadata.attempt") == "2");
    CHECK(read.at("answer", "langfuse.observation.completion_start_time").starts_with("2026-11-01T10:00:00.75"));
    CHECK(call.status == otlp::StatusCode::error);
    CHECK(call.status_message == "rate limited");
}

TEST_CASE("a trace of Langfuse without a single root observation becomes a span; older ids are hashed and stay equal") {
    const std::string json =
        R"({"id":"my trace","name":"old","timestamp":"2026-11-01T10:00:00Z","observations":[
 {"id":"0b1c0000-0000-4000-8000-000000000001","type":"SPAN","name":"one","startTime":"2026-11-01T10:00:01Z","endTime":"2026-11-01T10:00:03Z"},
 {"id":"0b1c0000-0000-4000-8000-000000000002","type":"EVENT","name":"two","startTime":"2026-11-01T10:00:02Z","endTime":null},
 {"id":"no start","type":"EVENT","name":"three"}, 7]})";
    const ReadElement read(read_langfuse(json));
    REQUIRE(read.batch.spans.size() == 3);
    CHECK(read.element.rejected == std::vector<std::string>{"an observation has no startTime"});
    const otlp::Span& root = read.span("old");
    CHECK(root.trace_id.size() == 16);
    CHECK(read.span("one").parent_span_id == root.span_id);
    CHECK(read.span("two").parent_span_id == root.span_id);
    CHECK(read.span("two").end_ns == read.span("two").start_ns);
    CHECK(root.end_ns - root.start_ns == 3'000'000'000);
    CHECK(read_langfuse(json).value().otlp == read.element.otlp);
}

TEST_CASE("rows of Langfuse's blob storage export and pages of its API are read") {
    const ReadElement row(read_langfuse(
        R"({"id":"00000000000000a2","trace_id":"0123456789abcdef0123456789abcdef","parent_observation_id":"00000000000000a1",
 "type":"GENERATION","name":"answer","start_time":"2024-05-29 13:46:19.963000","end_time":"2024-05-29 13:46:20.963000",
 "provided_model_name":"gpt-4o","usage_details":{"input":3},"total_cost":0.5,"session_id":"s","metadata":"{\"a\":\"b\"}"})"));
    CHECK(row.span("answer").start_ns == 1'716'990'379'963'000'000);
    CHECK(to_hex(row.span("answer").parent_span_id) == "00000000000000a1");
    CHECK(row.at("answer", "langfuse.observation.model.name") == "gpt-4o");
    CHECK(row.at("answer", "langfuse.observation.cost_details") == R"({"total":0.5})");
    CHECK(row.at("answer", "langfuse.observation.metadata.a") == "b");
    CHECK(row.at("answer", "langfuse.session.id") == "s");
    const ReadElement page(
        read_langfuse(R"({"data":[)" + std::string(langfuse_trace_json) + R"(,{"name":"no id"}],"meta":{}})"));
    CHECK(page.batch.spans.size() == 2);
    CHECK(page.element.rejected == std::vector<std::string>{"the trace has no id"});
    const ReadElement download(
        read_langfuse(R"({"trace":{"id":"t","name":"n","timestamp":"2026-11-01T10:00:00Z"},"observations":[]})"));
    CHECK(download.batch.spans.size() == 1);
    CHECK(!read_langfuse("[]").ok());
    CHECK(!read_langfuse("{").ok());
    CHECK(!read_langfuse(R"({"data":[{"data":[{"data":[]}]}]})").value().rejected.empty());
}

TEST_CASE("runs of LangSmith are read alone, nested, in pages, and with objects as texts") {
    const std::string root = "01a1e3ea-f323-7c4b-bef0-40833510d88f", child = "01a1e3ea-f4e7-759b-9269-351553d4c146";
    const std::string inner =
        R"({"id":")" + child + R"(","trace_id":")" + root + R"(","parent_run_id":")" + root +
        R"(","name":"call","run_type":"llm","start_time":"2026-11-01T10:00:00","end_time":"2026-11-01T10:00:01",)"
        R"("inputs":"{\"messages\":[]}","prompt_tokens":7,"completion_tokens":3,)"
        R"("extra":"{\"metadata\":{\"ls_model_name\":\"m\"}}"})";
    const std::string outer =
        R"({"id":")" + root +
        R"(","name":"chain","run_type":"chain","start_time":"2026-11-01T10:00:00","child_runs":[)" + inner + "]}";
    const ReadElement nested(read_langsmith(outer));
    REQUIRE(nested.batch.spans.size() == 2);
    CHECK(nested.span("call").parent_span_id == nested.span("chain").span_id);
    CHECK(nested.at("call", "llm.model_name") == "m");
    CHECK(nested.at("call", "llm.token_count.prompt") == "7");
    CHECK(nested.at("call", "llm.token_count.completion") == "3");
    CHECK(nested.at("call", "input.value") == R"({"messages":[]})");
    const ReadElement page(read_langsmith(R"({"runs":[)" + inner + R"(,{"id":"x"},{}],"cursors":{}})"));
    CHECK(page.batch.spans.size() == 1);
    CHECK(page.element.rejected.size() == 2);
    CHECK(page.span("call").span_id == nested.span("call").span_id);
    CHECK(!read_langsmith("{}").ok());
    CHECK(!read_langsmith("7").ok());
}

TEST_CASE("results of an OpenAI batch become model calls, with their requests if these are known") {
    const std::string line =
        R"({"request":{"custom_id":"r-1","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini",
 "messages":[{"role":"user","content":"Hello"}]}},"id":"batch_req_1","custom_id":"r-1","response":{"status_code":200,
 "request_id":"q","body":{"id":"chatcmpl-1","object":"chat.completion","created":1762000000,"model":"gpt-4o-mini-2024-07-18",
 "choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],
 "usage":{"prompt_tokens":20,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":8},
 "completion_tokens_details":{"reasoning_tokens":4}}}},"error":null})";
    const ReadElement read(read_openai_batch(line, 5));
    const otlp::Span& call = read.span("chat.completions");
    CHECK(call.start_ns == 1'762'000'000'000'000'000);
    CHECK(call.status == otlp::StatusCode::unset);
    CHECK(read.at("chat.completions", "llm.model_name") == "gpt-4o-mini-2024-07-18");
    CHECK(read.at("chat.completions", "llm.token_count.prompt") == "20");
    CHECK(read.at("chat.completions", "llm.token_count.prompt_details.cache_read") == "8");
    CHECK(read.at("chat.completions", "llm.token_count.completion_details.reasoning") == "4");
    CHECK(read.at("chat.completions", "llm.finish_reason") == "stop");
    CHECK(read.at("chat.completions", "input.value").find("Hello") != std::string::npos);
    CHECK(read.at("chat.completions", "metadata") == R"({"custom_id":"r-1","batch_request_id":"batch_req_1"})");
    const ReadElement failed(read_openai_batch(
        R"({"id":"b","custom_id":"r-2","response":{"status_code":400,"body":{"error":{"message":"bad","code":"invalid"}}},"error":null})",
        77));
    CHECK(failed.batch.spans.at(0).start_ns == 77);
    CHECK(failed.batch.spans.at(0).status == otlp::StatusCode::error);
    CHECK(failed.batch.spans.at(0).status_message == "bad");
    const ReadElement expired(read_openai_batch(
        R"({"id":"b","custom_id":"r-3","response":null,"error":{"code":"batch_expired","message":"too late"}})", 77));
    CHECK(*otlp::find(expired.batch.spans.at(0).events.at(0).attributes, "exception.type")->text() == "batch_expired");
    const ReadElement vectors(read_openai_batch(
        R"({"id":"b","custom_id":"r-4","response":{"status_code":200,"body":{"object":"list","model":"e","data":[{"object":"embedding","embedding":[0.1]}],"usage":{"prompt_tokens":2}}}})",
        77));
    CHECK(vectors.at("embeddings", "openinference.span.kind") == "EMBEDDING");
    CHECK(vectors.at("embeddings", "output.value") == "");
    CHECK(!read_openai_batch(R"({"custom_id":"r"})", 1).ok());
    CHECK(!read_openai_batch("x", 1).ok());
}

TEST_CASE("results of an Anthropic batch become model calls at the given time") {
    const ReadElement read(read_anthropic_batch(
        R"({"custom_id":"r-1","request":{"custom_id":"r-1","params":{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"}]}},
 "result":{"type":"succeeded","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5",
 "content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":10,
 "cache_creation_input_tokens":2,"output_tokens":3}}}})",
        1'762'000'000'000'000'000));
    CHECK(read.span("messages").start_ns == 1'762'000'000'000'000'000);
    CHECK(read.at("messages", "llm.token_count.prompt") == "17");
    CHECK(read.at("messages", "llm.token_count.prompt_details.cache_read") == "10");
    CHECK(read.at("messages", "llm.token_count.prompt_details.cache_write") == "2");
    CHECK(read.at("messages", "llm.token_count.completion") == "3");
    CHECK(read.at("messages", "llm.finish_reason") == "end_turn");
    const ReadElement failed(read_anthropic_batch(
        R"({"custom_id":"r-2","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"no model"}}}})",
        1));
    CHECK(failed.span("messages").status_message == "no model");
    const ReadElement expired(read_anthropic_batch(R"({"custom_id":"r-3","result":{"type":"expired"}})", 1));
    CHECK(expired.span("messages").status_message == "the request was expired");
    CHECK(!read_anthropic_batch(R"({"custom_id":"r"})", 1).ok());
    CHECK(!read_anthropic_batch("[]", 1).ok());
}
