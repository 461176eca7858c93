#include "access/accounts/provider_logins.h"

namespace hone::access {

Result<> end_provider_logins(sql::Database& database, const AuditLog& audit, const Caller& caller, const UserId& user,
                             const std::string& provider) {
    TRY(caller.require(Permission::user_manage));
    return database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t ended =
            TRY(transaction.execute("DELETE FROM login_sessions WHERE user_id = ? AND provider = ?", user, provider));
        if (ended == 0) return {};
        return audit.record(transaction, caller,
                            {"login_sessions_end", {}, user.text(), {{"count", ended}, {"provider", provider}}});
    });
}

} // namespace hone::access
