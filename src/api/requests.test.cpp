// What a client may get wrong: addresses, methods, bodies, query strings, cursors.
#include "api/testing.h"

#include <algorithm>
#include <set>

namespace hone::api::testing {

namespace {

struct Fixture {
    sql::testing::FreshDatabase fresh{sql::Engine::sqlite, sql::testing::Schema::migrated};
    Desk desk{fresh.database()};
    std::vector<net::Header> admin = desk.as_admin();

    net::Response get(const std::string& target) { return desk.send({"GET", target, "", admin}); }
    net::Response post(const std::string& target, const std::string& body) {
        return desk.send({"POST", target, body, admin});
    }
};

// A path of the table with something harmless in the place of its parameters.
std::string some_path(const Route& route) {
    std::string path;
    for (const auto part : split(route.path.substr(1), '/'))
        path += "/" + std::string(part.starts_with('{') ? "something" : part);
    return path;
}

// What a field takes: the first of its names for an enum, an object with what it must have, an empty list, a number,
// else a word.
std::string some_text(const json::Value& property, const json::Schemas& schemas) {
    if (const auto* reference = property.as_object().if_contains("$ref")) {
        const std::string path(reference->as_string());
        const auto& named = schemas.named.at(path.substr(path.rfind('/') + 1)).as_object();
        if (const auto* names = named.if_contains("enum")) return json::print(names->as_array()[0]);
        const auto* properties = named.if_contains("properties");
        if (properties == nullptr) return "\"viewer\"";
        std::string members;
        if (const auto* required = named.if_contains("required"))
            for (const auto& each : required->as_array())
                members += (members.empty() ? "" : ",") + json::print(each) + ":" +
                           some_text(properties->as_object().at(each.as_string()), schemas);
        return "{" + members + "}";
    }
    const auto* type = property.as_object().if_contains("type");
    if (type != nullptr && *type == json::Value("array")) return "[]";
    const auto* format = property.as_object().if_contains("format");
    if (format != nullptr && *format == json::Value("date-time")) return "\"2026-01-31T12:00:00Z\"";
    return type != nullptr && *type == json::Value("integer") ? "1" : "\"viewer\"";
}

// Whether a field takes any object: nothing that is sent for it has a wrong type.
bool takes_any_object(const json::Value& property) {
    if (!property.is_object()) return false;
    const json::Object& rules = property.get_object();
    if (const auto* choices = rules.if_contains("anyOf"))
        return std::any_of(choices->as_array().begin(), choices->as_array().end(), takes_any_object);
    const auto* members = rules.if_contains("additionalProperties");
    if (members != nullptr && members->is_object()) return takes_any_object(*members);
    return !rules.contains("type") && !rules.contains("$ref");
}

// Whether a body may hold fields that are not declared, as bodies of Phoenix' clients do.
bool ignores_unknown(json::Value (*schema_of)(json::Schemas&)) {
    json::Schemas schemas;
    const std::string root(schema_of(schemas).as_object().at("$ref").as_string());
    const auto& schema = schemas.named.at(root.substr(root.rfind('/') + 1)).as_object();
    return schema.at("additionalProperties").as_bool();
}

// visit(name, names of the required ones, members of the other required ones: `"role":"viewer",`) for every declared
// field of a body or query string.
template <class Visit>
void for_each_property(json::Value (*schema_of)(json::Schemas&), Visit visit) {
    json::Schemas schemas;
    const std::string root(schema_of(schemas).as_object().at("$ref").as_string());
    int properties_seen = 0;
    for (const auto& [name, schema] : schemas.named) {
        if (!root.ends_with("/" + name)) continue; // what lies deeper inside
        const auto* properties = schema.as_object().if_contains("properties");
        if (properties == nullptr) continue;
        for (const auto& property : properties->as_object()) {
            std::string others;
            std::vector<std::string> required;
            if (const auto* names = schema.as_object().if_contains("required"))
                for (const auto& each : names->as_array()) {
                    required.emplace_back(each.as_string());
                    if (required.back() == std::string_view(property.key())) continue;
                    others += json::print(each) + ":" +
                              some_text(properties->as_object().at(each.as_string()), schemas) + ",";
                }
            ++properties_seen;
            if (takes_any_object(property.value())) continue;
            visit(std::string(property.key()), required, others);
        }
    }
    CHECK(properties_seen > 0);
}

} // namespace

TEST_CASE_FIXTURE(Fixture, "every answer of the API carries the security headers and is not to be stored") {
    std::vector<net::Response> answers;
    for (const Route& route : routes()) {
        answers.push_back(desk.send({std::string(route.method), some_path(route)}));
        answers.push_back(desk.send({std::string(route.method), some_path(route), "{", admin}));
    }
    for (const char* path : {"/v1", "/v1/nothing", "/healthz", "/readyz", "/metrics", "/nothing.js"})
        for (const char* method : {"GET", "POST", "HEAD"}) answers.push_back(desk.send({method, path}));
    for (const auto& answer : answers) {
        INFO(answer.status, " ", answer.body.substr(0, 200));
        CHECK(answer.header("X-Content-Type-Options") == "nosniff");
        CHECK(answer.header("X-Frame-Options") == "DENY");
        CHECK(answer.header("Content-Security-Policy").find("default-src 'none'") == 0);
        CHECK(!answer.header("Referrer-Policy").empty());
        CHECK(answer.header("Cache-Control") == "no-store");
    }
}

TEST_CASE_FIXTURE(Fixture, "an address that does not exist is 404, also for guests, and says where to look") {
    for (const char* path :
         {"/v1", "/v1/nothing", "/v1/projects/a/b/c", "/v1/Projects", "/V1/projects", "/openapi.jsonx"})
        for (const auto& headers : {std::vector<net::Header>{}, admin}) {
            INFO(path);
            CHECK(desk.send({"GET", path, "", headers}).status == 404);
        }
    CHECK(message_of(get("/v1/nothing")).find("/openapi.json") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a method that a path does not have is 405 and names those it has") {
    std::map<std::string, std::set<std::string>> methods;
    for (const Route& route : routes()) methods[some_path(route)].insert(std::string(route.method));
    for (auto& [path, has] : methods)
        for (const Route& route : routes())
            if (leads_to(route.path, path)) has.insert(std::string(route.method));
    for (const auto& each : methods)
        for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "BREW"}) {
            const auto& [path, has] = each;
            if (has.contains(method)) continue;
            const auto response = desk.send({method, path, "", admin});
            INFO(method, " ", each.first, " ", response.body);
            CHECK(response.status == 405);
            const auto allowed = split(response.header("Allow"), ',');
            std::set<std::string> named;
            for (const auto name : allowed) named.emplace(trim(name));
            auto expected = has;
            if (expected.contains("GET")) expected.insert("HEAD");
            CHECK(named == expected);
        }
    for (const char* path : {"/healthz", "/readyz", "/metrics", "/"})
        CHECK(desk.send({"POST", path, "{}"}).header("Allow") == "GET, HEAD");
}

TEST_CASE_FIXTURE(Fixture, "HEAD is answered like GET") {
    CHECK(desk.send({"HEAD", "/v1/me", "", admin}).status == 200);
    CHECK(desk.send({"HEAD", "/v1/me"}).status == 401);
    CHECK(desk.send({"HEAD", "/v1/login"}).status == 405);
    CHECK(desk.send({"HEAD", "/healthz"}).status == 200);
}

TEST_CASE_FIXTURE(Fixture, "paths play no tricks") {
    for (const char* path : {"/v1//projects", "/v1/projects/", "/v1/projects//", "/v1/./projects", "/v1/../v1/projects",
                             "/v1/projects/..%2fkeys", "/v1/projects/%2e%2e/keys", "/v1/projects/..%5ckeys",
                             "/v1/projects/%00", "/v1/projects/a%00b", "/v1/projects/%", "/v1/projects/%zz",
                             "/v1/projects/%c0%af", "/v1/projects/%ff", "/v1/projects/%ed%a0%80"}) {
        INFO(path);
        CHECK(get(path).status == 400);
    }
    CHECK(get("/v1/" + std::string(10'000, 'a')).status == 404);
    std::string deep = "/v1";
    for (int i = 0; i < 1000; ++i) deep += "/a";
    CHECK(get(deep).status == 400);
    // Encoded letters are letters: the same route, the same permission.
    CHECK(get("/v1/%70rojects").status == 200);
    CHECK(desk.send({"GET", "/v1/%70rojects"}).status == 401);
    // A name that looks like nothing of ours is just not found, and comes back shortened.
    const auto unknown = get("/v1/projects/" + std::string(5'000, 'x'));
    CHECK(unknown.status == 404);
    CHECK(unknown.body.size() < 1000);
    CHECK(get("/v1/projects/%27%20OR%201%3D1%20--").status == 404);
    // Services are called team/app; a slash in a name is encoded.
    CHECK(post("/v1/projects", R"({"name":"team/app"})").status == 200);
    CHECK(get("/v1/projects/team%2Fapp").status == 200);
    CHECK(get("/v1/projects/team/app").status == 404);
}

TEST_CASE_FIXTURE(Fixture, "every body must say that it is JSON and be it, and hold nothing unknown") {
    for (const Route& route : routes()) {
        if (route.body_schema == nullptr) continue;
        // Guests' routes are asked with a body that fails before anything else is looked at.
        const std::string path = some_path(route);
        const auto send = [&](const std::string& body, std::string_view type = "application/json") {
            return desk.send({std::string(route.method), path, body, plus(admin, {"Content-Type", std::string(type)})});
        };
        INFO(route.method, " ", route.path);
        for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                                 "application/jsonp", "text/json"})
            CHECK(send("{}", type).status == 415);
        for (const char* body : {"",
                                 " ",
                                 "{",
                                 "[",
                                 "{]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "nul",
                                 "{} {}",
                                 "{},",
                                 "{'a':1}",
                                 "{\"a\":01}",
                                 "{\"a\":NaN}",
                                 "// hello\n{}",
                                 "\xef\xbb\xbf{}",
                                 "{\"a\":\"\xff\xfe\"}",
                                 "{\"a\":\"\xed\xa0\x80\"}",
                                 "{\"a\":\"\\ud800\"}",
                                 "{\"a\":1,\"a\":2}",
                                 "\"text\"",
                                 "[]",
                                 "null",
                                 "true",
                                 "42"}) {
            const auto response = send(body, "application/json; charset=utf-8");
            INFO("body ", body, " -> ", response.body);
            CHECK(response.status == route.invalid_status);
            CHECK(code_of(response) == "invalid");
        }
        CHECK(send(std::string(200'000, '[')).status == route.invalid_status);
        CHECK(send("{\"a\":" + std::string(500, '[') + std::string(500, ']') + "}").status == route.invalid_status);
        const auto unknown = send(R"({"no_such_field":1})");
        if (ignores_unknown(route.body_schema)) {
            CHECK(unknown.body.find("no_such_field") == std::string::npos);
        } else {
            CHECK(unknown.status == route.invalid_status);
            CHECK(message_of(unknown).find("no_such_field") != std::string::npos);
        }
        // Each field with a value of a type that no field has, the others as they should be.
        for_each_property(route.body_schema, [&](const std::string& field, const auto&, const std::string& others) {
            const auto with = [&](const char* value) {
                return send("{" + others + "\"" + field + "\":" + value + "}");
            };
            auto wrong = with("{\"deep\":[1.5]}");
            // An object may be right where a body ignores what it does not know; then a list is not.
            if (ignores_unknown(route.body_schema) && wrong.status != route.invalid_status) wrong = with("[[1.5]]");
            INFO(field, " -> ", wrong.body);
            CHECK(wrong.status == route.invalid_status);
            CHECK(message_of(wrong).find(field) != std::string::npos);
        });
    }
}

TEST_CASE_FIXTURE(Fixture, "traces that are too large are refused as their senders expect") {
    const auto refused = [&](const std::string& type) {
        return desk.send({"POST", "/v1/traces", "{}", {{"Content-Type", type}, {"Content-Length", "99999999999"}}});
    };
    const auto json = refused("application/json");
    CHECK(json.status == 413);
    CHECK(body_of(json).at("code").as_int64() == 3);
    CHECK(message_of(json).find("send smaller batches") != std::string::npos);
    const auto protobuf = refused("application/x-protobuf");
    CHECK(protobuf.status == 413);
    CHECK(protobuf.content_type == "application/x-protobuf");
    CHECK(protobuf.body.find("send smaller batches") != std::string::npos);
    CHECK(desk.send({"POST", "/v1/traces", "{}", {{"Content-Type", "application/json"}, {"Content-Length", "2"}}})
              .status == 401);
}

TEST_CASE_FIXTURE(Fixture, "numbers keep to their bounds") {
    for (const char* days : {"0", "-1", "1.5", "1e400", "99999999999999999999", "\"7\""}) {
        INFO(days);
        CHECK(post("/v1/projects", "{\"name\":\"bounds\",\"retention_days\":" + std::string(days) + "}").status == 400);
    }
    for (const char* days : {"0", "-5", "3651", "9223372036854775807"}) {
        INFO(days);
        CHECK(post("/v1/keys", "{\"name\":\"k\",\"expires_in_days\":" + std::string(days) + "}").status == 400);
    }
    CHECK(post("/v1/keys", R"({"name":"k","expires_in_days":1,"expires_at":"2030-01-01T00:00:00Z"})").status == 400);
    CHECK(post("/v1/keys", R"({"name":"k","expires_at":"2020-01-01T00:00:00Z"})").status == 400);
    const auto key = desk.service_key(desk.world.space, Role::viewer);
    for (const char* grace : {"-1", "604801", "9223372036854775807"})
        CHECK(post("/v1/keys/" + key.id.text() + "/rotate", "{\"grace_seconds\":" + std::string(grace) + "}").status ==
              400);
}

TEST_CASE_FIXTURE(Fixture, "every query string is as strict as a body") {
    for (const Route& route : routes()) {
        if (route.need.kind == Need::Kind::guest && route.body_schema != nullptr) continue;
        INFO(route.method, " ", route.path);
        const auto response =
            desk.send({std::string(route.method), some_path(route) + "?no_such_parameter=1", "{}", admin});
        // Some clients and providers of sign-in send parameters of their own.
        const bool ignores = route.ignores_unknown_query || route.path == "/v1/login/{provider}/callback";
        if (!ignores) CHECK(response.status == route.invalid_status);
        if (route.query_schema == nullptr) continue;
        if (!ignores) CHECK(message_of(response).find("no_such_parameter") != std::string::npos);
        for_each_property(route.query_schema, [&](const std::string& parameter, const auto& lists, const auto&) {
            // Every parameter may be left out; those declared as a list (and so always there) may be repeated.
            if (std::find(lists.begin(), lists.end(), parameter) != lists.end()) return;
            const std::string query = "?" + parameter + "=1&" + parameter + "=1";
            const auto twice = desk.send({std::string(route.method), some_path(route) + query, "{}", admin});
            INFO(parameter, " -> ", twice.body);
            CHECK(twice.status == route.invalid_status);
        });
    }
    for (const char* query :
         {"limit=%zz", "limit=%00", "limit=%ff", "name_contains=%c3%28", "include_experiment_projects=yes",
          "limit=", "limit=1.5", "limit=0x10", "limit=99999999999999999999", "=1", "limit=1;cursor=2"}) {
        INFO(query);
        CHECK(get("/v1/projects?" + std::string(query)).status == 400);
    }
    for (const char* query : {"after=yesterday", "before=2026-13-01T00:00:00Z", "scope=everything", "after=2026-01-01",
                              "scope=installation&space=default"}) {
        INFO(query);
        CHECK(get("/v1/audit?" + std::string(query)).status == 400);
    }
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "limit=1&";
    CHECK(get("/v1/projects?" + many).status == 400);
}

TEST_CASE_FIXTURE(Fixture, "pages hold at most what was asked for, and together everything once") {
    for (int i = 0; i < 7; ++i) desk.world.add_project(desk.world.admin, desk.world.space, "p" + std::to_string(i));
    for (const char* limit : {"0", "-1", "1001", "9223372036854775808"}) {
        INFO(limit);
        CHECK(get("/v1/projects?limit=" + std::string(limit)).status == 400);
    }
    for (const char* limit : {"1", "2", "3", "7", "1000"}) {
        std::multiset<std::string> names;
        std::string cursor;
        for (int pages = 0; pages < 20; ++pages) {
            const auto answer = get("/v1/projects?limit=" + std::string(limit) + cursor);
            REQUIRE(answer.status == 200);
            const auto body = body_of(answer);
            const auto& rows = body.at("data").as_array();
            CHECK(rows.size() <= std::stoul(limit));
            for (const auto& row : rows) names.emplace(row.at("name").as_string());
            if (body.at("next_cursor").is_null()) break;
            cursor = "&cursor=" + std::string(body.at("next_cursor").as_string());
        }
        INFO("limit ", limit);
        CHECK(names == std::multiset<std::string>{"p0", "p1", "p2", "p3", "p4", "p5", "p6"});
    }
}

TEST_CASE_FIXTURE(Fixture, "a cursor that no list gave out is refused, on every list") {
    desk.world.add_project(desk.world.admin, desk.world.space, "one");
    const std::string garbage[] = {"",
                                   "x",
                                   "!!!!",
                                   "AA",
                                   "AAAA",
                                   "%00",
                                   "bm9wZQ==",
                                   "-1",
                                   std::string(5'000, 'A'),
                                   to_base64url(std::string(300, 'z')),
                                   to_base64url("\xff\xfe")};
    for (const Route& route : routes()) {
        if (route.response_kind != ResponseKind::list || route.query_schema == nullptr) continue;
        bool in_pages = false;
        for_each_property(route.query_schema, [&](const std::string& parameter, const auto&, const auto&) {
            in_pages = in_pages || parameter == "cursor";
        });
        if (!in_pages || route.lane == net::Lane::query) continue; // spans are not here: tests/e2e asks for them
        std::string path(route.path);
        if (const size_t at = path.find("{space}"); at != path.npos) path.replace(at, 7, desk.world.space.text());
        if (path.find('{') != path.npos) continue; // lists of one thing page as these do
        CHECK(get(path).status == 200);
        for (const auto& cursor : garbage) {
            const auto response = get(path + "?cursor=" + cursor);
            INFO(path, " cursor=", cursor.substr(0, 40), " -> ", response.body.substr(0, 200));
            CHECK(response.status == route.invalid_status);
        }
    }
    // A text may be a place, also one that nobody has: only what comes after it is listed.
    const auto listed = [&](std::string_view place) {
        return body_of(get("/v1/projects?cursor=" + to_base64url(place))).at("data").as_array().size();
    };
    CHECK(listed("' OR 1=1 --") == 1);
    CHECK(listed("z' OR 1=1 --") == 0);
}

TEST_CASE_FIXTURE(Fixture, "the Authorization header is read to the letter") {
    const auto key = desk.service_key(desk.world.space, Role::viewer);
    const auto status = [&](const std::string& value) {
        return desk.send({"GET", "/v1/me", "", {{"Authorization", value}}}).status;
    };
    CHECK(status("Bearer " + *key.key) == 200);
    CHECK(status("bearer " + *key.key) == 200);
    CHECK(status("Bearer  " + *key.key + " ") == 200);
    for (const std::string& wrong :
         {*key.key, "Bearer" + *key.key, std::string("Bearer"), std::string("Bearer "), "Token " + *key.key,
          "Bearer " + *key.key + "x", "Bearer " + key.key->substr(0, key.key->size() - 1), "Bearer " + key.prefix,
          std::string("Bearer hone_"), "Bearer " + std::string(10'000, 'a'), "Bearer " + *key.key + "," + *key.key}) {
        INFO(wrong.substr(0, 60));
        CHECK(status(wrong) == 401);
    }
    // A wrong key is not made good by a cookie beside it.
    CHECK(desk.send({"GET", "/v1/me", "", plus(admin, {"Authorization", "Bearer hone_wrong"})}).status == 401);
}

TEST_CASE_FIXTURE(Fixture, "readiness tells why not, metrics count requests") {
    CHECK(get("/readyz").status == 200);
    desk.installation.why_not_ready = "the database does not answer";
    const auto answer = get("/readyz");
    CHECK(answer.status == 503);
    CHECK(answer.body == "the database does not answer\n");
    CHECK(get("/healthz").status == 200);
    get("/v1/projects");
    desk.send({"GET", "/v1/projects"});
    const std::string metrics = get("/metrics").body;
    for (const char* line :
         {"hone_http_requests_total{method=\"GET\",route=\"/v1/projects\",status=\"2xx\"} 1\n",
          "hone_http_requests_total{method=\"GET\",route=\"/v1/projects\",status=\"4xx\"} 1\n",
          "hone_http_request_seconds_count{method=\"GET\",route=\"/v1/projects\"} 2\n", "hone_extra 1\n"}) {
        INFO(metrics.substr(0, 2000));
        CHECK(metrics.find(line) != std::string::npos);
    }
    CHECK(metrics.find(desk.world.space.text()) == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the cookie of a login is out of reach of scripts and other sites") {
    const Ask ask{"POST", "/v1/login", R"({"email":"admin@localhost","password":"correct horse battery"})"};
    const auto response = desk.send(ask);
    REQUIRE(response.status == 200);
    const std::string cookie(response.header("Set-Cookie"));
    for (const char* part : {"hone_session=", "; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age=1209600"})
        CHECK(cookie.find(part) != std::string::npos);
    CHECK(cookie.find("Secure") == std::string::npos); // plain HTTP: the browser would not send it back
    CHECK(response.body.find(cookie.substr(13, 20)) == std::string::npos);
    const auto out = desk.send({"POST", "/v1/logout", "", admin});
    CHECK(out.header("Set-Cookie").find("hone_session=; ") == 0);
    CHECK(out.header("Set-Cookie").find("Max-Age=0") != std::string_view::npos);
    CHECK(get("/v1/me").status == 401);
}

TEST_CASE_FIXTURE(Fixture, "wrong passwords lock out with 429 and Retry-After, and time opens again") {
    const Ask wrong{"POST", "/v1/login", R"({"email":"admin@localhost","password":"wrong"})"};
    const Ask right{"POST", "/v1/login", R"({"email":"admin@localhost","password":"correct horse battery"})"};
    for (int i = 0; i < 5; ++i) CHECK(desk.send(wrong).status == 401);
    const auto refused = desk.send(right);
    CHECK(refused.status == 429);
    CHECK(code_of(refused) == "busy");
    CHECK(!refused.header("Retry-After").empty());
    desk.world.clock.advance(std::chrono::minutes(6));
    CHECK(desk.send(right).status == 200);
}

TEST_CASE_FIXTURE(Fixture, "a clock that goes back shuts nobody out and lets nobody in") {
    desk.world.clock.advance(std::chrono::hours(24));
    const auto session = desk.as_admin();
    const auto key = desk.service_key(desk.world.space, Role::viewer);
    desk.world.clock.jump(-std::chrono::hours(48));
    CHECK(desk.send({"GET", "/v1/projects", "", Desk::with_key(*key.key)}).status == 200);
    // Logins from the future end: nobody can tell any more how old they are.
    CHECK(desk.send({"GET", "/v1/me", "", session}).status == 401);
    const Ask login{"POST", "/v1/login", R"({"email":"admin@localhost","password":"correct horse battery"})"};
    CHECK(desk.send(login).status == 200);
    const auto again = desk.as_admin();
    CHECK(desk.send({"POST", "/v1/projects", R"({"name":"before its time"})", again}).status == 200);
    CHECK(body_of(desk.send({"GET", "/v1/audit/verify", "", again})).at("data").at("ok").as_bool());
}

} // namespace hone::api::testing
