// The groups that providers send at sign-ins: who was in them at the last sign-in, and the roles that mappings give
// them. A membership never comes from here: SignOn computes it at each sign-in. Thread-safe.
#pragma once

#include "identity/providers.h"

namespace hone::identity {

struct GroupRole {
    std::string space_id;
    std::string space_name;
    access::Role role = access::Role::viewer;
    static constexpr Pack fields{
        Field{"space_id", &GroupRole::space_id, ""},
        Field{"space_name", &GroupRole::space_name, "Empty: the space was deleted."},
        Field{"role", &GroupRole::role, ""},
    };
};

struct Group {
    std::string provider;
    std::string name;
    int64_t people = 0;
    std::vector<std::string> emails;
    std::vector<GroupRole> roles;
    std::optional<Time> last_login_at;
    static constexpr Pack fields{
        Field{"provider", &Group::provider, "Name of the provider that sends it."},
        Field{"name", &Group::name, "As the groups claim has it."},
        Field{"people", &Group::people, "Identities that were in it at their last sign-in."},
        Field{"emails", &Group::emails, "Their addresses at the provider: the first 20, in the order of the alphabet."},
        Field{"roles", &Group::roles, "Roles that the provider's mappings give to it; empty: none."},
        Field{"last_login_at", &Group::last_login_at, "Newest sign-in with it; null: only a mapping names it."},
    };
};

struct GroupFilter {
    std::optional<std::string> provider{};
    std::optional<access::UserId> user{}; // only groups in which the user is
};

class Groups {
public:
    Groups(sql::Database& database, access::Access& access, Providers& providers)
        : m_database(database),
          m_access(access),
          m_providers(providers) {}

    // For owners of the installation, by provider and name: the groups of people who signed in, and those that only a
    // mapping names.
    Result<access::Page<Group>> list(const access::Caller& caller, const GroupFilter& filter,
                                     const access::PageRequest& page) const;

    // Within a sign-in: replaces the groups of one identity. Names that are empty, too long or have control characters
    // are left out.
    Result<> record(sql::Transaction& transaction, const std::string& provider, const std::string& issuer,
                    const std::string& subject, const std::vector<std::string>& names) const;

private:
    Result<> add_emails(Group& group, const GroupFilter& filter) const;
    Result<> add_roles(std::vector<Group>& groups) const;

    sql::Database& m_database;
    access::Access& m_access;
    Providers& m_providers;
};

} // namespace hone::identity
