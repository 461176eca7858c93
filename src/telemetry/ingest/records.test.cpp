// Log records and runs in parts, on the real engine.
#include "base/testing.h"
#include "telemetry/records/record_store.h"
#include "telemetry/span/conversation.h"
#include "telemetry/store_fixture.h"

#include <algorithm>
#include <map>
#include <random>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

std::string log_record(uint64_t trace, uint64_t span, std::string_view name, std::string_view attributes,
                       std::string_view body = "", int64_t time_ns = base_ns) {
    return R"({"timeUnixNano":")" + std::to_string(time_ns) + R"(","traceId":")" +
           (trace ? hex_number(trace, 32) : "") + R"(","spanId":")" + (span ? hex_number(span, 16) : "") +
           R"(","eventName":)" + quote_json(name) + (body.empty() ? "" : R"(,"body":)" + std::string(body)) +
           R"(,"attributes":[)" + std::string(attributes) + "]}";
}

std::string logs_request(const std::string& records, std::string_view scope = "logger") {
    return R"({"resourceLogs":[{"resource":{},"scopeLogs":[{"scope":{"name":)" + quote_json(scope) +
           R"(},"logRecords":[)" + records + "]}]}]}";
}

IngestResponse send_logs(Fixture& f, std::string_view project, const std::string& body) {
    return f.telemetry->records().respond_logs({body, "application/json", "", project, "space"});
}

// Everything that was sent is stored and joined.
void settle(Fixture& f) {
    f.wait();
    REQUIRE(f.telemetry->parts().wait_joined(60s));
}

SpanPayload payload_of(Fixture& f, const std::string& project, uint64_t trace, uint64_t span) {
    auto payload = f.store().span_payload("project_" + project, hex_number(trace, 32), hex_number(span, 16));
    REQUIRE_MESSAGE(payload.ok(), (payload.ok() ? "" : payload.error().message));
    return std::move(payload).value();
}

const std::string details_attributes =
    text_attribute("gen_ai.operation.name", "chat") + "," + number_attribute("gen_ai.usage.input_tokens", 12) + "," +
    R"({"key":"gen_ai.input.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[)" +
    text_attribute("role", "user") + R"(,{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[)" +
    text_attribute("type", "text") + "," + text_attribute("content", "Where is my order?") + R"(]}}]}}}]}}]}}},)" +
    text_attribute("gen_ai.output.messages",
                   R"([{"role":"assistant","parts":[{"type":"text","content":"It is on its way."}]}])");

std::string conversation_text(const SpanPayload& payload) {
    auto batch = to_otlp({payload});
    REQUIRE(batch.ok());
    const Conversation talk = derive_conversation(batch.value().spans.front());
    return render(talk.input) + " | " + render(talk.output);
}

} // namespace

TEST_CASE("a log record is shown on its span, whatever arrives first, and also when the span is sent again") {
    Fixture& f = fixture();
    const std::string details =
        logs_request(log_record(7, 1, "gen_ai.client.inference.operation.details", details_attributes));
    const std::string span = request({{7, 1, 0, base_ns, 1'000'000, "chat m", "", 0}});
    for (const bool log_first : {true, false}) {
        const std::string project = log_first ? "logfirst" : "spanfirst";
        if (!log_first) f.send_json(project, span), f.wait();
        CHECK(send_logs(f, project, details).body == "{}");
        if (log_first) f.send_json(project, span);
        settle(f);
        for (int again = 0; again < 2; ++again) {
            const SpanPayload payload = payload_of(f, project, 7, 1);
            CHECK(conversation_text(payload) == "user: Where is my order? | assistant: It is on its way.");
            CHECK(payload.row.tokens.input == 12);
            CHECK(payload.events.find("operation.details") != std::string::npos);
            CHECK(payload.events.find("Where is my order") == std::string::npos); // not kept twice
            f.send_json(project, span);                                           // a retry of the client
            settle(f);
        }
        CHECK(count_spans(project) == 1);
        CHECK(f.ledger(project).log_records == 1);
        check_balance(f.ledger(project));
    }
}

TEST_CASE("a join ends when the span can be read with its log records") {
    Fixture& f = fixture();
    for (uint64_t id = 1; id <= 10; ++id) {
        f.send_json("joined", request({{17, id, 0, base_ns, 1'000'000, "chat m", "", 0}}));
        f.wait();
        send_logs(f, "joined",
                  logs_request(log_record(17, id, "gen_ai.client.inference.operation.details", details_attributes)));
        REQUIRE(f.telemetry->parts().wait_joined(60s));
        CHECK(conversation_text(payload_of(f, "joined", 17, id)) ==
              "user: Where is my order? | assistant: It is on its way.");
    }
    settle(f);
    CHECK(count_spans("joined") == 10);
}

TEST_CASE("a call whose response id arrives in a log record counts once, whatever arrives first") {
    Fixture& f = fixture();
    // Two instrumentations saw the call; only the log record of one of them names the response.
    const std::string sdk = text_attribute("gen_ai.operation.name", "chat") + "," +
                            text_attribute("gen_ai.response.id", "answer-1") + "," +
                            number_attribute("gen_ai.usage.input_tokens", 12);
    const std::string other =
        text_attribute("gen_ai.operation.name", "chat") + "," + number_attribute("gen_ai.usage.input_tokens", 12);
    const std::string details = logs_request(log_record(18, 3, "gen_ai.client.inference.operation.details",
                                                        text_attribute("gen_ai.response.id", "answer-1")));
    std::vector<int> order{0, 1, 2};
    do {
        const std::string project = "named" + std::to_string(order[0]) + std::to_string(order[1]);
        for (const int one : order) {
            if (one == 0) f.send_json(project, request({{18, 2, 1, base_ns, 1'000'000, "chat m", sdk, 0}}));
            if (one == 1) f.send_json(project, request({{18, 3, 1, base_ns, 1'000'000, "chat m", other, 0}}));
            if (one == 2) send_logs(f, project, details);
            settle(f);
        }
        ListSpans list;
        list.scope = scope_of(project);
        const auto page = f.store().list_spans(list);
        REQUIRE(page.ok());
        int64_t tokens = 0;
        for (const SpanRow& row : page.value().spans) tokens += row.tokens.total();
        CHECK(page.value().spans.size() == 2);
        CHECK(tokens == 12);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("GenAI's older events, one per message, become messages") {
    Fixture& f = fixture();
    const auto body = [](std::string_view content) {
        return R"({"kvlistValue":{"values":[)" + text_attribute("content", content) + "]}}";
    };
    send_logs(
        f, "perMessage",
        logs_request(log_record(8, 1, "gen_ai.user.message", "", body("Hello"), base_ns) + "," +
                     log_record(8, 1, "gen_ai.choice", "",
                                R"({"kvlistValue":{"values":[{"key":"message","value":{"kvlistValue":{"values":[)" +
                                    text_attribute("role", "assistant") + "," + text_attribute("content", "Hi") +
                                    "]}}}]}}",
                                base_ns + 1)));
    f.send_json("perMessage", request({{8, 1, 0, base_ns, 1'000'000, "chat m", "", 0}}));
    settle(f);
    CHECK(conversation_text(payload_of(f, "perMessage", 8, 1)) == "user: Hello | assistant: Hi");
}

TEST_CASE("log records and spans in random order give the same spans") {
    Fixture& f = fixture();
    std::mt19937_64 random(test_seed());
    std::vector<std::pair<bool, std::string>> requests; // is it of logs, and its body
    constexpr uint64_t spans = 12;
    for (uint64_t id = 1; id <= spans; ++id) {
        requests.emplace_back(false, request({{20, id, 0, base_ns, 1'000'000, "work", "", 0}}));
        for (int part = 0; part < 2; ++part)
            requests.emplace_back(
                true, logs_request(log_record(20, id, "step", number_attribute("number", part), "", base_ns + part)));
    }
    std::shuffle(requests.begin(), requests.end(), random);
    for (const auto& [is_log, body] : requests)
        CHECK((is_log ? send_logs(f, "random", body) : f.send_json("random", body)).status == 200);
    settle(f);
    for (uint64_t id = 1; id <= spans; ++id) {
        const SpanPayload payload = payload_of(f, "random", 20, id);
        const size_t first = payload.events.find(R"("number":0)");
        const size_t second = payload.events.find(R"("number":1)");
        CHECK(first != std::string::npos);
        CHECK(second != std::string::npos);
        CHECK(first < second);
    }
    CHECK(count_spans("random") == static_cast<int64_t>(spans));
    CHECK(f.ledger("random").log_records == 2 * spans);
}

TEST_CASE("Claude Code's records that name no span become a trace with tokens and costs") {
    Fixture& f = fixture();
    const auto ids = [](int64_t sequence) {
        return text_attribute("session.id", "sess-1") + "," + text_attribute("prompt.id", "p-1") + "," +
               text_attribute("user.id", "u-1") + "," + number_attribute("event.sequence", sequence) + ",";
    };
    const auto event = [&](std::string_view name, int64_t sequence, const std::string& attributes, int64_t after_ms) {
        return log_record(0, 0, "", ids(sequence) + text_attribute("event.name", name) + "," + attributes,
                          R"({"stringValue":"claude_code.)" + std::string(name) + "\"}",
                          base_ns + after_ms * 1'000'000);
    };
    // Each in a request of its own, the prompt last.
    const std::string records[] = {
        event("api_request", 2,
              text_attribute("model", "claude-sonnet-4-5") + "," + number_attribute("input_tokens", 120) + "," +
                  number_attribute("output_tokens", 40) + "," + number_attribute("cache_read_tokens", 64) + "," +
                  number_attribute("cache_creation_tokens", 20) + "," + text_attribute("cost_usd", "0.0010542") + "," +
                  number_attribute("duration_ms", 400),
              500),
        event("tool_result", 3,
              text_attribute("tool_name", "mcp_tool") + "," + text_attribute("success", "false") + "," +
                  text_attribute("error", "no such order") + "," + text_attribute("tool_input", R"({"id":"B-1"})") +
                  "," + text_attribute("tool_parameters", R"({"mcp_tool_name":"lookup_order"})") + "," +
                  number_attribute("duration_ms", 5),
              600),
        event("assistant_response", 4, text_attribute("response", "It was not found."), 900),
        event("hook_execution_start", 5, text_attribute("hook_name", "x"), 950),
        event("user_prompt", 1, text_attribute("prompt", "Where is B-1?"), 0),
    };
    for (const std::string& record : records)
        CHECK(send_logs(f, "claude", logs_request(record, "com.anthropic.claude_code.events")).status == 200);
    settle(f);
    ListSpans list;
    list.scope = scope_of("claude");
    auto page = f.store().list_spans(list);
    REQUIRE(page.ok());
    REQUIRE(page.value().spans.size() == 3);
    std::map<SpanKind, SpanRow> by_kind;
    for (const SpanRow& row : page.value().spans) by_kind[row.kind] = row;
    const SpanRow &agent = by_kind.at(SpanKind::agent), &model = by_kind.at(SpanKind::llm),
                  &tool = by_kind.at(SpanKind::tool);
    CHECK(model.tokens == Tokens{120, 64, 20, 40, 0});
    CHECK(model.cost_nano_usd == 1'054'200);
    CHECK(model.duration_ns == 400'000'000);
    CHECK(model.parent_id == agent.span_id);
    CHECK(tool.parent_id == agent.span_id);
    CHECK(tool.status == otlp::StatusCode::error);
    CHECK(agent.start_ns == base_ns);
    CHECK(agent.duration_ns == 900'000'000);
    const auto payload = f.store().span_payload("project_claude", agent.trace_id, agent.span_id);
    REQUIRE(payload.ok());
    CHECK(payload.value().input == "Where is B-1?");
    CHECK(payload.value().output == "It was not found.");
    CHECK(f.ledger("claude").log_records == 5); // the one that is no span is stored to be searched
    CHECK(f.ledger("claude").log_records_dropped == 0);
}

TEST_CASE("credentials in log records are redacted without a rule, on the span and where they are searched") {
    Fixture& f = fixture();
    const std::string secret = "hone_" + std::string(43, 'k');
    const std::string record =
        log_record(9, 1, "",
                   text_attribute("config", R"({"headers":{"Authorization":"Bearer )" + secret + R"("}})") + "," +
                       text_attribute("authorization", "anything") + "," + text_attribute("note", "kept"),
                   R"({"stringValue":"sent with )" + secret + "\"}");
    send_logs(f, "credentials", logs_request(record + "," + log_record(0, 0, "", "", R"({"stringValue":"other"})")));
    f.send_json("credentials", request({{9, 1, 0, base_ns, 1'000'000, "work", "", 0}}));
    settle(f);
    const SpanPayload payload = payload_of(f, "credentials", 9, 1);
    CHECK(payload.events.find("kept") != std::string::npos);
    CHECK(payload.events.find("kkkk") == std::string::npos);
    CHECK(payload.events.find("anything") == std::string::npos);
    const LedgerCounts counts = f.ledger("credentials");
    CHECK(counts.log_records == 2);
    CHECK(counts.log_records_dropped == 0);
    CHECK(counts.redacted >= 3);
    REQUIRE(f.telemetry->record_log().wait_loaded(60s));
    RecordStore records(f.telemetry->engine(), f.clock);
    const auto page = records.logs({.project = "project_credentials"});
    REQUIRE(page.ok());
    REQUIRE(page.value().entries.size() == 2);
    for (const LogEntry& entry : page.value().entries) {
        CHECK((entry.body + entry.attributes).find("kkkk") == std::string::npos);
        CHECK((entry.body + entry.attributes).find("anything") == std::string::npos);
    }
}

TEST_CASE("metrics that are not about models are counted with the reason; bodies that are none are refused") {
    Fixture& f = fixture();
    const std::string body = R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"gen_ai.client.token.usage",)"
                             R"("histogram":{"dataPoints":[{},{}]}},{"name":"http.client.duration","histogram":)"
                             R"({"dataPoints":[{}]}}]}]}]})";
    const auto send = [&](std::string_view text, std::string_view type) {
        return f.telemetry->records().respond_metrics({text, type, "", "measured", "space"});
    };
    CHECK(send(body, "application/json").body == "{}");
    CHECK(send(body, "text/plain").status == 415);
    CHECK(send("[]", "application/json").status == 400);
    CHECK(f.telemetry->records().respond_metrics({body, "application/json", "", "x", "nobody"}).status == 403);
    f.wait();
    CHECK(f.ledger("measured").metric_points == 3);
    CHECK(f.ledger("measured").metric_points_dropped == 1);
    CHECK(f.ledger("measured").dropped["the metric is not about models"] == 1);
    check_balance(f.ledger("measured"));
}

TEST_CASE("parts outlive a restart and are dropped after a day") {
    TemporaryDirectory directory;
    FakeClock clock{from_ns(base_ns)};
    SpanPartsOptions options;
    options.wal.directory = directory.path() + "/parts";
    options.wal.commit_interval = 1ms;
    const SpanKey key{"project_x", std::string(16, 'a'), std::string(8, 'b')};
    {
        auto parts = SpanParts::open(options, clock);
        REQUIRE(parts.ok());
        CHECK(parts.value()->is_empty());
        CHECK(parts.value()->add({{key, PartKind::log, "one"}, {key, PartKind::run, "two"}}).ok());
        CHECK(parts.value()->add({{key, PartKind::log, "one"}}).ok()); // sent again
    }
    auto parts = SpanParts::open(options, clock);
    REQUIRE(parts.ok());
    CHECK(parts.value()->of(key, PartKind::log) == std::vector<std::string>{"one"});
    CHECK(parts.value()->of(key, PartKind::run) == std::vector<std::string>{"two"});
    CHECK(parts.value()->recent_logs(10min) == std::vector<SpanKey>{key});
    clock.advance(25h);
    const SpanKey other{"project_y", std::string(16, 'c'), std::string(8, 'd')};
    CHECK(parts.value()->add({{other, PartKind::log, "three"}}).ok());
    CHECK(parts.value()->of(key, PartKind::log).empty());
    CHECK(parts.value()->has(other, PartKind::log));
    parts.value()->forget("project_y");
    CHECK(parts.value()->is_empty());
}

TEST_CASE("the end of a run replaces its beginning, in any order, and a part that is sent again changes nothing") {
    Fixture& f = fixture();
    const std::string trace_id(16, '\x31'), span_id(8, '\x32');
    const auto send = [&](bool is_end, const std::string& project) {
        RunParts runs;
        runs.batch.resources.emplace_back();
        runs.batch.scopes.emplace_back();
        otlp::Span span;
        span.trace_id = trace_id;
        span.span_id = span_id;
        span.start_ns = base_ns;
        span.name = "agent";
        if (is_end) {
            span.end_ns = base_ns + 2'000'000;
            span.attributes = {{"output.value", {std::string_view("the end")}}};
        } else
            span.attributes = {{"input.value", {std::string_view("the beginning")}},
                               {"output.value", {std::string_view("")}}};
        runs.add(std::move(span), false);
        CHECK(f.telemetry->records().take_runs(runs, "space", project, nullptr).ok());
    };
    for (const bool end_first : {false, true}) {
        const std::string project = end_first ? "endfirst" : "beginfirst";
        send(end_first, project);
        f.wait();
        send(!end_first, project);
        send(end_first, project);
        f.wait();
        CHECK(count_spans(project) == 1);
        auto payload = f.store().span_payload("project_" + project, to_hex(trace_id), to_hex(span_id));
        REQUIRE(payload.ok());
        CHECK(payload.value().input == "the beginning");
        CHECK(payload.value().output == "the end");
        CHECK(payload.value().row.duration_ns == 2'000'000);
    }
}
