// What access gives out: the shapes of users, spaces, members, projects, keys, logins and audit entries, declared once.
// Never a hash or a token, except in the Created… shapes, which show a secret the one time it exists.
#pragma once

#include "access/caller.h"
#include "json/json.h"

namespace hone::access {

struct User {
    UserId id;
    std::string email;
    std::string name;
    bool installation_owner = false;
    bool disabled = false;
    Time created_at{};
    std::optional<Time> last_login_at;
    static constexpr Pack fields{
        Field{"id", &User::id, ""},
        Field{"email", &User::email, "Lower-case; used to log in."},
        Field{"name", &User::name, ""},
        Field{"installation_owner", &User::installation_owner, "May manage users, spaces and backups."},
        Field{"disabled", &User::disabled, "Cannot log in; its keys do not work."},
        Field{"created_at", &User::created_at, ""},
        Field{"last_login_at", &User::last_login_at, ""},
    };
};

struct Space {
    SpaceId id;
    std::string name;
    std::string description;
    Time created_at{};
    std::optional<Role> role;
    std::vector<std::string> permissions;
    std::string custom_role;
    static constexpr Pack fields{
        Field{"id", &Space::id, ""},
        Field{"name", &Space::name, ""},
        Field{"description", &Space::description, ""},
        Field{"created_at", &Space::created_at, ""},
        Field{"role", &Space::role, "The caller's role."},
        Field{"permissions", &Space::permissions, "Permissions of the caller in this space."},
        Field{"custom_role", &Space::custom_role,
              "Name of the caller's custom role; its permissions count, not those of `role`. Empty: none."},
    };
};

struct Member {
    UserId user_id;
    std::string email;
    std::string name;
    Role role = Role::viewer;
    bool disabled = false;
    Time created_at{};
    std::optional<Time> last_login_at;
    std::string custom_role;
    static constexpr Pack fields{
        Field{"user_id", &Member::user_id, ""},
        Field{"email", &Member::email, ""},
        Field{"name", &Member::name, ""},
        Field{"role", &Member::role, ""},
        Field{"disabled", &Member::disabled, ""},
        Field{"created_at", &Member::created_at, "Member since."},
        Field{"last_login_at", &Member::last_login_at, ""},
        Field{"custom_role", &Member::custom_role,
              "Name of the custom role; its permissions count, not those of `role`. Empty: none."},
    };
};

struct CustomRole {
    CustomRoleId id;
    SpaceId space_id;
    std::string name;
    std::string description;
    std::vector<std::string> permissions;
    int64_t members = 0;
    std::string created_by_name;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &CustomRole::id, ""},
        Field{"space_id", &CustomRole::space_id, ""},
        Field{"name", &CustomRole::name, ""},
        Field{"description", &CustomRole::description, ""},
        Field{"permissions", &CustomRole::permissions,
              "All that its members can do; space_read is always one of them."},
        Field{"members", &CustomRole::members, "Members who have it."},
        Field{"created_by_name", &CustomRole::created_by_name, ""},
        Field{"created_at", &CustomRole::created_at, ""},
        Field{"updated_at", &CustomRole::updated_at, ""},
    };
};

enum class InviteState { open, accepted, revoked, expired };
constexpr auto enum_names(InviteState) {
    return std::array{EnumName{InviteState::open, "open"}, EnumName{InviteState::accepted, "accepted"},
                      EnumName{InviteState::revoked, "revoked"}, EnumName{InviteState::expired, "expired"}};
}

struct Invite {
    InviteId id;
    SpaceId space_id;
    std::string email;
    Role role = Role::viewer;
    std::string created_by;
    Time created_at{};
    Time expires_at{};
    InviteState state = InviteState::open;
    std::optional<std::string> path;
    std::string custom_role;
    static constexpr Pack fields{
        Field{"id", &Invite::id, ""},
        Field{"space_id", &Invite::space_id, ""},
        Field{"email", &Invite::email, ""},
        Field{"role", &Invite::role, ""},
        Field{"created_by", &Invite::created_by, "Name of the user or key that created it."},
        Field{"created_at", &Invite::created_at, ""},
        Field{"expires_at", &Invite::expires_at, ""},
        Field{"state", &Invite::state, ""},
        Field{"path", &Invite::path, "Path of the page that accepts it; only in the response that creates it."},
        Field{"custom_role", &Invite::custom_role,
              "Name of the custom role that it gives instead of `role`; or empty."},
    };
};

// What a guest who holds an invite's link may know.
struct InviteInfo {
    std::string email;
    Role role = Role::viewer;
    std::string space_name;
    Time expires_at{};
    bool user_exists = false;
    std::string custom_role;
    static constexpr Pack fields{
        Field{"email", &InviteInfo::email, ""},
        Field{"role", &InviteInfo::role, ""},
        Field{"space_name", &InviteInfo::space_name, ""},
        Field{"expires_at", &InviteInfo::expires_at, ""},
        Field{"user_exists", &InviteInfo::user_exists,
              "An account with this address exists; accept with its password."},
        Field{"custom_role", &InviteInfo::custom_role, "Name of the custom role that it gives; or empty."},
    };
};

struct Project {
    ProjectId id;
    std::string name;
    std::string description;
    SpaceId space_id;
    bool restricted = false;
    std::optional<int64_t> retention_days;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &Project::id, ""},
        Field{"name", &Project::name, ""},
        Field{"description", &Project::description, ""},
        Field{"space_id", &Project::space_id, ""},
        Field{"restricted", &Project::restricted, "Only users and keys with a binding see it."},
        Field{"retention_days", &Project::retention_days, "Days before spans are deleted; null: the server's default."},
        Field{"created_at", &Project::created_at, ""},
    };
};

struct Binding {
    std::string principal;
    std::string name;
    Role role = Role::viewer;
    Time created_at{};
    static constexpr Pack fields{
        Field{"principal", &Binding::principal,
              "Id of a user or of a service key, or `signal`: the runs that Signal starts."},
        Field{"name", &Binding::name, ""},
        Field{"role", &Binding::role, ""},
        Field{"created_at", &Binding::created_at, ""},
    };
};

enum class KeyKind { personal, service };
constexpr auto enum_names(KeyKind) {
    return std::array{EnumName{KeyKind::personal, "personal"}, EnumName{KeyKind::service, "service"}};
}
enum class KeyState { active, expired, revoked };
constexpr auto enum_names(KeyState) {
    return std::array{EnumName{KeyState::active, "active"}, EnumName{KeyState::expired, "expired"},
                      EnumName{KeyState::revoked, "revoked"}};
}

struct Key {
    KeyId id;
    std::string name;
    KeyKind kind = KeyKind::personal;
    std::string prefix;
    SpaceId space_id;
    std::optional<UserId> user_id;
    std::optional<Role> role;
    std::vector<std::string> scopes;
    std::string created_by;
    Time created_at{};
    std::optional<Time> expires_at;
    std::optional<Time> last_used_at;
    std::optional<Time> revoked_at;
    KeyState state = KeyState::active;
    std::optional<std::string> key;
    std::string space_name;
    std::string user_email;
    static constexpr Pack fields{
        Field{"id", &Key::id, ""},
        Field{"name", &Key::name, ""},
        Field{"kind", &Key::kind, "personal: acts as its user; service: has a role of its own."},
        Field{"prefix", &Key::prefix, "First characters of the key, to recognise it."},
        Field{"space_id", &Key::space_id, "The only space that the key works in."},
        Field{"user_id", &Key::user_id, "User of a personal key."},
        Field{"role", &Key::role, "Role of a service key."},
        Field{"scopes", &Key::scopes, "Permission names, or all, or read."},
        Field{"created_by", &Key::created_by, ""},
        Field{"created_at", &Key::created_at, ""},
        Field{"expires_at", &Key::expires_at, ""},
        Field{"last_used_at", &Key::last_used_at, "To within a minute."},
        Field{"revoked_at", &Key::revoked_at, ""},
        Field{"state", &Key::state, ""},
        Field{"key", &Key::key, "The key itself; only in the response that creates it."},
        Field{"space_name", &Key::space_name, "In lists; empty elsewhere."},
        Field{"user_email", &Key::user_email, "Of the user of a personal key, in lists; empty elsewhere."},
    };
};

struct LoginSession {
    LoginSessionId id;
    Time created_at{};
    Time last_seen_at{};
    Time expires_at{};
    std::string peer;
    std::string user_agent;
    std::string provider;
    UserId user_id;
    std::string email;
    bool current = false;
    static constexpr Pack fields{
        Field{"id", &LoginSession::id, ""},
        Field{"created_at", &LoginSession::created_at, ""},
        Field{"last_seen_at", &LoginSession::last_seen_at, "To within a minute."},
        Field{"expires_at", &LoginSession::expires_at, ""},
        Field{"peer", &LoginSession::peer, "Address of the client that logged in."},
        Field{"user_agent", &LoginSession::user_agent, ""},
        Field{"provider", &LoginSession::provider, "Provider of single sign-on; empty for a password."},
        Field{"user_id", &LoginSession::user_id, ""},
        Field{"email", &LoginSession::email, "Address of the account."},
        Field{"current", &LoginSession::current, "The login of this request."},
    };
};

struct AuditEntry {
    int64_t seq = 0;
    Time time{};
    std::optional<SpaceId> space_id;
    CallerKind actor_kind = CallerKind::system;
    std::string actor_id;
    std::string actor_name;
    std::string action;
    std::string target;
    json::Value details;
    std::string peer;
    std::string request_id;
    std::string prev_hash;
    std::string hash;
    static constexpr Pack fields{
        Field{"seq", &AuditEntry::seq, "1, 2, 3 … without gaps over the whole installation."},
        Field{"time", &AuditEntry::time, ""},
        Field{"space_id", &AuditEntry::space_id, "null: an entry of the installation."},
        Field{"actor_kind", &AuditEntry::actor_kind, ""},
        Field{"actor_id", &AuditEntry::actor_id, ""},
        Field{"actor_name", &AuditEntry::actor_name, ""},
        Field{"action", &AuditEntry::action, "Resource and action: project_create."},
        Field{"target", &AuditEntry::target, "Id of the changed object."},
        Field{"details", &AuditEntry::details, ""},
        Field{"peer", &AuditEntry::peer, ""},
        Field{"request_id", &AuditEntry::request_id, ""},
        Field{"prev_hash", &AuditEntry::prev_hash, "Hash of the previous entry."},
        Field{"hash", &AuditEntry::hash, "BLAKE2b over this entry and prev_hash."},
    };
};

struct AuditVerification {
    bool ok = false;
    int64_t entries = 0;
    std::string head_hash;
    std::optional<int64_t> first_bad_seq;
    std::string message;
    static constexpr Pack fields{
        Field{"ok", &AuditVerification::ok, "No entry is missing or changed."},
        Field{"entries", &AuditVerification::entries, "Entries checked."},
        Field{"head_hash", &AuditVerification::head_hash,
              "Hash of the newest entry; keep a copy elsewhere to detect a shortened log."},
        Field{"first_bad_seq", &AuditVerification::first_bad_seq, ""},
        Field{"message", &AuditVerification::message, ""},
    };
};

} // namespace hone::access
