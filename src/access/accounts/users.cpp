#include "access/accounts/users.h"

#include "access/custom_roles.h"
#include "access/names.h"

namespace hone::access {

namespace {

constexpr std::string_view select_user =
    "SELECT id, email, name, installation_owner, disabled, created_at, last_login_at FROM users";

User user_of(const sql::Row& row) {
    return {row.id<UserTag>(0), row.text(1), row.text(2), row.flag(3), row.flag(4), row.time(5), row.optional_time(6)};
}

} // namespace

Result<Page<User>> Users::list(const Caller& caller, const PageRequest& page) const {
    TRY(caller.require(Permission::user_manage));
    const std::string after = TRY(page.after());
    const auto rows =
        TRY(m_database.query(std::string(select_user) + " WHERE id > ? ORDER BY id LIMIT ?", after, page.limit + 1));
    std::vector<User> users;
    for (const auto& row : rows) users.push_back(user_of(row));
    return make_page(std::move(users), page, [](const User& user) { return user.id.text(); });
}

Result<User> Users::find(const UserId& id) const {
    const auto rows = TRY(m_database.query(std::string(select_user) + " WHERE id = ?", id));
    if (rows.empty()) return not_found("user " + id.text());
    return user_of(rows.front());
}

Result<std::optional<User>> Users::find_by_email(const std::string& email) const {
    const auto rows = TRY(m_database.query(std::string(select_user) + " WHERE email = ?", email));
    if (rows.empty()) return std::optional<User>();
    return std::optional(user_of(rows.front()));
}

Result<bool> Users::has_password(const UserId& id) const {
    return !TRY(m_database.query("SELECT 1 FROM users WHERE id = ? AND password_hash <> ''", id)).empty();
}

Result<std::map<SpaceId, HeldRole>> Users::roles_of(const UserId& id) const {
    const auto rows = TRY(m_database.query("SELECT m.space_id, m.role, r.name, r.permissions FROM members m LEFT JOIN "
                                           "custom_roles r ON r.id = m.custom_role WHERE m.user_id = ?",
                                           id));
    std::map<SpaceId, HeldRole> roles;
    for (const auto& row : rows)
        if (auto held = held_role_of(row, 1, 2, 3)) roles.emplace(row.id<SpaceTag>(0), std::move(*held));
    return roles;
}

Result<User> Users::create(sql::Transaction& transaction, const std::string& email, const std::string& name,
                           const std::string& password_hash, bool installation_owner, bool must_change_password) const {
    User user;
    user.id = make_id<UserTag>(m_clock);
    user.email = email;
    user.name = name;
    user.installation_owner = installation_owner;
    user.created_at = m_clock.now();
    TRY(transaction.execute(
        "INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, "
        "disabled, created_at) VALUES (?,?,?,?,?,?,0,?)",
        user.id, email, name, password_hash, must_change_password, installation_owner, user.created_at));
    return user;
}

Result<User> Users::update(const Caller& caller, const UserId& id, const UserChange& change) {
    TRY(caller.require(Permission::user_manage));
    std::optional<std::string> name;
    if (change.name) name = TRY(checked_name("name", *change.name));
    return m_database.write([&](sql::Transaction& transaction) -> Result<User> {
        const auto rows = TRY(transaction.query(std::string(select_user) + " WHERE id = ?", id));
        if (rows.empty()) return not_found("user " + id.text());
        User user = user_of(rows.front());
        // A limited key must not make, or get rid of, those who hold more than it does.
        if ((user.installation_owner || change.installation_owner.value_or(false)) &&
            !caller.permissions_of_installation().contains(installation_permissions()))
            return forbidden(
                "you cannot make or change an installation owner: it has permissions that you do not have");
        user.name = name.value_or(user.name);
        user.disabled = change.disabled.value_or(user.disabled);
        user.installation_owner = change.installation_owner.value_or(user.installation_owner);
        TRY(transaction.execute("UPDATE users SET name = ?, disabled = ?, installation_owner = ? WHERE id = ?",
                                user.name, user.disabled, user.installation_owner, id));
        const auto left =
            TRY(transaction.query("SELECT COUNT(*) FROM users WHERE installation_owner = 1 AND disabled = 0"));
        if (left.front().integer(0) == 0)
            return conflict("the installation needs at least one enabled owner: make another user owner first");
        if (user.disabled) TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ?", id));
        TRY(m_audit.record(
            transaction, caller,
            {"user_update",
             {},
             id.text(),
             {{"name", user.name}, {"disabled", user.disabled}, {"installation_owner", user.installation_owner}}}));
        return user;
    });
}

Result<User> Users::rename(const Caller& caller, const std::string& wanted) {
    TRY(caller.require_user());
    const std::string name = TRY(checked_name("name", wanted));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE users SET name = ? WHERE id = ?", name, caller.user));
        return m_audit.record(transaction, caller, {"user_rename", {}, caller.user.text(), {{"name", name}}});
    }));
    return find(caller.user);
}

} // namespace hone::access
