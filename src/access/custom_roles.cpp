#include "access/custom_roles.h"

#include "access/names.h"

namespace hone::access {

namespace {

constexpr int64_t most_roles = 100; // of a space

constexpr std::string_view select_role =
    "SELECT r.id, r.space_id, r.name, r.description, r.permissions, "
    "(SELECT COUNT(*) FROM members m WHERE m.custom_role = r.id), r.created_by_name, r.created_at, r.updated_at "
    "FROM custom_roles r";

PermissionSet parse_stored(std::string_view text) {
    PermissionSet set;
    for (const std::string_view name : split(text, ' '))
        if (const auto permission = parse_enum<Permission>(name)) set.add(*permission);
    return set & permissions_of(Role::owner);
}

std::string join_names(PermissionSet set) {
    std::string text;
    for (const std::string& name : set.names()) text += (text.empty() ? "" : " ") + name;
    return text;
}

CustomRole role_of_row(const sql::Row& row) {
    return {row.id<CustomRoleTag>(0), row.id<SpaceTag>(1), row.text(2), row.text(3), parse_stored(row.text(4)).names(),
            row.integer(5),           row.text(6),         row.time(7), row.time(8)};
}

Result<PermissionSet> checked_permissions(const std::vector<std::string>& names) {
    if (names.size() > 200) return invalid("permissions must not have more than 200 entries");
    PermissionSet set;
    set.add(Permission::space_read); // without it a member could not open the space
    for (const std::string& name : names) {
        const auto permission = parse_enum<Permission>(name);
        if (!permission)
            return invalid("permissions: unknown permission \"" + std::string(truncate_utf8(name, 60)) +
                           "\"; GET /v1/server lists them");
        if (installation_permissions().has(*permission))
            return invalid("permissions: " + name + " belongs to owners of the installation, not to a role of a space");
        set.add(*permission);
    }
    return set;
}

Result<std::string> checked_role_name(const std::string& wanted) {
    const std::string name = TRY(checked_name("name", wanted));
    if (parse_enum<Role>(lowercase_ascii(name)))
        return invalid("name must differ from the built-in roles: " + name + " is one of them");
    return name;
}

Result<> require_holds(const Caller& caller, const SpaceId& space, PermissionSet wanted) {
    const PermissionSet own = caller.permissions_in(space);
    if (own.contains(wanted)) return {};
    std::string missing;
    for (const std::string& name : wanted.names())
        if (!own.has(*parse_enum<Permission>(name))) missing += (missing.empty() ? "" : ", ") + name;
    return forbidden("the role would have permissions that you do not have: " + missing);
}

PermissionSet set_of(const CustomRole& role) {
    PermissionSet set;
    for (const std::string& name : role.permissions) set.add(*parse_enum<Permission>(name));
    return set;
}

Result<> require_free_name(sql::Transaction& transaction, const CustomRole& role) {
    const auto taken = TRY(transaction.query("SELECT 1 FROM custom_roles WHERE space_id = ? AND name = ? AND id <> ?",
                                             role.space_id, role.name, role.id));
    if (!taken.empty()) return conflict("a role named " + role.name + " exists already in this space");
    return {};
}

} // namespace

Result<RoleChoice> RoleChoice::of(const std::optional<Role>& role, const std::optional<std::string>& custom_role) {
    if (role.has_value() == custom_role.has_value()) return invalid("give either role or custom_role");
    if (role) return RoleChoice(*role);
    if (custom_role->empty()) return invalid("custom_role must not be empty");
    return RoleChoice(*custom_role);
}

std::optional<HeldRole> held_role_of(const sql::Row& row, size_t role, size_t custom_name, size_t custom_permissions) {
    if (!row.is_null(custom_name))
        return HeldRole::custom_role(row.text(custom_name), parse_stored(row.text(custom_permissions)));
    const auto built_in = parse_enum<Role>(row.text(role));
    return built_in ? std::optional(HeldRole(*built_in)) : std::nullopt;
}

Result<Grantable> grantable(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                            const RoleChoice& choice) {
    Grantable found{HeldRole(choice.role), {}};
    if (!choice.custom.empty()) {
        const auto rows = TRY(transaction.query(
            "SELECT id, name, permissions FROM custom_roles WHERE space_id = ? AND (id = ? OR name = ?)", space,
            choice.custom, choice.custom));
        if (rows.empty()) return not_found("role " + std::string(truncate_utf8(choice.custom, 100)));
        found.custom = rows.front().id<CustomRoleTag>(0);
        found.held = HeldRole::custom_role(rows.front().text(1), parse_stored(rows.front().text(2)));
    }
    if (!caller.permissions_in(space).contains(found.held.permissions))
        return forbidden("you cannot give the role " + found.held.name() + ": it holds more than you do");
    return found;
}

Result<CustomRole> CustomRoles::row_of(sql::Transaction& transaction, const SpaceId& space,
                                       std::string_view role) const {
    const auto rows = TRY(transaction.query(
        std::string(select_role) + " WHERE r.space_id = ? AND (r.id = ? OR r.name = ?)", space, role, role));
    if (rows.empty()) return not_found("role " + std::string(truncate_utf8(role, 100)));
    return role_of_row(rows.front());
}

Result<Page<CustomRole>> CustomRoles::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::member_read, space));
    const std::string after = TRY(page.after());
    const auto rows =
        TRY(m_database.query(std::string(select_role) + " WHERE r.space_id = ? AND r.id > ? ORDER BY r.id LIMIT ?",
                             space, after, page.limit + 1));
    std::vector<CustomRole> roles;
    for (const auto& row : rows) roles.push_back(role_of_row(row));
    return make_page(std::move(roles), page, [](const CustomRole& role) { return role.id.text(); });
}

Result<CustomRole> CustomRoles::find(const Caller& caller, const SpaceId& space, std::string_view role) const {
    TRY(caller.require(Permission::member_read, space));
    const auto rows = TRY(m_database.query(
        std::string(select_role) + " WHERE r.space_id = ? AND (r.id = ? OR r.name = ?)", space, role, role));
    if (rows.empty()) return not_found("role " + std::string(truncate_utf8(role, 100)));
    return role_of_row(rows.front());
}

Result<CustomRole> CustomRoles::create(const Caller& caller, const SpaceId& space, const NewCustomRole& wanted) {
    TRY(caller.require(Permission::role_manage, space));
    CustomRole role;
    role.space_id = space;
    role.name = TRY(checked_role_name(wanted.name));
    role.description = TRY(checked_description(wanted.description));
    const PermissionSet permissions = TRY(checked_permissions(wanted.permissions));
    TRY(require_holds(caller, space, permissions));
    role.permissions = permissions.names();
    role.created_by_name = caller.name;
    return m_database.write([&](sql::Transaction& transaction) -> Result<CustomRole> {
        CustomRole made = role;
        made.id = make_id<CustomRoleTag>(m_clock);
        made.created_at = made.updated_at = m_clock.now();
        TRY(require_free_name(transaction, made));
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM custom_roles WHERE space_id = ?", space));
        if (count.front().integer(0) >= most_roles)
            return conflict("a space can have at most " + std::to_string(most_roles) +
                            " custom roles; delete one first");
        TRY(transaction.execute("INSERT INTO custom_roles (id, space_id, name, description, permissions, "
                                "created_by_name, created_at, updated_at) VALUES (?,?,?,?,?,?,?,?)",
                                made.id, space, made.name, made.description, join_names(permissions),
                                made.created_by_name, made.created_at, made.updated_at));
        TRY(m_audit.record(
            transaction, caller,
            {"role_create", space, made.id.text(), {{"name", made.name}, {"permissions", join_names(permissions)}}}));
        return made;
    });
}

Result<CustomRole> CustomRoles::update(const Caller& caller, const SpaceId& space, std::string_view wanted,
                                       const CustomRoleChange& change) {
    TRY(caller.require(Permission::role_manage, space));
    return m_database.write([&](sql::Transaction& transaction) -> Result<CustomRole> {
        CustomRole role = TRY(row_of(transaction, space, wanted));
        const PermissionSet before = set_of(role);
        // Neither taking away nor adding what the caller does not hold itself.
        TRY(require_holds(caller, space, before));
        if (change.name) role.name = TRY(checked_role_name(*change.name));
        if (change.description) role.description = TRY(checked_description(*change.description));
        PermissionSet permissions = before;
        if (change.permissions) permissions = TRY(checked_permissions(*change.permissions));
        TRY(require_holds(caller, space, permissions));
        role.permissions = permissions.names();
        role.updated_at = m_clock.now();
        TRY(require_free_name(transaction, role));
        TRY(transaction.execute(
            "UPDATE custom_roles SET name = ?, description = ?, permissions = ?, updated_at = ? WHERE id = ?",
            role.name, role.description, join_names(permissions), role.updated_at, role.id));
        TRY(m_audit.record(
            transaction, caller,
            {"role_update",
             space,
             role.id.text(),
             {{"name", role.name}, {"permissions", join_names(permissions)}, {"before", join_names(before)}}}));
        return role;
    });
}

Result<> CustomRoles::remove(const Caller& caller, const SpaceId& space, std::string_view wanted) {
    TRY(caller.require(Permission::role_manage, space));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const CustomRole role = TRY(row_of(transaction, space, wanted));
        TRY(require_holds(caller, space, set_of(role)));
        if (role.members > 0)
            return conflict(std::to_string(role.members) + (role.members == 1 ? " member has" : " members have") +
                            " this role; give them another one first");
        TRY(transaction.execute("UPDATE invites SET revoked_at = ? WHERE space_id = ? AND custom_role = ? AND "
                                "accepted_at IS NULL AND revoked_at IS NULL",
                                m_clock.now(), space, role.id));
        TRY(transaction.execute("DELETE FROM custom_roles WHERE id = ?", role.id));
        return m_audit.record(transaction, caller, {"role_delete", space, role.id.text(), {{"name", role.name}}});
    });
}

} // namespace hone::access
