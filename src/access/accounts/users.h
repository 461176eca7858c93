// The people of the installation. Thread-safe.
#pragma once

#include "access/audit/audit.h"
#include "crypto/crypto.h"

namespace hone::access {

struct UserChange {
    std::optional<std::string> name{};
    std::optional<bool> disabled{};
    std::optional<bool> installation_owner{};
};

class Users {
public:
    Users(sql::Database& database, const Clock& clock, const AuditLog& audit, crypto::PasswordCost cost)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_cost(cost) {}

    Result<Page<User>> list(const Caller& caller, const PageRequest& page) const;
    Result<User> find(const UserId& id) const;
    Result<std::optional<User>> find_by_email(const std::string& email) const;
    // False for an account of single sign-on.
    Result<bool> has_password(const UserId& id) const;
    Result<std::map<SpaceId, HeldRole>> roles_of(const UserId& id) const;
    // By an installation owner. Disabling ends all logins; the last enabled installation owner stays.
    Result<User> update(const Caller& caller, const UserId& id, const UserChange& change);
    // A person's own name; the password is the matter of Logins.
    Result<User> rename(const Caller& caller, const std::string& name);

    // Within a transaction of others: invites and the first start. The password is hashed by hash() before.
    Result<std::string> hash(const std::string& password) const { return crypto::hash_password(password, m_cost); }
    Result<User> create(sql::Transaction& transaction, const std::string& email, const std::string& name,
                        const std::string& password_hash, bool installation_owner, bool must_change_password) const;

    crypto::PasswordCost cost() const { return m_cost; }

private:
    sql::Database& m_database;
    const Clock& m_clock;
    const AuditLog& m_audit;
    const crypto::PasswordCost m_cost;
};

} // namespace hone::access
