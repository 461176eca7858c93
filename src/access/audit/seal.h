// Chaining the audit log on PostgreSQL. There a change writes its entry into an inbox, in its own transaction: changes
// of several servers share no row. Sealing moves entries into the chain. Every reader of the log seals first, and a
// duty of one server does so once a second. On SQLite, which has one writer, entries are chained when they are
// recorded. Thread-safe; any server may seal.
#pragma once

#include "sql/sql.h"

namespace hone::access {

// Moves the entries of the inbox into the chain, oldest first; returns how many.
Result<int64_t> seal_audit_log(sql::Database& database);

} // namespace hone::access
