#include "access/logins.h"

#include "access/names.h"

namespace hone::access {

namespace {

constexpr Duration forget_failures_after = std::chrono::hours(24);
constexpr Duration seen_resolution = std::chrono::minutes(1);
constexpr int64_t longest_lockout_factor = 24;
// How far a clock may be set back without ending the sessions made before.
constexpr Duration harmless_step_back = std::chrono::hours(1);

std::string hash_text(std::string_view token) {
    return to_hex(crypto::hash(token));
}

// Verified when the account does not exist, so that an answer takes as long as for one that does.
const std::string& decoy_hash(crypto::PasswordCost cost) {
    static const std::string hashes[2] = {
        crypto::hash_password("decoy", crypto::PasswordCost::interactive).value(),
        crypto::hash_password("decoy", crypto::PasswordCost::cheap).value(),
    };
    return hashes[static_cast<size_t>(cost)];
}

// What wrong passwords are counted for. `email` is empty when what was typed is no address.
std::vector<std::string> subjects_of(const Caller& guest, const std::string& email) {
    std::vector<std::string> subjects{"peer:" + guest.peer};
    if (!email.empty()) subjects.push_back("email:" + email);
    return subjects;
}

PermissionSet everything() {
    return permissions_of(Role::owner) | installation_permissions();
}

} // namespace

Result<Duration> Logins::locked_for(const std::vector<std::string>& subjects) const {
    Duration longest(0);
    for (const auto& subject : subjects) {
        const auto rows = TRY(m_database.query("SELECT locked_until FROM login_failures WHERE subject = ?", subject));
        if (rows.empty()) continue;
        const Duration left = rows.front().time(0) - m_clock.now();
        // A clock that went back must not lock anybody out for long.
        if (left <= m_policy.lockout * longest_lockout_factor) longest = std::max(longest, left);
    }
    return longest;
}

Result<Duration> Logins::locked_for(const Caller& guest, const std::string& email) const {
    return locked_for(subjects_of(guest, lowercase_ascii(trim(email))));
}

Result<> Logins::refuse_while_locked(const std::vector<std::string>& subjects) const {
    const Duration left = TRY(locked_for(subjects));
    if (left <= Duration(0)) return {};
    return busy("too many wrong passwords; try again in " +
                std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count()) + " seconds");
}

Result<> Logins::count_failure(const Caller& guest, const std::string& email,
                               const std::vector<std::string>& subjects) {
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const auto& subject : subjects) {
            const auto rows = TRY(transaction.query("INSERT INTO login_failures (subject, failures, last_at, "
                                                    "locked_until) VALUES (?, 1, ?, 0) ON CONFLICT (subject) "
                                                    "DO UPDATE SET failures = CASE WHEN login_failures.last_at < ? "
                                                    "THEN 1 ELSE login_failures.failures + 1 END, "
                                                    "last_at = excluded.last_at RETURNING failures",
                                                    subject, now, now - forget_failures_after));
            // An address may be an office with many people behind it: it gets ten times as many tries.
            const int64_t allowed = subject.starts_with("peer:") ? m_policy.attempts * 10 : m_policy.attempts;
            const int64_t over = rows.front().integer(0) - allowed;
            if (over < 0) continue;
            const int64_t factor = std::min<int64_t>(longest_lockout_factor, int64_t{1} << std::min<int64_t>(over, 5));
            TRY(transaction.execute("UPDATE login_failures SET locked_until = ? WHERE subject = ?",
                                    now + m_policy.lockout * factor, subject));
        }
        return m_audit.record(transaction, guest, {"login_refused", {}, email});
    });
}

Result<UserId> Logins::prove(const Caller& guest, const std::string& email, const std::string& password) {
    // What is no address is not kept anywhere: people type their password into the wrong field.
    const auto address = checked_email(email);
    const std::string lower = address.ok() ? address.value() : "";
    if (password.size() > 1000) return unauthorized("wrong e-mail address or password");
    const auto subjects = subjects_of(guest, lower);
    TRY(refuse_while_locked(subjects));
    const auto rows = TRY(m_database.query("SELECT id, password_hash, disabled FROM users WHERE email = ?", lower));
    const std::string& hashed = rows.empty() ? decoy_hash(m_users.cost()) : rows.front().text(1);
    const bool right = crypto::verify_password(hashed, password);
    if (rows.empty() || !right || rows.front().flag(2)) {
        TRY(count_failure(guest, lower, subjects));
        return unauthorized("wrong e-mail address or password");
    }
    const UserId user = rows.front().id<UserTag>(0);
    TRY(m_database.execute("DELETE FROM login_failures WHERE subject = ?", "email:" + lower));
    if (crypto::needs_rehash(hashed, m_users.cost())) {
        const std::string fresh = TRY(m_users.hash(password));
        TRY(m_database.execute("UPDATE users SET password_hash = ? WHERE id = ?", fresh, user));
    }
    return user;
}

Result<> Logins::change_password(const Caller& caller, const std::string& current, const std::string& wanted) {
    TRY(caller.require_user());
    TRY(check_password(wanted));
    if (wanted == current) return invalid("the new password must differ from the current one");
    // A stolen cookie must not be a way to guess the password at leisure.
    const User user = TRY(m_users.find(caller.user));
    if (auto proven = prove(caller, user.email, current); !proven.ok())
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
                            const std::string& user_agent) {
    const UserId user = TRY(prove(guest, email, password));
    return open_session(guest, user, user_agent);
}

Result<Login> Logins::open_session(const Caller& guest, const UserId& user, const std::string& user_agent) {
    const std::string token = crypto::random_token();
    const Time now = m_clock.now();
    const auto id = make_id<LoginSessionTag>(m_clock);
    const std::string agent = repair_utf8(truncate_utf8(user_agent, 200));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO login_sessions (id, user_id, token_hash, csrf_token, peer, user_agent, created_at, "
            "last_seen_at, expires_at) VALUES (?,?,?,?,?,?,?,?,?)",
            id, user, hash_text(token), crypto::random_token(), guest.peer, agent, now, now,
            now + m_policy.session_lifetime));
        TRY(transaction.execute("UPDATE users SET last_login_at = ? WHERE id = ?", now, user));
        const auto email = TRY(transaction.query("SELECT email FROM users WHERE id = ?", user));
        if (email.empty()) return not_found("user " + user.text());
        Caller actor = guest;
        actor.kind = CallerKind::user;
        actor.user = user;
        actor.name = email.front().text(0);
        return m_audit.record(transaction, actor, {"login", {}, user.text()});
    }));
    Caller caller = TRY(authenticate(token, guest.peer, guest.request_id));
    return Login{token, std::move(caller)};
}

Result<Caller> Logins::authenticate(std::string_view token, std::string peer, std::string request_id) {
    const auto over = [] { return unauthorized("the login is over; log in again"); };
    if (token.size() != 43) return over();
    const Time now = m_clock.now();
    const auto rows =
        TRY(m_database.query("SELECT s.id, s.csrf_token, s.last_seen_at, s.expires_at, s.created_at, u.id, u.email, "
                             "u.installation_owner, u.disabled FROM login_sessions s JOIN users u ON u.id = s.user_id "
                             "WHERE s.token_hash = ?",
                             hash_text(token)));
    if (rows.empty()) return over();
    const auto row = rows.front();
    if (row.flag(8)) return over();
    // Deleted at once: a clock that is set back must not revive it, nor stretch a session made under a wrong clock.
    if (now >= row.time(3) || row.time(4) > now + harmless_step_back) {
        TRY(m_database.execute("DELETE FROM login_sessions WHERE id = ?", row.id<LoginSessionTag>(0)));
        return over();
    }
    Caller caller;
    caller.kind = CallerKind::user;
    caller.login_session = row.id<LoginSessionTag>(0);
    caller.csrf_token = row.text(1);
    caller.user = row.id<UserTag>(5);
    caller.name = row.text(6);
    caller.installation_owner = row.flag(7);
    caller.scope = everything();
    caller.peer = std::move(peer);
    caller.request_id = std::move(request_id);
    caller.roles = TRY(m_users.roles_of(caller.user));
    if (now - row.time(2) > seen_resolution || row.time(2) > now)
        TRY(m_database.execute("UPDATE login_sessions SET last_seen_at = ? WHERE id = ?", now, caller.login_session));
    return caller;
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
        TRY(m_database.query("SELECT id, created_at, last_seen_at, expires_at, peer, user_agent FROM login_sessions "
                             "WHERE user_id = ? AND expires_at > ? ORDER BY last_seen_at DESC LIMIT 1000",
                             caller.user, m_clock.now()));
    std::vector<LoginSession> sessions;
    for (const auto& row : rows) {
        const auto id = row.id<LoginSessionTag>(0);
        sessions.push_back(
            {id, row.time(1), row.time(2), row.time(3), row.text(4), row.text(5), id == caller.login_session});
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
    return ended;
}

} // namespace hone::access
