// Roles that owners compose of permissions, for the members of one space. A caller composes, changes and gives only
// what it holds itself; what a role does not name is denied. Thread-safe.
#pragma once

#include "access/audit/audit.h"

namespace hone::access {

struct NewCustomRole {
    std::string name{};
    std::string description{};
    std::vector<std::string> permissions{};
};

struct CustomRoleChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<std::vector<std::string>> permissions{};
};

class CustomRoles {
public:
    CustomRoles(sql::Database& database, const Clock& clock, const AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_audit(audit) {}

    Result<Page<CustomRole>> list(const Caller& caller, const SpaceId& space, const PageRequest& page) const;
    // Roles are named by id or name.
    Result<CustomRole> find(const Caller& caller, const SpaceId& space, std::string_view role) const;
    Result<CustomRole> create(const Caller& caller, const SpaceId& space, const NewCustomRole& wanted);
    // Members have the changed role with their next request.
    Result<CustomRole> update(const Caller& caller, const SpaceId& space, std::string_view role,
                              const CustomRoleChange& change);
    // A role that members have stays; open invites with it are revoked.
    Result<> remove(const Caller& caller, const SpaceId& space, std::string_view role);

private:
    Result<CustomRole> row_of(sql::Transaction& transaction, const SpaceId& space, std::string_view role) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
};

// What is given to a member or with an invite: a role, or a custom role of the space by id or name.
struct RoleChoice {
    Role role = Role::viewer;
    std::string custom; // empty: `role` counts
    RoleChoice(Role chosen) : role(chosen) {}
    explicit RoleChoice(std::string custom_role) : custom(std::move(custom_role)) {}
    // Exactly one of the two.
    static Result<RoleChoice> of(const std::optional<Role>& role, const std::optional<std::string>& custom_role);
};

// The chosen role as members hold it. forbidden when it holds more than the caller.
struct Grantable {
    HeldRole held;
    std::optional<CustomRoleId> custom;
};
Result<Grantable> grantable(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                            const RoleChoice& choice);

// The role of a row with `role`, and the name and permissions of its custom role (null without one).
std::optional<HeldRole> held_role_of(const sql::Row& row, size_t role, size_t custom_name, size_t custom_permissions);

} // namespace hone::access
