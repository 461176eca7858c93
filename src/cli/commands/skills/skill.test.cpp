// The commands about skills against a scripted server: what they ask, and what a person sees.
#include "cli/testing/scripted_server.h"

using namespace hone;
using namespace hone::cli::testing;

namespace {

constexpr const char* pager =
    R"({"data":{"id":"skl_1","name":"pager","type":"custom","scope":"space","version":1,"missing":[],
 "variables":[{"name":"KEY","secret":true,"set":true,"exposure":"env","reminders":[]}],
 "used_by":[{"kind":"preset","id":"pre_1","name":"analyst"},{"kind":"repo","id":"repo_1","name":"shop"}],
 "shared_with":[]}})";

struct SkillWorld {
    ScriptedServer server;
    Client client;
    SkillWorld() { client.log_in_to(server); }
};

} // namespace

TEST_CASE("a custom skill is declared with its hosts, headers and variables on the command line") {
    SkillWorld world;
    world.client.input = "a-secret-value\n";
    world.server.on("POST /v1/skills", 200, pager);
    const Outcome outcome =
        world.client.run({"skill", "create", "pager", "--bind", "KEY=https://api.example.com/v2", "--bind",
                          "KEY=GET,HEAD *.example.com:8443", "--header", "KEY=authorization: Token {}", "--declare",
                          "REGION=eu", "--allow", "wss://live.example.com/events", "--secret", "KEY"});
    CHECK(outcome.exit == 0);
    const json::Value body = json::parse(world.server.seen().at(0).body).value();
    CHECK(
        json::print(body.at("declared")) ==
        R"([{"name":"REGION","default_value":"eu"},{"name":"KEY","secret":true,"required":true,"hosts":[{"host":"api.example.com","port":443,"tls":true,"methods":[],"path_prefix":"/v2","websocket":false},{"host":"*.example.com","port":8443,"tls":true,"methods":["GET","HEAD"],"path_prefix":"/","websocket":false}],"header":"authorization","format":"Token {}"}])");
    CHECK(
        json::print(body.at("allow")) ==
        R"([{"host":"live.example.com","port":443,"tls":true,"methods":[],"path_prefix":"/events","websocket":true}])");
    CHECK(json::print(body.at("secrets")) == R"({"KEY":"a-secret-value"})");
    CHECK(contains(outcome.out, "preset analyst, repo shop"));
    CHECK(contains(outcome.err, "warning: exposure env"));
    CHECK_FALSE(contains(outcome.out + outcome.err, "a-secret-value"));
}

TEST_CASE("what is no address of a host is refused before anything is sent") {
    for (const char* text : {"KEY=", "KEY", "=https://x.example", "KEY=https://user@x.example/",
                             "KEY=https://x.example/?a=b", "KEY=ftp://x.example"}) {
        SkillWorld world;
        const Outcome outcome = world.client.run({"skill", "create", "pager", "--bind", text});
        CHECK_MESSAGE(outcome.exit != 0, text);
        CHECK(contains(outcome.err, "--bind needs"));
        CHECK(world.server.seen().empty());
    }
    SkillWorld world;
    const Outcome outcome = world.client.run({"skill", "create", "pager", "--header", "KEY=authorization: {}"});
    CHECK(outcome.exit != 0);
    CHECK(contains(outcome.err, "NAME of --bind"));
}

TEST_CASE("what a skill reaches is shown with methods, ports and secrets") {
    SkillWorld world;
    world.server.on("GET /v1/skills/pager", 200, pager);
    world.server.on("GET /v1/reach", 200, R"({"data":[
 {"skill_id":"skl_1","skill_name":"pager","kind":"brokered","variable":"KEY","secret_name":"KEY","header":"","format":"","detail":"",
  "host":{"host":"api.example.com","port":8443,"tls":true,"methods":["GET","HEAD"],"path_prefix":"/v2","websocket":false}},
 {"skill_id":"skl_1","skill_name":"pager","kind":"open","variable":"","secret_name":"","header":"","format":"","detail":"",
  "host":{"host":"live.example.com","port":80,"tls":false,"methods":[],"path_prefix":"/","websocket":true}}]})");
    const Outcome outcome = world.client.run({"skill", "reach", "pager"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.out == "brokered GET, HEAD https://api.example.com:8443/v2 with KEY\n"
                         "open every method http://live.example.com:80/ and WebSockets\n");
}

TEST_CASE("a secret that goes into the environment is stored with a warning") {
    SkillWorld world;
    world.client.input = "a-secret-value\n";
    world.server.on("GET /v1/skills/pager", 200, pager);
    world.server.on("PUT /v1/skills/skl_1/secrets/KEY", 200, pager);
    const Outcome outcome = world.client.run({"secret", "set", "pager", "KEY", "--exposure", "env"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.err, "can read KEY"));
}
