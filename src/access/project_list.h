// Things that belong to projects: which of them a caller may see, and the part of their lists' SQL that is the same for
// all. One list is built on one thread.
#pragma once

#include "access/projects.h"
#include "sql/columns.h"

namespace hone::access {

// A thing is as visible as its project: not_found (which names `what`) where the caller may not see that, forbidden
// where they may not do this in it.
Result<> require_in_project(const Projects& projects, const Caller& caller, const SpaceId& space,
                            const ProjectId& project, Permission permission, const std::string& what);

// Whether things of the space that belong to no project are in the list. Keys that are bound to a project never see
// them.
enum class WithoutProject { hidden, shown };

// One query: where* rows.
class ProjectList {
public:
    // What the caller may see in the space, or in one of its projects. `select`: "SELECT … FROM …", whose own
    // parameters come first; `table`: what its columns are called by, such as "a.".
    static Result<ProjectList> create(const Projects& projects, const Caller& caller, const SpaceId& space,
                                      const std::optional<std::string>& project, Permission permission,
                                      std::string select, std::string table = {}, std::vector<sql::Value> values = {},
                                      WithoutProject without = WithoutProject::hidden);

    template <class Wanted>
    void where(std::string_view condition, const Wanted& value) {
        m_sql += " AND " + std::string(condition);
        m_values.push_back(sql::to_value(value));
    }
    template <class Wanted>
    void where_one_of(std::string_view column, const std::vector<Wanted>& wanted) {
        for (const Wanted& one : wanted) m_values.push_back(sql::to_value(name_of(one)));
        m_sql += " AND " + std::string(column) + " IN (" + sql::marks(wanted.size()) + ")";
    }

    // By id, one more than the page has: for make_page.
    Result<sql::Rows> newest_first(sql::Database& database, const PageRequest& page) {
        return rows(database, page, " < ?", " DESC");
    }
    Result<sql::Rows> oldest_first(sql::Database& database, const PageRequest& page) {
        return rows(database, page, " > ?", "");
    }

private:
    ProjectList(std::string sql, std::string table, std::vector<sql::Value> values)
        : m_sql(std::move(sql)),
          m_table(std::move(table)),
          m_values(std::move(values)) {}
    Result<sql::Rows> rows(sql::Database& database, const PageRequest& page, std::string_view after,
                           std::string_view direction);

    std::string m_sql;
    std::string m_table;
    std::vector<sql::Value> m_values;
};

} // namespace hone::access
