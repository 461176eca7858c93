// A connection to the SQLite file. Internal to sql/, for sqlite_connection.cpp and sqlite_file.cpp; one thread at a
// time.
#pragma once

#include "sql/connection.h"
#include "sql/statement_cache.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::sql {

struct SqliteClose {
    void operator()(sqlite3* handle) const;
};
struct SqliteFinalize {
    void operator()(sqlite3_stmt* statement) const;
};

class SqliteConnection final : public Connection {
public:
    // `path` must exist.
    static Result<std::unique_ptr<SqliteConnection>> open(const Options& options, Role role);

    Result<> begin() override;
    Result<> commit() override;
    void rollback() override;

    // A statement of our own, not translated and not kept, without time limit: PRAGMA, VACUUM INTO.
    Result<StatementResult> run_plain(const std::string& sql);

private:
    using Prepared = std::unique_ptr<sqlite3_stmt, SqliteFinalize>;

    SqliteConnection(const Options& options, Role role);
    Result<> configure();
    Result<StatementResult> run_checked(std::string_view sql, std::span<const Value> values) override;
    Result<Prepared> prepare(std::string_view sql);
    Result<Prepared*> prepare_cached(std::string_view sql);
    Result<StatementResult> step_all(sqlite3_stmt* statement, std::string_view sql);
    Error fail(int code, std::string_view sql);
    static int is_past_deadline(void* self);

    const std::string m_path;
    const Role m_role;
    const Duration m_wait;
    const Duration m_statement_timeout;
    const SystemClock m_clock;
    Duration m_deadline = Duration::max();
    std::unique_ptr<sqlite3, SqliteClose> m_handle;
    StatementCache<Prepared> m_cache{64}; // after m_handle: statements go before their connection
};

// "sqlite:PATH" without its scheme.
std::string sqlite_path(const Options& options);

} // namespace hone::sql
