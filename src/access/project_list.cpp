#include "access/project_list.h"

namespace hone::access {

Result<> require_in_project(const Projects& projects, const Caller& caller, const SpaceId& space,
                            const ProjectId& project, Permission permission, const std::string& what) {
    if (caller.kind == CallerKind::system) return {};
    const auto found = projects.find(caller, space, project.text(), permission);
    if (found.ok()) return {};
    return found.error().code == Code::not_found ? not_found(what) : found.error();
}

Result<ProjectList> ProjectList::create(const Projects& projects, const Caller& caller, const SpaceId& space,
                                        const std::optional<std::string>& project, Permission permission,
                                        std::string select, std::string table, std::vector<sql::Value> values,
                                        WithoutProject without) {
    TRY(caller.require(permission, space));
    values.push_back(sql::to_value(space));
    ProjectList list(std::move(select) + " WHERE " + table + "space_id = ?", table, std::move(values));
    const std::string column = table + "project_id";
    if (project) {
        const Project found = TRY(projects.find(caller, space, *project, permission));
        list.where(column + " = ?", found.id);
    } else {
        const Projects::Condition seen = Projects::seen_by(caller, space, column);
        const bool with_others = without == WithoutProject::shown && caller.bound_project.empty();
        list.m_sql += with_others ? " AND (" + seen.sql + " OR " + column + " IS NULL)" : " AND " + seen.sql;
        list.m_values.insert(list.m_values.end(), seen.values.begin(), seen.values.end());
    }
    return list;
}

Result<sql::Rows> ProjectList::rows(sql::Database& database, const PageRequest& page, std::string_view after,
                                    std::string_view direction) {
    if (const std::string place = TRY(page.after()); !place.empty()) where(m_table + "id" + std::string(after), place);
    m_sql += " ORDER BY " + m_table + "id" + std::string(direction) + " LIMIT ?";
    m_values.push_back(sql::to_value(page.limit + 1));
    return database.run_query(m_sql, m_values);
}

} // namespace hone::access
