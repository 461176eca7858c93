#include "telemetry/imports/langsmith_runs.h"

#include "base/text.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::telemetry;

namespace {

constexpr std::string_view root_id = "01a1e3ea-f323-7c4b-bef0-40833510d88f";
constexpr std::string_view child_id = "01a1e3ea-f4e7-759b-9269-351553d4c146";

std::string form_part(std::string_view name, std::string_view content) {
    return "--b\r\nContent-Disposition: form-data; name=\"" + std::string(name) +
           "\"\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
           std::string(content) + "\r\n";
}

std::string attribute_in(const otlp::Span& span, std::string_view key) {
    const otlp::Value* value = otlp::find(span.attributes, key);
    if (value && value->text()) return std::string(*value->text());
    return value && value->integer() ? std::to_string(*value->integer()) : "";
}

RunParts spans_in(const Result<RunOperations>& operations) {
    REQUIRE_MESSAGE(operations.ok(), (operations.ok() ? "" : operations.error().message));
    return spans_of_runs(operations.value().runs, 1);
}

} // namespace

TEST_CASE("a form of runs becomes spans: fields in parts of their own, in any order") {
    const std::string root(root_id), child(child_id);
    const std::string body =
        form_part("post." + child + ".inputs", R"({"order_id":"B-404"})") +
        form_part("post." + child,
                  R"({"id":")" + child + R"(","trace_id":")" + root + R"(","parent_run_id":")" + root +
                      R"(","name":"lookup_order","run_type":"tool","session_name":"shop",)"
                      R"("start_time":"2026-11-16T10:33:08.583507+00:00","end_time":1794825188584.215})") +
        form_part("post." + child + ".error", R"("OrderNotFound: order B-404 does not exist")") +
        form_part("attachment." + child + ".picture", "\x01\x02") +
        form_part("feedback.1", R"({"run_id":")" + child + R"(","key":"good","score":1})") +
        form_part("post." + root, R"({"id":")" + root +
                                      R"(","name":"agent","run_type":"chain","session_name":"shop",)"
                                      R"("start_time":"2026-11-16T10:33:08.131230Z"})") +
        "--b--\r\n";
    const auto operations = read_run_form("multipart/form-data; boundary=b", body);
    const auto runs = spans_in(operations);
    CHECK(operations.value().attachments == 1);
    CHECK(operations.value().feedback.size() == 1);
    REQUIRE(runs.batch.spans.size() == 2);
    const bool root_first = runs.batch.spans[0].name == "agent";
    const otlp::Span& agent = runs.batch.spans[root_first ? 0 : 1];
    const otlp::Span& tool = runs.batch.spans[root_first ? 1 : 0];
    CHECK(agent.end_ns == 0);
    CHECK(!runs.is_whole[root_first ? 0 : 1]);
    CHECK(runs.is_whole[root_first ? 1 : 0]);
    CHECK(to_hex(agent.trace_id) == "01a1e3eaf3237c4bbef040833510d88f");
    CHECK(agent.trace_id == tool.trace_id);
    CHECK(tool.parent_span_id == agent.span_id);
    CHECK(to_hex(tool.span_id) == span_id_of_run(child_id));
    CHECK(tool.start_ns == 1'794'825'188'583'507'000);
    CHECK(tool.end_ns == 1'794'825'188'584'215'000);
    CHECK(attribute_in(tool, "openinference.span.kind") == "TOOL");
    CHECK(attribute_in(tool, "tool.name") == "lookup_order");
    CHECK(attribute_in(tool, "input.value") == R"({"order_id":"B-404"})");
    CHECK(tool.status == otlp::StatusCode::error);
    CHECK(tool.status_message == "order B-404 does not exist");
    REQUIRE(tool.events.size() == 1);
    CHECK(*otlp::find(tool.events[0].attributes, "exception.type")->text() == "OrderNotFound");
    CHECK(*otlp::find(runs.batch.resources.at(tool.resource).attributes, "openinference.project.name")->text() ==
          "shop");
}

TEST_CASE("a model call has its model, usage, finish reason, chat session and first token") {
    const std::string run =
        R"({"id":")" + std::string(root_id) +
        R"(","name":"ChatOpenAI","run_type":"llm","start_time":"2026-11-16T10:00:00Z","end_time":"2026-11-16T10:00:01",)"
        R"("inputs":{"args":[{"model":"m","messages":[{"role":"user","content":"Hello"}]},{}]},)"
        R"("outputs":{"model":"m-1","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}],)"
        R"("usage_metadata":{"input_tokens":220,"output_tokens":40,"input_token_details":{"cache_read":128},)"
        R"("output_token_details":{"reasoning":8}}},"tags":["a","b"],)"
        R"("events":[{"name":"new_token","time":"2026-11-16T10:00:00.5Z"},{"name":"new_token","time":"x"}],)"
        R"("extra":{"metadata":{"ls_provider":"openai","ls_model_name":"m","thread_id":"t-1","user_id":"u-1"}}})";
    const auto operations = read_run(run, false);
    const auto runs = spans_in(operations);
    REQUIRE(runs.batch.spans.size() == 1);
    const otlp::Span& span = runs.batch.spans.front();
    CHECK(attribute_in(span, "openinference.span.kind") == "LLM");
    CHECK(attribute_in(span, "llm.model_name") == "m-1");
    CHECK(attribute_in(span, "llm.provider") == "openai");
    CHECK(attribute_in(span, "llm.finish_reason") == "stop");
    CHECK(attribute_in(span, "llm.token_count.prompt") == "220");
    CHECK(attribute_in(span, "llm.token_count.completion") == "40");
    CHECK(attribute_in(span, "llm.token_count.prompt_details.cache_read") == "128");
    CHECK(attribute_in(span, "llm.token_count.completion_details.reasoning") == "8");
    CHECK(attribute_in(span, "session.id") == "t-1");
    CHECK(attribute_in(span, "user.id") == "u-1");
    CHECK(attribute_in(span, "input.value") == R"({"model":"m","messages":[{"role":"user","content":"Hello"}]})");
    CHECK(span.status == otlp::StatusCode::ok);
    REQUIRE(span.events.size() == 1);
    CHECK(span.events[0].time_ns - span.start_ns == 500'000'000);
    CHECK(span.end_ns - span.start_ns == 1'000'000'000);
}

TEST_CASE("a batch has posts and patches; texts in a wrapper are shown plainly") {
    const std::string id(root_id);
    const auto operations = read_run_batch(
        R"({"post":[{"id":")" + id +
        R"(","name":"plain","inputs":{"input":"in"},"start_time":"2026-11-16T10:00:00Z"}],)" + R"("patch":[{"id":")" +
        id + R"(","outputs":{"outputs":"out"},"end_time":1794823201000,"dotted_order":"20261116T100000000000Z)" + id +
        R"("},{"id":"no uuid"},7]})");
    const auto runs = spans_in(operations);
    REQUIRE(runs.batch.spans.size() == 2);
    CHECK(runs.batch.rejected.size() == 1);
    CHECK(attribute_in(runs.batch.spans[0], "input.value") == "in");
    CHECK(attribute_in(runs.batch.spans[1], "output.value") == "out");
    CHECK(runs.batch.spans[0].span_id == runs.batch.spans[1].span_id);
    CHECK(runs.batch.spans[0].trace_id == runs.batch.spans[1].trace_id);
    CHECK(!runs.is_whole[0]);
    CHECK(!runs.is_whole[1]);
}

TEST_CASE("Python's errors lose their traceback") {
    const auto operations = read_run(R"({"id":")" + std::string(root_id) +
                                         R"(","error":"ValueError('no such order')Traceback (most recent call last):)"
                                         R"(\n  File \"x.py\", line 1\n\nValueError: no such order"})",
                                     true);
    const auto runs = spans_in(operations);
    const otlp::Span& span = runs.batch.spans.at(0);
    CHECK(span.status_message == "no such order");
    CHECK(*otlp::find(span.events.at(0).attributes, "exception.type")->text() == "ValueError");
}

TEST_CASE("broken forms and bodies are refused") {
    CHECK(!read_run_form("multipart/form-data", "--b--").ok());
    CHECK(!read_run_form("multipart/form-data; boundary=b", "nothing").ok());
    CHECK(!read_run_form("multipart/form-data; boundary=b", form_part("post.1", "{}")).ok());
    CHECK(!read_run_batch("[]").ok());
    CHECK(!read_run("7", false).ok());
    CHECK(read_run_form("multipart/form-data; boundary=\"b\"", "--b--\r\n").ok());
}
