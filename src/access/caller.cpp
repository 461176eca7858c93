#include "access/caller.h"

namespace hone::access {

std::optional<Role> Caller::role_in(const SpaceId& space) const {
    // An installation owner's own login acts as owner everywhere; a key never leaves its space.
    if (installation_owner && kind == CallerKind::user) return Role::owner;
    if (const auto found = roles.find(space); found != roles.end()) return found->second.role;
    return std::nullopt;
}

std::string Caller::custom_role_in(const SpaceId& space) const {
    if (installation_owner && kind == CallerKind::user) return "";
    const auto found = roles.find(space);
    return found != roles.end() ? found->second.custom : "";
}

PermissionSet Caller::permissions_in(const SpaceId& space) const {
    if (kind == CallerKind::system) return permissions_of(Role::owner);
    if (installation_owner && kind == CallerKind::user) return permissions_of(Role::owner) & scope;
    const auto found = roles.find(space);
    return found != roles.end() ? found->second.permissions & scope : PermissionSet();
}

PermissionSet Caller::permissions_of_installation() const {
    if (kind == CallerKind::system) return installation_permissions();
    return installation_owner ? installation_permissions() & scope : PermissionSet();
}

bool Caller::may_anywhere(Permission permission) const {
    if (permissions_of_installation().has(permission)) return true;
    if (installation_owner && kind == CallerKind::user) return true;
    for (const auto& [space, role] : roles)
        if ((role.permissions & scope).has(permission)) return true;
    return kind == CallerKind::system;
}

Result<> Caller::require(Permission permission, const SpaceId& space) const {
    if (is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    if (kind != CallerKind::system && !role_in(space)) return not_found("space");
    if (!permissions_in(space).has(permission))
        return forbidden("this needs the permission " + std::string(name_of(permission)) + " in the space");
    return {};
}

Result<> Caller::require(Permission permission) const {
    if (is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    if (!permissions_of_installation().has(permission))
        return forbidden("this needs the permission " + std::string(name_of(permission)) + " of an installation owner");
    return {};
}

Result<> Caller::require_user() const {
    if (is_guest()) return unauthorized("log in first");
    if (kind != CallerKind::user) return forbidden("an API key cannot do this; log in with a password");
    return {};
}

Caller Caller::system() {
    Caller caller;
    caller.kind = CallerKind::system;
    caller.name = "hone";
    return caller;
}

Caller Caller::guest(std::string peer, std::string request_id) {
    Caller caller;
    caller.peer = std::move(peer);
    caller.request_id = std::move(request_id);
    return caller;
}

} // namespace hone::access
