#include "access/saved_views.h"

#include "access/names.h"

namespace hone::access {

namespace {

constexpr size_t longest_query = 8 << 10;

constexpr std::string_view select_view =
    "SELECT page, name, query, is_default, saved_by_name, created_at, updated_at FROM saved_views";

SavedView view_of(const sql::Row& row) {
    return {parse_enum<ViewPage>(row.text(0)).value_or(ViewPage::traces),
            row.text(1),
            row.text(2),
            row.flag(3),
            row.text(4),
            row.time(5),
            row.time(6)};
}

// It becomes a part of an address: what would need escaping there was not made by the UI.
Result<> check_query(std::string_view query) {
    if (query.size() > longest_query)
        return invalid("query must be at most " + std::to_string(longest_query) + " bytes long");
    for (const char letter : query)
        if (letter <= ' ' || letter > '~' || letter == '#' || letter == '"' || letter == '<' || letter == '>')
            return invalid("query must be as in an address: filter=status+%3D+error&range=24h");
    return {};
}

} // namespace

Result<std::vector<SavedView>> SavedViews::list(const Caller& caller, const ProjectId& project) const {
    TRY(m_projects.find(caller, {}, project.text(), Permission::project_read));
    std::vector<SavedView> views;
    for (const auto& row :
         TRY(m_database.query(std::string(select_view) + " WHERE project_id = ? ORDER BY page, name", project)))
        views.push_back(view_of(row));
    return views;
}

Result<SavedView> SavedViews::put(const Caller& caller, const ProjectId& id, const SavedView& wanted) {
    const Project project = TRY(m_projects.find(caller, {}, id.text(), Permission::project_update));
    const std::string name = TRY(checked_name("the view's name", wanted.name));
    TRY(check_query(wanted.query));
    return m_database.write([&](sql::Transaction& transaction) -> Result<SavedView> {
        const Time now = m_clock.now();
        const auto page = name_of(wanted.page);
        const auto others = TRY(transaction.query(
            "SELECT COUNT(*) FROM saved_views WHERE project_id = ? AND NOT (page = ? AND name = ?)", id, page, name));
        if (others.front().integer(0) >= most_per_project)
            return conflict("a project has at most " + std::to_string(most_per_project) + " saved views");
        if (wanted.is_default)
            TRY(transaction.execute("UPDATE saved_views SET is_default = 0 WHERE project_id = ? AND page = ?", id,
                                    page));
        TRY(transaction.execute(
            "INSERT INTO saved_views (project_id, page, name, query, is_default, saved_by, saved_by_name, created_at, "
            "updated_at) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT (project_id, page, name) DO UPDATE SET query = "
            "excluded.query, is_default = excluded.is_default, saved_by = excluded.saved_by, saved_by_name = "
            "excluded.saved_by_name, updated_at = excluded.updated_at",
            id, page, name, wanted.query, wanted.is_default, caller.principal(), caller.name, now, now));
        TRY(m_audit.record(transaction, caller,
                           {"view_save",
                            project.space_id,
                            id.text(),
                            {{"page", page}, {"name", name}, {"is_default", wanted.is_default}}}));
        const auto rows = TRY(transaction.query(
            std::string(select_view) + " WHERE project_id = ? AND page = ? AND name = ?", id, page, name));
        return view_of(rows.front());
    });
}

Result<> SavedViews::remove(const Caller& caller, const ProjectId& id, ViewPage page, const std::string& name) {
    const Project project = TRY(m_projects.find(caller, {}, id.text(), Permission::project_update));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t gone = TRY(transaction.execute(
            "DELETE FROM saved_views WHERE project_id = ? AND page = ? AND name = ?", id, name_of(page), name));
        if (gone == 0) return not_found("view " + std::string(truncate_utf8(name, 100)));
        return m_audit.record(transaction, caller,
                              {"view_delete", project.space_id, id.text(), {{"page", name_of(page)}, {"name", name}}});
    });
}

} // namespace hone::access
