// A ClickHouse elsewhere: the same client over https with a user and a password. There is no ClickHouse server here,
// so our own engine is behind a small gate that uses TLS and requires them.
#include "net/testing/certificates.h"
#include "sql/testing.h"
#include "telemetry/clickhouse_gate.h"
#include "telemetry/cluster/cluster_sql.h"
#include "telemetry/guard/sql_guard.h"
#include "telemetry/store_fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace hone::telemetry::testing {

namespace {

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

// Servers that share a database, each with a name and a log of its own.
class ServersOfOneDatabase {
public:
    explicit ServersOfOneDatabase(const Gate& gate) : options(options_for("", gate.url, "")) {
        options.shared_database = &m_database.database();
    }
    std::unique_ptr<Telemetry> open(const std::string& name) {
        options.directory = m_directory / name;
        options.server = name;
        auto opened = Telemetry::open(options, fixture().projects, fixture().clock);
        REQUIRE(opened.ok());
        return std::move(opened).value();
    }
    TelemetryOptions options;

private:
    sql::testing::FreshDatabase m_database{sql::Engine::postgres, sql::testing::Schema::migrated};
    TemporaryDirectory m_directory;
};

// The engine of the fixture has no tokens: with a clock that stands still, equal blocks of other cases are not
// repetitions.
struct WithoutTokens {
    ~WithoutTokens() {
        const ClickHouseQuery reset("ALTER TABLE hone.spans MODIFY SETTING non_replicated_deduplication_window = 0");
        CHECK(fixture().telemetry->engine().query(reset).ok());
    }
};

int send_twenty(Telemetry& telemetry, const std::string& project, uint64_t first) {
    std::vector<TestSpan> spans;
    for (uint64_t i = first; i < first + 20; ++i) spans.push_back({i, i});
    return telemetry.ingest({request(spans), "application/json", "", project, "space"}).status;
}

bool is_loaded(Telemetry& telemetry) {
    return telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, 60s);
}

} // namespace

TEST_CASE("spans that are sent to two servers are stored once when both store them at the same moment") {
    Fixture& f = fixture();
    const WithoutTokens reset;
    Gate gate;
    ServersOfOneDatabase servers(gate);
    const auto first = servers.open("a"), second = servers.open("b");
    gate.hold_inserts(true);
    REQUIRE(send_twenty(*first, "both", 1) == 200);
    REQUIRE(gate.wait_for_span_inserts(1)); // has checked, and does not get further
    f.clock.advance(1ms);                   // what another server receives differs in its time of receipt
    REQUIRE(send_twenty(*second, "both", 11) == 200);
    while (second->claims()->waits() == 0 && gate.span_inserts() == 1) std::this_thread::yield();
    CHECK(gate.span_inserts() == 1);
    gate.hold_inserts(false);
    REQUIRE(is_loaded(*first));
    REQUIRE(is_loaded(*second));
    CHECK(count_spans("both") == 30);
    CHECK(second->ledger()["project_both"].repeated == 10);
    // Other traces do not wait.
    gate.hold_inserts(true);
    const int before = gate.span_inserts();
    REQUIRE(send_twenty(*first, "both", 101) == 200);
    REQUIRE(gate.wait_for_span_inserts(before + 1));
    REQUIRE(send_twenty(*second, "both", 201) == 200);
    CHECK(gate.wait_for_span_inserts(before + 2));
    gate.hold_inserts(false);
    REQUIRE(is_loaded(*first));
    REQUIRE(is_loaded(*second));
    CHECK(count_spans("both") == 70);
}

TEST_CASE("an insert of a killed server that arrives late is not stored beside that of its next process") {
    const WithoutTokens reset;
    Gate gate;
    ServersOfOneDatabase servers(gate);
    auto killed = servers.open("a");
    gate.keep_inserts(true);
    REQUIRE(send_twenty(*killed, "late", 1) == 200);
    REQUIRE(gate.wait_for_span_inserts(1));
    REQUIRE(send_twenty(*killed, "late", 21) == 200); // after the block that was sent
    killed.reset();
    gate.keep_inserts(false);
    const auto next = servers.open("a");
    REQUIRE(is_loaded(*next));
    CHECK(count_spans("late") == 40);
    const std::vector<int> statuses = gate.deliver_kept();
    CHECK_FALSE(statuses.empty());
    for (const int status : statuses) CHECK(status == 200); // discarded by its token
    CHECK(count_spans("late") == 40);
}

// Frozen for longer than its claim directly before the insert, or a network that keeps the insert so long: the same
// bytes arrive when another server has stored the spans.
TEST_CASE("an insert that arrives after its claim has ended is refused by the span store") {
    Fixture& f = fixture();
    const WithoutTokens reset;
    Gate gate;
    ServersOfOneDatabase servers(gate);
    servers.options.claims.length = 6s;
    servers.options.claims.insert_deadline = 2s;
    auto frozen = servers.open("a");
    gate.keep_inserts(true);
    REQUIRE(send_twenty(*frozen, "fenced", 1) == 200);
    REQUIRE(gate.wait_for_span_inserts(1));
    frozen.reset(); // it sends nothing else, and keeps its claim
    gate.keep_inserts(false);
    f.clock.advance(1ms); // another time of receipt: another token
    const auto other = servers.open("b");
    REQUIRE(send_twenty(*other, "fenced", 1) == 200);
    REQUIRE(is_loaded(*other)); // when the claim has ended
    CHECK(other->claims()->waits() > 0);
    CHECK(count_spans("fenced") == 20);
    const std::vector<int> statuses = gate.deliver_kept();
    CHECK_FALSE(statuses.empty());
    for (const int status : statuses) CHECK(status == 500);
    CHECK(count_spans("fenced") == 20);
    // Awake again: its spans are there already.
    frozen = servers.open("a");
    REQUIRE(is_loaded(*frozen));
    CHECK(count_spans("fenced") == 20);
    CHECK(frozen->ledger()["project_fenced"].repeated == 20);
    // In time, an insert is taken, and one that names no time is.
    REQUIRE(send_twenty(*frozen, "fenced", 101) == 200);
    REQUIRE(is_loaded(*frozen));
    CHECK(count_spans("fenced") == 40);
}

TEST_CASE("a model call that two servers receive in two spans counts once") {
    Fixture& f = fixture();
    const WithoutTokens reset;
    Gate gate;
    ServersOfOneDatabase servers(gate);
    const auto first = servers.open("a"), second = servers.open("b");
    const std::string call = text_attribute("gen_ai.operation.name", "chat") + "," +
                             text_attribute("gen_ai.request.model", "m") + "," +
                             number_attribute("gen_ai.usage.input_tokens", 100);
    // The outer span first, and the inner one first: in one of them a row is corrected that another server has stored.
    for (const std::string project : {"outer", "inner"}) {
        TestSpan outer{1, 1}, inner{1, 2, 1};
        outer.attributes = inner.attributes = call;
        if (project == "inner") std::swap(outer, inner);
        REQUIRE(first->ingest({request({outer}), "application/json", "", project, "space"}).status == 200);
        REQUIRE(is_loaded(*first));
        REQUIRE(second->ingest({request({inner}), "application/json", "", project, "space"}).status == 200);
        REQUIRE(is_loaded(*second));
        const std::string found =
            f.telemetry->engine()
                .query(
                    ClickHouseQuery("SELECT count(), sum(input_tokens), sum(notEmpty(repeated_usage)) FROM hone.spans "
                                    "WHERE project = 'project_" +
                                    project + "' FORMAT TSV"))
                .value();
        CHECK(found == "2\t100\t1\n");
    }
}

TEST_CASE("definitions for a cluster are on all of its servers, with replicated tables") {
    CHECK(on_cluster("CREATE DATABASE IF NOT EXISTS hone", "") == "CREATE DATABASE IF NOT EXISTS hone");
    CHECK(on_cluster("CREATE DATABASE IF NOT EXISTS hone", "main") ==
          "CREATE DATABASE IF NOT EXISTS hone ON CLUSTER `main`");
    CHECK(on_cluster("CREATE TABLE IF NOT EXISTS hone.t (n UInt8) ENGINE = ReplacingMergeTree(v) ORDER BY n", "a`b") ==
          "CREATE TABLE IF NOT EXISTS hone.t ON CLUSTER `a\\`b` (n UInt8) ENGINE = ReplicatedReplacingMergeTree(v) "
          "ORDER BY n");
    CHECK(on_cluster("CREATE OR REPLACE VIEW `d`.v DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT 1", "main") ==
          "CREATE OR REPLACE VIEW `d`.v ON CLUSTER `main` DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT 1");
    CHECK(on_cluster("CREATE ROW POLICY OR REPLACE p ON hone.t FOR SELECT USING 1 TO CURRENT_USER", "main") ==
          "CREATE ROW POLICY OR REPLACE p ON CLUSTER `main` ON hone.t FOR SELECT USING 1 TO CURRENT_USER");
    CHECK(on_cluster("ALTER TABLE hone.t MODIFY SETTING a = 1", "main") ==
          "ALTER TABLE hone.t ON CLUSTER `main` MODIFY SETTING a = 1");
    CHECK(on_cluster("DROP DATABASE IF EXISTS `d`", "main") == "DROP DATABASE IF EXISTS `d` ON CLUSTER `main`");
}

TEST_CASE("with clickhouse_cluster every definition is for the cluster, and a block waits for its replica") {
    Fixture& f = fixture();
    const WithoutTokens reset;
    Gate gate;
    TemporaryDirectory directory;
    TelemetryOptions options = options_for(directory / "1", gate.url, "");
    options.clickhouse_cluster = "main";
    options.clickhouse_reader_user = "asker";
    options.clickhouse_reader_password = "pass word";
    const auto why_not = [&](const std::string& folder) {
        options.directory = directory / folder;
        auto opened = Telemetry::open(options, f.projects, f.clock);
        REQUIRE(opened.ok());
        const auto store = opened.value()->store();
        return store.ok() ? std::string() : store.error().message;
    };
    CHECK(why_not("2").find("which the server at clickhouse_url does not have") != std::string::npos);
    gate.shards = 3;
    CHECK(why_not("3").find("which has 3 shards") != std::string::npos);
    CHECK(gate.definitions().empty());
    gate.shards = 1;
    gate.is_replicated = false;
    CHECK(why_not("4").find("hone.spans was created without it and is not replicated") != std::string::npos);
    gate.is_replicated = true;
    options.directory = directory / "1";
    auto opened = Telemetry::open(options, f.projects, f.clock);
    REQUIRE(opened.ok());
    REQUIRE(send_twenty(*opened.value(), "replicated", 1) == 200);
    REQUIRE(is_loaded(*opened.value()));
    CHECK(count_spans("replicated") == 20);
    SqlRequest query;
    query.project = "project_replicated";
    query.sql = "SELECT count() AS n FROM spans";
    query.format = "CSVWithNames";
    // Its views are read by the engine and not created.
    CHECK_FALSE(SqlGuard(opened.value()->engine()).run(query).ok());
    const auto starts_with = [&](std::string_view start) {
        int count = 0;
        for (const std::string& one : gate.definitions()) count += one.starts_with(start) ? 1 : 0;
        return count;
    };
    CHECK(starts_with("CREATE DATABASE IF NOT EXISTS hone ON CLUSTER `main`") >= 2); // also before the failure
    CHECK(starts_with("CREATE TABLE IF NOT EXISTS hone.spans ON CLUSTER `main` (") >= 2);
    CHECK(starts_with("CREATE TABLE IF NOT EXISTS hone.logs ON CLUSTER `main` (") >= 1);
    CHECK(starts_with("CREATE ROW POLICY OR REPLACE hone_projects ON CLUSTER `main` ON hone.spans") == 1);
    CHECK(starts_with("CREATE DATABASE IF NOT EXISTS `hone_project_replicated` ON CLUSTER `main`") == 1);
    CHECK(starts_with("SYSTEM SYNC REPLICA hone.spans LIGHTWEIGHT") >= 1);
    for (const std::string& one : gate.definitions())
        if (one.starts_with("CREATE TABLE")) CHECK(one.find("ENGINE = Replicated") != std::string::npos);
}

TEST_CASE("spans go to a ClickHouse elsewhere over TLS with a password, and wait in the log while it is away") {
    Fixture& f = fixture();
    const WithoutTokens reset;
    net::testing::TestAuthority authority;
    const auto files = authority.issue("gate", "DNS:localhost,IP:127.0.0.1");
    Gate gate(files);
    TemporaryDirectory directory;
    auto opened = Telemetry::open(options_for(directory.path(), gate.url, authority.ca_file()), f.projects, f.clock);
    REQUIRE(opened.ok());
    Telemetry& remote = *opened.value();
    CHECK(send_twenty(remote, "remote", 1) == 200);
    REQUIRE(is_loaded(remote));
    auto store = remote.store();
    REQUIRE_MESSAGE(store.ok(), (store.ok() ? "" : store.error().message));
    CHECK(store.value()->list_spans({scope_of("remote"), {}, {}, {}, 50, false, ""}).value().spans.size() == 20);
    CHECK(count_spans("remote") == 20);
    // Away: acknowledged all the same, loaded when it is back, nothing twice.
    gate.is_away = true;
    CHECK(send_twenty(remote, "remote", 11) == 200);
    CHECK(!remote.loader().wait_loaded(remote.log_stats().next_sequence, 300ms));
    CHECK(!store.value()->list_spans({scope_of("remote"), {}, {}, {}, 50, false, ""}).ok());
    gate.is_away = false;
    REQUIRE(is_loaded(remote));
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
        TelemetryOptions with_reader = options_for(third / user, gate.url, authority.ca_file());
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
    auto untrusted = Telemetry::open(options_for(other.path(), gate.url, ""), f.projects, f.clock);
    REQUIRE(untrusted.ok());
    CHECK(untrusted.value()->store().error().code == Code::unavailable);
    TelemetryOptions wrong = options_for(other / "2", gate.url, authority.ca_file());
    wrong.clickhouse_password = "guess";
    auto guessing = Telemetry::open(wrong, f.projects, f.clock);
    REQUIRE(guessing.ok());
    CHECK(!guessing.value()->store().ok());
}

TEST_CASE("the next address of the span store is used while one is away, and every block has a token of its content") {
    Gate first, second;
    ClickHouseOptions connection;
    connection.url = first.url + ", " + second.url;
    connection.user = "hone";
    connection.password = "pass word";
    ClickHouse store(connection);
    const auto one_row = [&] { return store.query(ClickHouseQuery("SELECT 1")); };
    CHECK(one_row().value() == "1\n");
    first.is_away = true;
    CHECK(one_row().value() == "1\n");
    second.is_away = true;
    CHECK(one_row().error().code == Code::unavailable);
    second.is_away = false;
    CHECK(one_row().value() == "1\n");
    // An error of the query itself is not tried elsewhere.
    first.is_away = false;
    CHECK(store.query(ClickHouseQuery("SELECT no_such_column")).error().code == Code::invalid);

    ClickHouseQuery make("CREATE TABLE IF NOT EXISTS hone.token_test (n UInt8) ENGINE = MergeTree ORDER BY n");
    REQUIRE(store.query(make).ok());
    for (const char* rows : {"a", "a", "b"}) CHECK(store.insert("hone.token_test", rows, 10s).ok());
    std::vector<std::string> tokens = first.tokens();
    for (const std::string& token : second.tokens()) tokens.push_back(token);
    REQUIRE(tokens.size() == 3);
    CHECK(tokens[0] == tokens[1]);
    CHECK(tokens[1] != tokens[2]);
    REQUIRE(store.query(ClickHouseQuery("DROP TABLE hone.token_test")).ok());
}

namespace {

// A host that is frozen: its kernel accepts connections and takes bytes, and nothing ever responds.
class FrozenHost {
public:
    FrozenHost() : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        REQUIRE(::bind(m_socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(::listen(m_socket.get(), 16) == 0);
        REQUIRE(::getsockname(m_socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
        m_address = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    }
    const std::string& address() const { return m_address; }
    // What the next connection had sent.
    std::string next_received() {
        const Fd connection(::accept4(m_socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        std::string bytes(64 << 10, '\0');
        const ssize_t count = ::recv(connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
        return bytes;
    }

private:
    Fd m_socket;
    std::string m_address;
};

} // namespace

TEST_CASE("an address that accepts connections and never responds is left by the next request") {
    Gate gate;
    FrozenHost frozen;
    ClickHouseOptions connection;
    connection.user = "hone";
    connection.password = "pass word";
    connection.connect_timeout = 100ms;
    const auto with_frozen = [&](const std::string& scheme) {
        connection.url = scheme + frozen.address() + "," + gate.url;
        return std::make_unique<ClickHouse>(connection);
    };
    SUBCASE("reads") {
        const auto store = with_frozen("http://");
        ClickHouseQuery one("SELECT 1");
        one.deadline = 1ms; // and two seconds more for the response
        const auto first = store->query(one);
        REQUIRE_FALSE(first.ok());
        CHECK(first.error().code == Code::unavailable);
        one.deadline = 10s;
        CHECK(store->query(one).value() == "1\n");
    }
    SUBCASE("inserts, with the same token") {
        ClickHouse direct([&] {
            ClickHouseOptions only = connection;
            only.url = gate.url;
            return only;
        }());
        REQUIRE(direct
                    .query(ClickHouseQuery(
                        "CREATE TABLE IF NOT EXISTS hone.frozen_test (n UInt8) ENGINE = MergeTree ORDER BY n"))
                    .ok());
        const auto store = with_frozen("http://");
        const auto first = store->insert("hone.frozen_test", "a", 1ms);
        REQUIRE_FALSE(first.ok());
        CHECK(first.error().code == Code::unavailable);
        CHECK(store->insert("hone.frozen_test", "a", 10s).ok());
        CHECK(direct.query(ClickHouseQuery("SELECT count() FROM hone.frozen_test")).value() == "1\n");
        REQUIRE(gate.tokens().size() == 1);
        CHECK(frozen.next_received().find("insert_deduplication_token=" + gate.tokens().front()) != std::string::npos);
        CHECK(direct.query(ClickHouseQuery("DROP TABLE hone.frozen_test")).ok());
    }
    SUBCASE("no connection is made at all: the next address gets the same request") {
        const auto store = with_frozen("https://"); // without its part of TLS
        CHECK(store->query(ClickHouseQuery("SELECT 1")).value() == "1\n");
        connection.url = "https://" + frozen.address();
        CHECK(ClickHouse(connection).query(ClickHouseQuery("SELECT 1")).error().code == Code::unavailable);
        // Nothing was sent, so there is no query to end.
        CHECK(frozen.next_received().find("KILL") == std::string::npos);
        CHECK(gate.kills().empty());
    }
}

TEST_CASE("a query whose reader has left is ended at the server") {
    Fixture& f = fixture();
    Gate gate;
    ClickHouseOptions connection;
    connection.url = gate.url;
    connection.user = "hone";
    connection.password = "pass word";
    ClickHouse store(connection);
    net::Cancel cancel;
    ClickHouseQuery slow("SELECT count() FROM numbers(100000000000) WHERE NOT ignore(sleepEachRow(0.001))");
    slow.cancel = &cancel;
    slow.deadline = 10min; // so that nothing else ends it
    slow.set("max_block_size", "100");
    std::thread reader([&] { CHECK_FALSE(store.query(slow).ok()); });
    const auto running = [&] {
        return f.telemetry->engine()
            .query(ClickHouseQuery("SELECT count() FROM system.processes WHERE position(query, '/* hone-') > 0 AND "
                                   "position(query, 'system.processes') = 0"))
            .value();
    };
    while (running() != "1\n" && !gate.has_slow_ended()) std::this_thread::yield();
    cancel.cancel();
    reader.join();
    REQUIRE(gate.kills().size() == 1);
    CHECK(gate.kills().front().starts_with("KILL QUERY WHERE query_id = 'hone-"));
    const std::string end = gate.wait_for_end_of_slow();
    CHECK_MESSAGE(end.starts_with("394 "), end); // QUERY_WAS_CANCELLED
}

} // namespace hone::telemetry::testing
