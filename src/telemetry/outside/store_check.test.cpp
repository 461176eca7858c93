// There is no ClickHouse server here: our own engine is behind a gate that has users, grants and row policies as one
// has them. Each thing that the check verifies is broken in turn.
#include "telemetry/outside/store_check.h"

#include "net/server.h"
#include "telemetry/cluster/user_sql.h"
#include "telemetry/engine/engine_config.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/outside/canaries.h"
#include "telemetry/outside/store_setup.h"
#include "telemetry/store_fixture.h"

#include <map>
#include <set>

namespace hone::telemetry::testing {

namespace {

constexpr std::string_view grants_of_hone =
    "GRANT SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, SYSTEM MERGES, "
    "SYSTEM SYNC REPLICA ON hone.* TO hone\n"
    "GRANT CREATE DATABASE, KILL QUERY, SHOW ROW POLICIES ON *.* TO hone\n"
    "GRANT SELECT ON system.* TO hone\n"
    "GRANT TABLE ENGINE ON MergeTree TO hone\n"
    "GRANT SELECT, INSERT, CREATE DATABASE, CREATE VIEW, DROP DATABASE, DROP VIEW ON hone_project_*.* TO hone\n";
constexpr std::string_view grants_of_reader = "GRANT SELECT ON hone_project_*.* TO reader\n";

// What is wrong with the server behind the gate.
struct Faults {
    std::map<std::string, std::string> replies{};        // to "user: statement" that contains the first text
    std::vector<std::pair<std::string, int>> refusals{}; // a statement that contains the text fails with this code
    std::vector<std::string> opened{};                   // the reader's statements with these texts run as the owner's
    std::vector<std::pair<std::string, std::string>> replaced{}; // in the URL and the statement
    std::string policy{row_policy};                              // of the table of the check; empty: none
    std::string users = "hone,reader,admin";                     // that have the right password
};

class UserGate final : public net::Handler {
public:
    explicit UserGate(std::string socket) : m_socket(std::move(socket)) {}

    net::Plan plan(const net::RequestHead&) override { return {}; }
    net::Response handle(net::Request&& request) override {
        const Lock lock(m_mutex);
        const std::string user(request.header("X-ClickHouse-User"));
        if (("," + m_faults.users + ",").find("," + user + ",") == std::string::npos ||
            request.header("X-ClickHouse-Key") != "pass word")
            return refused(516, user + ": Authentication failed");
        std::string target = request.target, sql = request.body;
        const bool is_reader = user == "reader";
        const bool is_insert = target.find("query=INSERT") != std::string::npos;
        m_statements.push_back(is_insert ? target : user + ": " + sql);
        // What the embedded engine has in its configuration.
        const char* sent = is_insert ? "&async_insert=0" : "&use_query_condition_cache=0";
        if (target.find(sent) == std::string::npos) return refused(1, "not sent: " + std::string(sent));
        for (const auto& [text, code] : m_faults.refusals)
            if ((is_insert ? target : sql).find(text) != std::string::npos) return refused(code, "refused for " + text);
        for (const auto& [text, reply] : m_faults.replies)
            if ((user + ": " + sql).find(text) != std::string::npos) return net::text_response(200, reply);
        if (sql.starts_with("CREATE USER") || sql.starts_with("GRANT "))
            return user == "admin" ? net::text_response(200, "") : refused(497, user + ": Not enough privileges");
        if (sql.starts_with("SHOW GRANTS"))
            return net::text_response(200, std::string(is_reader ? grants_of_reader : grants_of_hone));
        // Of these the engine has no rights: its policies are in its configuration.
        if (sql.find("ROW POLIC") != std::string::npos && !is_reader) {
            if (sql.starts_with("CHECK GRANT")) return net::text_response(200, "1\n");
            return net::text_response(200, "");
        }
        if (sql.starts_with("CREATE TABLE hone.check_")) m_table = sql.substr(18, sql.find(' ', 18) - 18);
        return forward(target, sql, is_reader);
    }
    void set(Faults faults) {
        const Lock lock(m_mutex);
        m_faults = std::move(faults);
        m_statements.clear();
    }
    bool has_seen(std::string_view text) {
        const Lock lock(m_mutex);
        return std::ranges::any_of(m_statements,
                                   [&](const std::string& one) { return one.find(text) != std::string::npos; });
    }

private:
    net::Response forward(std::string target, std::string sql, bool is_reader) REQUIRES_LOCK(m_mutex) {
        replace(target, "%20FORMAT%20RowBinary", "");
        replace(target, "&wait_end_of_query=1", "");
        if (const size_t at = target.find("&query_id="); at != std::string::npos)
            target.erase(at, std::min(target.find('&', at + 1), target.size()) - at);
        for (const auto& [text, other] : m_faults.replaced) replace(target, text, other), replace(sql, text, other);
        // The engine has policies for the tables of its configuration: that of the table of the check is a filter.
        if (!m_table.empty() && !m_faults.policy.empty())
            target += "&additional_table_filters=" +
                      percent_encode("{'hone." + m_table + "':'" + replace_all(m_faults.policy, "'", "\\'") + "'}");
        const bool is_opened = std::ranges::any_of(
            m_faults.opened, [&](const std::string& text) { return sql.find(text) != std::string::npos; });
        net::ClientRequest request;
        request.method = "POST";
        request.headers.push_back({"X-ClickHouse-User", is_reader && !is_opened ? "hone_reader" : "hone"});
        request.url = "unix:" + m_socket + ":" + target;
        request.body = sql;
        const auto sent = m_client.send(request);
        if (!sent.ok()) return refused(210, sent.error().message);
        net::Response response;
        response.status = sent.value().status;
        response.body = sent.value().body;
        if (const auto code = sent.value().header("X-ClickHouse-Exception-Code"); !code.empty())
            response.set_header("X-ClickHouse-Exception-Code", std::string(code));
        return response;
    }
    static void replace(std::string& text, std::string_view part, std::string_view other) {
        if (const size_t at = text.find(part); at != std::string::npos) text.replace(at, part.size(), other);
    }
    static std::string replace_all(std::string text, std::string_view part, std::string_view other) {
        for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += other.size())
            text.replace(at, part.size(), other);
        return text;
    }
    static net::Response refused(int code, const std::string& why) {
        net::Response response = net::text_response(500, "Code: " + std::to_string(code) + ". DB::Exception: " + why);
        response.set_header("X-ClickHouse-Exception-Code", std::to_string(code));
        return response;
    }

    const std::string m_socket;
    net::HttpClient m_client;
    Mutex m_mutex;
    Faults m_faults GUARDED_BY(m_mutex);
    std::string m_table GUARDED_BY(m_mutex);
    std::vector<std::string> m_statements GUARDED_BY(m_mutex);
};

// A ClickHouse that has everything that it needs.
struct Outside {
    Outside() : gate(fixture().telemetry->engine_process()->socket()) {
        net::ServerOptions options;
        options.listen = {{"127.0.0.1:0", "", ""}};
        auto started = net::Server::start(options, gate);
        REQUIRE(started.ok());
        server = std::move(started).value();
        connection.url = "http://" + server->addresses().front();
        connection.user = "hone";
        connection.reader_user = "reader";
        connection.password = connection.reader_password = "pass word";
        StoreSetup setup;
        setup.server = connection;
        setup.administrator = "admin";
        setup.administrator_password = "pass word";
        setup.made = [&](const std::string& what) { made.push_back(what); };
        const auto done = set_up_store(setup);
        REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    }
    ~Outside() {
        auto& engine = fixture().telemetry->engine();
        for (const char* reset : {"ALTER TABLE hone.spans MODIFY SETTING non_replicated_deduplication_window = 0",
                                  "ALTER TABLE hone.spans DROP CONSTRAINT IF EXISTS arrives_in_time"})
            CHECK(engine.query(ClickHouseQuery(reset)).ok());
    }
    std::vector<StoreFinding> check(Faults faults = {}) {
        gate.set(std::move(faults));
        return check_store(connection, clock);
    }
    // Nothing of a check is there.
    void expect_clean() {
        ClickHouseQuery query(
            "SELECT (SELECT count() FROM system.databases WHERE startsWith(name, 'hone_project_check_')) + "
            "(SELECT count() FROM system.tables WHERE database = 'hone' AND startsWith(name, 'check_'))");
        CHECK(fixture().telemetry->engine().query(query).value() == "0\n");
    }

    UserGate gate;
    std::unique_ptr<net::Server> server;
    ClickHouseOptions connection;
    SystemClock clock;
    std::vector<std::string> made;
};

std::string text_of(const std::vector<StoreFinding>& findings) {
    std::string text;
    for (const StoreFinding& one : findings)
        text += one.state + " | " + one.name + " | " + one.detail + " | " + one.advice + "\n";
    return text;
}

const StoreFinding* finding_of(const std::vector<StoreFinding>& findings, std::string_view name) {
    const auto found = std::ranges::find(findings, name, &StoreFinding::name);
    return found == findings.end() ? nullptr : &*found;
}

} // namespace

TEST_CASE("a ClickHouse that was set up has no problem, and nothing of the check stays in it") {
    fixture().store();
    Outside outside;
    CHECK(outside.made.front() == "CREATE USER IF NOT EXISTS `hone`");
    CHECK(outside.made.back() == "the row policies of hone");
    CHECK(outside.gate.has_seen("admin: CREATE USER IF NOT EXISTS `hone` IDENTIFIED WITH sha256_hash BY '"));
    CHECK_FALSE(outside.gate.has_seen("pass word"));
    const auto findings = outside.check();
    for (const StoreFinding& one : findings) CHECK_MESSAGE(one.state == "ok", text_of({one}));
    for (const char* name : {"version", "rights", "tables", "inserts", "free space", "reader", "row policies", "views",
                             "isolation", "limits", "repeated inserts"})
        CHECK_MESSAGE(finding_of(findings, name) != nullptr, name);
    CHECK_FALSE(has_problem(findings));
    outside.expect_clean();
}

TEST_CASE("what is broken at a ClickHouse is found, with what to do next") {
    fixture().store();
    Outside outside;
    const auto expect = [&](const char* name, const char* state, const std::string& words, Faults faults) {
        const auto findings = outside.check(std::move(faults));
        const StoreFinding* found = finding_of(findings, name);
        REQUIRE_MESSAGE(found != nullptr, name, "\n", text_of(findings));
        CHECK_MESSAGE(found->state == state, name, " ", words, "\n", text_of(findings));
        CHECK_MESSAGE(found->detail.find(words) != std::string::npos, words, "\n", text_of(findings));
        CHECK_FALSE(found->advice.empty());
        CHECK(has_problem(findings) == (state == std::string_view("problem")));
        outside.expect_clean();
    };
    SUBCASE("connections and versions") {
        expect("connection", "problem", "refuses our user or password", {.users = "reader"});
        expect("reader", "problem", "refuses our user or password", {.users = "hone"});
        expect("version", "problem", "24.8.1.1 is older than 25.3", {.replies = {{"SELECT version()", "24.8.1.1\n"}}});
    }
    SUBCASE("rights of the server's user") {
        Faults lacking;
        lacking.replies = {{"CHECK GRANT OPTIMIZE ON hone.*", "0\n"}, {"CHECK GRANT DROP ROW POLICY", "0\n"}};
        expect("rights", "problem", "hone lacks OPTIMIZE ON hone.*, DROP ROW POLICY ON hone.*", lacking);
        const auto findings = outside.check(lacking);
        CHECK(finding_of(findings, "rights")->advice.find("DROP ROW POLICY ON hone.* TO `hone`") != std::string::npos);
        expect("rights", "warning", "GRANT ALL ON *.* TO hone",
               {.replies = {{"hone: SHOW GRANTS", "GRANT ALL ON *.* TO hone\n"}}});
    }
    SUBCASE("rights of the reader") {
        expect(
            "reader", "problem", "GRANT SELECT ON hone.* TO reader",
            {.replies = {{"reader: SHOW GRANTS", std::string(grants_of_reader) + "GRANT SELECT ON hone.* TO reader"}}});
        for (const std::string grant :
             {"GRANT SELECT ON *.* TO reader", "GRANT SELECT ON hone.spans TO reader", "GRANT analyst TO reader",
              "GRANT READ ON FILE TO reader", "GRANT SELECT ON hone_project_*.* TO reader WITH GRANT OPTION",
              "GRANT SELECT, INSERT ON hone_project_*.* TO reader", "GRANT SELECT(a) ON other.t TO reader",
              "nonsense"}) {
            CAPTURE(grant);
            CHECK(excess_of_reader(std::string(grants_of_reader) + grant + "\n") == std::vector<std::string>{grant});
        }
        CHECK(excess_of_reader(grants_of_reader).empty());
        CHECK(excess_of_reader("GRANT SELECT ON `hone_project_`*.* TO reader").empty());
        CHECK(excess_of_user(grants_of_hone).empty());
        for (const std::string grant : {"GRANT ALL ON *.* TO hone WITH GRANT OPTION", "GRANT SELECT ON shop.* TO hone",
                                        "GRANT SELECT ON *.* TO hone", "GRANT READ, WRITE ON URL TO hone",
                                        "GRANT INSERT ON system.* TO hone", "GRANT boss TO hone"})
            CHECK(excess_of_user(std::string(grants_of_hone) + grant) == std::vector<std::string>{grant});
    }
    SUBCASE("tables") {
        expect("tables", "problem", "hone.logs, hone.metric_points are missing",
               {.replies = {{"SELECT name FROM system.tables WHERE database = 'hone' FORMAT",
                             "spans\ntrace_times\nsession_times\nupgraded_days\nevals\neval_history\ntraces\nchat_"
                             "sessions\n"}}});
        auto& engine = fixture().telemetry->engine();
        REQUIRE(engine.query(ClickHouseQuery("ALTER TABLE hone.spans DROP CONSTRAINT arrives_in_time")).ok());
        expect("inserts", "problem", "has no constraint arrives_in_time", {});
        REQUIRE(engine.query(ClickHouseQuery("ALTER TABLE hone.spans ADD CONSTRAINT arrives_in_time CHECK 1")).ok());
        expect("inserts", "problem", "has no constraint arrives_in_time, or another one", {});
        REQUIRE(
            engine
                .query(ClickHouseQuery("ALTER TABLE hone.spans MODIFY SETTING non_replicated_deduplication_window = 0"))
                .ok());
        expect("inserts", "problem", "does not keep the tokens of inserts", {});
    }
    SUBCASE("disks") {
        expect("free space", "warning", "nothing is kept free on default, cold",
               {.replies = {{"FROM system.disks", "default\ncold\n"}}});
    }
    SUBCASE("row policies") {
        expect("row policies", "problem", "row policies cannot be made",
               {.refusals = {{"CREATE ROW POLICY OR REPLACE hone_projects ON hone.logs", 497}}});
        expect("row policies", "problem", "hone.evals has no row policy",
               {.replies = {
                    {"FROM system.row_policies",
                     "spans\t0\neval_history\t0\ntrace_times\t0\nsession_times\t0\nlogs\t0\nmetric_points\t0\n"}}});
        expect("row policies", "problem", "another row policy opens hone.spans",
               {.replies = {{"FROM system.row_policies", "spans\t1\n"}}});
        expect("isolation", "problem", "the row policy does not hold in the database of a project", {.policy = ""});
        expect("isolation", "problem", "the row policy does not hold for a project that is not there",
               {.policy = "currentDatabase() = 'hone' OR project = substring(currentDatabase(), 6)"});
    }
    SUBCASE("what the reader can read") {
        const std::pair<const char*, const char*> open[] = {
            {"SELECT * FROM hone.check_", "the table behind the views is not refused"},
            {"FROM mergeTreeIndex('hone'", "the index of the table behind the views is not refused"},
            {"CREATE VIEW", "a new view is not refused"},
            {"DROP VIEW", "the removal of a view is not refused"}};
        for (const auto& [text, words] : open) expect("isolation", "problem", words, {.opened = {text}});
        const std::pair<const char*, const char*> canned[] = {
            {"reader: SELECT count() FROM system.tables WHERE NOT", "tables of other databases counts 7"},
            {"reader: SELECT count() FROM merge('^hone$'", "the table behind the views with merge() counts 7"},
            {"reader: SELECT * FROM file('hone_check.csv'", "a file is not refused"},
            {"reader: SELECT * FROM url('http", "a URL is not refused"},
            {"reader: SELECT * FROM s3('http", "an object store is not refused"},
            {"reader: SELECT * FROM remote('127", "another server is not refused"},
            {"reader: INSERT INTO", "an insert is not refused"},
            {"reader: SELECT 1 SETTINGS max_memory_usage = 99999999999", "its own memory limit is not refused"},
            {"reader: SELECT 1 SETTINGS readonly = 0", "the setting that makes it only read is not refused"}};
        for (const auto& [text, words] : canned) expect("isolation", "problem", words, {.replies = {{text, "7\n"}}});
        // An error of another kind: there is a right to reach what cannot be reached now.
        expect("isolation", "problem", "a URL is not refused for lack of a right, but fails",
               {.refusals = {{"FROM url('http", 210}}});
        expect("views", "problem", "its reader may read system.query_log",
               {.replies = {{"FROM system.query_log", "7\n"}}});
    }
    SUBCASE("limits and inserts") {
        expect("limits", "problem", "a query of more than 40 MB of memory is not ended",
               {.replaced = {{"max_memory_usage=41943040", "max_memory_usage=4194304000"}}});
        expect("limits", "problem", "a query of more than a second is not ended", {.replies = {{"CROSS JOIN", "1\n"}}});
        expect(
            "repeated inserts", "problem", "an insert that is sent again is stored twice",
            {.replaced = {{"non_replicated_deduplication_window = 1000", "non_replicated_deduplication_window = 0"}}});
        expect("repeated inserts", "problem", "an insert that arrives after its time is stored",
               {.replaced = {{"log_comment=until", "log_comment=before"}}});
    }
}

TEST_CASE("the clocks of all addresses of a ClickHouse are compared") {
    fixture().store();
    Outside here, behind;
    here.gate.set({});
    behind.gate.set({.replies = {{"now64(3)", "1700000000000\n"}}});
    ClickHouseOptions both = here.connection;
    both.url += "," + behind.connection.url;
    const auto findings = check_store(both, here.clock);
    const StoreFinding* clocks = finding_of(findings, "clocks");
    REQUIRE(clocks != nullptr);
    CHECK(clocks->state == "problem");
    CHECK(clocks->detail.find(behind.connection.url + " is behind " + here.connection.url) != std::string::npos);
    behind.gate.set({});
    const auto same = check_store(both, here.clock);
    REQUIRE(finding_of(same, "clocks") != nullptr);
    CHECK(finding_of(same, "clocks")->state == "ok");
}

TEST_CASE("what a killed check left is dropped by a later one, and that of a running one is not") {
    fixture().store();
    Outside outside;
    ClickHouse server(outside.connection);
    ClickHouseOptions as_reader = outside.connection;
    as_reader.user = "reader";
    ClickHouse reader(as_reader);
    FakeClock clock(outside.clock.now() - std::chrono::hours(2));
    Canaries killed(server, reader, clock), running(server, reader, outside.clock);
    REQUIRE(killed.make().ok());
    REQUIRE(running.make().ok());
    const auto findings = outside.check();
    const StoreFinding* found = finding_of(findings, "clean up");
    REQUIRE_MESSAGE(found != nullptr, text_of(findings));
    CHECK(found->state == "ok");
    CHECK(found->detail.find("dropped what an earlier check left: hone_project_check_") == 0);
    Canaries later(server, reader, outside.clock);
    CHECK(later.drop_leftovers().value().empty());
    const auto attacks = running.try_attacks(); // its rows are there
    REQUIRE(attacks.ok());
    CHECK(running.drop().ok());
    CHECK(killed.drop().ok());
    outside.expect_clean();
}

TEST_CASE("a set up that fails names its statement and no password") {
    fixture().store();
    Outside outside;
    outside.gate.set({.refusals = {{"CREATE USER IF NOT EXISTS `reader`", 497}}});
    StoreSetup setup;
    setup.server = outside.connection;
    setup.administrator = "admin";
    setup.administrator_password = "pass word";
    int count = 0;
    setup.made = [&](const std::string&) { ++count; };
    const auto failed = set_up_store(setup);
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().message.find("could not run CREATE USER IF NOT EXISTS `reader`: ") == 0);
    CHECK(failed.error().message.find("sha256_hash") == std::string::npos);
    CHECK(failed.error().trail.empty());
    CHECK(count == 1);
    // An administrator without the right.
    outside.gate.set({});
    setup.administrator = "hone";
    CHECK(set_up_store(setup).error().message.find("could not run CREATE USER IF NOT EXISTS `hone`: ") == 0);
}

TEST_CASE("the password of a user is sent as a hash with a salt") {
    // sha256 of "secretsalt".
    CHECK(identified_by("secret", "salt") == "WITH sha256_hash BY '" + to_hex([] {
                                                 crypto::Sha256 hash;
                                                 hash.add("secretsalt");
                                                 return hash.finish();
                                             }()) +
                                                 "' SALT 'salt'");
    const auto statements = user_statements({}, {identified_by("a'b", "00"), identified_by("c", "11")}).value();
    CHECK(statements[0].find("a'b") == std::string::npos);
    CHECK(statements[1].find("SALT '11'") != std::string::npos);
}

} // namespace hone::telemetry::testing
