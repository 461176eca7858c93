#include "broker/gateway/gateway.h"
#include "broker/broker.h"
#include "broker/gateway/own_call.h"
#include "crypto/crypto.h"
#include "net/client/client.h"
#include "net/testing/raw_client.h"
#include "sql/testing.h"
#include "json/json.h"

#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::broker;
using net::testing::eventually;

namespace {

const std::string secret_value = "sk-secret-0123456789abcdef";

// tests/scripted_model as a process of its own.
class ScriptedModel {
public:
    ScriptedModel() {
        int out[2], in[2];
        REQUIRE(::pipe(out) == 0);
        REQUIRE(::pipe2(in, O_CLOEXEC) == 0); // ends the server with this process, however that ends
        m_life = Fd(in[1]);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        posix_spawn_file_actions_addclose(&actions, out[0]);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        std::string script = HONE_SOURCE_DIR "/tests/scripted_model/scripted_model.py";
        std::string program = "python3";
        std::string option = "--until-input-ends";
        char* arguments[] = {program.data(), script.data(), option.data(), nullptr};
        REQUIRE(::posix_spawnp(&m_process, "python3", &actions, nullptr, arguments, environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(out[1]);
        ::close(in[0]);
        std::string line;
        for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
        ::close(out[0]);
        REQUIRE(line.starts_with("listening "));
        url = line.substr(10);
    }
    ~ScriptedModel() {
        ::kill(m_process, SIGKILL);
        ::waitpid(m_process, nullptr, 0);
    }
    json::Value get(const std::string& path) {
        net::ClientRequest request;
        request.url = url + path;
        auto answer = m_client.send(request);
        REQUIRE(answer.ok());
        return json::parse(answer.value().body).value();
    }
    std::string url;

private:
    pid_t m_process = 0;
    Fd m_life;
    net::HttpClient m_client;
};

// A server that reads one request per connection and answers with fixed bytes.
class CannedServer {
public:
    explicit CannedServer(std::string answer) : m_answer(std::move(answer)) {
        auto bound = net::listen_on("127.0.0.1:0");
        REQUIRE(bound.ok());
        address = bound.value().address;
        m_listener = std::move(bound.value().descriptor);
        m_thread = std::thread([this] { run(); });
    }
    ~CannedServer() {
        m_stop.fire();
        m_thread.join();
    }
    std::string address;
    std::string seen; // the last request; read it after its answer

private:
    void run() {
        for (;;) {
            pollfd polled{m_listener.get(), POLLIN, 0};
            if (!wait_any({&polled, 1}, m_stop, Deadline::after(std::chrono::minutes(5))).ok()) return;
            auto accepted = net::accept_one(m_listener.get());
            if (!accepted.ok() || !accepted.value().descriptor.is_open()) continue;
            Channel client(net::Socket(std::move(accepted.value().descriptor)), m_stop);
            const Deadline deadline = Deadline::after(std::chrono::seconds(20));
            auto head = read_request(client, deadline);
            if (!head.ok() || !head.value()) continue;
            std::string body;
            net::BodyDecoder decoder(head.value()->framing, head.value()->length);
            while (!decoder.is_done()) {
                if (client.buffer().empty() && !client.fill(deadline).ok()) break;
                client.buffer().erase(0, decoder.feed(client.buffer(), body));
            }
            seen = head.value()->method + " " + head.value()->path + "\n";
            for (const Header& header : head.value()->headers)
                seen += lowercase_ascii(header.name) + ": " + header.value + "\n";
            seen += "\n" + body;
            static_cast<void>(client.write(m_answer, deadline));
        }
    }

    std::string m_answer;
    Fd m_listener;
    Cancel m_stop;
    std::thread m_thread;
};

class NoDecisions final : public Decisions {
public:
    Result<> decided(Decision& decision) override {
        const Lock lock(mutex);
        all.push_back(decision);
        return {};
    }
    void finished(const Decision&, const Outcome&) override {}
    Mutex mutex;
    std::vector<Decision> all;
};

class OneSecret final : public SecretOpener {
public:
    Result<crypto::SecretBytes> open(const std::string& secret_id) override {
        if (secret_id != "sec_1") return not_found("secret");
        return crypto::SecretBytes(std::string_view(secret_value));
    }
};

class Calls final : public ModelCallSink {
public:
    void called(ModelCall call) override {
        const Lock lock(mutex);
        all.push_back(std::move(call));
    }
    Mutex mutex;
    std::vector<ModelCall> all;
};

// A run in front of a provider, with everything real but the sandbox.
class Stage {
public:
    explicit Stage(const std::string& base_url, SpendingLimit limit = {}, GatewayUpstream* upstream = nullptr,
                   Duration tool_timeout = {})
        : fresh((crypto::start(), sql::Engine::sqlite), sql::testing::Schema::migrated),
          audit(fresh.database(), clock),
          ledger(fresh.database()),
          budgets(fresh.database(), ledger, audit, clock),
          prices(telemetry::Prices::built_in()),
          gateway(options(), budgets, prices, clock, &calls, upstream) {
        auto made = Dialer::create({}, system_resolver(), [](const auto&, Reach) { return std::nullopt; });
        REQUIRE(made.ok());
        dialer = std::move(made).value();
        GatewayRun run;
        run.account.space_id = "space_1";
        run.account.run_id = "run_1";
        run.account.run = limit;
        run.run_key = crypto::SecretBytes(std::string_view("hone-run-key"));
        run.tool_timeout = tool_timeout;
        run.budget_stopped = [this](BudgetScope, const std::string& message) { stopped += message + ";"; };
        REQUIRE(gateway.add_run("run_1", std::move(run)).ok());

        RunAccess access;
        access.run_id = "run_1";
        access.space_id = "space_1";
        access.project_id = "project_1";
        access.decisions = decisions;
        access.secrets = std::make_shared<OneSecret>();
        for (const char* protocol : {"anthropic", "openai", "gemini"}) {
            skill::ModelEndpoint& endpoint = access.grant.models.emplace_back();
            endpoint.skill_id = "skl_1";
            endpoint.protocol = protocol;
            endpoint.base_url = base_url;
            endpoint.secret_id = "sec_1";
            endpoint.secret_name = "MODEL_KEY";
            endpoint.header = std::string_view(protocol) == "anthropic" ? "x-api-key" : "authorization";
            endpoint.format = std::string_view(protocol) == "anthropic" ? "{}" : "Bearer {}";
            endpoint.allow_private = true;
        }
        auto bound = net::listen_on("127.0.0.1:0");
        REQUIRE(bound.ok());
        url = "http://" + bound.value().address;
        auto started = Broker::start({}, *dialer, clock, &gateway);
        REQUIRE(started.ok());
        broker = std::move(started).value();
        auto attached = broker->attach(std::move(access), {Fd(), std::move(bound.value().descriptor)});
        REQUIRE(attached.ok());
        attached_run = attached.value();
    }

    static GatewayOptions options() {
        GatewayOptions made;
        made.request_bytes = 1 << 20;
        return made;
    }

    Result<net::ClientResponse> post(const std::string& path, const std::string& body,
                                     std::vector<net::Header> headers = {}) {
        net::ClientRequest request;
        request.method = "POST";
        request.url = url + path;
        request.headers = std::move(headers);
        request.headers.push_back({"content-type", "application/json"});
        request.body = body;
        return client.send(request);
    }
    net::ClientResponse must_post(const std::string& path, const std::string& body,
                                  std::vector<net::Header> headers = {}) {
        auto answer = post(path, body, std::move(headers));
        REQUIRE_MESSAGE(answer.ok(), answer.error().message);
        return std::move(answer).value();
    }
    telemetry::Tokens recorded() {
        REQUIRE(ledger.flush().ok());
        const auto rows = fresh.database().query(
            "SELECT COALESCE(SUM(input_tokens), 0), COALESCE(SUM(cache_read_tokens), 0), "
            "COALESCE(SUM(cache_write_tokens), "
            "0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(reasoning_tokens), 0) FROM model_usage");
        REQUIRE(rows.ok());
        const sql::Row row = rows.value().front();
        return {row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)};
    }
    int64_t count(const std::string& where) {
        REQUIRE(ledger.flush().ok());
        const auto rows = fresh.database().query("SELECT COUNT(*) FROM model_usage WHERE " + where);
        REQUIRE(rows.ok());
        return rows.value().front().integer(0);
    }

    sql::testing::FreshDatabase fresh;
    SystemClock clock;
    access::AuditLog audit;
    UsageLedger ledger;
    Budgets budgets;
    telemetry::Prices prices;
    Calls calls;
    Gateway gateway;
    std::unique_ptr<Dialer> dialer;
    std::shared_ptr<NoDecisions> decisions = std::make_shared<NoDecisions>();
    std::unique_ptr<Broker> broker;            // after the gateway: it uses it
    std::shared_ptr<AttachedRun> attached_run; // shared: as the broker gives it
    net::HttpClient client;
    std::string url;
    std::string stopped;
};

telemetry::Tokens told(ScriptedModel& model) {
    const auto tokens = model.get("/_count").at("tokens");
    const auto number = [&](const char* name) { return tokens.at(name).as_int64(); };
    return {number("input"), number("cache_read"), number("cache_write"), number("output"), number("reasoning")};
}

struct Shot {
    const char* path;
    const char* body;
};
constexpr Shot shots[] = {
    {"/anthropic/v1/messages?beta=true",
     R"({"model":"claude-sonnet-4","max_tokens":50,"messages":[{"role":"user","content":"hi"}]})"},
    {"/anthropic/v1/messages",
     R"({"model":"claude-sonnet-4","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"/openai/v1/responses", R"({"model":"gpt-5","input":"hi"})"},
    {"/openai/v1/responses", R"({"model":"gpt-5","input":"hi","stream":true})"},
    {"/openai/v1/chat/completions", R"({"model":"gpt-5","messages":[{"role":"user","content":"hi"}]})"},
    {"/openai/v1/chat/completions", R"({"model":"own","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {"/gemini/v1beta/models/gemini-2.5-pro:generateContent",
     R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})"},
    {"/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
     R"({"contents":[{"parts":[{"text":"hi"}]}]})"},
    {"/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent", R"({"contents":[{"parts":[{"text":"hi"}]}]})"},
};

} // namespace

TEST_CASE("every format is metered to the token, whole, streamed and cut") {
    ScriptedModel model;
    for (const char* play : {"think", "cut", "cut_early", "cut_late", "long"}) {
        INFO(play);
        Stage stage(model.url + "/play/" + play);
        const telemetry::Tokens before = told(model);
        int64_t calls = 0;
        for (const Shot& shot : shots) {
            static_cast<void>(stage.post(shot.path, shot.body)); // a cut answer is an error here, as it should be
            ++calls;
        }
        const telemetry::Tokens after = told(model), recorded = stage.recorded();
        CHECK(recorded.input == after.input - before.input);
        CHECK(recorded.cache_read == after.cache_read - before.cache_read);
        CHECK(recorded.cache_write == after.cache_write - before.cache_write);
        CHECK(recorded.output == after.output - before.output);
        CHECK(recorded.reasoning == after.reasoning - before.reasoning);
        CHECK(stage.count("id <> ''") == calls);
        const bool is_whole = std::string_view(play) == "think" || std::string_view(play) == "long";
        if (is_whole) CHECK(stage.count("complete = 0") == 0);
        if (!is_whole) CHECK(stage.count("complete = 0") >= calls - 1); // a JSON list may end after its last numbers
    }
}

TEST_CASE("a model response that ended early is visibly incomplete, also to a client of HTTP/1.0") {
    const std::string event = "data: {\"type\":\"ping\"}\n\n";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    const std::string chunk = chunk_start(event.size()) + event + "\r\n";
    struct Play {
        std::string answer;
        bool complete;
    };
    for (const Play& play : {Play{head + "Transfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n\r\n", true},
                             Play{head + "Transfer-Encoding: chunked\r\n\r\n" + chunk, false},
                             Play{head + "Content-Length: 1000\r\n\r\n" + event, false}})
        for (const char* version : {"1.1", "1.0"}) {
            CAPTURE(play.answer);
            CAPTURE(version);
            CannedServer server(play.answer);
            Stage stage("http://" + server.address);
            net::testing::RawClient client(stage.url.substr(7));
            const std::string body = shots[1].body;
            client.send("POST /anthropic/v1/messages HTTP/" + std::string(version) +
                        "\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
            const auto response = client.read_response();
            CHECK(response.status == 200);
            CHECK(response.complete == play.complete);
            if (play.complete) CHECK(response.body == event);
        }
}

TEST_CASE("the provider gets the real key, and no credential of the worker") {
    ScriptedModel model;
    Stage stage(model.url + "/play/text");
    stage.must_post("/anthropic/v1/messages?beta=true", shots[0].body,
                    {{"x-api-key", "placeholder"},
                     {"authorization", "Bearer mine"},
                     {"cookie", "a=b"},
                     {"accept-encoding", "gzip"},
                     {"anthropic-beta", "effort-2025-11-24"}});
    const auto last = model.get("/_last");
    CHECK(last.at("path").as_string() == "/play/text/v1/messages?beta=true");
    std::string names;
    for (const auto& header : last.at("headers").as_object())
        names += lowercase_ascii(std::string_view(header.key())) + " ";
    CHECK(names.find("authorization") == std::string::npos);
    CHECK(names.find("cookie") == std::string::npos);
    const std::string text = json::print(last);
    CHECK(text.find(secret_value) != std::string::npos);
    CHECK(text.find("placeholder") == std::string::npos);
    CHECK(text.find("effort-2025-11-24") != std::string::npos);
    CHECK(text.find("gzip") == std::string::npos);
    REQUIRE(stage.decisions->all.size() == 1);
    CHECK(stage.decisions->all[0].secret_names == std::vector<std::string>{"MODEL_KEY"});
}

TEST_CASE("faults of the provider pass as they are, with their back-off") {
    ScriptedModel model;
    for (const int status : {400, 429, 500, 529}) {
        INFO(status);
        Stage stage(model.url + "/play/status_" + std::to_string(status));
        const auto answer = stage.must_post("/anthropic/v1/messages", shots[1].body);
        CHECK(answer.status == status);
        CHECK(answer.body.find("scripted fault") != std::string::npos);
        if (status == 429) CHECK(answer.header("retry-after") == "7");
        CHECK(stage.recorded() == telemetry::Tokens{});
        CHECK(stage.count("status = " + std::to_string(status)) == 1);
    }
}

TEST_CASE("without a usable credential the error stops retries and names what to set") {
    ScriptedModel model;
    {
        Stage stage(model.url + "/play/status_401");
        for (const Shot& shot : {shots[1], shots[2]}) {
            const auto answer = stage.must_post(shot.path, shot.body);
            CHECK(answer.status == 400);
            CHECK(answer.header("x-should-retry") == "false");
            CHECK(answer.body.find("invalid_request_error") != std::string::npos);
            CHECK(answer.body.find("scripted fault") != std::string::npos);
            CHECK(answer.body.find("hone secret set skl_1 API_KEY") != std::string::npos);
        }
        CHECK(stage.count("status = 401") == 2);
    }
    Stage stage(model.url + "/play/text");
    RunAccess access;
    access.run_id = "run_1";
    access.space_id = "space_1";
    REQUIRE(stage.broker->update(access).ok());
    const auto nothing = stage.must_post("/anthropic/v1/messages", shots[1].body);
    CHECK(nothing.status == 400);
    CHECK(nothing.body.find("hone skill create") != std::string::npos);
    skill::ModelEndpoint& endpoint = access.grant.models.emplace_back();
    endpoint.skill_id = "skl_2";
    endpoint.protocol = "anthropic";
    endpoint.base_url = model.url;
    endpoint.secret_id = "sec_gone";
    endpoint.header = "x-api-key";
    endpoint.format = "{}";
    REQUIRE(stage.broker->update(access).ok());
    const auto gone = stage.must_post("/anthropic/v1/messages", shots[1].body);
    CHECK(gone.status == 400);
    CHECK(gone.body.find("hone secret set skl_2 API_KEY") != std::string::npos);
    access.grant.models[0].models = {"other-model"};
    REQUIRE(stage.broker->update(access).ok());
    CHECK(stage.must_post("/anthropic/v1/messages", shots[1].body).status == 404);
}

TEST_CASE("a space decides how much of its calls is kept, and the price is kept with the cost") {
    ScriptedModel model;
    Stage stage(model.url + "/play/text");
    const auto kept = [&](const char* capture) {
        const std::string sql = std::string("INSERT INTO space_budgets (space_id, soft_percent, capture, updated_at) "
                                            "VALUES ('space_1', 80, '") +
                                capture + "', 1) ON CONFLICT (space_id) DO UPDATE SET capture = excluded.capture";
        REQUIRE(stage.fresh.database()
                    .write([&](sql::Transaction& transaction) -> Result<> {
                        TRY(transaction.execute("INSERT INTO spaces (id, name, description, created_at) VALUES "
                                                "('space_1', 'default', '', 1) ON CONFLICT (id) DO NOTHING"));
                        TRY(transaction.execute(sql));
                        return {};
                    })
                    .ok());
        Budgets fresh(stage.fresh.database(), stage.ledger, stage.audit, stage.clock);
        Cancel never;
        const auto admission = fresh.reserve({"space_1", "run_1", "", {}, {}}, {}, never, Deadline::after({}));
        REQUIRE(admission.ok());
        return admission.value().capture;
    };
    CHECK(kept("full") == Capture::full);
    CHECK(kept("metadata") == Capture::metadata);
    CHECK(kept("from a later version") == Capture::none);
    CHECK(kept("none") == Capture::none);
    stage.must_post("/anthropic/v1/messages", shots[1].body); // the first of this gateway: reads the space's wish
    {
        const Lock lock(stage.calls.mutex);
        CHECK(stage.calls.all.empty());
    }
    REQUIRE(stage.ledger.flush().ok());
    const auto rows = stage.fresh.database().query("SELECT price, cost_nano_usd > 0 FROM model_usage");
    REQUIRE(rows.ok());
    CHECK(rows.value().front().text(0).starts_with("claude-sonnet-4 3 15 0.3 3.75 since 20"));
    CHECK(rows.value().front().integer(1) == 1);
}

TEST_CASE("writes into a cache of one hour cost twice the input") {
    const std::string body =
        R"({"model":"claude-sonnet-4","usage":{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":)"
        R"({"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":2}})";
    CannedServer server("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
    Stage stage("http://" + server.address);
    stage.must_post("/anthropic/v1/messages", shots[0].body);
    CHECK(stage.count("cost_nano_usd = " + std::to_string(3000 + 10 * 3750 + 20 * 6000 + 2 * 15'000)) == 1);
}

TEST_CASE("a model of an unlisted family reserves the largest output") {
    ScriptedModel model;
    // A call that the client leaves counts as what it had reserved.
    const auto estimated = [&](const std::string& name) {
        Stage stage(model.url + "/play/hang");
        net::ClientRequest request;
        request.method = "POST";
        request.url = stage.url + "/openai/v1/chat/completions";
        request.body = R"({"model":")" + name + R"(","messages":[{"role":"user","content":"hi"}]})";
        net::Cancel leave;
        request.cancel = &leave;
        const int64_t before = model.get("/play/hang/_count").at("requests").as_int64();
        std::thread client([&] { CHECK_FALSE(stage.client.send(request).ok()); });
        CHECK(eventually([&] { return model.get("/play/hang/_count").at("requests").as_int64() == before + 1; }));
        leave.cancel();
        client.join();
        CHECK(eventually([&] { return stage.count("status = 0") == 1; }));
        const auto rows = stage.fresh.database().query("SELECT estimated_tokens FROM model_usage");
        REQUIRE(rows.ok());
        return rows.value().front().integer(0) - static_cast<int64_t>(request.body.size()) - 1000;
    };
    CHECK(estimated("gpt-4") == 8192);
    CHECK(estimated("gpt-4-0613") == 8192);
    CHECK(estimated("gpt-4o-mini") == 16'384);
    CHECK(estimated("gpt-4.5-preview") == 128'000);
    CHECK(estimated("gpt-4omega") == 128'000);
}

TEST_CASE("a provider that is not there is an error in the provider's shape") {
    auto bound = net::listen_on("127.0.0.1:0");
    const std::string nobody = "http://" + bound.value().address;
    bound.value().descriptor.reset();
    Stage stage(nobody);
    const auto answer = stage.must_post("/openai/v1/responses", shots[2].body);
    CHECK(answer.status == 502);
    CHECK(answer.body.find("\"server_error\"") != std::string::npos);
    CHECK(stage.count("status = 0") == 1);
}

TEST_CASE("a client that disconnects ends the call at the provider too") {
    ScriptedModel model;
    for (const char* play : {"hang", "stall"}) {
        Stage stage(model.url + "/play/" + play);
        net::ClientRequest request;
        request.method = "POST";
        request.url = stage.url + "/anthropic/v1/messages";
        request.body = shots[1].body;
        // It leaves when the provider has the request, or has begun to say something.
        net::Cancel leave;
        request.cancel = &leave;
        std::string said;
        request.on_body = [&](std::string_view piece) -> Result<> {
            said += piece;
            if (said.find("text_delta") != std::string::npos) leave.cancel();
            return {};
        };
        std::thread client([&] { CHECK_FALSE(stage.client.send(request).ok()); });
        const std::string counts = std::string("/play/") + play + "/_count";
        CHECK(eventually([&] { return model.get(counts).at("requests").as_int64() == 1; }));
        if (std::string_view(play) == "hang") leave.cancel();
        client.join();
        CHECK(eventually([&] { return stage.broker->live_connections() == 0; }));
        // Nobody knows what the provider computes on: the most that the call can use is counted, at the price of
        // cache writes. The stream has reported its input.
        constexpr int64_t most_output = 128'000;
        const int64_t most_input = static_cast<int64_t>(request.body.size()) + 1000;
        REQUIRE(stage.count("complete = 0") == 1);
        const auto rows = stage.fresh.database().query(
            "SELECT input_tokens, output_tokens + reasoning_tokens, estimated_tokens, cost_nano_usd FROM model_usage");
        REQUIRE(rows.ok());
        const sql::Row row = rows.value().front();
        if (std::string_view(play) == "hang") {
            CHECK(row.integer(2) == most_input + most_output);
            CHECK(row.integer(3) == most_input * 6000 + most_output * 15'000);
        } else {
            CHECK(row.integer(0) > 0);
            CHECK(row.integer(1) + row.integer(2) == most_output);
            CHECK(row.integer(3) >= row.integer(0) * 3000 + most_output * 15'000);
        }
    }
}

TEST_CASE("calls that are cut off by the client use up a budget like others") {
    ScriptedModel model;
    const std::string body = R"({"model":"claude-sonnet-4","max_tokens":2000,"messages":[{"role":"user","content":")" +
                             std::string(1000, 'x') + R"("}]})";
    Stage stage(model.url + "/play/hang", {.tokens = 10'000, .cost_nano_usd = {}}); // room for less than three
    for (int i = 1; i <= 3; ++i) {
        net::ClientRequest request;
        request.method = "POST";
        request.url = stage.url + "/anthropic/v1/messages";
        request.body = body;
        net::Cancel leave;
        request.cancel = &leave;
        std::thread client([&] { CHECK_FALSE(stage.client.send(request).ok()); });
        CHECK(eventually([&] { return model.get("/play/hang/_count").at("requests").as_int64() == i; }));
        leave.cancel();
        client.join();
        CHECK(eventually([&] { return stage.count("estimated_tokens > 4000") == i; }));
    }
    const auto refused = stage.must_post("/anthropic/v1/messages", body);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("stopped: budget") != std::string::npos);
    CHECK(model.get("/play/hang/_count").at("requests").as_int64() == 3);
}

TEST_CASE("a budget first adds a notice to finish, then stops the run, once and in the provider's format") {
    ScriptedModel model;
    Stage stage(model.url + "/play/exact", {.tokens = 3000, .cost_nano_usd = {}, .soft_percent = 50});
    CHECK(stage.must_post("/anthropic/v1/messages", shots[0].body).status == 200); // 1700
    CHECK(json::print(model.get("/_last")).find("Notice from Hone") == std::string::npos);
    CHECK(stage.must_post("/anthropic/v1/messages", shots[0].body).status == 200);
    CHECK(json::print(model.get("/_last")).find("Notice from Hone") != std::string::npos);
    const auto refused = stage.must_post("/anthropic/v1/messages", shots[0].body);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("\"type\":\"error\"") != std::string::npos);
    CHECK(refused.body.find("stopped: budget") != std::string::npos);
    const auto gemini = stage.must_post("/gemini/v1beta/models/g:generateContent", "{}");
    CHECK(gemini.body.find("FAILED_PRECONDITION") != std::string::npos);
    CHECK(stage.stopped == "the run's budget of 3000 tokens is used up;");
    CHECK(model.get("/_count").at("requests").as_int64() == 2);
    SUBCASE("counting tokens stays free") {
        CHECK(stage.must_post("/anthropic/v1/messages/count_tokens", shots[0].body).status == 200);
    }
}

TEST_CASE(
    "a request that a provider would fetch or keep for the worker is rejected, and the error names how to allow it") {
    ScriptedModel model;
    Stage stage(model.url + "/play/text");
    const auto refused = stage.must_post(
        "/anthropic/v1/messages",
        R"({"model":"claude-sonnet-4","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":)"
        R"({"type":"url","url":"https://evil.test/?q=canary"}}]}]})");
    CHECK(refused.status == 400);
    CHECK(refused.body.find("ALLOW_FEATURES=url_sources") != std::string::npos);
    CHECK(stage
              .must_post("/anthropic/v1/messages/count_tokens",
                         R"({"model":"claude-sonnet-4","mcp_servers":[{"url":"https://evil.test"}],"messages":[]})")
              .status == 400);
    CHECK(
        stage.must_post("/anthropic/v1/messages", shots[0].body, {{"anthropic-beta", "files-api-2025-04-14"}}).status ==
        400);
    CHECK(model.get("/_count").at("requests").as_int64() == 0);
    // What does not say whether it is stored says no.
    CHECK(stage.must_post("/openai/v1/responses", R"({"model":"gpt-5","input":"hi"})").status == 200);
    CHECK(json::print(model.get("/_last")).find("\"store\":false") != std::string::npos);
}

TEST_CASE("a model without a price is refused under a cost limit, and passes without one") {
    ScriptedModel model;
    const char* const body = R"({"model":"own-model","max_tokens":5,"messages":[{"role":"user","content":"hi"}]})";
    Stage limited(model.url + "/play/exact", {.tokens = {}, .cost_nano_usd = 1'000'000'000});
    const auto refused = limited.must_post("/anthropic/v1/messages", body);
    CHECK(refused.status == 400);
    CHECK(refused.body.find("has no price") != std::string::npos);
    CHECK(refused.body.find("PRICES=own-model") != std::string::npos);
    CHECK(limited.stopped.empty()); // the run goes on: another model may have one
    CHECK(model.get("/_count").at("requests").as_int64() == 0);
    CHECK(limited.must_post("/anthropic/v1/messages", shots[0].body).status == 200);
    Stage unlimited(model.url + "/play/exact", {.tokens = 1'000'000, .cost_nano_usd = {}});
    CHECK(unlimited.must_post("/anthropic/v1/messages", body).status == 200);
}

TEST_CASE("calls in parallel exceed a budget by at most one call") {
    ScriptedModel model;
    // Each call uses 1700 tokens; what it declares is never below that.
    const std::string body = R"({"model":"claude-sonnet-4","max_tokens":2000,"messages":[{"role":"user","content":")" +
                             std::string(1000, 'x') + R"("}]})";
    Stage stage(model.url + "/play/exact", {.tokens = 10'000, .cost_nano_usd = {}});
    constexpr int threads = 12;
    std::atomic<int> passed{0}, refused{0};
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i)
        workers.emplace_back([&] {
            net::HttpClient client;
            net::ClientRequest request;
            request.method = "POST";
            request.url = stage.url + "/anthropic/v1/messages";
            request.headers = {{"content-type", "application/json"}};
            request.body = body;
            const auto answer = client.send(request);
            if (!answer.ok()) return;
            ++(answer.value().status == 200 ? passed : refused);
        });
    for (std::thread& worker : workers) worker.join();
    CHECK(passed + refused == threads);
    CHECK(passed == 6); // 6 * 1700 = 10200
    CHECK(stage.recorded().total() < 10'000 + 1700);
    CHECK(model.get("/_count").at("requests").as_int64() == passed);
    CHECK(stage.decisions->all.size() == 1); // the use of the secret is recorded once, whichever call was first
}

TEST_CASE("a chat stream is counted although the client did not ask, and the client sees no difference") {
    ScriptedModel model;
    Stage stage(model.url + "/play/exact");
    const auto silent = stage.must_post("/openai/v1/chat/completions", shots[5].body);
    CHECK(silent.body.find("prompt_tokens") == std::string::npos);
    CHECK(silent.body.find("data: [DONE]") != std::string::npos);
    CHECK(stage.recorded().total() == 1700);
    const auto asked = stage.must_post(
        "/openai/v1/chat/completions",
        R"({"model":"own","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]})");
    CHECK(asked.body.find("prompt_tokens") != std::string::npos);
    CHECK(stage.recorded().total() == 3400);
}

TEST_CASE("what is not offered is refused in the provider's shape, and bad requests never leave") {
    ScriptedModel model;
    Stage stage(model.url + "/play/text");
    const auto unknown = stage.must_post("/anthropic/v1/files", "{}");
    CHECK(unknown.status == 404);
    CHECK(unknown.body.find("not_found_error") != std::string::npos);
    CHECK(stage.must_post("/openai/v1/chat/completions", "{\"model\":\"a\",\"model\":\"b\"}").status == 400);
    CHECK(stage.must_post("/openai/v1/chat/completions", "no json").status == 400);
    CHECK(stage.must_post("/openai/v1/responses", "{\"model\":\"" + std::string(2 << 20, 'x') + "\"}").status == 413);
    CHECK(stage.must_post("/elsewhere", "").status == 404);
    CHECK(model.get("/_count").at("requests").as_int64() == 0);
    net::ClientRequest health;
    health.url = stage.url + "/healthz";
    CHECK(stage.client.send(health).value().body == R"({"status":"ok"})");
}

TEST_CASE("a response passes byte for byte, except the key") {
    const std::string body =
        "data: {\"odd\":  1}\r\n\r\n: comment\n\ndata: x" + std::string("\0\xff", 2) + secret_value + "\n\n";
    CannedServer server(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-ratelimit-left: 5\r\nset-cookie: a=b\r\nx-echo: " +
        secret_value + "\r\nconnection: close\r\n\r\n" + body);
    Stage stage("http://" + server.address);
    const auto answer = stage.must_post("/anthropic/v1/messages", shots[1].body);
    std::string expected = body;
    expected.replace(expected.find(secret_value), secret_value.size(), secret_value.size(), '*');
    CHECK(answer.body == expected);
    CHECK(answer.header("x-ratelimit-left") == "5");
    CHECK(answer.header("set-cookie").empty());
    CHECK(answer.header("x-echo").find("secret") == std::string_view::npos);
}

TEST_CASE("a response that cannot be metered is not passed on") {
    CannedServer server(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc");
    Stage stage("http://" + server.address);
    CHECK(stage.must_post("/anthropic/v1/messages", shots[0].body).status == 502);
}

TEST_CASE("the server's own API is reached with the run's key and no other") {
    CannedServer server(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    auto upstream = local_upstream(server.address);
    REQUIRE(upstream.ok());
    Stage stage("http://127.0.0.1:1", {}, upstream.value().get());
    CHECK(stage.must_post("/api/v1/evals?x=1", "{\"a\":1}", {{"authorization", "Bearer other"}, {"cookie", "c"}})
              .status == 200);
    CHECK(server.seen.starts_with("POST /v1/evals?x=1\n"));
    CHECK(server.seen.find("authorization: Bearer hone-run-key\n") != std::string::npos);
    CHECK(server.seen.find("other") == std::string::npos);
    CHECK(server.seen.find("cookie") == std::string::npos);
    CHECK(server.seen.ends_with("\n\n{\"a\":1}"));
    CHECK(stage.must_post("/mcp", "{}").status == 200);
    CHECK(server.seen.starts_with("POST /mcp\n"));
    CHECK(stage.must_post("/otlp/v1/traces", "x").status == 200);
    CHECK(server.seen.starts_with("POST /v1/traces\n"));
    CHECK(stage.must_post("/api/v1/../../metrics", "x").status == 400);
    CHECK(stage.must_post("/mcpx", "x").status == 404);
}

TEST_CASE("a tool of the server that does not respond in time fails by the limit's name") {
    const auto silent = net::listen_on("127.0.0.1:0"); // takes connections, and never responds
    REQUIRE(silent.ok());
    auto upstream = local_upstream(silent.value().address);
    REQUIRE(upstream.ok());
    Stage stage("http://127.0.0.1:1", {}, upstream.value().get(), std::chrono::milliseconds(50));
    const auto answer = stage.must_post("/mcp", "{}");
    CHECK(answer.status >= 500);
    CHECK(answer.body.find("sandbox.tool_seconds") != std::string::npos);
}

TEST_CASE("calls are reported with their texts to the tracer") {
    ScriptedModel model;
    Stage stage(model.url + "/play/text");
    stage.must_post("/anthropic/v1/messages", shots[1].body);
    const Lock lock(stage.calls.mutex);
    REQUIRE(stage.calls.all.size() == 1);
    const ModelCall& call = stage.calls.all[0];
    CHECK(call.requested_model == "claude-sonnet-4");
    CHECK(call.status == 200);
    CHECK(call.usage.complete);
    CHECK(call.first_byte.has_value());
    CHECK(call.cost_nano_usd.value_or(0) > 0);
    CHECK(call.request == shots[1].body);
    CHECK(call.response.find("message_stop") != std::string::npos);
    CHECK(call.request.find(secret_value) == std::string::npos);
}

TEST_CASE("the server's own calls learn why the gateway responds instead of the provider") {
    ScriptedModel model;
    OwnRequest request;
    request.path = "/openai/v1/chat/completions";
    request.body = R"({"model":"gpt-5","messages":[{"role":"user","content":"hi"}]})";
    std::vector<ModelRefusal> refused;
    request.call.refused = [&](ModelRefusal why) { refused.push_back(why); };
    const auto status_of = [&](const std::string& play) {
        Stage stage(model.url + play);
        const auto sent = send_own(stage.gateway, *stage.attached_run, request, Cancel());
        return sent.ok() ? sent.value().status : 0;
    };
    // A 401 would make a harness prompt for a login.
    CHECK(status_of("/play/status_401") == 400);
    CHECK(refused == std::vector{ModelRefusal::not_configured});
    refused.clear();
    CHECK(status_of("/play/text") == 200);
    CHECK(status_of("/play/status_400") == 400);
    CHECK(refused.empty());
}

TEST_CASE("the server's own calls are metered and traced to their own place, and end when they are cancelled") {
    ScriptedModel model;
    Stage stage(model.url + "/play/trickle");
    OwnRequest request;
    request.path = "/openai/v1/chat/completions";
    request.body = R"({"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]})";
    request.call.place = {"space_1", "Experiment-1", "", "0123456789abcdef0123456789abcdef", "", ""};
    request.call.attributes = {{"prompt.id", "promptversion_1"}};
    int settled = 0;
    telemetry::Tokens tokens;
    request.call.settled = [&](const UsageRow& row, const ModelUsage&, bool is_traced) {
        ++settled;
        tokens = row.tokens;
        CHECK(is_traced);
        CHECK(row.run_id == "run_1");
    };
    int pieces = 0;
    request.watch = [&](std::string_view, std::string_view) { return ++pieces > 0; };
    const Cancel cancel;
    const auto answered = send_own(stage.gateway, *stage.attached_run, request, cancel);
    REQUIRE_MESSAGE(answered.ok(), (answered.ok() ? "" : answered.error().message));
    CHECK(answered.value().status == 200);
    CHECK(settled == 1);
    CHECK(pieces > 1);
    CHECK(tokens == told(model));
    REQUIRE(stage.calls.all.size() == 1);
    CHECK(stage.calls.all[0].place.project == "Experiment-1");
    CHECK(stage.calls.all[0].attributes == request.call.attributes);
    CHECK(answered.value().body.find(std::string(secret_value)) == std::string::npos);

    const auto outcome = [&](const Cancel& by) {
        const auto sent = send_own(stage.gateway, *stage.attached_run, request, by);
        return sent.ok() ? std::to_string(sent.value().status) : std::string(code_name(sent.error().code));
    };
    request.watch = [](std::string_view, std::string_view) { return false; };
    CHECK(outcome(cancel) == "conflict");
    request.watch = {};
    Cancel fired;
    fired.fire();
    CHECK(outcome(fired) == "conflict");
    request.path = "/openai/v1/unknown";
    CHECK(outcome(cancel) == "404");
}
