// Logging in with a password, and the login sessions (cookies) that follow. Wrong passwords are counted for each
// account from each address, for each address, and for each account from addresses it never logged in from. So an
// attacker at other addresses cannot stop the right password from an address that the account used before. Thread-safe.
#pragma once

#include "access/accounts/users.h"

#include <functional>

namespace hone::access {

struct LoginPolicy {
    Duration session_lifetime = std::chrono::hours(24 * 14);
    int64_t attempts = 5;
    Duration lockout = std::chrono::minutes(5);
    // The accounts that can log in with a password; absent: all. Others use single sign-on.
    std::optional<std::vector<std::string>> password_accounts{};
    // A login with a password has no permissions until its account has a second factor.
    bool second_factor_required = false;
};

// The second factor of passwords. Implemented by identity/, which registers itself with Logins.
class SecondFactor {
public:
    virtual ~SecondFactor() = default;
    virtual Result<bool> has(const UserId& user) const = 0;
    // Whether the code is right; a right one is used up.
    virtual Result<bool> take(const UserId& user, const std::string& code) = 0;
};

// The `trail` of the error of a login with the right password and without a code.
inline constexpr std::string_view code_needed = "code needed";

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

    // Before the first use; `remove_second_factor` before it is destroyed.
    void set_second_factor(SecondFactor& factor) { m_second_factor = &factor; }
    void remove_second_factor() { m_second_factor = nullptr; }
    // Called after a login with a password where only some accounts can have one.
    void set_break_glass_listener(std::function<void(const Caller&)> listener) {
        m_on_break_glass = std::move(listener);
    }

    // `guest` carries the peer and the request id. busy while locked: the message has the time left. An account with a
    // second factor needs `code`; without one the error has the trail `code_needed`.
    Result<Login> login(const Caller& guest, const std::string& email, const std::string& password,
                        const std::string& user_agent, const std::string& code = "");
    // How long this account is still locked for this address; zero when it is not.
    Result<Duration> locked_for(const Caller& guest, const std::string& email) const;
    // The caller behind a cookie; unauthorized when it is unknown, ended or expired.
    Result<Caller> authenticate(std::string_view token, std::string peer, std::string request_id);
    Result<> logout(const Caller& caller);

    Result<std::vector<LoginSession>> sessions(const Caller& caller) const;
    Result<> end_session(const Caller& caller, const LoginSessionId& id);

    // Logins of all users, by an installation owner: all accounts, or one; and ending them.
    Result<Page<LoginSession>> all_sessions(const Caller& caller, const std::optional<UserId>& user,
                                            const PageRequest& page) const;
    Result<> end_any(const Caller& caller, const LoginSessionId& id);
    Result<> end_all(const Caller& caller, const UserId& user);
    // The caller's other logins.
    Result<> end_others(const Caller& caller);

    // Checks the password of an existing account, with the same throttling; for accepting an invite.
    Result<UserId> prove(const Caller& guest, const std::string& email, const std::string& password,
                         const std::string& code = "");
    // A person's own password, throttled like a login. Ends the person's other logins.
    Result<> change_password(const Caller& caller, const std::string& current, const std::string& wanted);
    // A session for a user who has just been authenticated. The address counts as known from then on.
    // `provider` of single sign-on has a lifetime of its own.
    struct Provider {
        std::string name;
        Duration lifetime{};
    };
    Result<Login> open_session(const Caller& guest, const UserId& user, const std::string& user_agent,
                               const std::optional<Provider>& provider = {});
    // Whether this account can use a password, and whether a login with one needs a code.
    bool accepts_password(std::string_view email) const;
    bool are_passwords_limited() const { return m_policy.password_accounts.has_value(); }
    bool is_second_factor_required() const { return m_policy.second_factor_required; }
    Result<bool> needs_code(const UserId& user) const;
    // Whether the caller has no permissions because its account needs a second factor first.
    Result<bool> must_add_second_factor(const Caller& caller) const;

    bool must_change_password(const Caller& caller) const;
    // Deletes what has expired; called by a background step.
    Result<int64_t> sweep();

    Duration session_lifetime() const { return m_policy.session_lifetime; }

private:
    // One try of a password: it is counted as wrong before the password is checked, so that parallel tries cannot
    // exceed the limit, and taken back when the password is right.
    enum class Factors { password_only, all };
    Result<UserId> check(const Caller& guest, const std::string& email, const std::string& password,
                         const std::string& code, Factors factors);
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
    SecondFactor* m_second_factor = nullptr;
    std::function<void(const Caller&)> m_on_break_glass;
};

// The address from which every user logged in that ever logged in: a reverse proxy that is not named in
// trusted_proxies, or one office. Then they share the limits of wrong passwords.
struct SharedPeer {
    std::string peer;
    int64_t users = 0; // at least two
};
Result<std::optional<SharedPeer>> shared_peer(sql::Database& database);

// Whether one of these accounts is an enabled owner of the installation that has a password.
Result<bool> has_owner_with_password(sql::Database& database, const std::vector<std::string>& emails);

// What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 one (a host can use all of the rest).
std::string peer_group(const std::string& peer);

} // namespace hone::access
