#include "access/accounts/logins.h"

#include "access/names.h"
#include "sql/columns.h"

#include <algorithm>
#include <arpa/inet.h>

namespace hone::access {

namespace {

constexpr Duration forget_failures_after = std::chrono::hours(24);
constexpr Duration forget_peers_after = std::chrono::hours(24 * 180);
constexpr int64_t most_known_peers = 50;
constexpr Duration seen_resolution = std::chrono::minutes(1);
constexpr int64_t longest_lockout_factor = 24;
// How far a clock may be set back without ending the sessions made before.
constexpr Duration harmless_step_back = std::chrono::hours(1);

std::string hash_text(std::string_view token) {
    return to_hex(crypto::hash(token));
}

// Verified when the account does not exist, so that the response takes as long as for one that does.
const std::string& decoy_hash(crypto::PasswordCost cost) {
    static const std::string hashes[2] = {
        crypto::hash_password("decoy", crypto::PasswordCost::interactive).value(),
        crypto::hash_password("decoy", crypto::PasswordCost::cheap).value(),
    };
    return hashes[static_cast<size_t>(cost)];
}

// With their people, for owners of the installation.
constexpr Pack listed_columns{
    sql::Column{"s.id", &LoginSession::id},
    sql::Column{"s.created_at", &LoginSession::created_at},
    sql::Column{"s.last_seen_at", &LoginSession::last_seen_at},
    sql::Column{"s.expires_at", &LoginSession::expires_at},
    sql::Column{"s.peer", &LoginSession::peer},
    sql::Column{"s.user_agent", &LoginSession::user_agent},
    sql::Column{"s.provider", &LoginSession::provider},
    sql::Column{"s.user_id", &LoginSession::user_id},
    sql::Column{"u.email", &LoginSession::email},
};

constexpr Pack session_columns{
    sql::Column{"id", &LoginSession::id},
    sql::Column{"created_at", &LoginSession::created_at},
    sql::Column{"last_seen_at", &LoginSession::last_seen_at},
    sql::Column{"expires_at", &LoginSession::expires_at},
    sql::Column{"peer", &LoginSession::peer},
    sql::Column{"user_agent", &LoginSession::user_agent},
    sql::Column{"provider", &LoginSession::provider},
    sql::Column{"user_id", &LoginSession::user_id},
};

// A session with the caller that it makes.
struct FoundSession {
    Time created_at{};
    Time last_seen_at{};
    Time expires_at{};
    bool is_disabled = false;
    Caller caller;
};
constexpr Pack found_columns{
    sql::Column{"s.id", sql::in(&FoundSession::caller, &Caller::login_session)},
    sql::Column{"s.csrf_token", sql::in(&FoundSession::caller, &Caller::csrf_token)},
    sql::Column{"s.provider", sql::in(&FoundSession::caller, &Caller::provider)},
    sql::Column{"s.last_seen_at", &FoundSession::last_seen_at},
    sql::Column{"s.expires_at", &FoundSession::expires_at},
    sql::Column{"s.created_at", &FoundSession::created_at},
    sql::Column{"u.id", sql::in(&FoundSession::caller, &Caller::user)},
    sql::Column{"u.email", sql::in(&FoundSession::caller, &Caller::name)},
    sql::Column{"u.installation_owner", sql::in(&FoundSession::caller, &Caller::installation_owner)},
    sql::Column{"u.disabled", &FoundSession::is_disabled},
};

// One counter of wrong passwords.
struct Counter {
    std::string subject;
    int64_t limit;
    int64_t longest_factor; // of the policy's lockout
    bool locks;             // false: it is counted for others, and does not stop this attempt
};

PermissionSet everything() {
    return permissions_of(Role::owner) | installation_permissions();
}

std::vector<Counter> counters_of(const std::string& email, const std::string& peer, bool known_peer, int64_t attempts) {
    std::vector<Counter> counters;
    // An address can be an office with many people behind it: it gets ten times as many tries.
    counters.push_back({"peer:" + peer, attempts * 10, longest_lockout_factor, !known_peer});
    if (email.empty()) return counters;
    // A short lock only where the account's user logs in from: it may be the user who cannot remember.
    counters.push_back({"pair:" + email + " " + peer, attempts, known_peer ? 1 : longest_lockout_factor, true});
    // Many addresses that try one account.
    if (!known_peer) counters.push_back({"account:" + email, attempts * 10, longest_lockout_factor, true});
    return counters;
}

} // namespace

Result<std::optional<SharedPeer>> shared_peer(sql::Database& database) {
    const auto rows = TRY(database.query("SELECT MIN(peer), COUNT(DISTINCT peer), COUNT(*) FROM known_peers"));
    const sql::Row row = rows.front();
    if (row.integer(1) != 1 || row.integer(2) < 2) return std::optional<SharedPeer>();
    return std::optional(SharedPeer{std::string(row.text(0)), row.integer(2)});
}

Result<bool> has_owner_with_password(sql::Database& database, const std::vector<std::string>& emails) {
    for (const std::string& email : emails)
        if (!TRY(database.query("SELECT 1 FROM users WHERE email = ? AND installation_owner = 1 AND disabled = 0 AND "
                                "password_hash <> ''",
                                email))
                 .empty())
            return true;
    return false;
}

std::string peer_group(const std::string& peer) {
    in6_addr address{};
    if (inet_pton(AF_INET6, peer.c_str(), &address) != 1) return peer;
    const std::string_view bytes(reinterpret_cast<const char*>(address.s6_addr), 16);
    constexpr std::string_view mapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    if (bytes.starts_with(mapped)) {
        char text[INET_ADDRSTRLEN] = {};
        inet_ntop(AF_INET, address.s6_addr + 12, text, sizeof text);
        return text;
    }
    return to_hex(bytes.substr(0, 8)) + "/64";
}

Result<Logins::Attempt> Logins::attempt_of(const Caller& guest, const std::string& email) const {
    // What is not an address is not stored anywhere: people type their password into the wrong field.
    const auto address = checked_email(email);
    Attempt attempt{address.ok() ? address.value() : "", peer_group(guest.peer)};
    const auto known = TRY(m_database.query("SELECT 1 FROM known_peers k JOIN users u ON u.id = k.user_id WHERE "
                                            "u.email = ? AND k.peer = ?",
                                            attempt.email, attempt.peer));
    attempt.known_peer = !known.empty();
    return attempt;
}

Result<Duration> Logins::locked_for(sql::Transaction& transaction, const Attempt& attempt) const {
    Duration longest(0);
    for (const Counter& counter : counters_of(attempt.email, attempt.peer, attempt.known_peer, m_policy.attempts)) {
        if (!counter.locks) continue;
        const auto rows =
            TRY(transaction.query("SELECT locked_until FROM login_failures WHERE subject = ?", counter.subject));
        if (rows.empty()) continue;
        const Duration left = rows.front().time(0) - m_clock.now();
        // A clock that was set back must not lock an account for long.
        if (left <= m_policy.lockout * counter.longest_factor) longest = std::max(longest, left);
    }
    return longest;
}

Result<Duration> Logins::locked_for(const Caller& guest, const std::string& email) const {
    const Attempt attempt = TRY(attempt_of(guest, email));
    return m_database.read([&](sql::Transaction& transaction) { return locked_for(transaction, attempt); });
}

Result<> Logins::reserve(Attempt& attempt) const {
    const Time now = m_clock.now();
    std::map<std::string, Attempt::Lock> locks;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        locks.clear();
        const Duration left = TRY(locked_for(transaction, attempt));
        if (left > Duration(0))
            return busy("too many wrong passwords; try again in " +
                        std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count()) + " seconds");
        for (const Counter& counter : counters_of(attempt.email, attempt.peer, attempt.known_peer, m_policy.attempts)) {
            const auto rows = TRY(transaction.query("INSERT INTO login_failures (subject, failures, last_at, "
                                                    "locked_until) VALUES (?, 1, ?, 0) ON CONFLICT (subject) "
                                                    "DO UPDATE SET failures = CASE WHEN login_failures.last_at < ? "
                                                    "THEN 1 ELSE login_failures.failures + 1 END, "
                                                    "last_at = excluded.last_at RETURNING failures, locked_until",
                                                    counter.subject, now, now - forget_failures_after));
            const int64_t over = rows.front().integer(0) - counter.limit;
            if (over < 0) continue;
            const int64_t factor = std::min<int64_t>(counter.longest_factor, int64_t{1} << std::min<int64_t>(over, 5));
            const Time until = now + m_policy.lockout * factor;
            TRY(transaction.execute("UPDATE login_failures SET locked_until = ? WHERE subject = ?", until,
                                    counter.subject));
            locks[counter.subject] = {rows.front().time(1), until};
        }
        return {};
    }));
    attempt.locks = std::move(locks);
    return {};
}

Result<> Logins::take_back(const Attempt& attempt) const {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const Counter& counter : counters_of(attempt.email, attempt.peer, attempt.known_peer, m_policy.attempts)) {
            if (counter.subject.starts_with("pair:")) {
                TRY(transaction.execute("DELETE FROM login_failures WHERE subject = ?", counter.subject));
                continue;
            }
            // Only the lock that this attempt has set: the right password of one account must not unlock the address
            // for guesses at others.
            const auto own = attempt.locks.find(counter.subject);
            const auto lock = own == attempt.locks.end() ? Attempt::Lock{Time{}, Time(Duration(-1))} : own->second;
            TRY(transaction.execute("UPDATE login_failures SET failures = failures - 1, locked_until = CASE WHEN "
                                    "locked_until = ? THEN ? ELSE locked_until END WHERE subject = ?",
                                    lock.set, lock.before, counter.subject));
            TRY(transaction.execute("DELETE FROM login_failures WHERE subject = ? AND failures <= 0", counter.subject));
        }
        return {};
    });
}

bool Logins::accepts_password(std::string_view email) const {
    if (!m_policy.password_accounts) return true;
    const auto& accounts = *m_policy.password_accounts;
    return std::find(accounts.begin(), accounts.end(), email) != accounts.end();
}

Result<bool> Logins::needs_code(const UserId& user) const {
    if (m_second_factor == nullptr) return false;
    return m_second_factor->has(user);
}

Result<bool> Logins::must_add_second_factor(const Caller& caller) const {
    if (!m_policy.second_factor_required || caller.kind != CallerKind::user || !caller.provider.empty()) return false;
    return !TRY(needs_code(caller.user));
}

Result<UserId> Logins::check(const Caller& guest, const std::string& email, const std::string& password,
                             const std::string& code, Factors factors) {
    // One message for every account: it does not show which ones can use a password.
    const auto wrong = [&] {
        return unauthorized(m_policy.password_accounts ? "wrong e-mail address or password; most accounts of this "
                                                         "installation use single sign-on instead of a password"
                                                       : "wrong e-mail address or password");
    };
    if (password.size() > 1000 || code.size() > 100) return wrong();
    Attempt attempt = TRY(attempt_of(guest, email));
    TRY(reserve(attempt));
    const auto rows =
        TRY(m_database.query("SELECT id, password_hash, disabled FROM users WHERE email = ?", attempt.email));
    // An account of single sign-on has no password.
    const bool usable = !rows.empty() && !rows.front().text(1).empty() && accepts_password(attempt.email);
    const std::string& hashed = usable ? rows.front().text(1) : decoy_hash(m_users.cost());
    const bool right = crypto::verify_password(hashed, password);
    if (!usable || !right || rows.front().flag(2)) {
        TRY(m_audit.record(guest, {"login_refused", {}, attempt.email}));
        return wrong();
    }
    const UserId user = rows.front().id<UserTag>(0);
    if (factors == Factors::all && TRY(needs_code(user))) {
        // The attempt stays counted: codes are guessed no faster than passwords.
        if (code.empty())
            return Error{Code::unauthorized, "enter the code of your authenticator app", std::string(code_needed)};
        if (!TRY(m_second_factor->take(user, code))) {
            TRY(m_audit.record(guest, {"login_refused", {}, attempt.email, {{"because", "code"}}}));
            return Error{Code::unauthorized, "the code is wrong, or it was used before; enter the next one",
                         std::string(code_needed)};
        }
    }
    TRY(take_back(attempt));
    if (crypto::needs_rehash(hashed, m_users.cost())) {
        const std::string fresh = TRY(m_users.hash(password));
        TRY(m_database.execute("UPDATE users SET password_hash = ? WHERE id = ?", fresh, user));
    }
    return user;
}

Result<UserId> Logins::prove(const Caller& guest, const std::string& email, const std::string& password,
                             const std::string& code) {
    return check(guest, email, password, code, Factors::all);
}

Result<> Logins::change_password(const Caller& caller, const std::string& current, const std::string& wanted) {
    TRY(caller.require_user());
    TRY(check_password(wanted));
    if (wanted == current) return invalid("the new password must differ from the current one");
    // A stolen cookie must not be a way around the throttling of guesses.
    const User user = TRY(m_users.find(caller.user));
    if (auto proven = check(caller, user.email, current, "", Factors::password_only); !proven.ok())
        return proven.error().code == Code::unauthorized ? forbidden("the current password is wrong") : proven.error();
    const std::string hashed = TRY(m_users.hash(wanted));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE users SET password_hash = ?, must_change_password = 0 WHERE id = ?", hashed,
                                caller.user));
        TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ? AND id <> ?", caller.user,
                                caller.login_session));
        return m_audit.record(transaction, caller, {"user_password_change", {}, caller.user.text()});
    });
}

Result<Login> Logins::login(const Caller& guest, const std::string& email, const std::string& password,
                            const std::string& user_agent, const std::string& code) {
    const UserId user = TRY(prove(guest, email, password, code));
    Login login = TRY(open_session(guest, user, user_agent));
    if (are_passwords_limited()) {
        TRY(m_audit.record(login.caller, {"login_break_glass", {}, user.text()}));
        if (m_on_break_glass) m_on_break_glass(login.caller);
    }
    return login;
}

Result<Login> Logins::open_session(const Caller& guest, const UserId& user, const std::string& user_agent,
                                   const std::optional<Provider>& provider) {
    const std::string token = crypto::random_token();
    const Time now = m_clock.now();
    const auto id = make_id<LoginSessionTag>(m_clock);
    const std::string agent = repair_utf8(truncate_utf8(user_agent, 200));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO login_sessions (id, user_id, token_hash, csrf_token, peer, user_agent, created_at, "
            "last_seen_at, expires_at, provider) VALUES (?,?,?,?,?,?,?,?,?,?)",
            id, user, hash_text(token), crypto::random_token(), guest.peer, agent, now, now,
            now + (provider ? provider->lifetime : m_policy.session_lifetime), provider ? provider->name : ""));
        TRY(transaction.execute("UPDATE users SET last_login_at = ? WHERE id = ?", now, user));
        TRY(transaction.execute("INSERT INTO known_peers (user_id, peer, last_login_at) VALUES (?, ?, ?) ON CONFLICT "
                                "(user_id, peer) DO UPDATE SET last_login_at = excluded.last_login_at",
                                user, peer_group(guest.peer), now));
        TRY(transaction.execute("DELETE FROM known_peers WHERE user_id = ? AND peer NOT IN (SELECT peer FROM "
                                "known_peers WHERE user_id = ? ORDER BY last_login_at DESC, peer LIMIT ?)",
                                user, user, most_known_peers));
        const auto email = TRY(transaction.query("SELECT email FROM users WHERE id = ?", user));
        if (email.empty()) return not_found("user " + user.text());
        Caller actor = guest;
        actor.kind = CallerKind::user;
        actor.user = user;
        actor.name = email.front().text(0);
        json::Object details;
        if (provider) details["provider"] = provider->name;
        return m_audit.record(transaction, actor, {"login", {}, user.text(), std::move(details)});
    }));
    Caller caller = TRY(authenticate(token, guest.peer, guest.request_id));
    return Login{token, std::move(caller)};
}

Result<Caller> Logins::authenticate(std::string_view token, std::string peer, std::string request_id) {
    const auto over = [] { return unauthorized("the login has ended; log in again"); };
    if (token.size() != 43) return over();
    const Time now = m_clock.now();
    const auto rows = TRY(m_database.query("SELECT " + sql::names(found_columns) +
                                               " FROM login_sessions s JOIN users u ON u.id = s.user_id WHERE "
                                               "s.token_hash = ?",
                                           hash_text(token)));
    if (rows.empty()) return over();
    auto session = sql::read<FoundSession>(found_columns, rows.front());
    if (session.is_disabled) return over();
    Caller& caller = session.caller;
    // Deleted immediately: a clock that is set back must not revive it, nor stretch a session made under a wrong clock.
    if (now >= session.expires_at || session.created_at > now + harmless_step_back) {
        TRY(m_database.execute("DELETE FROM login_sessions WHERE id = ?", caller.login_session));
        return over();
    }
    caller.kind = CallerKind::user;
    caller.scope = everything();
    caller.peer = std::move(peer);
    caller.request_id = std::move(request_id);
    caller.roles = TRY(m_users.roles_of(caller.user));
    // Only the own account is open until it has a second factor.
    if (TRY(must_add_second_factor(caller))) {
        caller.roles.clear();
        caller.installation_owner = false;
    }
    if (now - session.last_seen_at > seen_resolution || session.last_seen_at > now)
        TRY(m_database.execute("UPDATE login_sessions SET last_seen_at = ? WHERE id = ?", now, caller.login_session));
    return std::move(caller);
}

Result<> Logins::logout(const Caller& caller) {
    TRY(caller.require_user());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM login_sessions WHERE id = ?", caller.login_session));
        return m_audit.record(transaction, caller, {"logout", {}, caller.user.text()});
    });
}

Result<std::vector<LoginSession>> Logins::sessions(const Caller& caller) const {
    TRY(caller.require_user());
    const auto rows =
        TRY(m_database.query("SELECT " + sql::names(session_columns) +
                                 " FROM login_sessions WHERE user_id = ? AND expires_at > ? ORDER BY last_seen_at DESC "
                                 "LIMIT 1000",
                             caller.user, m_clock.now()));
    std::vector<LoginSession> sessions;
    for (const auto& row : rows) {
        auto session = sql::read<LoginSession>(session_columns, row);
        session.current = session.id == caller.login_session;
        session.email = caller.name;
        sessions.push_back(std::move(session));
    }
    return sessions;
}

Result<> Logins::end_session(const Caller& caller, const LoginSessionId& id) {
    TRY(caller.require_user());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t ended =
            TRY(transaction.execute("DELETE FROM login_sessions WHERE id = ? AND user_id = ?", id, caller.user));
        if (ended == 0) return not_found("login session " + id.text());
        return m_audit.record(transaction, caller, {"login_session_end", {}, id.text()});
    });
}

Result<Page<LoginSession>> Logins::all_sessions(const Caller& caller, const std::optional<UserId>& user,
                                                const PageRequest& page) const {
    TRY(caller.require(Permission::user_manage));
    std::string sql = "SELECT " + sql::names(listed_columns) +
                      " FROM login_sessions s JOIN users u ON u.id = s.user_id WHERE s.expires_at > ?";
    std::vector<sql::Value> values{sql::to_value(m_clock.now())};
    if (user) {
        sql += " AND s.user_id = ?";
        values.push_back(sql::to_value(*user));
    }
    if (const std::string after = TRY(page.after()); !after.empty()) {
        sql += " AND s.id < ?";
        values.push_back(sql::to_value(after));
    }
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<LoginSession> sessions;
    for (const auto& row : TRY(m_database.run_query(sql + " ORDER BY s.id DESC LIMIT ?", values))) {
        auto session = sql::read<LoginSession>(listed_columns, row);
        session.current = session.id == caller.login_session;
        sessions.push_back(std::move(session));
    }
    return make_page(std::move(sessions), page, [](const LoginSession& session) { return session.id.text(); });
}

Result<> Logins::end_any(const Caller& caller, const LoginSessionId& id) {
    TRY(caller.require(Permission::user_manage));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto ended = TRY(transaction.query("DELETE FROM login_sessions WHERE id = ? RETURNING user_id", id));
        if (ended.empty()) return not_found("login session " + id.text());
        return m_audit.record(transaction, caller,
                              {"login_session_end", {}, id.text(), {{"user", ended.front().text(0)}}});
    });
}

Result<> Logins::end_all(const Caller& caller, const UserId& user) {
    TRY(caller.require(Permission::user_manage));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t ended = TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ?", user));
        return m_audit.record(transaction, caller, {"login_sessions_end", {}, user.text(), {{"count", ended}}});
    });
}

Result<> Logins::end_others(const Caller& caller) {
    TRY(caller.require_user());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t ended = TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ? AND id <> ?",
                                                      caller.user, caller.login_session));
        return m_audit.record(transaction, caller, {"login_sessions_end", {}, caller.user.text(), {{"count", ended}}});
    });
}

bool Logins::must_change_password(const Caller& caller) const {
    if (caller.kind != CallerKind::user) return false;
    const auto rows = m_database.query("SELECT must_change_password FROM users WHERE id = ?", caller.user);
    return rows.ok() && !rows.value().empty() && rows.value().front().flag(0);
}

Result<int64_t> Logins::sweep() {
    const Time now = m_clock.now();
    const int64_t ended = TRY(m_database.execute("DELETE FROM login_sessions WHERE expires_at <= ?", now));
    TRY(m_database.execute("DELETE FROM login_failures WHERE last_at < ? AND locked_until < ?",
                           now - forget_failures_after, now));
    TRY(m_database.execute("DELETE FROM known_peers WHERE last_login_at < ?", now - forget_peers_after));
    TRY(m_database.execute("DELETE FROM password_resets WHERE expires_at <= ?", now));
    return ended;
}

} // namespace hone::access
