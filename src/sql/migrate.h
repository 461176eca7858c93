// Brings a database to the schema of this build: migrations/NNNN_name.sql, embedded, forward only, one transaction
// each. Called once by `hone serve` after open and before anything else; several servers on one PostgreSQL may call it
// at the same time.
#pragma once

#include "sql/sql.h"

namespace hone::sql {

struct Migration {
    int64_t version = 0; // 1, 2, 3 … without gaps
    std::string name;
    std::string sql;
    // The first line is `-- contract`: it removes or renames what the programs before it use. Others only add, so that
    // servers of the version before continue to work beside newer ones.
    bool is_contract() const { return sql.starts_with("-- contract"); }
};

// What this build carries, in order.
std::vector<Migration> embedded_migrations();

// Applies what is missing and returns the newest version of this build. Refuses (conflict) a database whose applied
// migrations differ from ours, and one to which a newer Hone applied a contract migration that this build does not
// know; where newer ones only added, this build works beside newer servers.
Result<int64_t> migrate(Database& database, const Clock& clock, std::span<const Migration> migrations);
Result<int64_t> migrate(Database& database, const Clock& clock);
// What `migrate` would apply; of an empty database everything. The same refusals.
Result<std::vector<Migration>> pending_migrations(Database& database, std::span<const Migration> migrations);
Result<std::vector<Migration>> pending_migrations(Database& database);

} // namespace hone::sql
