// Logging in with a password, and the login sessions (cookies) that follow. Wrong passwords are counted for each
// account from each address, for each address, and for each account from addresses it never logged in from. So an
// attacker at other addresses cannot stop the right password from an address that the account used before. Thread-safe.
#pragma once

#include "access/accounts/users.h"

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

    // `guest` carries the peer and the request id. busy while locked: the message has the time left.
    Result<Login> login(const Caller& guest, const std::string& email, const std::string& password,
                        const std::string& user_agent);
    // How long this account is still locked for this address; zero when it is not.
    Result<Duration> locked_for(const Caller& guest, const std::string& email) const;
    // The caller behind a cookie; unauthorized when it is unknown, ended or expired.
    Result<Caller> authenticate(std::string_view token, std::string peer, std::string request_id);
    Result<> logout(const Caller& caller);

    Result<std::vector<LoginSession>> sessions(const Caller& caller) const;
    Result<> end_session(const Caller& caller, const LoginSessionId& id);

    // Checks the password of an existing account, with the same throttling; for accepting an invite.
    Result<UserId> prove(const Caller& guest, const std::string& email, const std::string& password);
    // A person's own password, throttled like a login. Ends the person's other logins.
    Result<> change_password(const Caller& caller, const std::string& current, const std::string& wanted);
    // A session for a user who has just been authenticated. The address counts as known from then on.
    Result<Login> open_session(const Caller& guest, const UserId& user, const std::string& user_agent);

    bool must_change_password(const Caller& caller) const;
    // Deletes what has expired; called by a background step.
    Result<int64_t> sweep();

    Duration session_lifetime() const { return m_policy.session_lifetime; }

private:
    // One try of a password: it is counted as wrong before the password is checked, so that parallel tries cannot
    // exceed the limit, and taken back when the password is right.
    struct Attempt {
        std::string email; // empty: what was typed is not an address
        std::string peer;
        bool known_peer = false;
        struct Lock {
            Time before{};
            Time set{};
        };
        std::map<std::string, Lock> locks{}; // subject → the lock that this attempt itself has set
    };
    Result<Attempt> attempt_of(const Caller& guest, const std::string& email) const;
    Result<Duration> locked_for(sql::Transaction& transaction, const Attempt& attempt) const;
    Result<> reserve(Attempt& attempt) const;
    Result<> take_back(const Attempt& attempt) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    Users& m_users;
    const LoginPolicy m_policy;
};

// The address from which every user logged in that ever logged in: a reverse proxy that is not named in
// trusted_proxies, or one office. Then they share the limits of wrong passwords.
struct SharedPeer {
    std::string peer;
    int64_t users = 0; // at least two
};
Result<std::optional<SharedPeer>> shared_peer(sql::Database& database);

// What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 one (a host can use all of the rest).
std::string peer_group(const std::string& peer);

} // namespace hone::access
