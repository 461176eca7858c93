// Logging in with a password, and the cookie sessions that follow. Wrong passwords are counted per account and per
// address and lock both out for a growing while. Thread-safe.
#pragma once

#include "access/users.h"

namespace hone::access {

struct LoginPolicy {
    Duration session_lifetime = std::chrono::hours(24 * 14);
    int64_t attempts = 5;
    Duration lockout = std::chrono::minutes(5);
};

// A new session: the token goes into the cookie and is nowhere else.
struct Login {
    std::string token;
    Caller caller;
};

class Logins {
public:
    Logins(sql::Database& database, const Clock& clock, const AuditLog& audit, Users& users, LoginPolicy policy)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_users(users),
          m_policy(policy) {}

    // `guest` carries the peer and the request id. busy while locked out: the message says until when.
    Result<Login> login(const Caller& guest, const std::string& email, const std::string& password,
                        const std::string& user_agent);
    // How long this account or address is locked out still; zero when it is not.
    Result<Duration> locked_for(const Caller& guest, const std::string& email) const;
    // The caller behind a cookie; unauthorized when it is unknown or over.
    Result<Caller> authenticate(std::string_view token, std::string peer, std::string request_id);
    Result<> logout(const Caller& caller);

    Result<std::vector<LoginSession>> sessions(const Caller& caller) const;
    Result<> end_session(const Caller& caller, const LoginSessionId& id);

    // Proves the password of an existing account, with the same throttling; for accepting an invite.
    Result<UserId> prove(const Caller& guest, const std::string& email, const std::string& password);
    // A person's own password, throttled like a login. Ends the person's other logins.
    Result<> change_password(const Caller& caller, const std::string& current, const std::string& wanted);
    // A session for a user that was just proven.
    Result<Login> open_session(const Caller& guest, const UserId& user, const std::string& user_agent);

    bool must_change_password(const Caller& caller) const;
    // Deletes what is over; called now and then.
    Result<int64_t> sweep();

    Duration session_lifetime() const { return m_policy.session_lifetime; }

private:
    Result<Duration> locked_for(const std::vector<std::string>& subjects) const;
    Result<> refuse_while_locked(const std::vector<std::string>& subjects) const;
    Result<> count_failure(const Caller& guest, const std::string& email, const std::vector<std::string>& subjects);

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    Users& m_users;
    const LoginPolicy m_policy;
};

} // namespace hone::access
