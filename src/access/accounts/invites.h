// Invites: a one-time link that makes a person a member of a space, and a user if they are not one yet. Only the hash
// of the link's token is kept. Thread-safe.
#pragma once

#include "access/accounts/logins.h"
#include "access/spaces.h"

namespace hone::access {

class Invites {
public:
    Invites(sql::Database& database, const Clock& clock, const AuditLog& audit, Users& users, Spaces& spaces,
            Logins& logins, Duration lifetime)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_users(users),
          m_spaces(spaces),
          m_logins(logins),
          m_lifetime(lifetime) {}

    Result<Page<Invite>> list(const Caller& caller, const SpaceId& space, const PageRequest& page) const;
    // An open invite for the same address is replaced.
    Result<Invite> create(const Caller& caller, const SpaceId& space, const std::string& email,
                          const RoleChoice& choice);
    Result<Invite> revoke(const Caller& caller, const SpaceId& space, const InviteId& id);

    // For the holder of the link.
    Result<InviteInfo> find(std::string_view token) const;
    Result<Login> accept(const Caller& guest, std::string_view token, const std::optional<std::string>& name,
                         const std::string& password, const std::string& user_agent, const std::string& code = "");

private:
    struct Open;
    Result<Open> open_invite(std::string_view token) const;
    Invite invite_of(const sql::Row& row) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    Users& m_users;
    Spaces& m_spaces;
    Logins& m_logins;
    const Duration m_lifetime;
};

} // namespace hone::access
