#include "telemetry/engine/project_views.h"

#include "base/text.h"
#include "telemetry/engine/engine_config.h"
#include "telemetry/engine/isolation.h"
#include "telemetry/span/text_slices.h"

namespace hone::telemetry {

namespace {

constexpr std::string_view view_names[] = {"spans", "evals", "traces", "chat_sessions", "logs", "metric_points"};

// How long what was verified at an outside ClickHouse counts.
constexpr auto verified_for = std::chrono::minutes(10);
constexpr auto unproven_for = std::chrono::minutes(1);

// Tables that show queries of other users and who they are. A table that this server does not have cannot be read
// either.
constexpr std::string_view closed_system_tables[] = {
    "query_log", "query_views_log", "query_thread_log", "text_log",     "session_log", "part_log",
    "crash_log", "query_cache",     "errors",           "row_policies", "users",       "mutations",
};

Error not_isolated(const std::string& why) {
    return unavailable("SQL is not available: the engine does not isolate projects: " + why);
}

// The error names what they make.
Result<> define_all(ClickHouse& engine, const std::vector<std::string>& statements, std::string_view what) {
    for (const std::string& statement : statements) {
        auto made = engine.define(statement);
        if (!made.ok() && made.error().code != Code::unavailable && made.error().code != Code::busy)
            return unavailable("SQL is not available: " + std::string(what) +
                               " cannot be made: " + made.error().message);
        if (!made.ok()) return std::move(made).error();
    }
    return {};
}

} // namespace

std::span<const std::string_view> project_tables() {
    return view_names;
}

Result<std::string> project_database(std::string_view project) {
    const bool is_plain = project.starts_with("project_") && project.size() <= 100 &&
                          project.find_first_not_of(database_letters) == std::string_view::npos;
    if (!is_plain) return internal("this project's id cannot name a database");
    return "hone_" + std::string(project);
}

Result<> drop_project_database(ClickHouse& engine, std::string_view project) {
    return engine.define("DROP DATABASE IF EXISTS `" + TRY(project_database(project)) + "`");
}

std::string create_policy_sql(std::string_view table) {
    return "CREATE ROW POLICY OR REPLACE hone_projects ON hone." + std::string(table) + " FOR SELECT USING " +
           std::string(row_policy) + " TO CURRENT_USER";
}

// Without them a view's own condition would still hide other projects' rows, but a function that fails on one of them
// could show it in its error.
Result<> create_policies(ClickHouse& engine) {
    std::vector<std::string> statements;
    for (const std::string_view table : policy_tables) statements.push_back(create_policy_sql(table));
    return define_all(engine, statements, "row policies");
}

std::string create_view_sql(const std::string& database, const std::string& view, const std::string& project,
                            const std::string& columns, const std::string& source) {
    return "CREATE OR REPLACE VIEW `" + database + "`." + view +
           " DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT " + columns + " FROM hone." + source +
           " WHERE project = '" + project + "' AND currentDatabase() = '" + database + "'";
}

Result<> verify_reader(ClickHouse& engine, const std::string& project, const std::string& database) {
    const auto ask = [&](const std::string& sql) {
        ClickHouseQuery query(sql + " FORMAT TSVRaw");
        query.as_reader = true;
        query.database = database;
        return engine.query(query);
    };
    const std::string here = TRY(ask("SELECT currentDatabase()"));
    if (trim(here) != database) return not_isolated("a query does not run in its project's database");
    for (const char* table : {"hone.spans", "hone.evals", "hone.trace_times", "hone.session_times", "hone.traces",
                              "hone.logs", "hone.metric_points"}) {
        const auto rows = ask("SELECT count() FROM " + std::string(table));
        if (rows.ok() || rows.error().code != Code::forbidden)
            return not_isolated("its reader may read " + std::string(table));
    }
    ClickHouseQuery beside("SELECT count() FROM hone.spans WHERE project != {project:String} FORMAT TSVRaw");
    beside.bind("project", project);
    beside.database = database; // as our own user, but not in our own database
    const std::string rows = TRY(engine.query(beside));
    if (trim(rows) != "0") return not_isolated("its row policies do not hold");
    const auto others = ask("SELECT count() FROM system.processes");
    if (others.ok() ? trim(others.value()) != "0" : others.error().code != Code::forbidden)
        return not_isolated("its reader can see queries of other users");
    for (const std::string_view table : closed_system_tables) {
        const auto seen = ask("SELECT count() FROM system." + std::string(table));
        if (!seen.ok() && (seen.error().code == Code::unavailable || seen.error().code == Code::busy))
            return seen.error();
        if (seen.ok() && trim(seen.value()) != "0")
            return not_isolated("its reader may read system." + std::string(table));
    }
    return {};
}

Result<bool> verify_policies(ClickHouse& engine) {
    const auto count = [&](std::string_view table, std::string project) {
        ClickHouseQuery query("SELECT count() FROM hone." + std::string(table) + " FORMAT TSVRaw");
        query.project = std::move(project);
        return engine.query(query);
    };
    bool is_proven = true;
    for (const std::string_view table : policy_tables) {
        const std::string all = TRY(count(table, "*"));
        const std::string none = TRY(count(table, "no project has this name"));
        if (trim(none) != "0") return not_isolated("no row policy holds for hone." + std::string(table));
        is_proven &= trim(all) != "0";
    }
    // What the server has recorded, where our user may read it: a second policy would show more rows, not fewer. Both
    // texts are rendered, because a server stores its own spelling.
    ClickHouseQuery listed(
        "SELECT table, countIf(formatQuerySingleLine(concat('SELECT ', ifNull(select_filter, '1'))) != "
        "formatQuerySingleLine(concat('SELECT ', {policy:String}))) FROM system.row_policies "
        "WHERE database = 'hone' AND NOT is_restrictive AND (apply_to_all OR has(apply_to_list, "
        "currentUser())) GROUP BY table FORMAT TSVRaw");
    listed.bind("policy", row_policy);
    auto found = engine.query(listed);
    if (!found.ok()) {
        if (found.error().code == Code::forbidden) return is_proven;
        return std::move(found).error();
    }
    for (const std::string_view table : policy_tables) {
        bool is_there = false;
        for (const std::string_view line : split(found.value(), '\n')) {
            const size_t tab = line.find('\t');
            if (tab == line.npos || line.substr(0, tab) != table) continue;
            is_there = true;
            if (line.substr(tab + 1) != "0") return not_isolated("another row policy opens hone." + std::string(table));
        }
        if (!is_there) return not_isolated("hone." + std::string(table) + " has no row policy");
    }
    return true;
}

Result<std::string> ProjectViews::open(const std::string& project) {
    std::string database = TRY(project_database(project));
    Lock lock(m_mutex);
    const auto now = std::chrono::steady_clock::now();
    if (const auto known = m_open.find(project); known != m_open.end() && now < known->second) return database;
    m_open.erase(project);
    if (!m_has_policies && !m_engine.is_embedded()) TRY(create_policies());
    m_has_policies = true;
    TRY(create(project, database));
    TRY(verify(project, database));
    // The embedded engine's policies are its configuration. Those of another server can be changed by its people, and
    // show nothing while there are no rows that they could hide.
    if (m_engine.is_embedded())
        m_open[project] = std::chrono::steady_clock::time_point::max();
    else
        m_open[project] = now + (TRY(check_policies()) ? verified_for : unproven_for);
    return database;
}

Result<> ProjectViews::create(const std::string& project, const std::string& database) {
    std::vector<std::string> statements{"CREATE DATABASE IF NOT EXISTS `" + database + "`"};
    for (const std::string_view name : view_names) { // both texts are letters of database_letters: nothing to escape
        const std::string table(name);
        const bool is_replacing = table == "evals" || table == "logs" || table == "metric_points";
        const std::string columns = table == "spans" ? "* REPLACE (" + full_attributes_sql() + " AS attributes)" : "*";
        statements.push_back(
            create_view_sql(database, table, project, columns, table + (is_replacing ? " FINAL" : "")));
    }
    return define_all(m_engine, statements, "the project's views");
}

Result<> ProjectViews::create_policies() {
    return telemetry::create_policies(m_engine);
}

Result<> ProjectViews::verify(const std::string& project, const std::string& database) {
    return verify_reader(m_engine, project, database);
}

Result<bool> ProjectViews::check_policies() {
    return verify_policies(m_engine);
}

} // namespace hone::telemetry
