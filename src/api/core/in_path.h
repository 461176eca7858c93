// What a request names: the space of its query, the project and the ids of its path.
#pragma once

#include "api/core/call.h"
#include "base/id.h"
#include "base/text.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace hone::api {

// The space that the request names, else the caller's first one.
Result<access::SpaceId> space_of(const Call& call, const std::optional<std::string>& space);

// By id, or by name within the space of the request; access checks the permission in the project.
Result<access::Project> find_project(const Call& call, const std::optional<std::string>& space,
                                     std::string_view project, access::Permission permission);
// The one that `{project}` in the path names.
Result<access::Project> project_in_path(const Call& call, const std::optional<std::string>& space,
                                        access::Permission permission);
// Of lists that can be narrowed to one project; absent when the request names none.
Result<std::optional<access::ProjectId>> project_filter(const Call& call, const access::SpaceId& space,
                                                        const std::optional<std::string>& project);

// A malformed id is not found, like one that does not exist.
template <class Tag>
Result<Id<Tag>> id_in_path(const Call& call, std::string_view parameter) {
    auto id = parse_id<Tag>(call.at(parameter));
    if (id.ok()) return id;
    std::string what(parameter);
    std::replace(what.begin(), what.end(), '_', ' ');
    return not_found(what + " " + std::string(truncate_utf8(call.at(parameter), 60)));
}

} // namespace hone::api
