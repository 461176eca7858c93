// Everything about who may do what, built once by server/ in order: users, logins, spaces, invites, projects, keys and
// the audit log over one database.
#pragma once

#include "access/accounts/invites.h"
#include "access/accounts/keys.h"
#include "access/accounts/password_resets.h"
#include "access/projects.h"
#include "access/requests/idempotent_responses.h"
#include "access/saved_views.h"

namespace hone::access {

struct Policy {
    LoginPolicy login;
    Duration invite_lifetime = std::chrono::hours(24 * 7);
    crypto::PasswordCost password_cost = crypto::PasswordCost::interactive;
};

// What the first start made, for the person who started it.
struct FirstStart {
    std::string email;
    std::string password;
    bool generated = false; // false: it came from HONE_ADMIN_PASSWORD
};

class Access {
public:
    Access(sql::Database& database, const Clock& clock, const Policy& policy)
        : audit(database, clock),
          users(database, clock, audit, policy.password_cost),
          spaces(database, clock, audit),
          custom_roles(database, clock, audit),
          logins(database, clock, audit, users, policy.login),
          password_resets(database, clock, audit, users, logins),
          invites(database, clock, audit, users, spaces, logins, policy.invite_lifetime),
          projects(database, clock, audit),
          keys(database, clock, audit),
          saved_views(database, clock, audit, projects),
          idempotent_responses(database, clock),
          m_database(database) {}

    // Creates the space `default` and the user admin@localhost when there is no user yet; nothing otherwise.
    Result<std::optional<FirstStart>> first_start(const std::optional<std::string>& admin_password);

    // Records in the audit log that another version serves now than before; nothing when it is the same one.
    Result<> note_version(const std::string& version);

    const AuditLog audit;
    Users users;
    Spaces spaces;
    CustomRoles custom_roles;
    Logins logins;
    PasswordResets password_resets;
    Invites invites;
    Projects projects;
    Keys keys;
    SavedViews saved_views;
    IdempotentResponses idempotent_responses;

private:
    sql::Database& m_database;
};

} // namespace hone::access
