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
};

// What this build carries, in order.
std::vector<Migration> embedded_migrations();

// Applies what is missing and returns the version reached. Refuses (conflict) a database written by a newer Hone and
// one whose applied migrations differ from ours.
Result<int64_t> migrate(Database& database, const Clock& clock, std::span<const Migration> migrations);
Result<int64_t> migrate(Database& database, const Clock& clock);

} // namespace hone::sql
