#include "api/core/in_path.h"

namespace hone::api {

Result<access::SpaceId> space_of(const Call& call, const std::optional<std::string>& space) {
    return call.access().spaces.choose(call.caller, space);
}

Result<access::Project> find_project(const Call& call, const std::optional<std::string>& space_name,
                                     std::string_view project, access::Permission permission) {
    // An id needs no space: a caller without a first space can still name a project by id.
    const bool is_id = parse_id<access::ProjectTag>(project).ok();
    const auto space = is_id && !space_name ? access::SpaceId() : TRY(space_of(call, space_name));
    return call.access().projects.find(call.caller, space, project, permission);
}

Result<access::Project> project_in_path(const Call& call, const std::optional<std::string>& space,
                                        access::Permission permission) {
    return find_project(call, space, call.at("project"), permission);
}

Result<std::optional<access::ProjectId>> project_filter(const Call& call, const access::SpaceId& space,
                                                        const std::optional<std::string>& project) {
    if (!project) return std::optional<access::ProjectId>();
    return std::optional(TRY(call.access().projects.find(call.caller, space, *project)).id);
}

} // namespace hone::api
