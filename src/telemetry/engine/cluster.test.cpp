// A ClickHouse elsewhere: the same client over https with a user and a password. There is no ClickHouse server here,
// so our own engine is behind a small gate that uses TLS and requires them.
#include "net/server.h"
#include "net/testing/certificates.h"
#include "telemetry/guard/sql_guard.h"
#include "telemetry/store_fixture.h"

namespace hone::telemetry::testing {

namespace {

class Gate final : public net::Handler {
public:
    explicit Gate(std::string socket) : m_socket(std::move(socket)) {}

    net::Plan plan(const net::RequestHead&) override {
        net::Plan plan;
        plan.body_limit = 64 << 20;
        return plan;
    }
    net::Response handle(net::Request&& request) override {
        if (is_away) return net::text_response(503, "away");
        const std::string_view user = request.header("X-ClickHouse-User");
        if ((user != "hone" && user != "asker" && user != "mighty") ||
            request.header("X-ClickHouse-Key") != "pass word")
            return refused(516, "hone: Authentication failed");
        net::ClientRequest forward;
        forward.method = "POST";
        forward.headers.push_back({"X-ClickHouse-User", user == "asker" ? "hone_reader" : "hone"});
        // A server takes the format in the statement; the engine takes it as an argument.
        std::string target = request.target;
        if (const size_t at = target.find("%20FORMAT%20RowBinary"); at != std::string::npos) target.erase(at, 21);
        // Without it a failure in the middle of a response would look like a short one. The engine always waits.
        const std::string_view waits = "&wait_end_of_query=1";
        const std::string_view foreign = "log_comment=no%20project%20has%20this%20name";
        // A server without the policies: they were never created, or were removed.
        if (const size_t found = target.find(foreign); found != std::string::npos && !has_policies)
            target.replace(found, foreign.size(), "log_comment=%2A");
        const size_t at = target.find(waits);
        if (at == std::string::npos) return refused(62, "this server would stream: " + target);
        target.erase(at, waits.size());
        forward.url = "unix:" + m_socket + ":" + target;
        forward.body = std::move(request.body);
        // The embedded engine has its row policies from its configuration and cannot be given others.
        if (forward.body.starts_with("CREATE ROW POLICY"))
            return takes_policies ? net::text_response(200, "") : refused(497, "hone: Not enough privileges");
        auto sent = m_client.send(forward);
        if (!sent.ok()) return refused(210, sent.error().message);
        net::Response response;
        response.status = sent.value().status;
        response.body = std::move(sent.value().body);
        const std::string_view code = header_value(sent.value().headers, "X-ClickHouse-Exception-Code");
        if (!code.empty()) response.set_header("X-ClickHouse-Exception-Code", std::string(code));
        return response;
    }
    std::atomic<bool> is_away = false;
    std::atomic<bool> takes_policies = true;
    std::atomic<bool> has_policies = true;

private:
    static net::Response refused(int code, const std::string& why) {
        net::Response response = net::text_response(500, why);
        response.set_header("X-ClickHouse-Exception-Code", std::to_string(code));
        return response;
    }
    const std::string m_socket;
    net::HttpClient m_client;
};

TelemetryOptions options_for(const std::string& directory, const std::string& url, const std::string& ca_file) {
    TelemetryOptions options;
    options.directory = directory;
    options.clickhouse_url = url;
    options.clickhouse_user = "hone";
    options.clickhouse_password = "pass word";
    options.clickhouse_ca_file = ca_file;
    options.wal.commit_interval = 1ms;
    options.loader.gather = 5ms;
    return options;
}

} // namespace

TEST_CASE("spans go to a ClickHouse elsewhere over TLS with a password, and wait in the log while it is away") {
    Fixture& f = fixture();
    f.store(); // the engine that stands behind the gate
    net::testing::TestAuthority authority;
    const auto files = authority.issue("gate", "DNS:localhost,IP:127.0.0.1");
    Gate gate(f.telemetry->engine_process()->socket());
    net::ServerOptions server_options;
    server_options.listen = {{"127.0.0.1:0", files.certificate, files.key}};
    auto server = net::Server::start(server_options, gate);
    REQUIRE_MESSAGE(server.ok(), (server.ok() ? "" : server.error().message));
    const std::string url = "https://" + server.value()->addresses().front();
    TemporaryDirectory directory;
    auto opened = Telemetry::open(options_for(directory.path(), url, authority.ca_file()), f.projects, f.clock);
    REQUIRE(opened.ok());
    Telemetry& remote = *opened.value();
    const auto send = [&](uint64_t first) {
        std::vector<TestSpan> spans;
        for (uint64_t i = first; i < first + 20; ++i) spans.push_back({i, i});
        return remote.ingest({request(spans), "application/json", "", "remote", "space"}).status;
    };
    const auto wait = [&] { return remote.loader().wait_loaded(remote.log_stats().next_sequence, 60s); };
    CHECK(send(1) == 200);
    REQUIRE(wait());
    auto store = remote.store();
    REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.error().message));
    CHECK(store.value()->list_spans({scope_of("remote"), {}, {}, {}, 50, false, ""}).value().spans.size() == 20);
    CHECK(count_spans("remote") == 20);
    // Away: acknowledged all the same, loaded when it is back, nothing twice.
    gate.is_away = true;
    CHECK(send(11) == 200);
    CHECK(!remote.loader().wait_loaded(remote.log_stats().next_sequence, 300ms));
    CHECK(!store.value()->list_spans({scope_of("remote"), {}, {}, {}, 50, false, ""}).ok());
    gate.is_away = false;
    REQUIRE(wait());
    CHECK(count_spans("remote") == 30);

    // SQL of people needs a user that sees nothing but views, and this is verified.
    SqlRequest asked;
    asked.project = "project_remote";
    asked.sql = "SELECT count() AS n FROM spans";
    asked.format = "CSVWithNames";
    CHECK(SqlGuard(remote.engine()).run(asked).error().message ==
          "SQL needs a user of its own at the outside ClickHouse: set clickhouse_reader_user");
    TemporaryDirectory third;
    for (const char* user : {"asker", "mighty", "powerless", "unguarded"}) {
        TelemetryOptions with_reader = options_for(third / user, url, authority.ca_file());
        with_reader.clickhouse_reader_user = user == std::string_view("mighty") ? "mighty" : "asker";
        gate.takes_policies = user != std::string_view("powerless");
        gate.has_policies = user != std::string_view("unguarded");
        with_reader.clickhouse_reader_password = "pass word";
        auto reading = Telemetry::open(with_reader, f.projects, f.clock);
        REQUIRE(reading.ok());
        const auto answer = SqlGuard(reading.value()->engine()).run(asked);
        if (!gate.has_policies)
            CHECK(answer.error().message == "SQL is not available: the engine does not isolate projects: no row policy "
                                            "holds for hone.spans");
        else if (user == std::string_view("asker"))
            CHECK(answer.value() == "\"n\"\n30\n");
        else if (!gate.takes_policies)
            CHECK(answer.error().message.find("SQL is not available: row policies cannot be made: ") == 0);
        else
            CHECK(answer.error().message == "SQL is not available: the engine does not isolate projects: its reader "
                                            "may read hone.spans");
    }

    // An untrusted certificate, and a wrong password.
    TemporaryDirectory other;
    auto untrusted = Telemetry::open(options_for(other.path(), url, ""), f.projects, f.clock);
    REQUIRE(untrusted.ok());
    CHECK(untrusted.value()->store().error().code == Code::unavailable);
    TelemetryOptions wrong = options_for(other / "2", url, authority.ca_file());
    wrong.clickhouse_password = "guess";
    auto guessing = Telemetry::open(wrong, f.projects, f.clock);
    REQUIRE(guessing.ok());
    CHECK(!guessing.value()->store().ok());
}

} // namespace hone::telemetry::testing
