// Spaces, their members and invites; users of the installation.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct DeleteSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> confirm;
    static constexpr Pack fields{
        Field{"confirm", &DeleteSpace::confirm, "The name of the space, to confirm."},
    };
};

struct CreateSpace {
    std::string name;
    json::Defaulted<std::string> description;
    static constexpr Pack fields{
        Field{"name", &CreateSpace::name, ""},
        Field{"description", &CreateSpace::description, ""},
    };
};

struct UpdateSpace {
    std::optional<std::string> name;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"name", &UpdateSpace::name, ""},
        Field{"description", &UpdateSpace::description, ""},
    };
};

struct CreateInvite {
    std::string email;
    std::optional<access::Role> role;
    std::optional<std::string> custom_role;
    static constexpr Pack fields{
        Field{"email", &CreateInvite::email, ""},
        Field{"role", &CreateInvite::role, "A built-in role; or give custom_role."},
        Field{"custom_role", &CreateInvite::custom_role, "Id or name of a custom role of the space."},
    };
};

struct SetMemberRole {
    std::optional<access::Role> role;
    std::optional<std::string> custom_role;
    static constexpr Pack fields{
        Field{"role", &SetMemberRole::role, "A built-in role; or give custom_role."},
        Field{"custom_role", &SetMemberRole::custom_role, "Id or name of a custom role of the space."},
    };
};

struct UpdateUser {
    std::optional<std::string> name;
    std::optional<bool> disabled;
    std::optional<bool> installation_owner;
    static constexpr Pack fields{
        Field{"name", &UpdateUser::name, ""},
        Field{"disabled", &UpdateUser::disabled, ""},
        Field{"installation_owner", &UpdateUser::installation_owner, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// The space in the path, by id or name; not_found when the caller has no part in it.
Result<access::SpaceId> space_in_path(const Call& call) {
    return call.access().spaces.choose(call.caller, call.at("space"));
}

} // namespace

Result<List<access::Space>> list_spaces(const Call& call, const PageQuery& query) {
    return call.access().spaces.list(call.caller, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Space>> create_space(const Call& call, const CreateSpace& body) {
    return One<access::Space>{TRY(call.access().spaces.create(call.caller, body.name, body.description))};
}

Result<One<access::Space>> get_space(const Call& call) {
    return One<access::Space>{TRY(call.access().spaces.find(call.caller, call.at("space")))};
}

Result<One<access::Space>> update_space(const Call& call, const UpdateSpace& body) {
    const auto space = TRY(space_in_path(call));
    return One<access::Space>{TRY(call.access().spaces.update(call.caller, space, {body.name, body.description}))};
}

Result<Nothing> delete_space(const Call& call, const DeleteSpace& query) {
    const auto space = TRY(space_in_path(call));
    TRY(call.access().spaces.remove(call.caller, space, query.confirm.value_or("")));
    call.services.installation.wake_duties();
    return Nothing{};
}

Result<List<access::Member>> list_members(const Call& call, const PageQuery& query) {
    const auto space = TRY(space_in_path(call));
    return call.access().spaces.members(call.caller, space, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Member>> set_member_role(const Call& call, const SetMemberRole& body) {
    const auto space = TRY(space_in_path(call));
    const auto user = TRY(parse_id<access::UserTag>(call.at("user")));
    const auto choice = TRY(access::RoleChoice::of(body.role, body.custom_role));
    return One<access::Member>{TRY(call.access().spaces.set_role(call.caller, space, user, choice))};
}

Result<Nothing> remove_member(const Call& call) {
    const auto space = TRY(space_in_path(call));
    const auto user = TRY(parse_id<access::UserTag>(call.at("user")));
    TRY(call.access().spaces.remove_member(call.caller, space, user));
    return Nothing{};
}

Result<List<access::Invite>> list_invites(const Call& call, const PageQuery& query) {
    const auto space = TRY(space_in_path(call));
    return call.access().invites.list(call.caller, space, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::Invite>> create_invite(const Call& call, const CreateInvite& body) {
    const auto space = TRY(space_in_path(call));
    const auto choice = TRY(access::RoleChoice::of(body.role, body.custom_role));
    return One<access::Invite>{TRY(call.access().invites.create(call.caller, space, body.email, choice))};
}

Result<One<access::Invite>> revoke_invite(const Call& call) {
    const auto space = TRY(space_in_path(call));
    const auto invite = TRY(parse_id<access::InviteTag>(call.at("invite")));
    return One<access::Invite>{TRY(call.access().invites.revoke(call.caller, space, invite))};
}

Result<List<access::User>> list_users(const Call& call, const PageQuery& query) {
    return call.access().users.list(call.caller, TRY(page_of(query.limit, query.cursor)));
}

Result<One<access::User>> update_user(const Call& call, const UpdateUser& body) {
    const auto user = TRY(parse_id<access::UserTag>(call.at("user")));
    return One<access::User>{
        TRY(call.access().users.update(call.caller, user, {body.name, body.disabled, body.installation_owner}))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route spaces_table[] = {
    route<list_spaces>("GET", "/v1/spaces", login, "Spaces of the caller; all spaces for an installation owner."),
    route<create_space>("POST", "/v1/spaces", need(space_create), "Create a space."),
    route<get_space>("GET", "/v1/spaces/{space}", need(space_read), "A space by id or name."),
    route<update_space>("PATCH", "/v1/spaces/{space}", need(space_update), "Change name or description of a space."),
    route<delete_space>("DELETE", "/v1/spaces/{space}", need(space_delete), "Delete a space with all its data."),
    route<list_members>("GET", "/v1/spaces/{space}/members", need(member_read), "Members of a space."),
    route<set_member_role>("PATCH", "/v1/spaces/{space}/members/{user}", need(member_manage),
                           "Change a member's role."),
    route<remove_member>("DELETE", "/v1/spaces/{space}/members/{user}", need(member_read),
                         "Remove a member (needs member_manage), or leave the space."),
    route<list_invites>("GET", "/v1/spaces/{space}/invites", need(member_manage), "Invites of a space."),
    route<create_invite>("POST", "/v1/spaces/{space}/invites", need(member_manage),
                         "Invite a person by mail address; the link is shown once.")
        .secret(),
    route<revoke_invite>("DELETE", "/v1/spaces/{space}/invites/{invite}", need(member_manage), "Revoke an invite."),
};

const Route users_table[] = {
    route<list_users>("GET", "/v1/users", need(user_manage), "All users."),
    route<update_user>("PATCH", "/v1/users/{user}", need(user_manage),
                       "Rename or disable a user, or make it an installation owner."),
};

} // namespace

std::span<const Route> spaces_routes() {
    return spaces_table;
}

std::span<const Route> users_routes() {
    return users_table;
}

} // namespace hone::api
