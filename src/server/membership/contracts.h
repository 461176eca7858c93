// Which migrations have to wait for older servers. Called once at the start, before the database is migrated.
#pragma once

#include "base/time.h"
#include "sql/migrate.h"

#include <vector>

namespace hone::server {

// Refuses (conflict) a contract migration while a server is live whose program does not know it, with its name.
Result<> check_contracts(sql::Database& database, const Clock& clock, const std::vector<sql::Migration>& pending);

} // namespace hone::server
