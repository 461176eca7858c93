#include "cli/testing/scripted_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

using namespace hone;
using namespace hone::cli::testing;

namespace {

constexpr const char* two_projects = R"({"data":[
 {"id":"project_01JAAAAAAAAAAAAAAAAAAAAAAA","name":"shop","description":"the \u001b[31mshop","space_id":"space_1","restricted":false,"retention_days":null,"created_at":"2026-11-15T11:57:00.000000000Z"},
 {"id":"project_01JBBBBBBBBBBBBBBBBBBBBBBB","name":"日本","description":"","space_id":"space_1","restricted":true,"retention_days":7,"created_at":"2026-11-01T00:00:00.000000000Z","new_field":1}
],"next_cursor":null})";

constexpr const char* shop = R"({"data":{"id":"project_1","name":"shop","description":"","space_id":"space_1",
 "restricted":false,"retention_days":null,"created_at":"2026-11-15T11:57:00.000000000Z"}})";

std::string error_body(const std::string& code, const std::string& message) {
    return json::write(
        std::map<std::string, std::map<std::string, std::string>>{{"error", {{"code", code}, {"message", message}}}});
}

} // namespace

TEST_CASE("a list is an aligned table with foreign text made harmless") {
    ScriptedServer server;
    server.on("GET /v1/projects", 200, two_projects);
    Client client;
    client.log_in_to(server);
    const Outcome outcome = client.run({"project", "list", "--name-contains", "a b"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out ==
          "ID                                  NAME  DESCRIPTION       RESTRICTED  RETENTION DAYS  CREATED\n"
          "project_01JAAAAAAAAAAAAAAAAAAAAAAA  shop  the \\x1b[31mshop  no                 default  "
          "2026-11-15T11:57:00Z\n"
          "project_01JBBBBBBBBBBBBBBBBBBBBBBB  日本  -                 yes                      7  "
          "2026-11-01T00:00:00Z\n");
    const auto seen = server.seen();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].target == "/v1/projects?name_contains=a%20b&limit=100");
    CHECK(seen[0].authorization == "Bearer hone_secret");
}

TEST_CASE("--json prints the data and nothing else") {
    ScriptedServer server;
    server.on("GET /v1/projects", 200, two_projects);
    Client client;
    client.log_in_to(server);
    const Outcome outcome = client.run({"project", "list", "--json"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.empty());
    const json::Value data = outcome.json();
    CHECK(data.at(0).at("created_at") == "2026-11-15T11:57:00.000000000Z");
    CHECK(data.at(1).at("new_field") == 1);
    CHECK(outcome.out.find('\x1b') == std::string::npos);
}

TEST_CASE("an empty list states what it would show and what to do next") {
    ScriptedServer server;
    server.on("GET /v1/projects", 200, R"({"data":[],"next_cursor":null})");
    Client client;
    client.log_in_to(server);
    CHECK(client.run({"project", "list"}).out.find("hone project create NAME") != std::string::npos);
    CHECK(client.run({"project", "list", "--json"}).out == "[]\n");
}

TEST_CASE("pages are fetched up to the limit, or all of them") {
    ScriptedServer server;
    server.on("GET /v1/users", [](const net::Request& request) {
        const bool second = request.query.find("cursor=next") != std::string::npos;
        return net::json_response(200, second ? R"({"data":[{"id":"user_3"}],"next_cursor":null})"
                                              : R"({"data":[{"id":"user_1"},{"id":"user_2"}],"next_cursor":"next"})");
    });
    Client client;
    client.log_in_to(server);
    CHECK(client.run({"user", "list", "--all", "--json"}).json().as_array().size() == 3);
    const Outcome some = client.run({"user", "list", "--limit", "2", "--json"});
    CHECK(some.json().as_array().size() == 2);
    CHECK(some.err.find("--all") != std::string::npos);
    CHECK(client.run({"user", "list", "--limit", "1", "--json"}).json().as_array().size() == 1);
    CHECK(client.run({"user", "list", "--limit", "0"}).exit == 2);
    CHECK(client.run({"user", "list", "--limit", "2", "--all"}).exit == 2);
}

TEST_CASE("a list whose pages never end is stopped") {
    ScriptedServer server;
    server.on("GET /v1/users", 200, R"({"data":[{"id":"user_1"}],"next_cursor":"same"})");
    Client client;
    client.log_in_to(server);
    const Outcome outcome = client.run({"user", "list", "--all"});
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.find("its pages repeat") != std::string::npos);
}

TEST_CASE("what only an owner of the installation can do is not hinted at as a role of the space") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    const auto hint_after = [&](const char* message) {
        server.on("POST /v1/repos", 403, error_body("forbidden", message));
        const Outcome outcome = client.run({"repo", "add", "https://git.example.com/team/shop", "--allow-private"});
        CHECK(outcome.exit == 4);
        return outcome.err;
    };
    CHECK(hint_after("only installation owners may let a forge be on a private address")
              .find("an owner of the installation can do this") != std::string::npos);
    CHECK(hint_after("this needs the permission repo_write in the space")
              .find("an owner of the space can change your role") != std::string::npos);
}

TEST_CASE("each kind of refusal has its exit code, its message, a hint and the request id") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    const std::vector<std::tuple<int, const char*, int, const char*>> kinds{
        {400, "invalid", 8, ""},
        {401, "unauthorized", 3, "hint: hone login --url "},
        {403, "forbidden", 4, "hone whoami"},
        {404, "not_found", 5, "check the spelling"},
        {409, "conflict", 6, ""},
        {413, "too_large", 8, ""},
        {429, "busy", 9, "try again in 7 s"},
        {503, "unavailable", 7, "try again in 7 s"},
        {500, "internal", 1, ""},
    };
    for (const auto& kind : kinds) {
        CAPTURE(std::get<0>(kind));
        const auto& [status, code, exit, hint] = kind;
        server.on("GET /v1/projects/shop", [status = status, code = code](const net::Request&) {
            net::Response response = net::json_response(status, error_body(code, "because \x1b[2J"));
            response.set_header("Retry-After", "7");
            return response;
        });
        const Outcome outcome = client.run({"project", "show", "shop"});
        CHECK(outcome.exit == exit);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.starts_with("error: because \\x1b[2J\n"));
        CHECK(outcome.err.find(hint) != std::string::npos);
        CHECK(outcome.err.ends_with("request id: " + server.seen().at(0).id + "\n"));

        const Outcome as_json = client.run({"project", "show", "shop", "--json"});
        CHECK(as_json.exit == exit);
        CHECK(as_json.out.empty());
        const json::Value error = json::parse(as_json.err).value().at("error");
        CHECK(error.at("code") == code);
        CHECK(error.at("request_id").as_string() == server.seen().at(0).id);
        CHECK(error.at("exit") == exit);
    }
}

TEST_CASE("responses that do not follow the API are failures, not crashes") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    for (const std::string body : {"<html>hello</html>", "[1,2]", "{\"no\":\"data\"}", "{\"data\":", "\"text\""}) {
        CAPTURE(body);
        server.on("GET /v1/projects/shop", 200, body);
        const Outcome outcome = client.run({"project", "show", "shop"});
        CHECK(outcome.exit == 1);
        CHECK(outcome.err.find("the response of the server is not valid") != std::string::npos);
        CHECK(outcome.err.find("the address of a Hone server?") != std::string::npos);
    }
    server.on("GET /v1/projects", 200, R"({"data":{"a":1}})");
    CHECK(client.run({"project", "list"}).exit == 1);
    server.on("GET /v1/projects", 200, R"({"data":[1,"x"],"next_cursor":null})");
    CHECK(client.run({"project", "list"}).exit == 1);
    server.on("GET /v1/projects/odd", 200, R"({"data":{"id":7,"name":null,"created_at":"yesterday"}})");
    const Outcome odd = client.run({"project", "show", "odd"});
    CHECK(odd.exit == 0);
    CHECK(odd.out.find("yesterday") != std::string::npos);
    server.on("GET /v1/projects/moved", [](const net::Request&) {
        net::Response response = net::text_response(302, "");
        response.set_header("Location", "https://elsewhere/");
        return response;
    });
    const Outcome moved = client.run({"project", "show", "moved"});
    CHECK(moved.exit == 1);
    CHECK(moved.err.find("redirects to https://elsewhere/") != std::string::npos);
}

TEST_CASE("a response that is too large is rejected with a bound on memory") {
    ScriptedServer server;
    server.on("GET /v1/projects/shop", [](const net::Request&) {
        struct Endless final : net::BodySource {
            Result<std::string> next() override { return std::string(256 << 10, ' '); }
        };
        net::Response response = net::json_response(200, "");
        response.stream = std::make_unique<Endless>();
        return response;
    });
    Client client;
    client.log_in_to(server);
    const Outcome outcome = client.run({"project", "show", "shop"});
    CHECK(outcome.exit == 1);
    CHECK(outcome.err.starts_with("error: "));
}

TEST_CASE("a server that cannot be reached is exit code 7") {
    Client client;
    client.environment["HONE_API_KEY"] = "hone_secret";
    CHECK(client.run({"whoami", "--url", "http://127.0.0.1:1"}).exit == 7);
    CHECK(client.run({"whoami", "--url", "http://127.0.0.1:1"}).err.find("hone serve") != std::string::npos);

    // Takes the connection and never answers.
    const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener.get(), 8) == 0);
    REQUIRE(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    CHECK(client.run({"whoami", "--url", url, "--timeout", "50ms"}).exit == 7);
    CHECK(client.run({"whoami", "--url", url, "--timeout", "never"}).exit == 2);
    CHECK(client.run({"whoami", "--url", "ftp://x"}).exit == 2);
    CHECK(client.run({"whoami", "--url", url, "--api-key", "a\r\nX: y"}).exit == 2);
}

TEST_CASE("without a key nothing is sent and the way to log in is shown") {
    ScriptedServer server;
    Client client;
    client.environment["HONE_URL"] = server.url();
    const Outcome outcome = client.run({"whoami"});
    CHECK(outcome.exit == 3);
    CHECK(outcome.err.find("hint: hone login --url " + server.url()) != std::string::npos);
    CHECK(server.seen().empty());
}

TEST_CASE("login turns a password into a stored key, and logout revokes it") {
    ScriptedServer server;
    server.on("POST /v1/login", [](const net::Request& request) {
        if (request.body.find("right horse") == std::string::npos)
            return net::error_response(401, "unauthorized", "wrong email or password");
        net::Response response =
            net::json_response(200, R"({"data":{"csrf_token":"csrf","must_change_password":true}})");
        response.set_header("Set-Cookie", "hone_session=cookie; HttpOnly; SameSite=Strict");
        return response;
    });
    server.on("POST /v1/keys", 200, R"({"data":{"id":"key_1","name":"cli on x","key":"hone_made"}})");
    server.on("POST /v1/logout", 200, R"({"data":{}})");
    server.on("DELETE /v1/keys/key_1", 200, R"({"data":{"id":"key_1"}})");
    server.on(
        "GET /v1/me", 200,
        R"({"data":{"user":{"email":"ada@example.com","id":"user_1"},"key":{"name":"cli","id":"key_1","scopes":["all"],"space_id":"space_1"},"spaces":[{"name":"default","role":"owner","permissions":["space_read"]}],"installation_permissions":[]}})");
    Client client;
    const std::vector<std::string> login{"login",   "--url",           server.url(),
                                         "--email", "ada@example.com", "--password-stdin"};

    client.input = "wrong\n";
    const Outcome wrong = client.run(login);
    CHECK(wrong.exit == 3);
    CHECK(wrong.err.find("hint: check the email and the password") != std::string::npos);
    CHECK_FALSE(file_exists(client.credentials_file()));
    server.seen();

    client.input = "right horse\n";
    const Outcome right = client.run(login);
    CHECK(right.exit == 0);
    CHECK(right.out == "Logged in to " + server.url() + " as ada@example.com.\n");
    CHECK(right.err.find("Change it") != std::string::npos);
    const auto seen = server.seen();
    REQUIRE(seen.size() == 3);
    CHECK(seen[1].target == "/v1/keys");
    CHECK(seen[1].cookie == "hone_session=cookie");
    CHECK(seen[1].csrf == "csrf");
    CHECK(seen[1].body.find("\"name\":\"cli on ") != std::string::npos);
    CHECK(seen[2].target == "/v1/logout");
    const std::string stored = read_file(client.credentials_file()).value();
    CHECK(stored.find("hone_made") != std::string::npos);
    CHECK(stored.find("right horse") == std::string::npos);
    struct stat status {};
    REQUIRE(stat(client.credentials_file().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);

    // From now on neither URL nor key need to be given.
    const Outcome me = client.run({"whoami"});
    CHECK(me.exit == 0);
    CHECK(me.out.find("ada@example.com (user_1)") != std::string::npos);
    CHECK(server.seen().at(0).authorization == "Bearer hone_made");
    // The key of one server is never sent to another.
    CHECK(client.run({"whoami", "--url", "http://127.0.0.1:1"}).exit == 3);

    SUBCASE("a second login revokes the first one's key and does not print its own with --json") {
        auto again = login;
        again.emplace_back("--json");
        const Outcome second = client.run(again);
        CHECK(second.json().at("id") == "key_1");
        CHECK(second.out.find("hone_made") == std::string::npos);
        CHECK(server.seen().back().method == "DELETE");
    }
    SUBCASE("logout revokes and forgets") {
        CHECK(client.run({"logout"}).exit == 0);
        const auto asked = server.seen();
        REQUIRE(asked.size() == 1);
        CHECK(asked[0].method + " " + asked[0].target == "DELETE /v1/keys/key_1");
        CHECK(asked[0].authorization == "Bearer hone_made");
        CHECK(client.run({"whoami", "--url", server.url()}).exit == 3);
        CHECK(client.run({"logout", "--url", server.url()}).exit == 3);
    }
    SUBCASE("logout keeps the key when the server cannot revoke it, unless forced") {
        server.on("DELETE /v1/keys/key_1", 503, error_body("unavailable", "starting"));
        CHECK(client.run({"logout"}).exit == 7);
        CHECK(read_file(client.credentials_file()).value().find("hone_made") != std::string::npos);
        CHECK(client.run({"logout", "--force"}).exit == 0);
        CHECK(read_file(client.credentials_file()).value().find("hone_made") == std::string::npos);
    }
    SUBCASE("rotating the key of the login keeps the login working") {
        server.on("POST /v1/keys/key_1/rotate", 200, R"({"data":{"id":"key_2","key":"hone_next"}})");
        const Outcome rotated = client.run({"key", "rotate", "key_1", "--grace", "10m"});
        CHECK(rotated.exit == 0);
        CHECK(rotated.out.find("hone_next") != std::string::npos);
        CHECK(server.seen().at(0).body == R"({"grace_seconds":600})");
        CHECK(client.run({"whoami"}).exit == 0);
        CHECK(server.seen().at(0).authorization == "Bearer hone_next");
    }
    SUBCASE("login does not prompt without a terminal") {
        CHECK(client.run({"login", "--url", server.url()}).exit == 2);
        CHECK(client.run({"login", "--url", server.url(), "--email", "a@b.c"}).exit == 2);
    }
}

TEST_CASE("destructive commands refuse without confirmation") {
    ScriptedServer server;
    server.on("GET /v1/projects/shop", 200, shop);
    server.on("DELETE /v1/projects/project_1", [](const net::Request&) { return net::text_response(204, ""); });
    server.on("GET /v1/spaces/s", 200, R"({"data":{"id":"space_1","name":"my space"}})");
    server.on("DELETE /v1/spaces/space_1", 200, R"({"data":{}})");
    Client client;
    client.log_in_to(server);
    const Outcome refused = client.run({"project", "delete", "shop"});
    CHECK(refused.exit == 2);
    CHECK(refused.err.find("hint: add --yes") != std::string::npos);
    for (const auto& seen : server.seen()) CHECK(seen.method == "GET");
    CHECK(client.run({"key", "revoke", "key_1"}).exit == 2);
    CHECK(server.seen().empty());

    CHECK(client.run({"project", "delete", "shop", "--yes"}).out == "Deleted project shop.\n");
    CHECK(client.run({"project", "delete", "shop", "--yes", "--json"}).out == "{}\n");
    server.seen();
    CHECK(client.run({"space", "delete", "s", "--yes"}).exit == 0);
    CHECK(server.seen().back().target == "/v1/spaces/space_1?confirm=my%20space");
}

TEST_CASE("commands send what the API expects") {
    ScriptedServer server;
    server.on("GET /v1/me", 200, R"({"data":{"key":{"space_id":"space_1"}}})");
    Client client;
    client.log_in_to(server);
    const auto sent = [&](const std::vector<std::string>& words) {
        client.run(words);
        const auto seen = server.seen();
        REQUIRE_FALSE(seen.empty());
        return seen.back().method + " " + seen.back().target + " " + seen.back().body;
    };
    CHECK(sent({"project", "create", "a/b", "--description", "x", "--restricted", "true", "--retention-days", "7",
                "--space", "s 1"}) ==
          R"(POST /v1/projects?space=s%201 {"description":"x","restricted":true,"retention_days":7,"name":"a/b"})");
    CHECK(sent({"project", "rename", "a", "b"}) == R"(PATCH /v1/projects/a {"name":"b"})");
    CHECK(sent({"project", "update", "a", "--retention-days", "default"}) ==
          R"(PATCH /v1/projects/a {"retention_days":null})");
    CHECK(sent({"project", "bind", "a", "user_1", "viewer"}) ==
          R"(PUT /v1/projects/a/bindings/user_1 {"role":"viewer"})");
    CHECK(sent({"project", "unbind", "a", "user_1"}) == "DELETE /v1/projects/a/bindings/user_1 ");
    CHECK(sent({"project", "bindings", "a"}) == "GET /v1/projects/a/bindings ");
    CHECK(sent({"space", "create", "x"}) == R"(POST /v1/spaces {"name":"x"})");
    CHECK(sent({"space", "update", "x", "--name", "y"}) == R"(PATCH /v1/spaces/x {"name":"y"})");
    CHECK(sent({"member", "list"}) == "GET /v1/spaces/space_1/members?limit=100 ");
    CHECK(sent({"member", "list", "--space", "other"}) == "GET /v1/spaces/other/members?limit=100 ");
    CHECK(sent({"member", "invite", "a@b.c"}) ==
          R"(POST /v1/spaces/space_1/invites {"email":"a@b.c","role":"member"})");
    CHECK(sent({"member", "invites"}) == "GET /v1/spaces/space_1/invites?limit=100 ");
    CHECK(sent({"member", "revoke-invite", "invite_1", "--yes"}) == "DELETE /v1/spaces/space_1/invites/invite_1 ");
    CHECK(sent({"member", "role", "user_1", "admin"}) == R"(PATCH /v1/spaces/space_1/members/user_1 {"role":"admin"})");
    CHECK(sent({"member", "invite", "a@b.c", "--custom-role", "auditor"}) ==
          R"(POST /v1/spaces/space_1/invites {"email":"a@b.c","custom_role":"auditor"})");
    CHECK(sent({"role", "list"}) == "GET /v1/spaces/space_1/roles?limit=100 ");
    CHECK(sent({"role", "create", "auditor", "--permission", "audit_read", "--permission", "run_read"}) ==
          R"(POST /v1/spaces/space_1/roles {"name":"auditor","permissions":["audit_read","run_read"]})");
    CHECK(sent({"role", "update", "auditor", "--permission", "run_read"}) ==
          R"(PATCH /v1/spaces/space_1/roles/auditor {"permissions":["run_read"]})");
    CHECK(sent({"role", "give", "auditor", "user_1"}) ==
          R"(PATCH /v1/spaces/space_1/members/user_1 {"custom_role":"auditor"})");
    CHECK(sent({"role", "delete", "auditor", "--yes"}) == "DELETE /v1/spaces/space_1/roles/auditor ");
    CHECK(sent({"member", "remove", "user_1", "--yes"}) == "DELETE /v1/spaces/space_1/members/user_1 ");
    CHECK(sent({"user", "update", "user_1", "--disabled", "true"}) == R"(PATCH /v1/users/user_1 {"disabled":true})");
    CHECK(sent({"user", "logins", "--user", "user_1"}) == "GET /v1/login_sessions?user=user_1&limit=100 ");
    CHECK(sent({"user", "groups", "--provider", "company", "--user", "user_1"}) ==
          "GET /v1/groups?provider=company&user=user_1&limit=1000 ");
    CHECK(sent({"user", "end-login", "login_1"}) == "DELETE /v1/login_sessions/login_1 ");
    CHECK(sent({"user", "end-logins", "user_1"}) == "DELETE /v1/users/user_1/login_sessions ");
    CHECK(sent({"user", "reset-second-factor", "user_1"}) == "DELETE /v1/users/user_1/second_factor ");
    CHECK(sent({"provider", "create", "company", "--issuer", "https://id.example.com", "--client-id", "hone", "--map",
                "a=b=default:member", "--domains", "example.com, example.org"}) ==
          R"(POST /v1/identity_providers {"name":"company","issuer":"https://id.example.com","client_id":"hone",)"
          R"("allowed_domains":["example.com","example.org"],)"
          R"("mappings":[{"group":"a=b","space":"default","role":"member"}]})");
    CHECK(sent({"provider", "update", "company", "--no-mappings"}) ==
          R"(PATCH /v1/identity_providers/company {"mappings":[]})");
    CHECK(sent({"audit", "export", "--format", "csv", "--action", "login*"}) ==
          "GET /v1/audit/export?action=login%2A&format=csv ");
    CHECK(sent({"licenses"}) == "GET /v1/licenses ");
    CHECK(sent({"provider", "delete", "company", "--yes"}) == "DELETE /v1/identity_providers/company ");
    CHECK(sent({"key", "create", "k", "--kind", "service", "--role", "member", "--scope", "read", "--expires-in-days",
                "9"}) ==
          R"(POST /v1/keys {"name":"k","kind":"service","role":"member","scopes":["read"],"expires_in_days":9})");
    CHECK(sent({"key", "list", "--include-revoked"}) == "GET /v1/keys?include_revoked=true&limit=100 ");
    CHECK(sent({"key", "revoke", "key_1", "--yes"}) == "DELETE /v1/keys/key_1 ");
    CHECK(sent({"audit", "list", "--action", "project_create", "--after", "2h", "--limit", "5"}) ==
          "GET /v1/audit?action=project_create&after=2026-11-15T10%3A00%3A00.000000000Z&limit=5 ");
    CHECK(client.run({"project", "update", "a"}).exit == 2);
    CHECK(client.run({"provider", "update", "company"}).exit == 2);
    CHECK(client.run({"provider", "create", "company"}).exit == 2);
    CHECK(client.run({"provider", "update", "company", "--map", "engineers"}).exit == 2);
    CHECK(client.run({"audit", "list", "--after", "soon"}).exit == 2);
    CHECK(client.run({"key", "create", "k", "--expires-at", "x", "--expires-in-days", "1"}).exit == 2);
    CHECK(server.seen().empty());
}

TEST_CASE("a created invite and key are shown once with what to do with them") {
    ScriptedServer server;
    server.on("POST /v1/spaces/s/invites", 200, R"({"data":{"email":"a@b.c","role":"member","path":"/invite/token"}})");
    server.on("POST /v1/keys", 200, R"({"data":{"id":"key_1","name":"k","key":"hone_new"}})");
    Client client;
    client.log_in_to(server);
    CHECK(client.run({"member", "invite", "a@b.c", "--space", "s"}).out.find(server.url() + "/invite/token\n") !=
          std::string::npos);
    const Outcome key = client.run({"key", "create", "k"});
    CHECK(key.out.find("hone_new") != std::string::npos);
    CHECK(key.err.find("not shown again") != std::string::npos);
}

TEST_CASE("a broken audit log is exit code 1, an intact one 0") {
    ScriptedServer server;
    Client client;
    client.log_in_to(server);
    server.on("GET /v1/audit/verify", 200,
              R"({"data":{"ok":true,"entries":3,"head_hash":"ab","first_bad_seq":null,"message":"fine"}})");
    CHECK(client.run({"audit", "verify"}).exit == 0);
    server.on("GET /v1/audit/verify", 200,
              R"({"data":{"ok":false,"entries":3,"head_hash":"ab","first_bad_seq":2,"message":"bad"}})");
    const Outcome broken = client.run({"audit", "verify", "--json"});
    CHECK(broken.exit == 1);
    CHECK(broken.json().at("first_bad_seq") == 2);
}

TEST_CASE("version works with and without a server") {
    ScriptedServer server;
    server.on(
        "GET /v1/server", 200,
        R"({"data":{"version":"9.9.9","schema_version":4,"database":"sqlite","started_at":"2026-11-15T11:57:00Z","settings":[]}})");
    Client client;
    CHECK(client.run({"version", "--url", server.url()}).out.find("server 9.9.9 at " + server.url()) !=
          std::string::npos);
    CHECK(client.run({"version", "--url", server.url(), "--json"}).json().at("server").at("schema_version") == 4);
    const auto notice = [&](std::string_view version, bool replaced) {
        server.on("GET /v1/server", 200,
                  R"({"data":{"version":")" + std::string(version) + R"(","program_replaced":)" +
                      (replaced ? "true" : "false") + "}}");
        return client.run({"version", "--url", server.url()}).out;
    };
    CHECK(notice("9.10.0", false).find("This program is older than the server") != std::string::npos);
    CHECK(notice("0.0.10", false).find("The server is older than this program") != std::string::npos);
    CHECK(notice("9.10.0", true).find("restart the server to complete the upgrade") != std::string::npos);
    const Outcome alone = client.run({"version", "--url", "http://127.0.0.1:1"});
    CHECK(alone.exit == 0);
    CHECK(alone.out.find("not reached") != std::string::npos);
    server.on("GET /v1/server", 401, error_body("unauthorized", "log in"));
    CHECK(client.run({"version", "--url", server.url()}).out.find("log in to see its version") != std::string::npos);
}
