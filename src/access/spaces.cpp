#include "access/spaces.h"

#include "access/names.h"
#include "sql/columns.h"

namespace hone::access {

namespace {

constexpr std::string_view select_space = "SELECT id, name, description, created_at FROM spaces";
constexpr std::string_view select_member =
    "SELECT m.user_id, u.email, u.name, m.role, u.disabled, m.created_at, u.last_login_at, r.name, r.permissions "
    "FROM members m JOIN users u ON u.id = m.user_id LEFT JOIN custom_roles r ON r.id = m.custom_role";

Member member_of(const sql::Row& row) {
    const HeldRole held = held_role_of(row, 3, 7, 8).value_or(Role::viewer);
    return {row.id<UserTag>(0), row.text(1), row.text(2),          held.role,
            row.flag(4),        row.time(5), row.optional_time(6), held.custom};
}

} // namespace

Result<> require_may_grant(const Caller& caller, const SpaceId& space, Role role) {
    if (!caller.permissions_in(space).contains(permissions_of(role)))
        return forbidden("you cannot give the role " + std::string(name_of(role)) + ": it holds more than you do");
    return {};
}

Result<Space> Spaces::space_of(const Caller& caller, const sql::Row& row) const {
    const auto id = row.id<SpaceTag>(0);
    return Space{id,
                 row.text(1),
                 row.text(2),
                 row.time(3),
                 caller.role_in(id),
                 caller.permissions_in(id).names(),
                 caller.custom_role_in(id)};
}

Result<Page<Space>> Spaces::list(const Caller& caller, const PageRequest& page) const {
    const std::string after = TRY(page.after());
    std::vector<Space> spaces;
    // A person has few spaces; only an installation owner may see many, so the filter runs here and not in SQL.
    std::string position = after;
    while (spaces.size() <= static_cast<size_t>(page.limit)) {
        const auto rows =
            TRY(m_database.query(std::string(select_space) + " WHERE id > ? ORDER BY id LIMIT 500", position));
        for (const auto& row : rows) {
            position = row.text(0);
            if (caller.permissions_in(row.id<SpaceTag>(0)).has(Permission::space_read))
                spaces.push_back(TRY(space_of(caller, row)));
            if (spaces.size() > static_cast<size_t>(page.limit)) break;
        }
        if (rows.size() < 500) break;
    }
    return make_page(std::move(spaces), page, [](const Space& space) { return space.id.text(); });
}

Result<Space> Spaces::find(const Caller& caller, std::string_view id_or_name) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(
        std::string(select_space) + " WHERE id = ? OR name = ? ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 1",
        id_or_name, id_or_name, id_or_name));
    if (rows.empty() || (caller.kind != CallerKind::system && !caller.role_in(rows.front().id<SpaceTag>(0))))
        return not_found("space " + std::string(truncate_utf8(id_or_name, 100)));
    TRY(caller.require(Permission::space_read, rows.front().id<SpaceTag>(0)));
    return space_of(caller, rows.front());
}

Result<SpaceId> Spaces::choose(const Caller& caller, const std::optional<std::string>& id_or_name) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    if (id_or_name) {
        // An id wins over a space that was given another's id as its name.
        const auto rows = TRY(m_database.query("SELECT id FROM spaces WHERE id = ? OR name = ? "
                                               "ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END LIMIT 1",
                                               *id_or_name, *id_or_name, *id_or_name));
        if (rows.empty() || !caller.role_in(rows.front().id<SpaceTag>(0)))
            return not_found("space " + std::string(truncate_utf8(*id_or_name, 100)));
        return rows.front().id<SpaceTag>(0);
    }
    if (!caller.roles.empty()) return caller.roles.begin()->first; // ids sort by creation: the oldest
    if (caller.installation_owner && caller.kind == CallerKind::user) {
        const auto rows = TRY(m_database.query("SELECT id FROM spaces ORDER BY id LIMIT 1"));
        if (!rows.empty()) return rows.front().id<SpaceTag>(0);
    }
    return forbidden("you are not a member of any space; ask for an invite");
}

Result<std::map<SpaceId, std::string>> Spaces::names(std::span<const SpaceId> ids) const {
    std::map<SpaceId, std::string> names;
    if (ids.empty()) return names;
    const auto rows = TRY(m_database.run_query(
        "SELECT id, name FROM spaces WHERE id IN (" + sql::marks(ids.size()) + ")", sql::to_values(ids)));
    for (const auto& row : rows) names.emplace(row.id<SpaceTag>(0), row.text(1));
    return names;
}

Result<std::map<SpaceId, std::string>> Spaces::all_names() const {
    std::map<SpaceId, std::string> names;
    for (const auto& row : TRY(m_database.query("SELECT id, name FROM spaces")))
        names.emplace(row.id<SpaceTag>(0), row.text(1));
    return names;
}

Result<std::vector<SpaceId>> Spaces::of_installation_owners(int64_t limit) const {
    auto rows = TRY(
        m_database.query("SELECT DISTINCT members.space_id FROM members JOIN users ON users.id = members.user_id WHERE "
                         "users.installation_owner = 1 AND users.disabled = 0 ORDER BY members.space_id LIMIT ?",
                         limit));
    if (rows.empty()) rows = TRY(m_database.query("SELECT id FROM spaces ORDER BY created_at, id LIMIT 1"));
    std::vector<SpaceId> spaces;
    for (const auto& row : rows) spaces.push_back(row.id<SpaceTag>(0));
    return spaces;
}

Result<std::optional<Member>> Spaces::find_member(const SpaceId& space, const UserId& user) const {
    const auto rows =
        TRY(m_database.query(std::string(select_member) + " WHERE m.space_id = ? AND m.user_id = ?", space, user));
    if (rows.empty()) return std::optional<Member>();
    return std::optional(member_of(rows.front()));
}

Result<SpaceId> Spaces::create(sql::Transaction& transaction, const std::string& name,
                               const std::string& description) const {
    const auto id = make_id<SpaceTag>(m_clock);
    const auto taken = TRY(transaction.query("SELECT id FROM spaces WHERE name = ?", name));
    if (!taken.empty()) return conflict("a space named " + name + " exists already");
    TRY(transaction.execute("INSERT INTO spaces (id, name, description, created_at) VALUES (?,?,?,?)", id, name,
                            description, m_clock.now()));
    return id;
}

Result<> Spaces::add_member(sql::Transaction& transaction, const SpaceId& space, const UserId& user, Role role,
                            const std::optional<CustomRoleId>& custom) const {
    TRY(transaction.execute("INSERT INTO members (space_id, user_id, role, custom_role, created_at) VALUES (?,?,?,?,?)",
                            space, user, name_of(custom ? Role::viewer : role), custom, m_clock.now()));
    return {};
}

Result<Space> Spaces::create(const Caller& caller, const std::string& wanted_name,
                             const std::string& wanted_description) {
    TRY(caller.require(Permission::space_create));
    const std::string name = TRY(checked_name("name", wanted_name));
    const std::string description = TRY(checked_description(wanted_description));
    const SpaceId id = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<SpaceId> {
        const SpaceId made = TRY(create(transaction, name, description));
        if (!caller.user.empty()) TRY(add_member(transaction, made, caller.user, Role::owner));
        TRY(m_audit.record(transaction, caller, {"space_create", made, made.text(), {{"name", name}}}));
        return made;
    }));
    Caller member = caller;
    if (caller.kind == CallerKind::user) member.roles.emplace(id, Role::owner);
    const auto rows = TRY(m_database.query(std::string(select_space) + " WHERE id = ?", id));
    if (rows.empty()) return not_found("space " + id.text());
    return space_of(member, rows.front());
}

Result<Space> Spaces::update(const Caller& caller, const SpaceId& id, const SpaceChange& change) {
    TRY(caller.require(Permission::space_update, id));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Space> {
        const auto rows = TRY(transaction.query(std::string(select_space) + " WHERE id = ?", id));
        if (rows.empty()) return not_found("space " + id.text());
        Space space = TRY(space_of(caller, rows.front()));
        if (change.name) space.name = TRY(checked_name("name", *change.name));
        if (change.description) space.description = TRY(checked_description(*change.description));
        const auto taken = TRY(transaction.query("SELECT id FROM spaces WHERE name = ? AND id <> ?", space.name, id));
        if (!taken.empty()) return conflict("a space named " + space.name + " exists already");
        TRY(transaction.execute("UPDATE spaces SET name = ?, description = ? WHERE id = ?", space.name,
                                space.description, id));
        TRY(m_audit.record(
            transaction, caller,
            {"space_update", id, id.text(), {{"name", space.name}, {"description", space.description}}}));
        return space;
    });
}

Result<> Spaces::remove(const Caller& caller, const SpaceId& id, const std::string& confirm) {
    TRY(caller.require(Permission::space_delete, id));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT name FROM spaces WHERE id = ?", id));
        if (rows.empty()) return not_found("space " + id.text());
        if (rows.front().text(0) != confirm)
            return invalid("confirm must repeat the name of the space: deleting it deletes all its projects and data");
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM spaces"));
        if (count.front().integer(0) == 1) return conflict("the last space cannot be deleted");
        TRY(transaction.execute("INSERT INTO deleted_projects (id, space_id, name, deleted_at) "
                                "SELECT id, space_id, name, CAST(? AS BIGINT) FROM projects WHERE space_id = ?",
                                m_clock.now(), id));
        TRY(transaction.execute("DELETE FROM bindings WHERE project_id IN (SELECT id FROM projects WHERE space_id = ?)",
                                id));
        TRY(transaction.execute("DELETE FROM spaces WHERE id = ?", id));
        return m_audit.record(transaction, caller, {"space_delete", id, id.text(), {{"name", confirm}}});
    });
}

Result<Page<Member>> Spaces::members(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::member_read, space));
    const std::string after = TRY(page.after());
    const auto rows = TRY(m_database.query(std::string(select_member) +
                                               " WHERE m.space_id = ? AND m.user_id > ? ORDER BY m.user_id LIMIT ?",
                                           space, after, page.limit + 1));
    std::vector<Member> members;
    for (const auto& row : rows) members.push_back(member_of(row));
    return make_page(std::move(members), page, [](const Member& member) { return member.user_id.text(); });
}

Result<HeldRole> Spaces::changeable_role(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                                         const UserId& user) const {
    const auto rows =
        TRY(transaction.query("SELECT m.role, r.name, r.permissions FROM members m LEFT JOIN custom_roles "
                              "r ON r.id = m.custom_role WHERE m.space_id = ? AND m.user_id = ?",
                              space, user));
    if (rows.empty()) return not_found("member " + user.text());
    const HeldRole held = held_role_of(rows.front(), 0, 1, 2).value_or(Role::viewer);
    if (!caller.permissions_in(space).contains(held.permissions))
        return forbidden("you cannot change a member whose role is higher than yours");
    return held;
}

Result<> Spaces::require_an_owner(sql::Transaction& transaction, const SpaceId& space) const {
    const auto owners =
        TRY(transaction.query("SELECT COUNT(*) FROM members WHERE space_id = ? AND role = 'owner'", space));
    if (owners.front().integer(0) == 0)
        return conflict("the space needs at least one owner: make another member owner first");
    return {};
}

Result<Member> Spaces::set_role(const Caller& caller, const SpaceId& space, const UserId& user,
                                const RoleChoice& choice) {
    TRY(caller.require(Permission::member_manage, space));
    return m_database.write([&](sql::Transaction& transaction) -> Result<Member> {
        const Grantable given = TRY(grantable(transaction, caller, space, choice));
        const HeldRole before = TRY(changeable_role(transaction, caller, space, user));
        TRY(transaction.execute("UPDATE members SET role = ?, custom_role = ? WHERE space_id = ? AND user_id = ?",
                                name_of(given.custom ? Role::viewer : given.held.role), given.custom, space, user));
        if (before == Role::owner) TRY(require_an_owner(transaction, space));
        TRY(m_audit.record(
            transaction, caller,
            {"member_update", space, user.text(), {{"role", given.held.name()}, {"before", before.name()}}}));
        const auto rows =
            TRY(transaction.query(std::string(select_member) + " WHERE m.space_id = ? AND m.user_id = ?", space, user));
        return member_of(rows.front());
    });
}

Result<> Spaces::remove_member(const Caller& caller, const SpaceId& space, const UserId& user) {
    // Every member may leave; removing others needs the permission.
    if (caller.user != user || caller.kind != CallerKind::user)
        TRY(caller.require(Permission::member_manage, space));
    else
        TRY(caller.require(Permission::member_read, space));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const HeldRole before = TRY(changeable_role(transaction, caller, space, user));
        TRY(delete_member(transaction, space, user));
        if (before == Role::owner) TRY(require_an_owner(transaction, space));
        return m_audit.record(transaction, caller, {"member_delete", space, user.text()});
    });
}

Result<> Spaces::delete_member(sql::Transaction& transaction, const SpaceId& space, const UserId& user) const {
    TRY(transaction.execute("DELETE FROM members WHERE space_id = ? AND user_id = ?", space, user));
    TRY(transaction.execute(
        "DELETE FROM bindings WHERE principal = ? AND project_id IN (SELECT id FROM projects WHERE space_id = ?)", user,
        space));
    // Keys that were rotated and still have some grace end too.
    TRY(transaction.execute("UPDATE api_keys SET revoked_at = ?, key_hash = 'revoked ' || id WHERE space_id = ? "
                            "AND user_id = ? AND (revoked_at IS NULL OR revoked_at > ?)",
                            m_clock.now(), space, user, m_clock.now()));
    return {};
}

Result<bool> Spaces::is_last_owner(sql::Transaction& transaction, const SpaceId& space, const UserId& user) const {
    const auto others = TRY(transaction.query(
        "SELECT COUNT(*) FROM members WHERE space_id = ? AND role = 'owner' AND user_id <> ?", space, user));
    return others.front().integer(0) == 0;
}

Result<std::optional<Role>> Spaces::role_of(sql::Transaction& transaction, const SpaceId& space,
                                            const UserId& user) const {
    const auto rows =
        TRY(transaction.query("SELECT role FROM members WHERE space_id = ? AND user_id = ?", space, user));
    if (rows.empty()) return std::optional<Role>();
    return std::optional(parse_enum<Role>(rows.front().text(0)).value_or(Role::viewer));
}

Result<bool> Spaces::exists(sql::Transaction& transaction, const SpaceId& space) const {
    return !TRY(transaction.query("SELECT 1 FROM spaces WHERE id = ?", space)).empty();
}

Result<bool> Spaces::change_member(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                                   const UserId& user, Role role) const {
    const auto before = TRY(role_of(transaction, space, user));
    const bool has_custom = !TRY(transaction.query("SELECT 1 FROM members WHERE space_id = ? AND user_id = ? AND "
                                                   "custom_role IS NOT NULL",
                                                   space, user))
                                 .empty();
    if (before == role && !has_custom) return false;
    if (before == Role::owner && TRY(is_last_owner(transaction, space, user))) return false;
    if (!before) {
        TRY(add_member(transaction, space, user, role));
    } else {
        TRY(transaction.execute("UPDATE members SET role = ?, custom_role = NULL WHERE space_id = ? AND user_id = ?",
                                name_of(role), space, user));
    }
    json::Object details{{"role", name_of(role)}, {"by", "groups"}};
    if (before) details["before"] = name_of(*before);
    TRY(m_audit.record(transaction, caller,
                       {before ? "member_update" : "member_create", space, user.text(), std::move(details)}));
    return true;
}

Result<bool> Spaces::drop_member(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                                 const UserId& user) const {
    const auto before = TRY(role_of(transaction, space, user));
    if (!before) return false;
    if (before == Role::owner && TRY(is_last_owner(transaction, space, user))) return false;
    TRY(delete_member(transaction, space, user));
    TRY(m_audit.record(transaction, caller, {"member_delete", space, user.text(), {{"by", "groups"}}}));
    return true;
}

} // namespace hone::access
