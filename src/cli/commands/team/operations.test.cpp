// Commands for people who run Hone, against a scripted server.
#include "cli/testing/scripted_server.h"

using namespace hone;
using namespace hone::cli::testing;

TEST_CASE("doctor shows each check with its advice, and fails when there is a problem") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    server.on("GET /v1/diagnosis", 200,
              R"({"data":[{"name":"database","state":"ok","detail":"responds in 1 ms","advice":""},
 {"name":"disk","state":"problem","detail":"1.0 GiB\u001b[2J free","advice":"free space now"}],"next_cursor":null})");
    const Outcome outcome = client.run({"doctor"});
    CHECK(outcome.exit == 1);
    CHECK(contains(outcome.out, "database: responds in 1 ms\n"));
    CHECK(contains(outcome.out, "1.0 GiB\\x1b[2J free\n         free space now\n"));
    CHECK(contains(outcome.err, "1 problem found"));
    CHECK(client.run({"doctor", "--json"}).json().as_array().size() == 2);
    server.on("GET /v1/diagnosis", 200, R"({"data":[],"next_cursor":null})");
    CHECK(client.run({"doctor"}).exit == 0);
}

TEST_CASE("servers and capacity are shown") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    server.on("GET /v1/servers", 200,
              R"({"data":[{"name":"server_a","live":true,"roles":"api,worker","version":"0.2","address":"http://a",
 "started_at":"2026-11-14T12:00:00.000000000Z","lease_until":"2026-11-14T12:00:15.000000000Z"}],"next_cursor":null})");
    CHECK(contains(client.run({"server", "list"}).out, "api,worker"));
    server.on("GET /v1/capacity", 200,
              R"({"data":{"spans":1000,"spans_bytes":1400000,"spans_per_day":500,"days_until_full":null,
 "model_cost_micro_usd_per_day":2500000}})");
    const Outcome shown = client.run({"storage", "capacity"});
    CHECK(contains(shown.out, "spans a day"));
    CHECK(contains(shown.out, "$2.50"));
    CHECK(client.run({"storage", "capacity", "--json"}).json().at("spans") == 1000);
}
