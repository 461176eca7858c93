// Setting a new password without the old one: a link that works once and for an hour. An installation owner makes one
// for any user; a user requests one by mail (the server sends it). Only the hash of the link's token is stored.
// Thread-safe.
#pragma once

#include "access/accounts/logins.h"

namespace hone::access {

// A link that was just made; the token is nowhere else.
struct PasswordReset {
    UserId user;
    std::string email;
    std::string token;
    Time expires_at{};
    std::string path() const { return "/reset/" + token; }
};

class PasswordResets {
public:
    PasswordResets(sql::Database& database, const Clock& clock, const AuditLog& audit, Users& users, Logins& logins)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_users(users),
          m_logins(logins) {}

    // By an installation owner, whose credentials are not limited in any way: the link gives everything its user has.
    Result<PasswordReset> create(const Caller& caller, const UserId& user);
    // From the login page. Nothing when there is no such account, or when it requested too many: the response must not
    // show which. busy when the address requests too many.
    Result<std::optional<PasswordReset>> request(const Caller& guest, const std::string& email);
    // The e-mail address behind an open link.
    Result<std::string> email_of(std::string_view token) const;
    // Sets the password, ends every login of the user and all their links, and logs in.
    Result<Login> complete(const Caller& guest, std::string_view token, const std::string& password,
                           const std::string& user_agent);
    // For the person at the machine (`hone user reset-password`): a generated password that must be changed at the
    // next login. Ends every login of the user and all locks of the account.
    Result<std::string> set_temporary(const std::string& email);

private:
    Result<PasswordReset> insert(const Caller& caller, const User& user, std::string_view action);
    Result<> set_password(sql::Transaction& transaction, const User& user, const std::string& hashed,
                          bool must_change) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    Users& m_users;
    Logins& m_logins;
};

} // namespace hone::access
