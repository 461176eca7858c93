#include "api/testing.h"
#include "base/file.h"

#include <filesystem>
#include <thread>

namespace hone::api::testing {

namespace {

template <class Test>
void for_each_desk(Test test) {
    sql::testing::for_each_engine([&](sql::Database& database) {
        Desk desk(database);
        test(desk);
    });
}

Ask create(const std::vector<net::Header>& who, const std::string& key, const std::string& name = "once") {
    return {"POST", "/v1/projects", "{\"name\":\"" + name + "\"}", plus(who, {"Idempotency-Key", key})};
}

} // namespace

TEST_CASE("the same request with the same Idempotency-Key is carried out once and gets the same response") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        const auto first = desk.send(create(admin, "k1"));
        REQUIRE(first.status == 200);
        CHECK(first.header("Idempotency-Replayed").empty());
        for (int i = 0; i < 3; ++i) {
            const auto again = desk.send(create(admin, "k1"));
            CHECK(again.status == 200);
            CHECK(again.body == first.body);
            CHECK(again.header("Idempotency-Replayed") == "true");
        }
        CHECK(desk.world.count("projects") == 1);
        // Another login of the same person is the same caller.
        CHECK(desk.send(create(desk.as_admin(), "k1")).body == first.body);
    });
}

TEST_CASE("a refusal is replayed as well, and frees nothing") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        REQUIRE(desk.send(create(admin, "a")).status == 200);
        const auto taken = desk.send(create(admin, "b"));
        CHECK(taken.status == 409);
        const auto again = desk.send(create(admin, "b"));
        CHECK(again.status == 409);
        CHECK(again.body == taken.body);
        CHECK(again.header("Idempotency-Replayed") == "true");
    });
}

TEST_CASE("a streamed response is not replayed as an empty one") {
    for_each_desk([](Desk& desk) {
        auto headers = plus(desk.as_admin(), {"Idempotency-Key", "k1"});
        headers.push_back({"Accept", "application/json, text/event-stream"});
        const Ask call{"POST", "/mcp",
                       R"({"jsonrpc":"2.0","id":1,"method":"tools/call",)"
                       R"("params":{"name":"none","_meta":{"progressToken":1}}})",
                       headers};
        const auto first = desk.send(call);
        CHECK(first.status == 200);
        CHECK(first.on_events);
        const auto again = desk.send(call);
        CHECK(again.status == 409);
        CHECK(again.body.find("carried out already") != std::string::npos);
    });
}

TEST_CASE("one Idempotency-Key means one request: another body, address or method is a conflict") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        REQUIRE(desk.send(create(admin, "k1")).status == 200);
        CHECK(desk.send(create(admin, "k1", "other")).status == 409);
        auto elsewhere = create(admin, "k1");
        elsewhere.target += "?space=default";
        CHECK(desk.send(elsewhere).status == 409);
        CHECK(desk.send({"POST", "/v1/keys", R"({"name":"once"})", plus(admin, {"Idempotency-Key", "k1"})}).status ==
              409);
        CHECK(desk.world.count("projects") == 1);
        CHECK(desk.world.count("api_keys") == 0);
    });
}

TEST_CASE("Idempotency-Keys of different callers have nothing to do with each other") {
    for_each_desk([](Desk& desk) {
        const auto service = Desk::with_key(*desk.service_key(desk.world.space, Role::member).key);
        const auto first = desk.send(create(desk.as_admin(), "k1", "mine"));
        const auto second = desk.send(create(service, "k1", "yours"));
        CHECK(first.status == 200);
        CHECK(second.status == 200);
        CHECK(second.header("Idempotency-Replayed").empty());
        CHECK(desk.world.count("projects") == 2);
    });
}

TEST_CASE("an Idempotency-Key must be short and printable, and counts for POST alone") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        for (const std::string& key : {std::string(), std::string(256, 'k'), std::string("a\tb"), std::string("é")}) {
            INFO(key);
            CHECK(desk.send(create(admin, key)).status == 400);
        }
        CHECK(desk.send(create(admin, std::string(255, 'k'))).status == 200);
        for (int i = 0; i < 2; ++i) {
            const Ask ask{"PATCH", "/v1/projects/once", R"({"description":"x"})",
                          plus(admin, {"Idempotency-Key", "patch"})};
            const auto answer = desk.send(ask);
            CHECK(answer.status == 200);
            CHECK(answer.header("Idempotency-Replayed").empty());
        }
    });
}

TEST_CASE("an Idempotency-Key is forgotten after a day, also when the clock goes back in between") {
    for_each_desk([](Desk& desk) {
        const auto key = desk.service_key(desk.world.space, Role::member);
        const auto who = Desk::with_key(*key.key);
        REQUIRE(desk.send(create(who, "k1")).status == 200);
        desk.world.clock.jump(-std::chrono::hours(3));
        CHECK(desk.send(create(who, "k1")).header("Idempotency-Replayed") == "true");
        desk.world.clock.advance(std::chrono::hours(23));
        CHECK(desk.send(create(who, "k1")).header("Idempotency-Replayed") == "true");
        CHECK(must(desk.world.access.idempotent_responses.sweep()) == 0);
        desk.world.clock.advance(std::chrono::hours(5));
        CHECK(desk.send(create(who, "k1")).status == 409); // carried out again: the name is taken
        desk.world.clock.advance(std::chrono::hours(25));
        CHECK(must(desk.world.access.idempotent_responses.sweep()) == 1);
        CHECK(desk.world.count("idempotent_answers") == 0);
    });
}

TEST_CASE("of parallel requests with one Idempotency-Key one is carried out") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        std::vector<net::Response> answers(8);
        std::vector<std::thread> threads;
        for (auto& answer : answers)
            threads.emplace_back([&desk, &admin, &answer] { answer = desk.send(create(admin, "k1")); });
        for (auto& thread : threads) thread.join();
        int made = 0;
        for (const auto& answer : answers) {
            // either: 409 while the first one is at work, its answer afterwards
            CHECK((answer.status == 200 || answer.status == 409));
            made += answer.status == 200 && answer.header("Idempotency-Replayed").empty();
        }
        CHECK(made == 1);
        CHECK(desk.world.count("projects") == 1);
        CHECK(desk.send(create(admin, "k1")).status == 200);
    });
}

TEST_CASE("a request that was cut off is not carried out a second time behind the client's back") {
    for_each_desk([](Desk& desk) {
        const auto admin = desk.as_admin();
        // What a killed server leaves: the key is claimed, the answer never came.
        net::RequestHead head;
        head.method = "POST";
        head.target = "/v1/projects";
        const auto begun = must(
            desk.api.idempotency().begin(desk.world.admin, "k1", Idempotency::hash_of(head, R"({"name":"once"})")));
        REQUIRE(!begun);
        const auto answer = desk.send(create(admin, "k1"));
        CHECK(answer.status == 409);
        CHECK(message_of(answer).find("new key") != std::string::npos);
        CHECK(desk.world.count("projects") == 0);
    });
}

TEST_CASE("a response that can differ next time frees its Idempotency-Key") {
    for_each_desk([](Desk& desk) {
        for (const int status : {429, 500, 503}) {
            REQUIRE(!must(desk.api.idempotency().begin(desk.world.admin, "k1", "hash")));
            net::Response response;
            response.status = status;
            must(desk.api.idempotency().finish(desk.world.admin, "k1", response, false));
            CHECK(desk.world.count("idempotent_answers") == 0);
        }
    });
}

TEST_CASE("secrets are never kept: not for replay, nor anywhere else in the database") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Desk desk(fresh.database());
    const auto admin = desk.as_admin();
    const auto post = [&](const std::string& path, const std::string& body, const std::string& key) {
        return desk.send({"POST", path, body, plus(admin, {"Idempotency-Key", key})});
    };
    std::vector<std::string> secrets{admin[0].value.substr(13), good_password};
    const auto key = post("/v1/keys", R"({"name":"k"})", "one");
    REQUIRE(key.status == 200);
    secrets.emplace_back(body_of(key).at("data").at("key").as_string());
    const std::string key_id(body_of(key).at("data").at("id").as_string());
    const auto rotated = post("/v1/keys/" + key_id + "/rotate", "{}", "two");
    REQUIRE(rotated.status == 200);
    secrets.emplace_back(body_of(rotated).at("data").at("key").as_string());
    const auto invite = post("/v1/spaces/default/invites", R"({"email":"a@example.com","role":"viewer"})", "three");
    REQUIRE(invite.status == 200);
    const std::string link(body_of(invite).at("data").at("path").as_string());
    secrets.push_back(link.substr(link.rfind('/') + 1));

    // The replay is refused and says why, instead of handing the secret out again.
    const auto replay = post("/v1/keys", R"({"name":"k"})", "one");
    CHECK(replay.status == 409);
    CHECK(message_of(replay).find("secret") != std::string::npos);
    CHECK(post("/v1/spaces/default/invites", R"({"email":"a@example.com","role":"viewer"})", "three").status == 409);

    // In none of the files: database, write-ahead log.
    const std::string path = fresh.url().substr(fresh.url().find(':') + 1);
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path())) {
        if (!file.is_regular_file()) continue;
        const std::string content = must(read_file(file.path()));
        ++files;
        for (const auto& secret : secrets) {
            REQUIRE(secret.size() >= 20);
            INFO(file.path().string());
            CHECK(content.find(secret) == std::string::npos);
        }
        // The search itself works: what may be there is found.
        if (file.path() == path) CHECK(file.file_size() > 0);
    }
    CHECK(files >= 1);
    bool found = false;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
        if (file.is_regular_file())
            found = found || must(read_file(file.path())).find("a@example.com") != std::string::npos;
    CHECK(found);
}

} // namespace hone::api::testing
