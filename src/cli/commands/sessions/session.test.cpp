// The commands about sessions, presets and artifacts against a scripted server: what they ask, and what a person sees.
#include "cli/testing/scripted_server.h"

using namespace hone;
using namespace hone::cli::testing;

namespace {

constexpr const char* run_id = "run_1";

std::string run_in(const std::string& state, int last_event) {
    return R"({"data":{"id":"run_1","space_id":"space_1","project_id":"project_1","origin":"session","title":"look",
 "harness":"playbook","model":"","state":")" +
           state + R"(","reason":"out of luck","turns":1,"last_event":)" + std::to_string(last_event) +
           R"(,"usage":{"input":1200,"cache_read":0,"cache_write":0,"output":300,"reasoning":0},"cost_micro_usd":4200}})";
}

std::string event(int seq, const std::string& rest) {
    return R"({"seq":)" + std::to_string(seq) + R"(,"time":"2026-11-15T11:59:01Z","turn":1,)" + rest + "}";
}

struct SessionWorld {
    ScriptedServer server;
    Client client;
    std::atomic<int> connections{0};
    SessionWorld() {
        client.log_in_to(server);
        client.environment["HONE_PROJECT"] = "shop";
    }

    // Each connection gets one list of events, then is closed.
    void stream(std::vector<std::vector<std::string>> lists, std::vector<std::string> resumed_after) {
        server.on("GET /v1/runs/run_1/events", [=, this](const net::Request& request) {
            const size_t connection = static_cast<size_t>(connections++);
            net::Response response;
            CHECK(request.header("Last-Event-ID") == resumed_after.at(connection));
            response.on_events = [events = lists.at(connection)](std::shared_ptr<net::EventStream> out) {
                for (const auto& one : events)
                    out->send("event", std::to_string(json::parse(one).value().at("seq").as_int64()), one);
                out->close();
            };
            return response;
        });
    }
};

const std::string preparing = event(1, R"("kind":"status","text":"Preparing.","state":"preparing")");
const std::string step = event(2, R"("kind":"status","text":"Made the sandbox.","step":"provision")");
const std::string call = event(3, R"("kind":"tool_call","text":"","tool":"Bash","input":"{\"command\":\"ls\"}")");
const std::string output = event(4, R"("kind":"tool_result","text":"a\u001b[2J\nb\nc\n")");
const std::string words = event(5, R"("kind":"message","text":"It is the cache.")");
const std::string result = event(6, R"("kind":"result","text":"It is the cache.")");
const std::string waiting = event(7, R"("kind":"status","text":"Waiting.","state":"waiting")");

} // namespace

TEST_CASE("a started session is shown as it works, across a lost connection, until its turn is over") {
    SessionWorld world;
    world.server.on("POST /v1/runs", 200, run_in("queued", 0));
    world.server.on("GET /v1/runs/run_1", 200, run_in("waiting", 7));
    world.server.on("GET /v1/skills/claude", 200, R"({"data":{"id":"skill_9","name":"claude"}})");
    world.stream({{preparing, step, call}, {call, output, words, result, waiting}}, {"0", "3"});
    const Outcome outcome = world.client.run({"session", "start", "--harness", "command", "--command", "bash",
                                              "--command=-c", "--model", "m", "--skill", "claude", "look"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "● Preparing.\n· provision: Made the sandbox.\n▸ Bash {\"command\":\"ls\"}\n"
                         "  └ a\\x1b[2J (+2 lines)\n\nIt is the cache.\n\n✓ Done.\n● Waiting.\n");
    CHECK(contains(outcome.err, "run_1 · waiting · 1.5k tokens · $0.0042"));
    const auto seen = world.server.seen();
    REQUIRE(seen.at(1).method == "POST");
    const json::Value body = json::parse(seen.at(1).body).value();
    CHECK(
        json::print(body) ==
        R"({"prompt":"look","project":"shop","settings":{"harness":"command","model":"m","command":["bash","-c"],"skills":["skill_9"]}})");
}

TEST_CASE("a session that fails makes the command fail, with the reason") {
    SessionWorld world;
    world.client.input = "from a pipe\n";
    world.server.on("POST /v1/runs", 200, run_in("queued", 0));
    world.server.on("GET /v1/runs/run_1", 200, run_in("failed", 2));
    world.stream({{preparing, event(2, R"("kind":"status","text":"Failed.","state":"failed","failed":true)")}}, {"0"});
    const Outcome outcome = world.client.run({"session", "start", "--preset", "analyst", "-"});
    CHECK(outcome.exit == 1);
    CHECK(contains(outcome.out, "✗ Failed.\n"));
    CHECK(contains(outcome.err, "the session is failed: out of luck"));
    CHECK(json::parse(world.server.seen().at(0).body).value().at("prompt") == "from a pipe\n");
}

TEST_CASE("a turn that failed counts, though the session waits for more") {
    SessionWorld world;
    world.server.on("POST /v1/runs", 200, run_in("queued", 0));
    world.server.on("GET /v1/runs/run_1", 200, run_in("waiting", 7));
    world.stream({{event(6, R"("kind":"result","text":"no model","failed":true)"), waiting}}, {"0"});
    const Outcome outcome = world.client.run({"session", "start", "--preset", "analyst", "look"});
    CHECK(outcome.exit == 1);
    CHECK(contains(outcome.err, "the last turn failed"));
}

TEST_CASE("a start needs a preset or a harness, and a detached start prints only the id") {
    SessionWorld world;
    world.server.on("POST /v1/runs", 200, run_in("queued", 0));
    CHECK(world.client.run({"session", "start", "look"}).exit == 2);
    CHECK(world.client.run({"session", "start", "--preset", "a", "--model", "m", "look"}).exit == 2);
    CHECK(world.server.seen().empty());
    const Outcome outcome =
        world.client.run({"session", "start", "--preset", "a", "--priority", "-3", "--detach", "look"});
    CHECK(json::parse(world.server.seen().at(0).body).value().at("priority").to_number<int>() == -3);
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "run_1\n");
    CHECK(contains(outcome.err, "hone session events run_1 -f"));
    CHECK(world.client.run({"session", "start", "--preset", "a", "-d", "look", "--json"}).json().at("id") == run_id);
    CHECK(world.connections == 0);
}

TEST_CASE("the end of an earlier turn does not end the watching of a follow-up") {
    SessionWorld world;
    world.server.on("GET /v1/runs/run_1", 200, run_in("running", 5));
    world.server.on("POST /v1/runs/run_1/messages", 200, run_in("running", 8));
    world.stream(
        {{result, waiting, event(8, R"("kind":"follow_up","text":"and now?","author":"ann")"),
          event(9, R"("kind":"message","text":"Now too.")"), event(10, R"("kind":"message","text":"  far in")"),
          event(11, R"("kind":"status","text":"Waiting.","state":"waiting")")}},
        {"5"});
    const Outcome outcome = world.client.run({"session", "send", "run_1", "and now?"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "› ann: and now?\n\nNow too.\n  far in\n\n● Waiting."));
    CHECK(json::parse(world.server.seen().at(1).body).value().at("text") == "and now?");
}

TEST_CASE("a transcript is printed page by page, and followed to its real end") {
    SessionWorld world;
    world.server.on("GET /v1/runs/run_1", 200, run_in("succeeded", 4));
    world.server.on("GET /v1/runs/run_1/events/4", 200,
                    R"({"data":)" + event(4, R"("kind":"tool_result","text":"a\nb")") + "}");
    world.server.on("GET /v1/runs/run_1/events", [](const net::Request& request) {
        const std::string cut = event(4, R"("kind":"tool_result","text":"a","truncated":true)");
        if (contains(request.target, "after=2")) return net::json_response(200, R"({"data":[)" + cut + "]}");
        if (contains(request.target, "after=4")) return net::json_response(200, R"({"data":[]})");
        return net::json_response(200, R"({"data":[)" + preparing + "," + step + "]}");
    });
    CHECK(world.client.run({"session", "events", "run_1", "--full"}).out ==
          "● Preparing.\n· provision: Made the sandbox.\n    a\n    b\n");
    CHECK(world.client.run({"session", "events", "run_1", "--json"}).json().as_array().size() == 3);
    world.stream({{event(2, R"("kind":"status","text":"Failed.","state":"failed")"),
                   event(3, R"("kind":"follow_up","text":"again","author":"ann")"),
                   event(4, R"("kind":"status","text":"Over.","state":"succeeded")")}},
                 {"1"});
    const Outcome followed = world.client.run({"session", "events", "run_1", "-f", "--after", "1", "--json"});
    CHECK(followed.exit == 0);
    CHECK(std::count(followed.out.begin(), followed.out.end(), '\n') == 3);
    CHECK(world.client.run({"session", "events", "run_1", "-f", "--after", "4"}).out.empty());
    CHECK(world.connections == 1);
}

TEST_CASE("sessions are listed by what they are, stopped, forked and run again") {
    SessionWorld world;
    world.server.on("GET /v1/runs", 200, R"({"data":[],"next_cursor":null})");
    world.server.on("GET /v1/presets/analyst", 200, R"({"data":{"id":"preset_1"}})");
    for (const char* verb : {"cancel", "interrupt", "fork", "rerun"})
        world.server.on("POST /v1/runs/run_1/" + std::string(verb), 200, run_in("queued", 0));
    CHECK(contains(
        world.client.run({"session", "list", "--state", "running", "--state", "waiting", "--preset", "analyst"}).out,
        "No sessions"));
    CHECK(world.server.seen().at(1).target == "/v1/runs?preset=preset_1&state=running%2Cwaiting&limit=100");
    CHECK(world.client.run({"session", "cancel", "run_1"}).exit == 0);
    CHECK(world.client.run({"session", "interrupt", "run_1"}).exit == 0);
    CHECK(world.client.run({"session", "fork", "run_1", "other", "-d"}).exit == 0);
    CHECK(world.client.run({"session", "rerun", "run_1", "-d"}).exit == 0);
    CHECK(world.client.run({"session", "fork", "run_1", "other", "--turn", "2", "-d"}).exit == 0);
    const auto seen = world.server.seen();
    REQUIRE(seen.size() == 5);
    CHECK(seen[2].body == R"({"prompt":"other"})");
    CHECK(seen[3].body == "{}");
    CHECK(seen[4].body == R"({"prompt":"other","turn":2})");
}

TEST_CASE("a session without a preset takes all settings from a file, and options win over it") {
    SessionWorld world;
    world.server.on("POST /v1/runs", 200, run_in("queued", 0));
    world.server.on("GET /v1/skills/forge", 200, R"({"data":{"id":"skl_1"}})");
    const std::string file = world.client.home() + "/own.yaml";
    REQUIRE(write_file(file, "harness: codex\nmodel: large\nskills: [forge]\nsandbox:\n  packages: [npm]\n  setup: "
                             "auto\nbudget:\n  turns: 3\n")
                .ok());
    const auto settings_of = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"session", "start", "--settings", file, "-d", "look"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = world.client.run(words);
        CHECK_MESSAGE(outcome.exit == 0, outcome.err);
        return json::print(json::parse(world.server.seen().back().body).value().at("settings"));
    };
    CHECK(settings_of({}) == R"({"harness":"codex","model":"large","skills":["skl_1"],)"
                             R"("sandbox":{"packages":["npm"],"setup":"auto"},"budget":{"turns":3}})");
    CHECK(contains(settings_of({"--model", "small", "--repo", "https://git.example.com/shop.git#main", "--repo",
                                "https://git.example.com/docs.git"}),
                   R"("model":"small")"));
    // What `session show --manifest` prints has them too.
    REQUIRE(write_file(file, R"({"settings":{"harness":"playbook"},"prompt":"look"})").ok());
    CHECK(settings_of({"--repo", "https://git.example.com/shop.git#main", "--repo", "https://git.example.com/docs"}) ==
          R"({"harness":"playbook","repos":[{"url":"https://git.example.com/shop.git","ref":"main"},)"
          R"({"url":"https://git.example.com/docs"}]})");
    for (const char* wrong : {"[]", "settings: 3\n", "model: large\n"}) {
        REQUIRE(write_file(file, wrong).ok());
        CHECK(world.client.run({"session", "start", "--settings", file, "look"}).exit == 2);
    }
    CHECK(world.client.run({"session", "start", "--settings", "-", "-"}).exit == 2);
    CHECK(world.client.run({"session", "start", "--preset", "a", "--settings", file, "look"}).exit == 2);
    CHECK(world.server.seen().empty());
}

TEST_CASE("a session is shown with its limits") {
    SessionWorld world;
    world.server.on("GET /v1/runs/run_1", 200, run_in("running", 4));
    world.server.on("GET /v1/runs/run_1/manifest", 200,
                    R"({"data":{"settings":{"harness":"playbook","sandbox":{"wall_clock_minutes":60,"idle_minutes":10,
                    "tool_seconds":30},"budget":{"turns":3,"steps":null,"tokens":200000,"cost_micro_usd":5000000}}}})");
    CHECK(contains(world.client.run({"session", "show", "run_1"}).out,
                   "60 min, 10 min idle, 30 s for each call of Hone's tools, 3 turns, 200k tokens, $5.00"));
    CHECK_FALSE(world.client.run({"session", "show", "run_1", "--json"}).json().get_object().contains("limits"));
}

TEST_CASE("the list and the export of sessions take the same filters") {
    SessionWorld world;
    world.server.on("GET /v1/runs", 200, R"({"data":[],"next_cursor":null})");
    world.server.on("GET /v1/runs/export", [](const net::Request&) { return net::text_response(200, "id\n"); });
    const std::string filters = "state=failed&harness=codex&title=refund&cost_from=500000&cost_to=2000000";
    CHECK(world.client
              .run({"session", "list", "--state", "failed", "--harness", "codex", "--title", "refund", "--cost-from",
                    "0.5", "--cost-to", "2"})
              .exit == 0);
    CHECK(world.server.seen().at(0).target == "/v1/runs?" + filters + "&limit=100");
    const std::string file = world.client.home() + "/runs.csv";
    CHECK(world.client
              .run({"session", "export", file, "--state", "failed", "--harness", "codex", "--title", "refund",
                    "--cost-from", "0.5", "--cost-to", "2", "--format", "csv"})
              .exit == 0);
    CHECK(world.server.seen().at(0).target == "/v1/runs/export?" + filters + "&format=csv");
    CHECK(world.client.run({"session", "list", "--cost-from", "much"}).exit == 2);
}

TEST_CASE("artifacts are saved under names that stay in the directory") {
    SessionWorld world;
    world.server.on("GET /v1/runs/run_1", 200, run_in("succeeded", 4));
    world.server.on("GET /v1/artifacts", 200,
                    R"({"data":[{"id":"artifact_1","name":"../../x"},{"id":"artifact_2","name":"../../x"},
                    {"id":"artifact_3","name":".bashrc"}],"next_cursor":null})");
    for (const char* id : {"artifact_1", "artifact_2", "artifact_3"})
        world.server.on("GET /v1/artifacts/" + std::string(id) + "/content",
                        [=](const net::Request&) { return net::text_response(200, id); });
    const std::string directory = world.client.home() + "/left";
    const Outcome outcome = world.client.run({"session", "artifacts", "run_1", "--save", directory, "--json"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.json().as_array().size() == 3);
    CHECK(read_file(directory + "/_.._.._x").value() == "artifact_1");
    CHECK(read_file(directory + "/artifact_2-_.._.._x").value() == "artifact_2");
    CHECK(read_file(directory + "/_.bashrc").value() == "artifact_3");
    CHECK(contains(world.server.seen().at(1).target, "run=run_1&space=space_1"));
}

TEST_CASE("an artifact is shown safely and decided about") {
    SessionWorld world;
    world.server.on("GET /v1/artifacts/artifact_1", 200,
                    R"({"data":{"id":"artifact_1","name":"why","kind":"investigation","media_type":"text/markdown"}})");
    world.server.on("GET /v1/artifacts/artifact_1/content",
                    [](const net::Request&) { return net::text_response(200, "# Why\x1b[2J\n"); });
    const std::string digest(64, 'a');
    const std::string review = R"({"data":{"artifact":{"id":"artifact_1","name":"why","kind":"investigation","bytes":7,
                               "review":"approved","digest":")" +
                               digest + R"("},"revisions":[]}})";
    world.server.on("GET /v1/reviews/artifact_1", 200, review);
    for (const char* decision : {"approve", "reject", "request_changes"})
        world.server.on("POST /v1/reviews/artifact_1/" + std::string(decision), 200, review);
    CHECK(contains(world.client.run({"artifact", "show", "artifact_1"}).out, "\n# Why\\x1b[2J\n"));
    world.server.seen();
    // Without a terminal an approval must name what it approves.
    const Outcome unnamed = world.client.run({"artifact", "approve", "artifact_1"});
    CHECK(unnamed.exit == 2);
    CHECK(contains(unnamed.err, "--digest is needed"));
    world.server.seen();
    CHECK(world.client.run({"review", "approve", "artifact_1", "--digest", digest.substr(0, 12)}).out == "Approved.\n");
    const auto approved = world.server.seen();
    CHECK(approved.at(1).body == R"({"digest":")" + digest + R"("})");
    CHECK(world.client.run({"artifact", "approve", "artifact_1", "--digest", "bbbbbbbbbbbb"}).exit == 0);
    CHECK(world.server.seen().at(1).body == R"({"digest":"bbbbbbbbbbbb"})"); // the server decides
    CHECK(world.client.run({"artifact", "reject", "artifact_1", "--comment", "no"}).exit == 0);
    CHECK(world.client.run({"artifact", "request-changes", "artifact_1", "more"}).exit == 0);
    const auto seen = world.server.seen();
    CHECK(seen.at(0).body == R"({"comment":"no"})");
    CHECK(seen.at(1).body == R"({"comment":"more"})");
}

TEST_CASE("a preset goes to a file and back") {
    SessionWorld world;
    world.server.on("GET /v1/presets/analyst", 200,
                    R"({"data":{"id":"preset_1","name":"analyst","description":"d","version":3,
                    "settings":{"harness":"playbook"},"created_at":"2026-11-15T11:59:01Z"}})");
    const std::string file = world.client.home() + "/analyst.json";
    CHECK(world.client.run({"preset", "export", "analyst", "-o", file}).exit == 0);
    CHECK(json::print(json::parse(read_file(file).value()).value()) ==
          R"({"name":"analyst","description":"d","settings":{"harness":"playbook"}})");
    world.server.on("PATCH /v1/presets/preset_1", 200, R"({"data":{"id":"preset_1","name":"analyst","version":4}})");
    CHECK(world.client.run({"preset", "apply", file}).out == "Preset analyst is unchanged.\n");
    REQUIRE(write_file(file, R"({"name":"analyst","description":"e","settings":{"harness":"playbook"}})").ok());
    CHECK(world.client.run({"preset", "apply", file}).out == "Preset analyst is now version 4.\n");
    world.server.on("GET /v1/presets/analyst", 404, R"({"error":{"code":"not_found","message":"no"}})");
    world.server.on("POST /v1/presets", 200, R"({"data":{"id":"preset_1","name":"analyst","version":1}})");
    CHECK(world.client.run({"preset", "apply", file}).out == "Created preset analyst.\n");
    REQUIRE(write_file(file, "[]").ok());
    CHECK(world.client.run({"preset", "apply", file}).exit == 2);
    CHECK(world.client.run({"preset", "create", "x"}).exit == 2);
}
