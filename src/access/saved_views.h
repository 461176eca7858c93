// Views of a project's pages under a name: filter, range, columns, as the query string of the page's URL; also the
// charts of dashboards and SQL queries. All who see the project see them; one of each page may open by itself.
// Thread-safe.
#pragma once

#include "access/projects.h"

namespace hone::access {

enum class ViewPage { traces, sessions, charts, queries };
constexpr auto enum_names(ViewPage) {
    return std::array{EnumName{ViewPage::traces, "traces"}, EnumName{ViewPage::sessions, "sessions"},
                      EnumName{ViewPage::charts, "charts"}, EnumName{ViewPage::queries, "queries"}};
}

struct SavedView {
    ViewPage page = ViewPage::traces;
    std::string name;
    std::string query;
    bool is_default = false;
    std::string saved_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"page", &SavedView::page,
              "Page that the view belongs to: traces, sessions, charts (\"dashboard / title\") or queries (SQL)."},
        Field{"name", &SavedView::name, ""},
        Field{"query", &SavedView::query, "filter=…&range=…, as in the address of the page."},
        Field{"is_default", &SavedView::is_default, "Shown when the page is opened without a filter or range."},
        Field{"saved_by", &SavedView::saved_by, "Name of the user or key that saved it last."},
        Field{"created_at", &SavedView::created_at, ""},
        Field{"updated_at", &SavedView::updated_at, ""},
    };
};

class SavedViews {
public:
    SavedViews(sql::Database& database, const Clock& clock, const AuditLog& audit, const Projects& projects)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_projects(projects) {}

    // By name; needs project_read.
    Result<std::vector<SavedView>> list(const Caller& caller, const ProjectId& project) const;
    // Makes it, or replaces the one with this name; needs project_update. The default of the page before stops being
    // so.
    Result<SavedView> put(const Caller& caller, const ProjectId& project, const SavedView& wanted);
    Result<> remove(const Caller& caller, const ProjectId& project, ViewPage page, const std::string& name);

    static constexpr int64_t most_per_project = 200;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    const Projects& m_projects;
};

} // namespace hone::access
