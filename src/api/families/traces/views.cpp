// Saved views of the lists of a project.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ViewInProject {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<access::ViewPage> page;
    static constexpr Pack fields{
        Field{"space", &ViewInProject::space, "Id or name of the space; the caller's first one if not given."},
        Field{"page", &ViewInProject::page,
              "Page that the view belongs to: traces (if not given), sessions, charts or queries."},
    };
};

struct SaveView {
    std::string query;
    json::Defaulted<bool> is_default = false;
    static constexpr Pack fields{
        Field{"query", &SaveView::query, "filter=…&range=…, as in the address of the page."},
        Field{"is_default", &SaveView::is_default, "Show it when the page is opened without a filter or range."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<List<access::SavedView>> list_views(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    return List<access::SavedView>{TRY(call.access().saved_views.list(call.caller, project.id)), {}};
}

Result<One<access::SavedView>> save_view(const Call& call, const ViewInProject& query, const SaveView& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    access::SavedView wanted;
    wanted.page = query.page.value_or(access::ViewPage::traces);
    wanted.name = call.at("view");
    wanted.query = body.query;
    wanted.is_default = body.is_default;
    return One<access::SavedView>{TRY(call.access().saved_views.put(call.caller, project.id, wanted))};
}

Result<NoContent> delete_view(const Call& call, const ViewInProject& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    TRY(call.access().saved_views.remove(call.caller, project.id, query.page.value_or(access::ViewPage::traces),
                                         call.at("view")));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route views_table[] = {
    route<list_views>("GET", "/v1/projects/{project}/views", need(project_read),
                      "Saved views, charts of dashboards and SQL queries of the project."),
    route<save_view>("PUT", "/v1/projects/{project}/views/{view}", need(project_update), "Save a view under a name."),
    route<delete_view>("DELETE", "/v1/projects/{project}/views/{view}", need(project_update), "Delete a saved view."),
};

} // namespace

std::span<const Route> views_routes() {
    return views_table;
}

} // namespace hone::api
