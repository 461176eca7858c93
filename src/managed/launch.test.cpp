#include "managed/fake.test.h"

#include "base/text.h"

#include <thread>

using namespace hone;
using namespace hone::managed;
using namespace hone::managed::testing;

namespace {

const AgentSpec reader{"reader", "claude-opus-5-5", "Read.", {json::Object{{"type", "agent_toolset_20260401"}}}};

struct Office {
    explicit Office(const std::string& play)
        : scene(HONE_SOURCE_DIR, play),
          api(scene.options(), transport, scene.clock) {}
    void fault(const std::string& fields) { scene.fake.post("/_faults", R"({"statuses": [{)" + fields + "}]}"); }
    NewSession wanted() {
        NewSession made;
        made.run_id = "run_7";
        made.title = "Read";
        made.agent = must(launch.agent(reader, cancel));
        made.environment = must(launch.environment({"closed", false, {}, false, {}}, cancel));
        made.first_message = "Begin.";
        return made;
    }
    int64_t sessions() { return scene.fake.get("/_count").at("sessions").as_int64(); }

    Scene scene;
    net::Cancel cancel;
    TestTransport transport;
    Api api;
    Launch launch{api};
};

} // namespace

TEST_CASE("an agent and an environment of the same content are used again") {
    Office office("text");
    const std::string first = must(office.launch.agent(reader, office.cancel));
    CHECK(must(office.launch.agent(reader, office.cancel)) == first);
    AgentSpec changed = reader;
    changed.system = "Read twice.";
    CHECK(must(office.launch.agent(changed, office.cancel)) != first);
    CHECK(name_of(reader) != name_of(changed));
    CHECK(name_of(reader).starts_with("reader-"));
    const EnvironmentSpec open{"env", true, {}, false, {}}, closed{"env", false, {}, false, {}};
    const std::string environment = must(office.launch.environment(closed, office.cancel));
    CHECK(must(office.launch.environment(closed, office.cancel)) == environment);
    CHECK(must(office.launch.environment(open, office.cancel)) != environment);
    const json::Value config = must(office.api.get("/v1/environments/" + environment, office.cancel));
    CHECK(json::print(*member(config, {"config", "networking"})) ==
          R"({"type":"limited","allowed_hosts":[],"allow_package_managers":false,"allow_mcp_servers":false})");
}

TEST_CASE("a lost response makes no second agent, environment or session") {
    for (const char* path : {"/v1/agents$", "/v1/environments$", "/v1/sessions$"})
        for (const char* status : {"0", "500", "529"}) {
            CAPTURE(path);
            CAPTURE(status);
            Office office("text");
            office.fault(R"("method": "POST", "after": true, "path": ")" + std::string(path) + R"(", "status": )" +
                         status);
            const Time since = office.scene.clock.now();
            const NewSession wanted = office.wanted();
            const std::string session = must(office.launch.session(wanted, since, office.cancel));
            CHECK(must(office.launch.session(wanted, since, office.cancel)) == session); // after a restart
            CHECK(office.sessions() == 1);
            for (const char* collection : {"/v1/agents", "/v1/environments"}) {
                const json::Value listed = must(office.api.get(collection, office.cancel));
                CHECK(listed.at("data").as_array().size() == 1);
            }
        }
}

TEST_CASE("a session that was not made is an error, not two sessions") {
    Office office("text");
    const NewSession wanted = office.wanted();
    office.fault(R"("method": "POST", "path": "/v1/sessions$", "status": 500)");
    const Time since = office.scene.clock.now();
    const auto made = office.launch.session(wanted, since, office.cancel);
    REQUIRE(!made.ok());
    CHECK(made.error().code == Code::unavailable);
    CHECK(office.sessions() == 0);
    must(office.launch.session(wanted, since, office.cancel));
    CHECK(office.sessions() == 1);
}

TEST_CASE("two servers make one environment") {
    Office office("text");
    const EnvironmentSpec spec{"shared", false, {"api.example.com"}, false, {}};
    std::vector<std::string> ids(4);
    std::vector<std::thread> threads;
    for (std::string& id : ids)
        threads.emplace_back([&] {
            net::Cancel cancel;
            id = Launch(office.api).environment(spec, cancel).value();
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(ids == std::vector<std::string>(4, ids.front()));
    CHECK(ids.front().starts_with("env_"));
}

TEST_CASE("a call is repeated after 429 as the API requests it, and other errors are explained") {
    Office office("text");
    const std::string session = office.scene.start();
    office.fault(
        R"("method": "GET", "path": "/v1/sessions/", "status": 429, "times": 3, "headers": {"retry-after": "0"})");
    CHECK(must(office.api.session(session, office.cancel)).id == session);
    office.fault(R"("method": "GET", "path": "/v1/sessions/", "status": 529, "times": 3)");
    CHECK(must(office.api.session(session, office.cancel)).id == session);
    struct Row {
        int status;
        Code code;
    };
    for (const Row& row :
         {Row{400, Code::invalid}, Row{401, Code::unauthorized}, Row{403, Code::forbidden}, Row{404, Code::not_found},
          Row{409, Code::conflict}, Row{412, Code::conflict}, Row{413, Code::too_large}, Row{418, Code::invalid}}) {
        CAPTURE(row.status);
        office.fault(R"("method": "GET", "path": "/v1/sessions/", "status": )" + std::to_string(row.status));
        const auto read = office.api.session(session, office.cancel);
        REQUIRE(!read.ok());
        CHECK(read.error().code == row.code);
    }
    office.fault(R"("method": "GET", "path": "/v1/sessions/", "status": 500, "times": 1000)");
    const auto read = office.api.session(session, office.cancel);
    REQUIRE(!read.ok());
    CHECK(read.error().code == Code::unavailable);
}

TEST_CASE("an error of the API is bounded and in one line") {
    const Error error = explain(400, R"({"error": {"type": "x", "message": "a\nb)" + std::string(5000, 'c') + "\"}}");
    CHECK(error.message.size() < 500);
    CHECK(error.message.starts_with("Managed Agents returned 400 (x): a bccc"));
    CHECK(explain(502, "<html>").message == "Managed Agents returned 502");
}

TEST_CASE("a managed session is stopped while it works, and until it reads as idle") {
    for (const char* play : {"long_tool", "slow_idle", "interrupted_custom"}) {
        CAPTURE(play);
        Office office(play);
        const std::string session = office.scene.start();
        must(office.launch.stop(session, office.cancel));
        CHECK(must(office.api.session(session, office.cancel)).is_archived);
        must(office.launch.stop(session, office.cancel)); // twice does no harm
        must(office.launch.forget(session, office.cancel));
        const auto gone = office.api.session(session, office.cancel);
        CHECK((!gone.ok() && gone.error().code == Code::not_found));
        must(office.launch.stop(session, office.cancel));
        must(office.launch.forget(session, office.cancel));
    }
}

TEST_CASE("the secrets of a vault are bound to hosts, and deleted with it") {
    Office office("text");
    const std::string vault = must(office.api.create_vault("run_7", office.cancel));
    CHECK(vault.starts_with("vlt_"));
    const crypto::SecretBytes value("canary \"quoted\"");
    must(office.api.add_variable(vault, "TOKEN", value, {"api.example.com"}, office.cancel));
    const auto refused = office.api.add_variable(vault, "OTHER", value, {"api.example.com/path"}, office.cancel);
    REQUIRE(!refused.ok());
    CHECK(refused.error().message.find("canary") == std::string::npos);
    const json::Value secrets = office.scene.fake.get("/_secrets");
    CHECK(json::print(secrets.at("secrets")) == R"(["canary \"quoted\""])");
    must(office.api.delete_vault(vault, office.cancel));
    must(office.api.delete_vault(vault, office.cancel));
    CHECK(json::print(office.scene.fake.get("/_secrets")) == R"({"vaults":[],"secrets":[]})");
}

TEST_CASE("a token of a repository is sent with the session and returned by nothing") {
    Office office("text");
    NewSession wanted = office.wanted();
    const crypto::SecretBytes token("ghp_canary");
    wanted.repository_token = &token;
    wanted.repositories = {{"https://github.com/octo/shop", "", "0123456789012345678901234567890123456789"}};
    const std::string session = must(office.launch.session(wanted, office.scene.clock.now(), office.cancel));
    const json::Value view = must(office.api.get("/v1/sessions/" + session, office.cancel));
    CHECK(text_at(view.at("resources").as_array().at(0), {"checkout", "sha"}) == wanted.repositories[0].commit);
    CHECK(json::print(view).find("ghp_canary") == std::string::npos);
}

TEST_CASE("files of a managed session are listed and read within a limit") {
    Office office("files");
    const std::string session = office.scene.start();
    must(office.scene.follow());
    std::vector<SessionFile> files;
    for (int times = 0; times < 1000 && files.empty(); ++times) { // they are listed later than the turn ends
        files = must(office.api.files(session, office.cancel));
        Api::wait(std::chrono::milliseconds(10), office.cancel);
    }
    REQUIRE(files.size() == 1);
    CHECK(files[0].name == "branch.patch");
    CHECK(must(office.api.download(files[0].id, 1000, office.cancel)) == "From 0000\n");
    const auto refused = office.api.download(files[0].id, 5, office.cancel);
    CHECK((!refused.ok() && refused.error().code == Code::too_large));
}
