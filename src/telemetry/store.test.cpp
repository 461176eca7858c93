// The store on the real engine: one engine process for the whole file.
#include "otlp/decode.h"
#include "otlp/encode.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/engine/schema.h"
#include "telemetry/query/borrowed_texts.h"
#include "telemetry/span/span_row.h"
#include "telemetry/span/text_slices.h"
#include "telemetry/store_fixture.h"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <set>
#include <thread>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;
using namespace std::chrono_literals;

TEST_CASE("an acknowledged span is found in lists, trees and payloads, with every attribute as it was sent") {
    Fixture& f = fixture();
    const std::string attributes =
        text_attribute("input.value", "How do I get a refund?") + "," +
        text_attribute("output.value", "Ask Zebulon Quokka.") + "," + number_attribute("llm.token_count.prompt", 12) +
        "," + text_attribute("llm.model_name", "gpt-4o") + "," + text_attribute("openinference.span.kind", "LLM") +
        R"(,{"key":"ratio","value":{"doubleValue":2.0}})";
    auto answer = f.send_json("first", request({{1, 1, 0, base_ns, 5'000'000, "root", "", 0},
                                                {1, 2, 1, base_ns + 10, 2'000'000, "llm", attributes, 2}}));
    CHECK(answer.status == 200);
    CHECK(answer.body == "{}");
    f.wait();
    auto& store = f.store();

    ListSpans list;
    list.scope = scope_of("first");
    auto page = store.list_spans(list);
    REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + page.error().trail));
    REQUIRE(page.value().spans.size() == 2);
    CHECK(page.value().spans[0].name == "llm"); // newest first
    CHECK(page.value().spans[0].tokens.input == 12);
    CHECK(page.value().spans[0].kind == SpanKind::llm);
    CHECK(page.value().spans[0].status == otlp::StatusCode::error);
    CHECK(page.value().spans[0].cost_nano_usd == 12 * 2500);

    auto skeleton = store.trace_skeleton("project_first", hex_number(1, 32));
    REQUIRE(skeleton.ok());
    CHECK(skeleton.value().spans.size() == 2);
    CHECK(skeleton.value().spans[1].parent_id == skeleton.value().spans[0].span_id);
    CHECK(store.trace_skeleton("project_first", hex_number(99, 32)).error().code == Code::not_found);
    CHECK(store.trace_skeleton("project_other", hex_number(1, 32)).error().code == Code::not_found);

    auto payload = store.span_payload("project_first", hex_number(1, 32), hex_number(2, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().input == "How do I get a refund?");
    CHECK(payload.value().output == "Ask Zebulon Quokka.");
    CHECK(payload.value().attributes ==
          R"({"input.value":{"$column":"input"},"output.value":{"$column":"output"},"llm.token_count.prompt":12,)"
          R"("llm.model_name":"gpt-4o","openinference.span.kind":"LLM","ratio":2.0})");
    check_balance(f.ledger("first"));
    CHECK(f.ledger("first").stored == 2);
}

TEST_CASE("a span is exported exactly as it was sent") {
    Fixture& f = fixture();
    const std::string body =
        R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"t",)"
        R"("version":"1"},"spans":[{"traceId":"0000000000000000000000000000002a","spanId":"000000000000002a","traceState":"a=b","flags":1,"name":"n",)"
        R"("kind":3,"startTimeUnixNano":"1763200000000000000","endTimeUnixNano":"1763200000000000005","attributes":[)" +
        text_attribute("input.value", "a \"quoted\" text\n") + "," +
        text_attribute("output.value", R"({"$column":"input"})") +
        R"(,{"key":"real","value":{"doubleValue":1.0}},{"key":"list","value":{"arrayValue":{"values":[{"intValue":"1"},{"boolValue":true}]}}},)"
        R"({"key":"map","value":{"kvlistValue":{"values":[{"key":"$column","value":{"stringValue":"input"}}]}}}],"droppedAttributesCount":2,)"
        R"("events":[{"timeUnixNano":"7","name":"e","attributes":[{"key":"k","value":{"doubleValue":2.0}}]}],"links":[{"traceId":)"
        R"("0000000000000000000000000000002b","spanId":"000000000000002b","attributes":[{"key":"k","value":{"intValue":"5"}}]}],"status":{"message":"m","code":2}}]}]}]})";
    REQUIRE(f.send_json("export", body).status == 200);
    f.wait();
    auto payload = f.store().span_payload("project_export", hex_number(42, 32), hex_number(42, 16));
    REQUIRE(payload.ok());
    auto exported = to_otlp({payload.value()});
    REQUIRE_MESSAGE(exported.ok(), (exported.ok() ? "" : exported.error().message));
    auto sent = otlp::decode_json(body);
    REQUIRE(sent.ok());
    CHECK(otlp::encode_batch(otlp::Encoding::json, exported.value()) ==
          otlp::encode_batch(otlp::Encoding::json, sent.value()));
}

TEST_CASE("a text that a span repeats is stored once and read in full") {
    Fixture& f = fixture();
    const std::string question =
        "Where is order 77, \"the blue one\"? It was to arrive on Monday, and today is Wednesday.";
    const std::string answer =
        "It is on its way: the parcel left our house this morning, and a driver brings it tomorrow.";
    const std::string input = R"({"messages":[{"role":"user","content":)" + quote_json(question) + "}]}";
    const std::string attributes =
        text_attribute("input.value", input) + "," + text_attribute("output.value", answer) + "," +
        text_attribute("llm.input_messages.0.message.content", question) + "," +
        text_attribute("llm.output_messages.0.message.content", answer) + "," +
        text_attribute("note", R"({"$slice":["input",0,9]})") +
        R"(,{"key":"map","value":{"kvlistValue":{"values":[{"key":"$slice","value":{"arrayValue":)"
        R"({"values":[{"stringValue":"input"},{"intValue":"0"},{"intValue":"9"}]}}}]}}})";
    const std::string body = request({{61, 1, 0, base_ns, 1'000'000, "chat", attributes, 0}});
    REQUIRE(f.send_json("slices", body).status == 200);
    f.wait();
    ClickHouseQuery stored("SELECT attributes FROM hone.spans WHERE project = 'project_slices' FORMAT TSVRaw");
    auto text = f.telemetry->engine().query(stored);
    REQUIRE(text.ok());
    CHECK(text.value().find(R"("llm.input_messages.0.message.content":{"$slice":["input_json",)") != std::string::npos);
    CHECK(text.value().find(R"("llm.output_messages.0.message.content":{"$slice":["output",0,)") != std::string::npos);
    CHECK(text.value().find("Wednesday") == std::string::npos);

    auto payload = f.store().span_payload("project_slices", hex_number(61, 32), hex_number(1, 16));
    REQUIRE(payload.ok());
    auto exported = to_otlp({payload.value()});
    auto sent = otlp::decode_json(body);
    REQUIRE(exported.ok());
    CHECK(otlp::encode_batch(otlp::Encoding::json, exported.value()) ==
          otlp::encode_batch(otlp::Encoding::json, sent.value()));

    // In SQL that people write.
    ProjectViews views(f.telemetry->engine());
    auto database = views.open("project_slices");
    REQUIRE_MESSAGE(database.ok(), (database.ok() ? "" : database.error().message));
    const auto ask = [&](const std::string& expression) {
        ClickHouseQuery query("SELECT " + expression + " FROM spans FORMAT TSVRaw");
        query.as_reader = true;
        query.database = database.value();
        auto found = f.telemetry->engine().query(query);
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        return std::string(trim(found.value()));
    };
    CHECK(ask("JSONExtractString(attributes, 'llm.input_messages.0.message.content')") == question);
    CHECK(ask("JSONExtractString(attributes, 'llm.output_messages.0.message.content')") == answer);
    CHECK(ask("JSONExtractString(attributes, 'note')") == R"({"$slice":["input",0,9]})");
    CHECK(ask("JSONExtractRaw(attributes, 'map')") == R"({"$map":{"$slice":["input",0,9]}})");
    CHECK(ask("count()") == "1");

    // In filters.
    const auto count = [&](const std::string& filter) {
        ListSpans list;
        list.scope = scope_of("slices", filter);
        auto page = f.store().list_spans(list);
        REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message));
        return page.value().spans.size();
    };
    CHECK(count(R"(attributes["llm.input_messages.0.message.content"] ~ "blue one")") == 1);
    CHECK(count(R"(attributes["llm.input_messages.0.message.content"] ~ "green one")") == 0);
}

TEST_CASE("the texts of a long conversation are read in full within little memory") {
    Fixture& f = fixture();
    // 1,000 messages in 1.1 MB of input: a copy of the input for every message would be a gigabyte.
    std::string input = R"({"messages":[)", attributes;
    std::vector<std::string> messages;
    for (size_t i = 0; i < 1000; ++i) {
        std::string content = "Message " + std::to_string(i) + (i % 3 == 0 ? " says \"no\":" : " agrees:");
        while (content.size() < 1000) content += " word" + std::to_string(content.size() * (i + 1));
        input += (i == 0 ? "" : ",") + std::string(R"({"role":"user","content":)") + quote_json(content) + "}";
        attributes += "," + text_attribute("llm.input_messages." + std::to_string(i) + ".message.content", content);
        messages.push_back(std::move(content));
    }
    input += "]}";
    attributes += "," + text_attribute("llm.output_messages.0.message.content", messages.front());
    const std::string sent =
        text_attribute("input.value", input) + "," + text_attribute("output.value", messages.front()) + attributes;
    REQUIRE(f.send_json("long", request({{62, 1, 0, base_ns, 1'000'000, "chat", sent, 0}})).status == 200);
    f.wait();
    const auto ask = [&](const std::string& expression) {
        ClickHouseQuery query("SELECT " + expression +
                              " FROM hone.spans WHERE project = 'project_long' FORMAT TSVRaw SETTINGS "
                              "max_memory_usage = 150000000, max_threads = 1");
        auto found = f.telemetry->engine().query(query);
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        return std::string(trim(found.value()));
    };
    REQUIRE(std::stoul(ask("countSubstrings(attributes, '$slice')")) > 900);
    auto payload = f.store().span_payload("project_long", hex_number(62, 32), hex_number(1, 16));
    REQUIRE(payload.ok());
    CHECK((ask(full_attributes_sql()) == payload.value().attributes)); // not printed: long
    for (const size_t i : {0, 1, 31, 32, 33, 500, 999}) {
        const std::string key = "'llm.input_messages." + std::to_string(i) + ".message.content'";
        CHECK(ask("JSONExtractString(" + attribute_sql(key) + ")") == messages[i]);
    }
    CHECK(ask(attribute_sql("'none'")).empty());
}

TEST_CASE("the same span again changes nothing; a changed span replaces the old one") {
    Fixture& f = fixture();
    const TestSpan span{5, 1, 0, base_ns, 1'000'000, "first", "", 0};
    TestSpan changed = span;
    changed.name = "second";
    for (int i = 0; i < 3; ++i) {
        CHECK(f.send_json("again", request({span, span})).status == 200);
        f.wait();
        f.telemetry->loader().rest(); // what it knew of the engine is known again
    }
    CHECK(count_spans("again") == 1);
    f.send_json("again", request({changed}));
    f.wait();
    CHECK(count_spans("again") == 1);
    auto skeleton = f.store().trace_skeleton("project_again", hex_number(5, 32));
    REQUIRE(skeleton.ok());
    CHECK(skeleton.value().spans.at(0).name == "second");
    const LedgerCounts counts = f.ledger("again");
    check_balance(counts);
    CHECK(counts.received == 7);
    CHECK(counts.stored == 1);
    CHECK(counts.repeated == 6);
}

TEST_CASE("a span is shown exactly once at every moment of its replacement") {
    Fixture& f = fixture();
    TestSpan span{6, 1, 0, base_ns, 1'000'000, "name 0", "", 0};
    REQUIRE(f.send_json("replaced", request({span})).status == 200);
    f.wait();
    std::atomic<bool> is_done = false;
    std::set<size_t> seen;
    std::thread reader([&] {
        while (!is_done) {
            const auto skeleton = f.store().trace_skeleton("project_replaced", hex_number(6, 32));
            seen.insert(skeleton.ok() ? skeleton.value().spans.size() : 0);
        }
    });
    for (int i = 1; i <= 5; ++i) {
        span.name = "name " + std::to_string(i);
        CHECK(f.send_json("replaced", request({span})).status == 200);
        f.wait();
    }
    is_done = true;
    reader.join();
    CHECK(seen == std::set<size_t>{1});
}

TEST_CASE("rejected spans are named in the response and counted in the ledger") {
    Fixture& f = fixture();
    const int64_t day = 86'400'000'000'000;
    auto answer = f.send_json(
        "old",
        request({{1, 1, 0, base_ns}, {1, 2, 0, base_ns + 3 * day}, {1, 3, 0, base_ns - 3 * day}, {0, 4, 0, base_ns}}));
    CHECK(answer.status == 200);
    CHECK(answer.body.find(R"("rejectedSpans":"3")") != std::string::npos);
    CHECK(answer.body.find("more than a day in the future") != std::string::npos);
    CHECK(answer.body.find("trace id is zero") != std::string::npos);
    f.wait();
    const LedgerCounts counts = f.ledger("old");
    check_balance(counts);
    CHECK(counts.rejected.size() == 3);
    CHECK(counts.stored == 1);
}

TEST_CASE("rejections show OTLP clients whether to retry") {
    Fixture& f = fixture();
    CHECK(f.telemetry->ingest({"not protobuf", "application/x-protobuf", "", "x", "space"}).status == 400);
    CHECK(f.telemetry->ingest({"{}", "text/html", "", "x", "space"}).status == 415);
    CHECK(f.telemetry->ingest({"xx", "application/json", "gzip", "x", "space"}).status == 400);
    CHECK(f.telemetry->ingest({"xx", "application/json", "zstd", "x", "space"}).status == 400);
    CHECK(f.telemetry->ingest({request({{}}), "application/json", "", "x", "nobody"}).status == 403);
    CHECK(f.telemetry->ingest({"{}", "application/json", "", "x", "space"}).status == 200);
}

TEST_CASE("redaction runs before anything touches the disk") {
    Fixture& f = fixture();
    const std::string attributes =
        text_attribute("password", "hunter2") + "," + text_attribute("auth.header", "opensesame") + "," +
        text_attribute("input.value", "my card-1234, mail bob@example.com, key sk-abcdefghijklmnopqrstuvwx") + "," +
        text_attribute("plain", "stays");
    CHECK(f.send_json("secret", request({{7, 1, 0, base_ns, 1, "n", attributes, 0}})).status == 200);
    for (const auto& entry : std::filesystem::directory_iterator(f.directory / "wal")) {
        auto bytes = read_file(entry.path().string());
        REQUIRE(bytes.ok());
        for (const char* secret : {"hunter2", "card-1234", "bob@example", "sk-abcdef", "opensesame"})
            CHECK(bytes.value().find(secret) == std::string::npos);
    }
    f.wait();
    auto payload = f.store().span_payload("project_secret", hex_number(7, 32), hex_number(1, 16));
    REQUIRE(payload.ok());
    CHECK(payload.value().input == "my [redacted], mail [redacted], key [redacted]");
    CHECK(payload.value().attributes.find("stays") != std::string::npos);
    CHECK(f.ledger("secret").redacted == 3);
}

TEST_CASE("filters, series and facets return the right spans") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 200; ++i) {
        TestSpan span{100 + i / 10,
                      1000 + i,
                      i % 10 ? 1000 + i / 10 * 10 : 0,
                      base_ns + static_cast<int64_t>(i) * 1'000'000'000,
                      0,
                      "",
                      "",
                      0};
        span.duration_ns = static_cast<int64_t>(i % 10 + 1) * 500'000'000;
        span.name = i % 2 ? "search" : "answer";
        span.status = i % 20 == 0 ? 2 : 1;
        span.attributes = text_attribute("openinference.span.kind", i % 2 ? "TOOL" : "LLM") + "," +
                          text_attribute("llm.model_name", i % 4 ? "gpt-4o" : "o3") + "," +
                          number_attribute("llm.token_count.prompt", 100) + "," +
                          text_attribute("user.tier", i % 3 ? "gold" : "free") + "," +
                          text_attribute("session.id", "s" + std::to_string(i / 50)) + "," +
                          text_attribute("output.value", i == 77 ? "the Purple Elephant sings" : "nothing") + "," +
                          number_attribute("score", static_cast<int64_t>(i));
        spans.push_back(span);
    }
    CHECK(f.send_json("many", request(spans)).status == 200);
    f.wait();
    auto& store = f.store();
    const auto count = [&](const std::string& filter) -> int64_t {
        ListSpans list;
        list.scope = scope_of("many", filter);
        list.limit = 1000;
        auto page = store.list_spans(list);
        CAPTURE(filter);
        REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + " " + page.error().trail));
        return static_cast<int64_t>(page.value().spans.size());
    };
    CHECK(count("") == 200);
    CHECK(count("status = error") == 10);
    CHECK(count("status = error or kind = tool") == 110);
    CHECK(count("not (status = error) and name = 'answer'") == 90);
    CHECK(count("latency > 4s") == 40);
    CHECK(count("latency >= 4500ms and latency <= 4.5s") == 20);
    CHECK(count("model = \"o3\"") == 50);
    CHECK(count("model in (\"o3\", \"gpt-4o\")") == 200);
    CHECK(count("attributes[\"user.tier\"] = \"free\"") == 67);
    CHECK(count("attributes[\"score\"] >= 190") == 10);
    CHECK(count("attributes[\"nothing\"] exists") == 0);
    CHECK(count("attributes[\"user.tier\"] exists") == 200);
    CHECK(count("resource[\"service.name\"] = shop") == 200);
    CHECK(count("output ~ \"purple elephant\"") == 1);
    CHECK(count("\"elephant\"") == 1);
    CHECK(count("output ~ \"elephan\"") == 0);
    CHECK(count("output ~ \"*elephan*\"") == 1);
    CHECK(count("output ~ \"elephant purple\"") == 0);
    CHECK(count("output !~ \"elephant\"") == 199);
    CHECK(count("name ~ \"EARC\"") == 100);
    CHECK(count("root = true") == 20);
    CHECK(count("tokens = 100") == 180); // each root is a model call around model calls: it repeats theirs
    CHECK(count("session = \"s1\" and root = false") == 45);
    CHECK(count("cost > 0.0001") == 180);
    CHECK(count("start > \"2099-01-01T00:00:00Z\"") == 0);
    CHECK(count("eval[\"correct\"].label = \"no\"") == 0);

    Series series;
    series.scope = scope_of("many");
    series.metrics = {Metric::count, Metric::error_rate, Metric::tokens, Metric::latency_p50, Metric::traces};
    series.bucket = 100s;
    auto points = store.series(series);
    REQUIRE_MESSAGE(points.ok(), (points.ok() ? "" : points.error().message + points.error().trail));
    double total = 0;
    for (const auto& point : points.value()) total += point.values[0];
    CHECK(total == 200);
    series.bucket = 0s;
    series.group_by = "model";
    points = store.series(series);
    REQUIRE(points.ok());
    REQUIRE(points.value().size() == 2);
    CHECK(points.value()[1].group == "o3");
    CHECK(points.value()[1].values[0] == 50);
    CHECK(points.value()[1].values[2] == 4000);

    auto facets = store.facet(scope_of("many", "kind = tool"), "name", 10);
    REQUIRE(facets.ok());
    REQUIRE(facets.value().size() == 1);
    CHECK(facets.value()[0].value == "search");
    CHECK(facets.value()[0].count == 100);
    auto keys = store.attribute_keys(scope_of("many"), 100);
    REQUIRE(keys.ok());
    CHECK(std::any_of(keys.value().begin(), keys.value().end(),
                      [](const auto& key) { return key.key == "user.tier" && key.count == 200; }));

    ListTraces traces;
    traces.scope = scope_of("many");
    traces.limit = 7;
    std::set<std::string> seen;
    for (int pages = 0; pages < 5; ++pages) {
        auto page = store.list_traces(traces);
        REQUIRE_MESSAGE(page.ok(), (page.ok() ? "" : page.error().message + page.error().trail));
        for (const auto& trace : page.value().traces) {
            CHECK(seen.insert(trace.trace_id).second);
            CHECK(trace.spans == 10);
            CHECK(trace.root_name == "answer");
            CHECK(trace.tokens == 900);
        }
        traces.cursor = page.value().next_cursor;
        if (traces.cursor.empty()) break;
    }
    CHECK(seen.size() == 20);
    auto sessions = store.list_sessions(scope_of("many"), 10, "");
    REQUIRE(sessions.ok());
    CHECK(sessions.value().sessions.size() == 4);
    CHECK(sessions.value().sessions[0].traces == 5);
}

TEST_CASE("a session that is named on the root span alone has all spans of its traces") {
    Fixture& f = fixture();
    f.send_json("rooted", request({{1, 1, 0, base_ns, 5, "root", text_attribute("session.id", "talk"), 0},
                                   {1, 2, 1, base_ns + 1, 9, "child", number_attribute("llm.token_count.prompt", 7), 2},
                                   {2, 3, 0, base_ns + 20, 5, "root", text_attribute("session.id", "talk"), 0}}));
    f.wait();
    auto sessions = f.store().list_sessions(scope_of("rooted"), 10, "");
    REQUIRE_MESSAGE(sessions.ok(), (sessions.ok() ? "" : sessions.error().message));
    REQUIRE(sessions.value().sessions.size() == 1);
    const SessionRow& talk = sessions.value().sessions[0];
    CHECK(talk.traces == 2);
    CHECK(talk.spans == 3);
    CHECK(talk.errors == 1);
    CHECK(talk.tokens == 7);
    CHECK(talk.start_ns == base_ns);
    CHECK(talk.end_ns == base_ns + 25);
}

TEST_CASE("pages do not shift while spans come in") {
    Fixture& f = fixture();
    const auto make = [](uint64_t from, uint64_t count, int64_t start) {
        std::vector<TestSpan> spans;
        for (uint64_t i = 0; i < count; ++i)
            spans.push_back({50, from + i, 0, start, 1, "n", "", 0}); // all at the same moment
        return request(spans);
    };
    f.send_json("pages", make(1, 30, base_ns));
    f.wait();
    ListSpans list;
    list.scope = scope_of("pages");
    list.limit = 10;
    std::set<std::string> seen;
    for (int pages = 0; pages < 10; ++pages) {
        auto page = f.store().list_spans(list);
        REQUIRE(page.ok());
        for (const auto& span : page.value().spans) CHECK(seen.insert(span.span_id).second);
        list.cursor = page.value().next_cursor;
        if (list.cursor.empty()) break;
        f.send_json("pages", make(1000 + static_cast<uint64_t>(pages) * 100, 20,
                                  base_ns + 1'000'000)); // newer: before the cursor
        f.wait();
    }
    CHECK(seen.size() == 30);
    list.cursor = "nonsense";
    CHECK(f.store().list_spans(list).error().code == Code::invalid);
}

TEST_CASE("the engine may die at any time: acknowledgements continue, nothing is lost or doubled") {
    Fixture& f = fixture();
    f.store();
    std::atomic<bool> stop = false;
    std::atomic<int64_t> sent = 0;
    {
        std::jthread client([&] {
            for (uint64_t i = 0; !stop; ++i) {
                std::vector<TestSpan> spans;
                for (uint64_t j = 0; j < 20; ++j)
                    spans.push_back({i + 1, j + 1, 0, base_ns + static_cast<int64_t>(i), 1, "n", "", 0});
                if (f.send_json("killed", request(spans)).status == 200) sent += 20;
            }
        });
        for (int round = 0; round < 5; ++round) {
            const auto enough = sent + 400;
            const auto until = std::chrono::steady_clock::now() + 60s;
            while (sent < enough && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
            if (const int pid = f.telemetry->engine_process()->pid(); pid > 0) ::kill(pid, SIGKILL);
        }
        stop = true;
    }
    f.wait();
    CHECK(sent >= 2000);
    CHECK(count_spans("killed") == sent);
    check_balance(f.ledger("killed"));
    CHECK(f.ledger("killed").stored == sent);
    CHECK(f.telemetry->engine_process()->starts() >= 2);
}

TEST_CASE("loading the log again after the loader's state is lost doubles nothing") {
    Fixture& f = fixture();
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 100; ++i) spans.push_back({9, i + 1, 0, base_ns, 1, "n", "", 0});
    f.send_json("replay", request(spans));
    f.wait();
    f.telemetry.reset();
    REQUIRE(::unlink((f.directory / "loader.state").c_str()) == 0);
    f.open();
    f.wait();
    f.store();
    CHECK(count_spans("replay") == 100);
}

TEST_CASE("one project cannot see another's rows, whatever the query contains") {
    Fixture& f = fixture();
    f.send_json("one", request({{1, 1}}));
    f.send_json("another", request({{1, 1}}));
    f.wait();
    for (const char* sql : {"SELECT count() FROM hone.spans", "SELECT count() FROM merge('hone', 'spans')",
                            "SELECT count() FROM hone.trace_times"}) {
        ClickHouseQuery query(std::string(sql) + " FORMAT TSV");
        query.project = "project_one";
        query.set("readonly", "1");
        auto answer = f.telemetry->engine().query(query);
        REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
        CHECK(answer.value() == "1\n");
        query.project = ""; // not set: nothing at all
        CHECK(f.telemetry->engine().query(query).value() == "0\n");
    }
    ClickHouseQuery files("SELECT file('/etc/passwd')");
    CHECK(!f.telemetry->engine().query(files).ok());
}

TEST_CASE("the engine's tables sync what is inserted and what is merged") {
    for (const std::string table : {"spans", "trace_times", "evals", "eval_history"}) {
        CAPTURE(table);
        const auto found = fixture().telemetry->engine().query(ClickHouseQuery("SHOW CREATE TABLE hone." + table));
        REQUIRE(found.ok());
        for (const char* setting :
             {"fsync_after_insert = 1", "fsync_part_directory = 1", "min_rows_to_fsync_after_merge = 1"}) {
            CAPTURE(setting);
            CHECK(found.value().find(setting) != std::string::npos);
        }
    }
}

TEST_CASE("rows and tables have the same columns") {
    fixture().store(); // creates the tables
    auto found = fixture().telemetry->engine().query(ClickHouseQuery(
        "SELECT name FROM system.columns WHERE database = 'hone' AND table = 'spans' ORDER BY position FORMAT TSV"));
    REQUIRE(found.ok());
    std::string expected;
    for (const Column& column : span_columns()) expected += std::string(column.name) + "\n";
    CHECK(found.value() == expected);
}

TEST_CASE("a table of an earlier version gets the newer columns at their place") {
    fixture().store();
    ClickHouse& engine = fixture().telemetry->engine();
    for (const char* column : {"repeated_usage", "response_id", "first_token_ns", "tags", "metadata"})
        REQUIRE(engine.query(ClickHouseQuery("ALTER TABLE hone.spans DROP COLUMN " + std::string(column))).ok());
    REQUIRE(create_schema(engine).ok());
    auto found = engine.query(ClickHouseQuery(
        "SELECT name FROM system.columns WHERE database = 'hone' AND table = 'spans' ORDER BY position FORMAT TSV"));
    REQUIRE(found.ok());
    std::string expected;
    for (const Column& column : span_columns()) expected += std::string(column.name) + "\n";
    CHECK(found.value() == expected);
    Fixture& f = fixture();
    REQUIRE(
        f.send_json("migrated", request({{1, 1, 0, base_ns, 1, "root", text_attribute("tag.tags", "a"), 0}})).status ==
        200);
    f.wait();
    CHECK(count_spans("migrated") == 1);
}

TEST_CASE("a span without texts shows those of the spans below, and a bare model call those of its twin") {
    Fixture& f = fixture();
    const std::string kind = text_attribute("openinference.span.kind", "LLM") + ",";
    const std::string texts = text_attribute("input.value", R"([{"role":"user","content":"Is it open?"}])") + "," +
                              text_attribute("output.value", "Yes.") + ",";
    const std::string response = text_attribute("gen_ai.response.id", "answer-7");
    REQUIRE(f.send_json("borrow", request({{1, 1, 0, base_ns, 900, "root", "", 0},
                                           {1, 2, 1, base_ns + 1, 100, "call", kind + texts + response, 0},
                                           {2, 3, 0, base_ns + 2, 50, "bare", kind + response, 0},
                                           {3, 4, 0, base_ns + 3, 50, "alone", "", 0}}))
                .status == 200);
    f.wait();
    const auto payload = [&](uint64_t trace, uint64_t span) {
        auto found = f.store().span_payload("project_borrow", hex_number(trace, 32), hex_number(span, 16));
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        return std::move(found).value();
    };
    CHECK(payload(1, 1).input == "Is it open?");
    CHECK(payload(1, 1).output == "Yes.");
    CHECK(payload(2, 3).output == "Yes.");
    CHECK(payload(3, 4).input == "");
    CHECK(payload(1, 2).output == "Yes.");
}

TEST_CASE("a model call without its request shows that of the step around it, if it is the only call there") {
    Fixture& f = fixture();
    const std::string chain = text_attribute("openinference.span.kind", "CHAIN") + ",";
    const std::string call =
        text_attribute("openinference.span.kind", "LLM") + "," + text_attribute("llm.model_name", "gpt-4o-mini");
    const std::string said =
        "," + text_attribute("gen_ai.output.messages",
                             R"([{"role":"assistant","parts":[{"type":"text","content":"Yes."}]}])");
    const std::string silent = "," + text_attribute("gen_ai.output.messages",
                                                    R"([{"role":"assistant","parts":[{"type":"text","content":""}]}])");
    const std::string messages = text_attribute("input.value", R"([{"role":"user","content":"Is it open?"}])");
    const std::string calls =
        "," + text_attribute("output.value", R"({"text":"","toolCalls":[{"toolCallId":"1","toolName":"hours"}]})");
    REQUIRE(
        f.send_json("steps", request({{1, 1, 0, base_ns, 900, "step", chain + messages, 0},
                                      {1, 2, 1, base_ns + 1, 100, "chat", call + said, 0},
                                      {2, 3, 0, base_ns, 900, "step", chain + messages + calls, 0},
                                      {2, 4, 3, base_ns + 1, 100, "chat", call + silent, 0},
                                      {3, 5, 0, base_ns, 900, "two calls", chain + messages, 0},
                                      {3, 6, 5, base_ns + 1, 100, "chat", call + said, 0},
                                      {3, 7, 5, base_ns + 2, 100, "chat", call + said, 0},
                                      {4, 8, 0, base_ns, 900, "words", chain + text_attribute("input.value", "a"), 0},
                                      {4, 9, 8, base_ns + 1, 100, "chat", call + said, 0}}))
            .status == 200);
    f.wait();
    const auto talk = [&](uint64_t trace, uint64_t span) {
        auto found = f.store().span_payload("project_steps", hex_number(trace, 32), hex_number(span, 16));
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        auto batch = to_otlp({found.value()});
        REQUIRE(batch.ok());
        Conversation conversation = derive_conversation(batch.value().spans.front());
        add_borrowed_messages(found.value(), conversation);
        return render(conversation.input) + " | " + render(conversation.output);
    };
    CHECK(talk(1, 2) == "user: Is it open? | assistant: Yes.");
    CHECK(talk(2, 4) == "user: Is it open? | assistant: \nhours()");
    CHECK(talk(3, 6) == " | assistant: Yes.");
    CHECK(talk(4, 9) == " | assistant: Yes.");
}

TEST_CASE("a span without texts anywhere shows how it failed, and a call of Claude Code what was logged at its end") {
    Fixture& f = fixture();
    const std::string call =
        text_attribute("openinference.span.kind", "LLM") + "," + text_attribute("llm.model_name", "claude-sonnet-5");
    std::string failed = request({{1, 1, 0, base_ns, 900, "workflow", "", 0},
                                  {1, 2, 1, base_ns + 1, 100, "turn", "", 2},
                                  {1, 3, 2, base_ns + 2, 200, "call", call, 2},
                                  {2, 4, 0, base_ns, 900, "own failure", "", 2}});
    for (const std::string_view message : {"first", "rate limit", "no such order"})
        failed.replace(failed.find(R"("status":{"code":2})"), 19,
                       R"("status":{"code":2,"message":")" + std::string(message) + "\"}");
    REQUIRE(f.send_json("failures", failed).status == 200);
    const int64_t second = 1'000'000'000;
    std::string logged =
        request({{3, 5, 0, base_ns, 9 * second, "interaction", text_attribute("input.value", "Is it open?")},
                 {3, 6, 5, base_ns + second, second, "llm_request", call},
                 {3, 7, 5, base_ns + 4 * second, second, "llm_request", call},
                 {3, 8, 5, base_ns + 7 * second, second / 10, "llm_request", call}});
    const auto event = [](int64_t time_ns, std::string_view text) {
        return R"({"timeUnixNano":")" + std::to_string(time_ns) +
               R"(","name":"claude_code.assistant_response","attributes":[)" + text_attribute("response", text) + "]}";
    };
    logged.replace(logged.find(R"("name":"interaction")"), 20,
                   R"("name":"interaction","events":[)" + event(base_ns + 2 * second + 5, "One moment.") + "," +
                       event(base_ns + 5 * second - 5, "Yes.") + "]");
    logged.replace(logged.find(R"("name":"t")"), 10, R"("name":"com.anthropic.claude_code.tracing")");
    REQUIRE(f.send_json("failures", logged).status == 200);
    f.wait();
    const auto payload = [&](uint64_t trace, uint64_t span) {
        auto found = f.store().span_payload("project_failures", hex_number(trace, 32), hex_number(span, 16));
        REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
        return std::move(found).value();
    };
    CHECK(payload(1, 1).output == "rate limit");
    CHECK(payload(1, 2).output == "first");
    CHECK(payload(2, 4).output == "no such order");
    CHECK(payload(3, 6).output == "One moment.");
    CHECK(payload(3, 7).output == "Yes.");
    CHECK(payload(3, 7).input == "Is it open?");
    CHECK(payload(3, 8).output == ""); // nothing was logged near its end
}
