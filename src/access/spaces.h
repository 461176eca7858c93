// Spaces and their members. A caller can grant and remove only what it holds itself; a space always keeps an owner.
// Thread-safe.
#pragma once

#include "access/accounts/users.h"
#include "access/custom_roles.h"

namespace hone::access {

struct SpaceChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
};

class Spaces {
public:
    Spaces(sql::Database& database, const Clock& clock, const AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_audit(audit) {}

    // The caller's own; all of them for an installation owner.
    Result<Page<Space>> list(const Caller& caller, const PageRequest& page) const;
    // By id or name. not_found for a space the caller has no part in.
    Result<Space> find(const Caller& caller, std::string_view id_or_name) const;
    // The named one, or the first of the caller's own. For requests that name none.
    Result<SpaceId> choose(const Caller& caller, const std::optional<std::string>& id_or_name) const;
    Result<Space> create(const Caller& caller, const std::string& name, const std::string& description);
    Result<Space> update(const Caller& caller, const SpaceId& id, const SpaceChange& change);
    // `confirm` repeats the name. Its projects are deleted as by Projects::remove; the last space stays.
    Result<> remove(const Caller& caller, const SpaceId& id, const std::string& confirm);

    // Names by id, for lists of other folders; ids without a space are left out.
    Result<std::map<SpaceId, std::string>> names(std::span<const SpaceId> ids) const;
    Result<std::map<SpaceId, std::string>> all_names() const;
    // Where notices about the whole installation go: the spaces of its owners, else the oldest space.
    Result<std::vector<SpaceId>> of_installation_owners(int64_t limit) const;

    Result<Page<Member>> members(const Caller& caller, const SpaceId& space, const PageRequest& page) const;
    Result<std::optional<Member>> find_member(const SpaceId& space, const UserId& user) const;
    Result<Member> set_role(const Caller& caller, const SpaceId& space, const UserId& user, const RoleChoice& choice);
    Result<> remove_member(const Caller& caller, const SpaceId& space, const UserId& user);

    // Within a transaction of others: the first start and accepted invites.
    Result<SpaceId> create(sql::Transaction& transaction, const std::string& name,
                           const std::string& description) const;
    Result<> add_member(sql::Transaction& transaction, const SpaceId& space, const UserId& user, Role role,
                        const std::optional<CustomRoleId>& custom = {}) const;
    // Within a transaction of others: memberships that follow the groups of single sign-on. `change_member` adds the
    // member or changes its role, and returns whether it did; neither takes a space's last owner away.
    Result<bool> change_member(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                               const UserId& user, Role role) const;
    Result<bool> drop_member(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                             const UserId& user) const;
    Result<std::optional<Role>> role_of(sql::Transaction& transaction, const SpaceId& space, const UserId& user) const;
    Result<bool> exists(sql::Transaction& transaction, const SpaceId& space) const;

private:
    Result<Space> space_of(const Caller& caller, const sql::Row& row) const;
    Result<HeldRole> changeable_role(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                                     const UserId& user) const;
    Result<> require_an_owner(sql::Transaction& transaction, const SpaceId& space) const;
    Result<bool> is_last_owner(sql::Transaction& transaction, const SpaceId& space, const UserId& user) const;
    Result<> delete_member(sql::Transaction& transaction, const SpaceId& space, const UserId& user) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
};

// Whether the caller may hand out this role in the space: it holds all that the role holds.
Result<> require_may_grant(const Caller& caller, const SpaceId& space, Role role);

} // namespace hone::access
