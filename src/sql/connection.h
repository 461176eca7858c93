// One connection to one engine. Internal to sql/: Database takes connections from a Pool, one thread at a time each.
// Call order: run* for single statements, or (begin run* (commit | rollback))*.
#pragma once

#include "sql/sql.h"

namespace hone::sql {

enum class Role { reader, writer };

class Connection {
public:
    virtual ~Connection() = default;
    // One statement. Checks the values first: text must be UTF-8 without NUL, numbers must be numbers.
    Result<StatementResult> run(std::string_view sql, std::span<const Value> values);
    virtual Result<> begin() = 0;
    virtual Result<> commit() = 0;
    // Ends a transaction if one is open; a connection that cannot do that is no longer usable.
    virtual void rollback() = 0;

    // False after a failure that a new connection may not have: the pool then closes this one.
    bool usable() const { return m_usable; }
    // True when the last failure changed nothing and the same transaction may succeed when it is run again.
    bool may_run_again() const { return m_may_run_again; }

protected:
    virtual Result<StatementResult> run_checked(std::string_view sql, std::span<const Value> values) = 0;

    bool m_usable = true;
    bool m_may_run_again = false;
};

// A larger result is a missing LIMIT.
constexpr size_t largest_result = 64 << 20;
Error result_too_large(std::string_view sql);
Error write_in_query(std::string_view sql);
// What both engines say about the same violated rule.
Error already_exists(std::string trail);
Error broken_reference(std::string trail);
Error broken_rule(std::string trail);
Error took_too_long(std::string trail);

Result<std::unique_ptr<Connection>> connect_sqlite(const Options& options, Role role);
// Before the first connection: creates the file if absent, sees that it is ours and, up to `check_up_to_bytes`, sound.
Result<> prepare_sqlite_file(const Options& options);
Result<> check_sqlite(const Options& options);
Result<> backup_sqlite(const Options& options, const std::string& path);

Result<std::unique_ptr<Connection>> connect_postgres(const Options& options, Role role);

} // namespace hone::sql
