#include "server/membership/contracts.h"

#include "lease/servers.h"

namespace hone::server {

Result<> check_contracts(sql::Database& database, const Clock& clock, const std::vector<sql::Migration>& pending) {
    for (const sql::Migration& migration : pending) {
        if (!migration.is_contract()) continue;
        const auto older = TRY(lease::live_servers_before(database, clock, migration.version));
        if (older.empty()) continue;
        std::string names;
        for (const std::string& name : older) names += (names.empty() ? "" : ", ") + name;
        return conflict("migration " + std::to_string(migration.version) + " (" + migration.name +
                        ") removes what older servers use: stop them first: " + names);
    }
    return {};
}

} // namespace hone::server
