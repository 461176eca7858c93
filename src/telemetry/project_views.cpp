#include "telemetry/project_views.h"

#include "base/text.h"
#include "telemetry/engine_config.h"

namespace hone::telemetry {

namespace {

constexpr std::string_view view_names[] = {"spans", "evals", "traces", "chat_sessions"};

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
    TRY(create(project, database));
    if (!m_is_verified) TRY(verify(database));
    m_is_verified = true;
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
    for (const std::string& statement : statements) {
        ClickHouseQuery query(statement);
        query.deadline = std::chrono::seconds(30);
        auto made = m_engine.query(query);
        if (!made.ok() && made.error().code != Code::unavailable && made.error().code != Code::busy)
            return unavailable("SQL cannot be asked: the project's views cannot be made: " + made.error().message);
        if (!made.ok()) return std::move(made).error();
    }
    return {};
}

Result<> ProjectViews::verify(const std::string& database) {
    const auto ask = [&](const char* sql) {
        ClickHouseQuery query(std::string(sql) + " FORMAT TSVRaw");
        query.as_reader = true;
        query.database = database;
        return m_engine.query(query);
    };
    const auto unsafe = [](std::string_view why) {
        return unavailable("SQL cannot be asked: the engine would not keep projects apart: " + std::string(why));
    };
    const std::string here = TRY(ask("SELECT currentDatabase()"));
    if (trim(here) != database) return unsafe("a question does not stand in its project's database");
    for (const char* table : {"hone.spans", "hone.evals", "hone.trace_times", "hone.traces"}) {
        const auto rows = ask(("SELECT count() FROM " + std::string(table)).c_str());
        if (rows.ok() || rows.error().code != Code::forbidden)
            return unsafe("its reader may read " + std::string(table));
    }
    const auto others = ask("SELECT count() FROM system.processes");
    if (others.ok() ? trim(others.value()) != "0" : others.error().code != Code::forbidden)
        return unsafe("its reader may see what others ask");
    return {};
}

} // namespace hone::telemetry
