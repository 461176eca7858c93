#include "api/handlers.h"

namespace hone::api {

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

Result<One<access::Member>> set_member_role(const Call& call, const SetRole& body) {
    const auto space = TRY(space_in_path(call));
    const auto user = TRY(parse_id<access::UserTag>(call.at("user")));
    return One<access::Member>{TRY(call.access().spaces.set_role(call.caller, space, user, body.role))};
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
    return One<access::Invite>{TRY(call.access().invites.create(call.caller, space, body.email, body.role))};
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

} // namespace hone::api
