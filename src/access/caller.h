// Who sends a request. Every domain function takes a `const Caller&` first and checks its permissions with it.
// Created by Logins (cookie) and Keys (API key) for each request; a plain value, any thread.
#pragma once

#include "access/permission.h"
#include "base/id.h"
#include "base/result.h"

#include <map>
#include <optional>
#include <string>

namespace hone::access {

struct UserTag {
    static constexpr std::string_view kind = "user";
};
struct SpaceTag {
    static constexpr std::string_view kind = "space";
};
struct ProjectTag {
    static constexpr std::string_view kind = "project";
};
struct KeyTag {
    static constexpr std::string_view kind = "key";
};
struct InviteTag {
    static constexpr std::string_view kind = "invite";
};
struct CustomRoleTag {
    static constexpr std::string_view kind = "role";
};
struct LoginSessionTag {
    static constexpr std::string_view kind = "login";
};
using UserId = Id<UserTag>;
using SpaceId = Id<SpaceTag>;
using ProjectId = Id<ProjectTag>;
using KeyId = Id<KeyTag>;
using InviteId = Id<InviteTag>;
using CustomRoleId = Id<CustomRoleTag>;
using LoginSessionId = Id<LoginSessionTag>;

// Stands for the runs that Signal starts by itself in the bindings of restricted projects.
constexpr std::string_view signal_principal = "signal";

enum class CallerKind { guest, user, key, system };
constexpr auto enum_names(CallerKind) {
    return std::array{EnumName{CallerKind::guest, "guest"}, EnumName{CallerKind::user, "user"},
                      EnumName{CallerKind::key, "key"}, EnumName{CallerKind::system, "system"}};
}

struct Caller {
    CallerKind kind = CallerKind::guest;
    std::string name = "guest"; // for the audit log: e-mail address or key name
    UserId user;                // set for users and for personal keys
    KeyId key;                  // set for keys
    bool installation_owner = false;
    std::map<SpaceId, HeldRole> roles; // a key has exactly one
    PermissionSet scope;               // what a key is limited to; everything for users
    std::string run;                   // of a run key: the run whose worker uses it
    ProjectId bound_project;           // of a run key: the only project it sees
    std::string acts_for; // of a run key: the service key that started the run, or `signal`; its bindings count

    // Of a cookie session.
    LoginSessionId login_session;
    std::string csrf_token;
    std::string provider; // of single sign-on, where the login began; empty: with a password

    std::string peer;
    std::string request_id;

    bool is_guest() const { return kind == CallerKind::guest; }
    // The id of the user or key that bindings of restricted projects name.
    std::string principal() const { return !user.empty() ? user.text() : acts_for.empty() ? key.text() : acts_for; }
    // The id in the audit log and in rate limits.
    std::string actor() const { return kind == CallerKind::key ? key.text() : user.text(); }

    // Absent: not a member. Decisions are about permissions; the role is for order and for display.
    std::optional<Role> role_in(const SpaceId& space) const;
    // The name of the custom role in the space; empty: a built-in one, or none.
    std::string custom_role_in(const SpaceId& space) const;
    PermissionSet permissions_in(const SpaceId& space) const;
    PermissionSet permissions_of_installation() const;
    // Whether the permission is held in any space, or in the installation: a first, cheap check.
    bool may_anywhere(Permission permission) const;

    // not_found for a space the caller is not a member of (it must not learn that the space exists), forbidden for a
    // space it knows.
    Result<> require(Permission permission, const SpaceId& space) const;
    Result<> require(Permission permission) const; // of the installation
    Result<> require_user() const;                 // a person, not a key

    static Caller system();
    static Caller guest(std::string peer, std::string request_id);
};

} // namespace hone::access
