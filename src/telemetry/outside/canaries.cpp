#include "telemetry/outside/canaries.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/engine/isolation.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/engine/schema.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr int64_t leftover_after_s = 3600;

std::string seconds_text(Time time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

std::string random_hex() {
    return to_hex(crypto::random_bytes(6));
}

// A row of (project, canary) in RowBinary; both are shorter than 128 bytes.
std::string canary_row(const std::string& project, const std::string& canary) {
    std::string row;
    for (const std::string& text : {project, canary}) row += static_cast<char>(text.size()), row += text;
    return row;
}

// The time in `check_SECONDS_…`, after the prefix; 0: it is not a name of ours.
int64_t time_in(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return 0;
    name.remove_prefix(prefix.size());
    const auto seconds = parse_integer(name.substr(0, name.find('_')));
    return seconds.ok() && seconds.value() > 0 ? seconds.value() : 0;
}

bool cannot_be_tried(const Error& error) {
    return error.code == Code::unavailable || error.code == Code::busy || error.code == Code::internal;
}

} // namespace

enum class Outcome {
    nothing_shown, // rows or an error, without the other project's canary
    zero,          // a count of 0, or an error
    refused,       // no right to do it; any other error could hide that there is one
};

struct Canaries::Attack {
    const char* what;
    const char* sql;
    Outcome outcome;
    enum class Way { both, as_hone_sends, bare } way = Way::both;
};

Canaries::Canaries(ClickHouse& server, ClickHouse& reader, const Clock& clock)
    : m_server(server),
      m_reader(reader),
      m_clock(clock),
      m_name(new_name(clock)),
      m_own("project_" + m_name + "_a"),
      m_other("project_" + m_name + "_b"),
      m_own_canary("own" + random_hex()),
      m_other_canary("canary" + random_hex()) {}

std::string Canaries::new_name(const Clock& clock) {
    return "check_" + seconds_text(clock.now()) + "_" + random_hex();
}

Canaries::~Canaries() {
    if (const auto dropped = drop(); !dropped.ok())
        log(Level::warning, "what the check made is still there", {{"name", m_name}, {"why", dropped.error().message}});
}

Result<std::vector<std::string>> Canaries::drop_leftovers() {
    const int64_t now = parse_integer(seconds_text(m_clock.now())).value();
    const auto names = [&](const std::string& sql) -> Result<std::vector<std::string>> {
        ClickHouseQuery query(sql + " FORMAT TSVRaw");
        const std::string found = TRY(m_server.query(query));
        std::vector<std::string> list;
        for (const std::string_view line : split(found, '\n'))
            if (!line.empty()) list.emplace_back(line);
        return list;
    };
    std::vector<std::string> dropped;
    const auto is_old = [&](const std::string& name, std::string_view prefix) {
        const int64_t made = time_in(name, prefix);
        return made > 0 && made + leftover_after_s < now;
    };
    // The name of a policy's table is known while its table is there, so that is dropped last.
    for (const std::string& name : TRY(names("SELECT name FROM system.databases WHERE startsWith(name, "
                                             "'hone_project_check_')"))) {
        if (!is_old(name, "hone_project_check_")) continue;
        TRY(drop_project_database(m_server, name.substr(5)));
        dropped.push_back(name);
    }
    for (const std::string& name :
         TRY(names("SELECT name FROM system.tables WHERE database = 'hone' AND startsWith(name, 'check_')"))) {
        if (!is_old(name, "check_")) continue;
        TRY(m_server.define("DROP ROW POLICY IF EXISTS hone_projects ON hone." + name));
        TRY(m_server.define("DROP TABLE IF EXISTS hone." + name + " SYNC"));
        dropped.push_back("hone." + name);
    }
    return dropped;
}

Result<> Canaries::make() {
    m_is_made = true; // also a part of it
    std::vector<std::string> statements{
        "CREATE TABLE hone." + m_name +
        " (project LowCardinality(String), canary String, CONSTRAINT arrives_in_time CHECK " +
        std::string(arrival_condition()) + ") ENGINE = MergeTree ORDER BY project" +
        (m_server.cluster().empty() ? " SETTINGS " + std::string(token_window) : "")};
    statements.push_back(create_policy_sql(m_name));
    for (const std::string& project : {m_own, m_other}) {
        const std::string database = TRY(project_database(project));
        statements.push_back("CREATE DATABASE IF NOT EXISTS `" + database + "`");
        statements.push_back(create_view_sql(database, "canaries", project, "*", m_name));
    }
    for (const std::string& statement : statements) TRY(m_server.define(statement));
    TRY(insert(m_own, m_own_canary));
    return insert(m_other, m_other_canary);
}

Result<> Canaries::drop() {
    if (!m_is_made) return {};
    Result<> failed;
    const auto keep = [&](Result<> done) {
        if (!done.ok() && failed.ok()) failed = std::move(done);
    };
    for (const std::string& project : {m_own, m_other}) keep(drop_project_database(m_server, project));
    keep(m_server.define("DROP ROW POLICY IF EXISTS hone_projects ON hone." + m_name));
    keep(m_server.define("DROP TABLE IF EXISTS hone." + m_name + " SYNC"));
    m_is_made = !failed.ok();
    return failed;
}

Result<> Canaries::insert(const std::string& project, const std::string& canary) {
    return m_server.insert("hone." + m_name, canary_row(project, canary), std::chrono::seconds(20));
}

Result<std::string> Canaries::count(const std::string& where, const std::string& database, const std::string& project) {
    ClickHouseQuery query("SELECT count() FROM hone." + m_name + where + " FORMAT TSVRaw");
    query.database = database;
    query.project = project;
    return std::string(trim(TRY(m_server.query(query))));
}

std::string Canaries::fill(std::string_view sql) const {
    std::string filled(sql);
    const std::pair<std::string_view, std::string> places[] = {
        {"{own}", "`hone_" + m_own + "`"}, {"{other}", "`hone_" + m_other + "`"}, {"{table}", m_name}};
    for (const auto& [place, text] : places)
        for (size_t at; (at = filled.find(place)) != filled.npos;) filled.replace(at, place.size(), text);
    return filled;
}

bool Canaries::is_shown(const std::string& text) const {
    return text.find(m_other_canary) != text.npos;
}

Result<std::string> Canaries::run(const Attack& attack, bool is_bare) {
    ClickHouseQuery query(fill(attack.sql));
    query.database = "hone_" + m_own;
    query.as_reader = !is_bare;
    query.deadline = std::chrono::seconds(20);
    auto result = (is_bare ? m_reader : m_server).query(query);
    if (result.ok()) {
        const std::string shown(trim(result.value()));
        if (is_shown(shown)) return std::string("shows the row of another project");
        if (attack.outcome == Outcome::refused) return std::string("is not refused");
        if (attack.outcome == Outcome::zero && shown != "0") return "counts " + std::string(truncate_utf8(shown, 100));
        return std::string();
    }
    const Error& error = result.error();
    if (is_shown(error.message) || is_shown(error.trail))
        return std::string("shows the row of another project in its error");
    if (attack.outcome == Outcome::refused && error.code != Code::forbidden)
        return "is not refused for lack of a right, but fails: " + error.message;
    if (cannot_be_tried(error)) return std::move(result).error();
    return std::string();
}

Result<std::vector<std::string>> Canaries::try_attacks() {
    using enum Outcome;
    constexpr auto bare = Attack::Way::bare, as_hone_sends = Attack::Way::as_hone_sends;
    static constexpr Attack all[] = {
        {"the view of another project", "SELECT count() FROM {other}.canaries", zero},
        {"the rows of another project's view", "SELECT * FROM {other}.canaries", nothing_shown},
        {"a function that fails on another project's rows", "SELECT toUInt64(canary) FROM {other}.canaries",
         nothing_shown},
        {"a function that fails on the rows of its own view", "SELECT toUInt64(canary) FROM {own}.canaries",
         nothing_shown},
        {"all views with merge()", "SELECT * FROM merge('hone_project_check_', 'canaries')", nothing_shown},
        {"a subquery with the setting of the policies",
         "SELECT * FROM (SELECT * FROM {other}.canaries SETTINGS log_comment = '*')", nothing_shown},
        {"a subquery with additional_table_filters",
         "SELECT * FROM (SELECT * FROM {own}.canaries SETTINGS additional_table_filters = {'hone.{table}': '1'})",
         nothing_shown},
        {"the table behind the views", "SELECT * FROM hone.{table}", refused},
        {"the table behind the views with merge()", "SELECT count() FROM merge('^hone$', '^{table}$')", zero},
        {"the index of the table behind the views", "SELECT count() FROM mergeTreeIndex('hone', '{table}')", refused},
        {"the definition of the table behind the views", "SHOW CREATE TABLE hone.{table}", refused},
        {"tables of other databases",
         "SELECT count() FROM system.tables WHERE NOT startsWith(database, 'hone_project_') AND lower(database) NOT IN "
         "('system', 'information_schema')",
         zero},
        {"columns of other databases",
         "SELECT count() FROM system.columns WHERE NOT startsWith(database, 'hone_project_') AND lower(database) NOT "
         "IN ('system', 'information_schema')",
         zero},
        {"parts of tables", "SELECT count() FROM system.parts", zero},
        {"grants of users", "SELECT count() FROM system.grants WHERE user_name != currentUser()", zero},
        {"a file", "SELECT * FROM file('hone_check.csv', 'CSV', 'a String')", refused},
        {"a URL", "SELECT * FROM url('http://127.0.0.1:9/', 'CSV', 'a String')", refused},
        {"an object store", "SELECT * FROM s3('http://127.0.0.1:9/bucket/key', 'CSV', 'a String')", refused},
        {"another server", "SELECT * FROM remote('127.0.0.1:9', 'hone', '{table}')", refused},
        {"a temporary table", "CREATE TEMPORARY TABLE hone_check (n UInt8)", refused, bare},
        {"an insert", "INSERT INTO {own}.canaries VALUES ('{table}', 'written')", refused, bare},
        {"a new table", "CREATE TABLE {own}.made (n UInt8) ENGINE = Memory", refused, bare},
        {"a new view", "CREATE VIEW {own}.made AS SELECT * FROM hone.{table}", refused, bare},
        {"the removal of a view", "DROP VIEW {own}.canaries", refused, bare},
        {"a change of a row policy", "CREATE ROW POLICY hone_check ON hone.{table} USING 1 TO CURRENT_USER", refused,
         bare},
        {"its own memory limit", "SELECT 1 SETTINGS max_memory_usage = 99999999999", refused, as_hone_sends},
        {"its own time limit", "SELECT 1 SETTINGS max_execution_time = 0", refused, as_hone_sends},
        {"the setting that makes it only read", "SELECT 1 SETTINGS readonly = 0", refused, as_hone_sends},
        {"the setting of the policies", "SELECT 1 SETTINGS log_comment = '*'", refused, as_hone_sends},
    };
    std::vector<std::string> breaches;
    ClickHouseQuery own("SELECT canary FROM canaries FORMAT TSVRaw");
    own.as_reader = true;
    own.database = "hone_" + m_own;
    const std::string seen = TRY(m_server.query(own));
    if (trim(seen) != m_own_canary)
        breaches.push_back("the reader does not see the one row of its own project: " +
                           std::string(truncate_utf8(seen, 100)));
    for (const Attack& attack : all)
        for (const bool is_bare : {false, true}) {
            if (attack.way == (is_bare ? as_hone_sends : bare)) continue;
            ++m_attacks;
            const std::string found = TRY(run(attack, is_bare));
            if (!found.empty()) breaches.push_back(std::string(attack.what) + " " + found);
        }
    // The policy, with rows that it has to hide: for our own user too, in any database but ours and for any other name.
    if (TRY(count("", "hone_" + m_own, "*")) != "1")
        breaches.emplace_back("the row policy does not hold in the database of a project");
    if (TRY(count("", "hone", "no project has this name")) != "0")
        breaches.emplace_back("the row policy does not hold for a project that is not there");
    if (TRY(count("", "hone", "*")) != "2") breaches.emplace_back("the server's own user does not see all rows");
    m_attacks += 3;
    return breaches;
}

Result<std::vector<std::string>> Canaries::try_limits() {
    constexpr size_t memory = 40 << 20;
    const auto query = [&](std::string sql, size_t most_memory) {
        ClickHouseQuery limited(std::move(sql));
        limited.as_reader = true;
        limited.database = "hone_" + m_own;
        limited.deadline = std::chrono::seconds(30);
        limited.set("max_execution_time", "1")
            .set("max_memory_usage", std::to_string(most_memory))
            .set("max_threads", "1");
        return m_server.query(limited);
    };
    std::vector<std::string> problems;
    const std::string settings = TRY(query("SELECT getSetting('readonly'), getSetting('max_memory_usage'), "
                                           "getSetting('timeout_overflow_mode') FORMAT TSVRaw",
                                           memory));
    if (trim(settings) != "1\t" + std::to_string(memory) + "\tthrow")
        problems.push_back("the settings that are sent with a query are not in force: " + std::string(trim(settings)));
    const auto large = query("SELECT length(groupArray(n)) FROM (SELECT arrayJoin(range(10000000)) AS n)", memory);
    if (large.ok() || large.error().code != Code::too_large)
        problems.push_back("a query of more than 40 MB of memory is not ended: " +
                           (large.ok() ? "it has a result" : large.error().message));
    const auto slow =
        query("SELECT sum(cityHash64(a, b) % 3) FROM (SELECT arrayJoin(range(200000)) AS a) AS x CROSS JOIN "
              "(SELECT arrayJoin(range(200000)) AS b) AS y",
              1 << 30);
    if (slow.ok() || slow.error().code != Code::busy)
        problems.push_back("a query of more than a second is not ended: " +
                           (slow.ok() ? "it has a result" : slow.error().message));
    return problems;
}

Result<std::vector<std::string>> Canaries::try_inserts() {
    std::vector<std::string> problems;
    const std::string table = "hone." + m_name;
    const std::string before = TRY(count("", "hone", "*"));
    TRY(insert(m_own, m_own_canary)); // the same bytes: the same token
    if (TRY(count("", "hone", "*")) != before) problems.emplace_back("an insert that is sent again is stored twice");
    ClickHouseQuery now("SELECT toUnixTimestamp(now()) FORMAT TSVRaw");
    const std::string time = TRY(m_server.query(now));
    const int64_t seconds = TRY(parse_integer(trim(time)));
    std::string row = canary_row(m_own, "late" + random_hex());
    const auto late = m_server.insert_from(table, row, std::chrono::seconds(20), false, seconds - 60);
    if (late.ok()) problems.emplace_back("an insert that arrives after its time is stored");
    if (!late.ok() && late.error().code != Code::conflict) return late.error();
    row = canary_row(m_own, "timely" + random_hex());
    const auto timely = m_server.insert_from(table, row, std::chrono::seconds(20), false, seconds + 60);
    if (!timely.ok()) problems.push_back("an insert that arrives in time is refused: " + timely.error().message);
    return problems;
}

} // namespace hone::telemetry
