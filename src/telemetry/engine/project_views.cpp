#include "telemetry/engine/project_views.h"

#include "base/text.h"
#include "telemetry/engine/engine_config.h"

namespace hone::telemetry {

namespace {

constexpr std::string_view view_names[] = {"spans", "evals", "traces", "chat_sessions"};

Result<> execute(ClickHouse& engine, const std::vector<std::string>& statements, std::string_view what) {
    for (const std::string& statement : statements) {
        ClickHouseQuery query(statement);
        query.deadline = std::chrono::seconds(30);
        auto made = engine.query(query);
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
    ClickHouseQuery query("DROP DATABASE IF EXISTS `" + TRY(project_database(project)) + "`");
    query.deadline = std::chrono::seconds(30);
    TRY(engine.query(query));
    return {};
}

Result<std::string> ProjectViews::open(const std::string& project) {
    std::string database = TRY(project_database(project));
    Lock lock(m_mutex);
    if (m_open.contains(project)) return database;
    if (!m_has_policies && !m_engine.is_embedded()) TRY(create_policies());
    m_has_policies = true;
    TRY(create(project, database));
    TRY(verify(project, database));
    m_open.insert(project);
    return database;
}

Result<> ProjectViews::create(const std::string& project, const std::string& database) {
    std::vector<std::string> statements{"CREATE DATABASE IF NOT EXISTS `" + database + "`"};
    for (const std::string_view name : view_names) { // both texts are letters of database_letters: nothing to escape
        const std::string table(name);
        statements.push_back("CREATE OR REPLACE VIEW `" + database + "`." + table +
                             " DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM hone." + table +
                             (table == "evals" ? " FINAL" : "") + " WHERE project = '" + project +
                             "' AND currentDatabase() = '" + database + "'");
    }
    return execute(m_engine, statements, "the project's views");
}

// The embedded engine has them from its configuration. Without them a view's own condition would still hide other
// projects' rows, but a function that fails on one of them could show it in its error.
Result<> ProjectViews::create_policies() {
    std::vector<std::string> statements;
    for (const std::string_view table : policy_tables)
        statements.push_back("CREATE ROW POLICY OR REPLACE hone_projects ON hone." + std::string(table) +
                             " FOR SELECT USING " + std::string(row_policy) + " TO CURRENT_USER");
    return execute(m_engine, statements, "row policies");
}

Result<> ProjectViews::verify(const std::string& project, const std::string& database) {
    const auto ask = [&](const char* sql) {
        ClickHouseQuery query(std::string(sql) + " FORMAT TSVRaw");
        query.as_reader = true;
        query.database = database;
        return m_engine.query(query);
    };
    const auto unsafe = [](std::string_view why) {
        return unavailable("SQL is not available: the engine does not isolate projects: " + std::string(why));
    };
    const std::string here = TRY(ask("SELECT currentDatabase()"));
    if (trim(here) != database) return unsafe("a query does not run in its project's database");
    for (const char* table : {"hone.spans", "hone.evals", "hone.trace_times", "hone.traces"}) {
        const auto rows = ask(("SELECT count() FROM " + std::string(table)).c_str());
        if (rows.ok() || rows.error().code != Code::forbidden)
            return unsafe("its reader may read " + std::string(table));
    }
    ClickHouseQuery beside("SELECT count() FROM hone.spans WHERE project != {project:String} FORMAT TSVRaw");
    beside.bind("project", project);
    beside.database = database; // as our own user, but not in our own database
    const std::string rows = TRY(m_engine.query(beside));
    if (trim(rows) != "0") return unsafe("its row policies do not hold");
    const auto others = ask("SELECT count() FROM system.processes");
    if (others.ok() ? trim(others.value()) != "0" : others.error().code != Code::forbidden)
        return unsafe("its reader can see queries of other users");
    return {};
}

} // namespace hone::telemetry
