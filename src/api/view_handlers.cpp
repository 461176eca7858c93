#include "api/tail_handlers.h"

namespace hone::api {

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

} // namespace hone::api
