#include "access/access.h"

#include "access/audit/seal.h"
#include "access/names.h"

namespace hone::access {

Result<std::optional<FirstStart>> Access::first_start(const std::optional<std::string>& admin_password) {
    const auto any = TRY(m_database.query("SELECT id FROM users LIMIT 1"));
    if (!any.empty()) return std::optional<FirstStart>();
    FirstStart first{"admin@localhost", admin_password.value_or(""), admin_password.value_or("").empty()};
    if (first.generated) first.password = crypto::random_token(15);
    // Set by the administrator of the machine: a short one is accepted, with a warning at the start.
    const auto checked = check_password(first.password);
    if (!checked.ok() && first.password.size() > 10) return invalid("HONE_ADMIN_PASSWORD: " + checked.error().message);
    const std::string hashed = TRY(users.hash(first.password));
    auto made = m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<FirstStart>> {
        // Another server on the same database may have been faster.
        const auto users_now = TRY(transaction.query("SELECT id FROM users LIMIT 1"));
        if (!users_now.empty()) return std::optional<FirstStart>();
        const User admin = TRY(users.create(transaction, first.email, "Admin", hashed, true, first.generated));
        const SpaceId space = TRY(spaces.create(transaction, "default", ""));
        TRY(spaces.add_member(transaction, space, admin.id, Role::owner));
        TRY(audit.record(transaction, Caller::system(),
                         {"first_start", space, admin.id.text(), {{"email", first.email}}}));
        return std::optional(first);
    });
    // The other server may also have come between our look and our insert.
    if (!made.ok() && made.error().code == Code::conflict &&
        !TRY(m_database.query("SELECT id FROM users LIMIT 1")).empty())
        return std::optional<FirstStart>();
    return made;
}

Result<> Access::note_version(const std::string& version) {
    TRY(seal_audit_log(m_database));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query(
            "SELECT target FROM audit_entries WHERE action = 'version_change' ORDER BY seq DESC LIMIT 1"));
        const std::string before = rows.empty() ? "" : rows.front().text(0);
        if (before == version) return {};
        return audit.record(transaction, Caller::system(), {"version_change", {}, version, {{"from", before}}});
    });
}

} // namespace hone::access
