#include "access/accounts/password_resets.h"

#include "access/names.h"

namespace hone::access {

namespace {

constexpr Duration reset_lifetime = std::chrono::hours(1);
// Of one account within an hour; more mails would only annoy its user.
constexpr int64_t most_open_resets = 3;
// Of one address within an hour.
constexpr int64_t most_requests = 20;

Error reset_gone() {
    return not_found("this link does not exist, was used, or has expired: an open link");
}

} // namespace

Result<PasswordReset> PasswordResets::insert(const Caller& caller, const User& user, std::string_view action) {
    const Time now = m_clock.now();
    PasswordReset reset{user.id, user.email, crypto::random_token(), now + reset_lifetime};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO password_resets (token_hash, user_id, created_by, created_at, expires_at) "
                                "VALUES (?, ?, ?, ?, ?)",
                                to_hex(crypto::hash(reset.token)), user.id, caller.actor(), now, reset.expires_at));
        return m_audit.record(transaction, caller, {std::string(action), {}, user.id.text(), {{"email", user.email}}});
    }));
    return reset;
}

Result<PasswordReset> PasswordResets::create(const Caller& caller, const UserId& id) {
    TRY(caller.require(Permission::user_manage));
    const PermissionSet everything = permissions_of(Role::owner) | installation_permissions();
    if (caller.kind != CallerKind::system && !caller.scope.contains(everything))
        return forbidden(
            "this needs a login, or an API key with the scope all: the link gives all permissions of its user");
    const User user = TRY(m_users.find(id));
    if (user.disabled) return conflict("the user is disabled; enable the user first");
    return insert(caller, user, "password_reset_create");
}

Result<std::optional<PasswordReset>> PasswordResets::request(const Caller& guest, const std::string& email) {
    const std::string address = TRY(checked_email(email));
    const Time now = m_clock.now(), hour_ago = now - std::chrono::hours(1);
    const int64_t requests = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
        const auto counted = TRY(transaction.query(
            "INSERT INTO login_failures (subject, failures, last_at, locked_until) VALUES (?, 1, ?, 0) ON CONFLICT "
            "(subject) DO UPDATE SET failures = CASE WHEN login_failures.last_at < ? THEN 1 ELSE "
            "login_failures.failures + 1 END, last_at = excluded.last_at RETURNING failures",
            "reset:" + peer_group(guest.peer), now, hour_ago));
        return counted.front().integer(0);
    }));
    if (requests > most_requests) return busy("too many requests for a new password; try again in an hour");
    const auto rows = TRY(m_database.query(
        "SELECT id, (SELECT COUNT(*) FROM password_resets r WHERE r.user_id = users.id AND r.created_by = '' AND "
        "r.created_at > ?) FROM users WHERE email = ? AND disabled = 0 AND password_hash <> ''",
        hour_ago, address));
    // Accounts of single sign-on get no password by mail.
    if (rows.empty() || !m_logins.accepts_password(address) || rows.front().integer(1) >= most_open_resets) {
        TRY(m_audit.record(guest, {"password_reset_request", {}, address}));
        return std::optional<PasswordReset>();
    }
    const User user = TRY(m_users.find(rows.front().id<UserTag>(0)));
    return std::optional(TRY(insert(guest, user, "password_reset_request")));
}

Result<std::string> PasswordResets::email_of(std::string_view token) const {
    if (token.size() != 43) return reset_gone();
    const auto rows = TRY(m_database.query("SELECT u.email FROM password_resets r JOIN users u ON u.id = r.user_id "
                                           "WHERE r.token_hash = ? AND r.expires_at > ? AND u.disabled = 0",
                                           to_hex(crypto::hash(token)), m_clock.now()));
    if (rows.empty()) return reset_gone();
    return rows.front().text(0);
}

Result<> PasswordResets::set_password(sql::Transaction& transaction, const User& user, const std::string& hashed,
                                      bool must_change) const {
    TRY(transaction.execute("UPDATE users SET password_hash = ?, must_change_password = ? WHERE id = ?", hashed,
                            must_change, user.id));
    TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ?", user.id));
    TRY(transaction.execute("DELETE FROM password_resets WHERE user_id = ?", user.id));
    return {};
}

Result<Login> PasswordResets::complete(const Caller& guest, std::string_view token, const std::string& password,
                                       const std::string& user_agent) {
    TRY(check_password(password));
    // Before the expensive hash: a guest without a link must not make the server work.
    TRY(email_of(token));
    const std::string hashed = TRY(m_users.hash(password));
    const UserId id = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<UserId> {
        const auto used = TRY(
            transaction.query("DELETE FROM password_resets WHERE token_hash = ? AND expires_at > ? RETURNING user_id",
                              to_hex(crypto::hash(token)), m_clock.now()));
        if (used.empty()) return reset_gone();
        const auto rows =
            TRY(transaction.query("SELECT email, disabled FROM users WHERE id = ?", used.front().id<UserTag>(0)));
        if (rows.empty() || rows.front().flag(1)) return reset_gone();
        User user;
        user.id = used.front().id<UserTag>(0);
        user.email = rows.front().text(0);
        TRY(set_password(transaction, user, hashed, false));
        Caller actor = guest;
        actor.kind = CallerKind::user;
        actor.user = user.id;
        actor.name = user.email;
        TRY(m_audit.record(transaction, actor, {"user_password_reset", {}, user.id.text()}));
        return user.id;
    }));
    // A link from a mailbox is one factor.
    if (TRY(m_logins.needs_code(id)))
        return conflict("The new password is set. Log in with it and a code of your authenticator app.");
    if (!m_logins.accepts_password(TRY(m_users.find(id)).email))
        return conflict("The new password is set. This account uses single sign-on to log in.");
    return m_logins.open_session(guest, id, user_agent);
}

Result<std::string> PasswordResets::set_temporary(const std::string& email) {
    const std::string address = TRY(checked_email(email));
    const std::string password = crypto::random_token(15);
    const std::string hashed = TRY(m_users.hash(password));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT id, disabled FROM users WHERE email = ?", address));
        if (rows.empty()) return not_found("user " + address);
        if (rows.front().flag(1)) return conflict("the user " + address + " is disabled; an owner must enable it");
        User user;
        user.id = rows.front().id<UserTag>(0);
        TRY(set_password(transaction, user, hashed, true));
        TRY(transaction.execute("DELETE FROM login_failures"));
        return m_audit.record(transaction, Caller::system(), {"user_password_reset", {}, user.id.text()});
    }));
    return password;
}

} // namespace hone::access
