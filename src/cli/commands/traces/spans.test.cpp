// The commands about traces against a scripted server: what they ask, and what a person sees.
#include "cli/testing/scripted_server.h"

using namespace hone;
using namespace hone::cli::testing;

namespace {

constexpr const char* trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";

constexpr const char* one_trace =
    R"({"data":[{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","root_name":"ask \u001b[2J",
 "session_id":"","user_id":"ann","start_time":"2026-11-15T11:59:00.000000000Z","end_time":"2026-11-15T11:59:02.000000000Z",
 "duration_ns":2340000000,"spans":14,"errors":1,"tokens":12437,"cost_micro_usd":31200}],"next_cursor":null})";

constexpr const char* skeleton = R"({"data":{"is_cut":false,"spans":[
 {"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00000000000000a1","parent_id":"","name":"agent","kind":"agent","status":"ok",
  "start_time":"2026-11-15T11:59:00.000000000Z","duration_ns":2000000000,"model":"","tokens":{"total":0},"cost_micro_usd":0,"cost_nano_usd":0},
 {"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00000000000000a2","parent_id":"00000000000000a1","name":"answer","kind":"llm","status":"error",
  "start_time":"2026-11-15T11:59:01.000000000Z","duration_ns":1000000000,"model":"gpt-4o","tokens":{"total":1500},"cost_micro_usd":4200,"cost_nano_usd":4200000}]}})";

struct SpanWorld {
    ScriptedServer server;
    Client client;
    SpanWorld() {
        client.log_in_to(server);
        client.environment["HONE_PROJECT"] = "shop";
    }
};

} // namespace

TEST_CASE("traces are listed with readable durations, tokens and costs") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/trace_rows", 200, one_trace);
    const Outcome outcome = world.client.run({"traces", "-q", "status = error", "--after", "2h", "--session", "s 1"});
    CHECK(outcome.exit == 0);
    CHECK(
        outcome.out ==
        "TRACE                             NAME         START                 DURATION  SPANS  ERRORS  TOKENS     COST"
        "  SESSION  USER\n"
        "4bf92f3577b34da6a3ce929d0e0e4736  ask \\x1b[2J  2026-11-15T11:59:00Z     2.3 s     14       1   12.4k  $0.0312"
        "  -        ann\n");
    CHECK(world.server.seen().at(0).target == "/v1/projects/shop/trace_rows?filter=status%20%3D%20error&after=2026-11-"
                                              "15T10%3A00%3A00.000000000Z&session=s%201&limit=100");
    CHECK(world.client.run({"traces", "--json"}).json().at(0).at("tokens") == 12437);
}

TEST_CASE("the project is the option, the variable, or the only one there is") {
    SpanWorld world;
    world.server.on("GET /v1/projects/desk/span_rows", 200, R"({"data":[],"next_cursor":null})");
    world.server.on("GET /v1/projects/project_1/span_rows", 200, R"({"data":[],"next_cursor":null})");
    CHECK(world.client.run({"spans", "-p", "desk"}).exit == 0);
    world.client.environment.erase("HONE_PROJECT");
    world.server.on("GET /v1/projects", 200, R"({"data":[{"id":"project_1","name":"desk"}],"next_cursor":null})");
    CHECK(contains(world.client.run({"spans"}).out, "No spans match"));
    world.server.on("GET /v1/projects", 200, R"({"data":[{"id":"project_1"},{"id":"project_2"}],"next_cursor":null})");
    const Outcome unclear = world.client.run({"spans"});
    CHECK(unclear.exit == 2);
    CHECK(contains(unclear.err, "--project"));
}

TEST_CASE("a trace is drawn as a tree with bars") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/traces/" + std::string(trace_id) + "/skeleton", 200, skeleton);
    const Outcome outcome = world.client.run({"trace", trace_id});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "2 s · 2 spans · 1.5k tokens · $0.0042 · 1 error\n"));
    CHECK(contains(outcome.out, "agent        agent       2 s"));
    CHECK(contains(outcome.out, "└─ ✗ answer  llm         1 s  gpt-4o    1.5k  $0.0042  00000000000000a2"));
    CHECK(contains(outcome.out, "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━\n"));
    CHECK(world.client.run({"trace", trace_id, "--json"}).json().at("spans").as_array().size() == 2);
    CHECK(contains(world.client.run({"trace", trace_id, "--depth", "0"}).out, "agent  (+1)"));
}

TEST_CASE("one span shows what went in and came out") {
    SpanWorld world;
    world.server.on(
        "GET /v1/projects/shop/traces/" + std::string(trace_id) + "/spans/00000000000000a2", 200,
        R"({"data":{"span":{"name":"answer","kind":"llm","status":"ok","duration_ns":5000000,"tokens":{"total":3}},
                    "input":"{\"question\":\"why\"}","output":"because\u0007","attributes":{"llm.model_name":"gpt-4o"}}})");
    const Outcome outcome = world.client.run({"trace", trace_id, "--span", "00000000000000a2"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "duration  5 ms"));
    CHECK(contains(outcome.out, "Input\n{\n  \"question\": \"why\"\n}\n"));
    CHECK(contains(outcome.out, "Output\nbecause\\x07\n"));
    CHECK(contains(outcome.out, "\"llm.model_name\": \"gpt-4o\""));
}

TEST_CASE("a series is a line of bars per group and metric") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/series", 200,
                    R"({"data":{"metrics":["count","latency_p95"],"bucket_ns":3600000000000,"buckets":[
                    {"time":"2026-11-15T09:00:00Z","group":"a","values":[4,1500000000.0]},
                    {"time":"2026-11-15T11:00:00Z","group":"a","values":[8,null]}]}})");
    const Outcome outcome = world.client.run(
        {"series", "--metrics", "count,latency_p95", "--bucket", "1h", "--group-by", "model", "--after", "3h"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "GROUP  METRIC       EACH 1 h    MIN    MAX   LAST  TOTAL\n"
                         "a      count        ▅ █           4      8      8     12\n"
                         "a      latency_p95  █         1.5 s  1.5 s  1.5 s\n");
    const std::string target = world.server.seen().at(0).target;
    CHECK(contains(target, "bucket=3600s"));
    CHECK(contains(target, "group_by=model"));
    CHECK(world.client.run({"series", "--bucket", "0s"}).exit == 2);
}

TEST_CASE("a comparison shows what changed and what became worse") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/compare", 200,
                    R"({"data":{"baseline_after":"2026-11-07T12:00:00Z","baseline_before":"2026-11-08T12:00:00Z",
                    "after":"2026-11-14T12:00:00Z","before":"2026-11-15T12:00:00Z",
                    "all":{"group":"","metrics":[{"metric":"count","baseline":100,"current":112},
                    {"metric":"errors","baseline":0,"current":3},{"metric":"latency_p95","baseline":2e9,"current":1e9},
                    {"metric":"cost","baseline":null,"current":null}]},
                    "groups":[{"group":"a\u001b[2J","metrics":[{"metric":"count","baseline":10,"current":35}]}],
                    "is_cut":true}})");
    const Outcome outcome = world.client.run({"compare", "--ago", "7d", "--group-by", "model"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "Before: 2026-11-07T12:00:00 to 2026-11-08T12:00:00\n"
                         "Now:    2026-11-14T12:00:00 to 2026-11-15T12:00:00\n\n"
                         "METRIC       BEFORE  NOW  CHANGE\n"
                         "count           100  112   +12 %\n"
                         "errors            0    3     new  worse\n"
                         "latency_p95     2 s  1 s   −50 %  better\n"
                         "cost              -    -\n\n"
                         "model       SPANS  ERRORS  P50  P95  TOKENS  COST\n"
                         "a\\x1b[2J  35 ×3.5       -    -    -       -     -\n");
    CHECK(contains(outcome.err, "--groups shows more"));
    const std::string target = world.server.seen().at(0).target;
    CHECK(contains(target, "baseline_after=2026-11-07T12%3A00%3A00"));
    CHECK(contains(target, "baseline_before=2026-11-08T12%3A00%3A00"));
    CHECK(world.client.run({"compare", "--json"}).json().at("is_cut") == true);
    CHECK(world.client.run({"compare", "--ago", "soon"}).exit == 2);
    CHECK(world.client.run({"compare", "--ago", "7d", "--baseline-after", "2d"}).exit == 2);
}

TEST_CASE("a comparison of two empty windows prints a message") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/compare", 200,
                    R"({"data":{"all":{"metrics":[{"metric":"count","baseline":0,"current":0}]},"groups":[]}})");
    CHECK(contains(world.client.run({"compare"}).out, "No spans in either window."));
}

TEST_CASE("SQL is a table for people, and as it is for programs") {
    SpanWorld world;
    world.server.on("POST /v1/sql", [](const net::Request& request) {
        if (contains(request.body, "\"csv\"")) {
            net::Response response;
            response.content_type = "text/csv; charset=utf-8";
            response.body = "\"name\",\"n\"\n\"a\",1\n";
            return response;
        }
        return net::json_response(200, R"({"meta":[{"name":"name","type":"String"},{"name":"n","type":"UInt64"}],
            "data":[{"name":"a","n":1},{"name":"b\u001b","n":null}],"rows":2})");
    });
    world.client.input = "SELECT name, count() AS n FROM spans GROUP BY name\n";
    const Outcome table = world.client.run({"sql"});
    CHECK(table.exit == 0);
    CHECK(table.out == "name      n\na         1\nb\\x1b  NULL\n");
    CHECK(contains(table.err, "2 rows"));
    CHECK(json::parse(world.server.seen().at(0).body).value().at("project") == "shop");
    CHECK(world.client.run({"sql", "SELECT 1", "--json"}).json().at(1).at("n").is_null());
    CHECK(world.client.run({"sql", "SELECT 1", "--format", "csv"}).out == "\"name\",\"n\"\n\"a\",1\n");
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/rows.csv";
    CHECK(world.client.run({"sql", "SELECT 1", "--format", "csv", "-o", file}).exit == 0);
    CHECK(read_file(file).value() == "\"name\",\"n\"\n\"a\",1\n");
    CHECK(world.client.run({"sql", "SELECT 1", "-o", file}).exit == 2);
    world.client.input = " \n";
    CHECK(world.client.run({"sql"}).exit == 2);
}

TEST_CASE("one eval is written by options") {
    SpanWorld world;
    world.server.on("POST /v1/projects/shop/evals", 200, R"({"data":[{"id":"eval_1"}],"next_cursor":null})");
    const Outcome outcome = world.client.run(
        {"annotate", "--span", "00000000000000a2", "--name", "correct", "--label", "no", "--score", "0.5"});
    CHECK(outcome.exit == 0);
    CHECK(world.server.seen().at(0).body ==
          R"({"data":[{"target":"span","target_id":"00000000000000a2","name":"correct","label":"no","score":0.5}]})");
    CHECK(world.client.run({"annotate", "--span", "a", "--trace", "b", "--name", "n", "--label", "x"}).exit == 2);
    CHECK(world.client.run({"annotate", "--span", "a", "--name", "n"}).exit == 2);
    CHECK(world.client.run({"annotate", "--span", "a", "--name", "n", "--score", "much"}).exit == 2);
    CHECK(world.server.seen().empty());
}

TEST_CASE("many evals go in batches, and a bad line is named") {
    SpanWorld world;
    world.server.on("POST /v1/projects/shop/evals", 200, R"({"data":[],"next_cursor":null})");
    for (int i = 0; i < 2500; ++i)
        world.client.input += R"({"target_id":"00000000000000a2","name":"n)" + std::to_string(i) +
                              R"(","label":"x"})"
                              "\n";
    CHECK(world.client.run({"annotate", "-"}).out == "Wrote 2500 evals.\n");
    const auto seen = world.server.seen();
    REQUIRE(seen.size() == 3);
    CHECK(json::parse(seen[2].body).value().at("data").as_array().size() == 500);
    world.client.input = "{\"name\":\"a\"}\n\nnonsense\n";
    const Outcome broken = world.client.run({"annotate", "-"});
    CHECK(broken.exit == 2);
    CHECK(contains(broken.err, "line 3"));
    world.server.on("POST /v1/projects/shop/evals", 400,
                    R"({"error":{"code":"invalid","message":"data[0].label is odd"}})");
    world.client.input = "\n{\"name\":\"a\"}\n";
    const Outcome refused = world.client.run({"annotate", "-"});
    CHECK(refused.exit != 0);
    CHECK(contains(refused.err, "data[0] is line 2"));
}

TEST_CASE("an export goes to its file and an import comes from one") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/export", [](const net::Request&) {
        net::Response response;
        response.content_type = "application/x-ndjson";
        response.body = "{\"name\":\"a\"}\n";
        return response;
    });
    const TemporaryDirectory directory;
    const std::string file = directory.path() + "/shop.parquet";
    CHECK(world.client.run({"export", "-o", file, "--after", "1h"}).exit == 0);
    CHECK(contains(world.server.seen().at(0).target, "format=parquet"));
    CHECK(world.client.run({"export"}).out == "{\"name\":\"a\"}\n");
    world.server.on("POST /v1/projects/shop/import", 200,
                    R"({"data":{"accepted":1,"rejected":1,"problems":[{"line":7,"reason":"no name"}]}})");
    const Outcome outcome = world.client.run({"import", file, "--format", "jsonl"});
    CHECK(outcome.exit == 8);
    CHECK(contains(outcome.out, "Imported 1 spans, rejected 1."));
    CHECK(contains(outcome.err, "line 7: no name"));
    CHECK(world.server.seen().back().body == "{\"name\":\"a\"}\n");
    CHECK(world.client.run({"import", directory.path()}).exit == 2);
    CHECK(world.client.run({"import", directory.path() + "/none"}).exit == 2);
}

TEST_CASE("the tail shows spans as they arrive, and resumes where it stopped") {
    SpanWorld world;
    std::atomic<int> connections{0};
    world.server.on("GET /v1/projects/shop/tail", [&](const net::Request& request) {
        const int connection = ++connections;
        const std::string last(request.header("Last-Event-ID"));
        net::Response response;
        response.on_events = [=](std::shared_ptr<net::EventStream> events) {
            const auto span = [](const char* id) {
                return R"({"trace_id":"t","span_id":")" + std::string(id) +
                       R"(","name":"answer","kind":"llm","status":"ok","start_time":"2026-11-15T11:59:01.250000000Z","duration_ns":340000000,"tokens":{"total":1500},"cost_micro_usd":4200})";
            };
            if (connection == 1) {
                events->send("spans", "7", "[" + span("a") + "," + span("b") + "]");
                events->send("dropped", "7", R"({"count":12})");
            } else {
                CHECK(last == "7");
                events->send("spans", "8", "[" + span("b") + "," + span("c") + "]");
            }
            events->close();
        };
        return response;
    });
    const Outcome outcome = world.client.run({"tail", "--limit", "3"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "11:59:01.250  t  llm           340 ms  answer  1.5k tokens  $0.0042\n"));
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 3);
    CHECK(contains(outcome.err, "12 more spans"));
    CHECK(connections == 2);
}

TEST_CASE("a tail that cannot start prints the reason") {
    SpanWorld world;
    world.server.on("GET /v1/projects/shop/tail", 400,
                    R"({"error":{"code":"invalid","message":"column 3: what is that"}})");
    const Outcome outcome = world.client.run({"tail", "-q", "st"});
    CHECK(outcome.exit != 0);
    CHECK(contains(outcome.err, "column 3"));
}
