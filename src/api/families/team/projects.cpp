// Projects and their bindings.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListProjects {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name_contains;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    std::optional<bool> include_experiment_projects;
    std::optional<bool> include_dataset_evaluator_projects;
    static constexpr Pack fields{
        Field{"space", &ListProjects::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name_contains", &ListProjects::name_contains, "Only names that contain this, in any case."},
        Field{"limit", &ListProjects::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListProjects::cursor, "next_cursor of the previous response."},
        Field{"include_experiment_projects", &ListProjects::include_experiment_projects,
              "Also the projects with the traces of experiments."},
        Field{"include_dataset_evaluator_projects", &ListProjects::include_dataset_evaluator_projects,
              "Accepted for Phoenix clients."},
    };
};

struct CreateProject {
    std::string name;
    std::optional<std::string> description;
    json::Defaulted<bool> restricted;
    std::optional<int64_t> retention_days;
    static constexpr Pack fields{
        Field{"name", &CreateProject::name, ""},
        Field{"description", &CreateProject::description, ""},
        Field{"restricted", &CreateProject::restricted, "Only users and keys with a binding see it."},
        Field{"retention_days", &CreateProject::retention_days,
              "Days before spans are deleted; the server's default if not given."},
    };
};

struct ReplaceProject {
    std::optional<std::string> description;
    static constexpr Pack fields{Field{"description", &ReplaceProject::description, ""}};
};

struct UpdateProject {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<bool> restricted;
    std::optional<std::optional<int64_t>> retention_days;
    static constexpr Pack fields{
        Field{"name", &UpdateProject::name, ""},
        Field{"description", &UpdateProject::description, ""},
        Field{"restricted", &UpdateProject::restricted, ""},
        Field{"retention_days", &UpdateProject::retention_days, "null: the server's default."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<access::ProjectId> id_in_path(const Call& call, const InSpace& query, access::Permission permission) {
    return TRY(project_in_path(call, query.space, permission)).id;
}

} // namespace

Result<List<access::Project>> list_projects(const Call& call, const ListProjects& query) {
    const auto space = TRY(space_of(call, query.space));
    return call.access().projects.list(call.caller, space, query.name_contains, TRY(page_of(query.limit, query.cursor)),
                                       query.include_experiment_projects.value_or(false));
}

Result<One<access::Project>> create_project(const Call& call, const InSpace& query, const CreateProject& body) {
    const auto space = TRY(space_of(call, query.space));
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

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route projects_table[] = {
    route<list_projects>("GET", "/v1/projects", need(project_read), "Projects of a space."),
    route<create_project>("POST", "/v1/projects", need(project_create), "Create a project."),
    route<get_project>("GET", "/v1/projects/{project}", need(project_read), "A project by id or name."),
    route<replace_project>("PUT", "/v1/projects/{project}", need(project_update),
                           "Replace the description (as Phoenix does)."),
    route<update_project>("PATCH", "/v1/projects/{project}", need(project_update),
                          "Rename a project, change its settings."),
    route<delete_project>("DELETE", "/v1/projects/{project}", need(project_delete),
                          "Delete a project with all its data."),
    route<list_bindings>("GET", "/v1/projects/{project}/bindings", need(project_bind),
                         "Bindings of a project: who can see it when it is restricted."),
    route<put_binding>("PUT", "/v1/projects/{project}/bindings/{principal}", need(project_bind), "Create a binding."),
    route<delete_binding>("DELETE", "/v1/projects/{project}/bindings/{principal}", need(project_bind),
                          "Delete a binding."),
};

} // namespace

std::span<const Route> projects_routes() {
    return projects_table;
}

} // namespace hone::api
