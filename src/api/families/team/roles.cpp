// Custom roles of a space.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

struct CreateCustomRole {
    std::string name;
    json::Defaulted<std::string> description;
    std::vector<std::string> permissions;
    static constexpr Pack fields{
        Field{"name", &CreateCustomRole::name, ""},
        Field{"description", &CreateCustomRole::description, ""},
        Field{"permissions", &CreateCustomRole::permissions,
              "Names of permissions that the caller has itself; what is not listed is denied."},
    };
};

struct UpdateCustomRole {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<std::vector<std::string>> permissions;
    static constexpr Pack fields{
        Field{"name", &UpdateCustomRole::name, ""},
        Field{"description", &UpdateCustomRole::description, ""},
        Field{"permissions", &UpdateCustomRole::permissions, "Replaces all of them."},
    };
};

Result<List<access::CustomRole>> list_custom_roles(const Call& call, const PageQuery& query) {
    const auto space = TRY(space_of(call, call.at("space")));
    return call.access().custom_roles.list(call.caller, space, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::CustomRole>> get_custom_role(const Call& call) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<access::CustomRole>{TRY(call.access().custom_roles.find(call.caller, space, call.at("role")))};
}

Result<One<access::CustomRole>> create_custom_role(const Call& call, const CreateCustomRole& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<access::CustomRole>{
        TRY(call.access().custom_roles.create(call.caller, space, {body.name, body.description, body.permissions}))};
}

Result<One<access::CustomRole>> update_custom_role(const Call& call, const UpdateCustomRole& body) {
    const auto space = TRY(space_of(call, call.at("space")));
    return One<access::CustomRole>{TRY(call.access().custom_roles.update(
        call.caller, space, call.at("role"), {body.name, body.description, body.permissions}))};
}

Result<Nothing> delete_custom_role(const Call& call) {
    const auto space = TRY(space_of(call, call.at("space")));
    TRY(call.access().custom_roles.remove(call.caller, space, call.at("role")));
    return Nothing{};
}

namespace {

using enum access::Permission;

const Route roles_table[] = {
    route<list_custom_roles>("GET", "/v1/spaces/{space}/roles", need(member_read), "Custom roles of a space."),
    route<create_custom_role>("POST", "/v1/spaces/{space}/roles", need(role_manage),
                              "Compose a role of permissions that the caller has."),
    route<get_custom_role>("GET", "/v1/spaces/{space}/roles/{role}", need(member_read), "A custom role by id or name."),
    route<update_custom_role>("PATCH", "/v1/spaces/{space}/roles/{role}", need(role_manage),
                              "Change a custom role; it counts for its members with their next request."),
    route<delete_custom_role>("DELETE", "/v1/spaces/{space}/roles/{role}", need(role_manage),
                              "Delete a custom role that no member has."),
};

} // namespace

std::span<const Route> roles_routes() {
    return roles_table;
}

} // namespace hone::api
