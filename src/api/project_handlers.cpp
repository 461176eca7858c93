#include "api/handlers.h"

namespace hone::api {

Result<access::Project> find_project(const Call& call, const std::optional<std::string>& space_name,
                                     std::string_view project, access::Permission permission) {
    // By id the space does not matter, so a caller without a first space may still name one by id.
    const auto space = parse_id<access::ProjectTag>(project).ok() && !space_name
                           ? access::SpaceId()
                           : TRY(call.access().spaces.choose(call.caller, space_name));
    return call.access().projects.find(call.caller, space, project, permission);
}

Result<access::Project> project_in_path(const Call& call, const std::optional<std::string>& space,
                                        access::Permission permission) {
    return find_project(call, space, call.at("project"), permission);
}

namespace {

Result<access::ProjectId> id_in_path(const Call& call, const InSpace& query, access::Permission permission) {
    return TRY(project_in_path(call, query.space, permission)).id;
}

} // namespace

Result<List<access::Project>> list_projects(const Call& call, const ListProjects& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return call.access().projects.list(call.caller, space, query.name_contains,
                                       TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Project>> create_project(const Call& call, const InSpace& query, const CreateProject& body) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return One<access::Project>{TRY(call.access().projects.create(
        call.caller, space, body.name, body.description.value_or(""), body.restricted, body.retention_days))};
}

Result<One<access::Project>> get_project(const Call& call, const InSpace& query) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_read));
    return One<access::Project>{TRY(call.access().projects.find(call.caller, {}, id.text()))};
}

Result<One<access::Project>> replace_project(const Call& call, const InSpace& query, const ReplaceProject& body) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_update));
    access::ProjectChange change;
    change.description = body.description.value_or("");
    return One<access::Project>{TRY(call.access().projects.update(call.caller, id, change))};
}

Result<One<access::Project>> update_project(const Call& call, const InSpace& query, const UpdateProject& body) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_update));
    const access::ProjectChange change{body.name, body.description, body.restricted, body.retention_days};
    return One<access::Project>{TRY(call.access().projects.update(call.caller, id, change))};
}

Result<NoContent> delete_project(const Call& call, const InSpace& query) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_delete));
    TRY(call.access().projects.remove(call.caller, id));
    call.services.installation.wake_duties();
    return NoContent{};
}

Result<List<access::Binding>> list_bindings(const Call& call, const InSpace& query) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_bind));
    return List<access::Binding>{TRY(call.access().projects.bindings(call.caller, id)), {}};
}

Result<One<access::Binding>> put_binding(const Call& call, const InSpace& query, const SetRole& body) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_bind));
    return One<access::Binding>{TRY(call.access().projects.bind(call.caller, id, call.at("principal"), body.role))};
}

Result<Nothing> delete_binding(const Call& call, const InSpace& query) {
    const auto id = TRY(id_in_path(call, query, access::Permission::project_bind));
    TRY(call.access().projects.unbind(call.caller, id, call.at("principal")));
    return Nothing{};
}

} // namespace hone::api
