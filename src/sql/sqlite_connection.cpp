#include "sql/sqlite_connection.h"

#include "sql/sqlite_error.h"
#include "sql/statement.h"

#include <sqlite3.h>

namespace hone::sql {

namespace {

constexpr int steps_between_looks = 10'000; // at the clock, for the statement's time limit

int bind(sqlite3_stmt* statement, int position, const Value& value) {
    // The values outlive the step, so SQLite need not copy them.
    if (const auto* number = std::get_if<int64_t>(&value)) return sqlite3_bind_int64(statement, position, *number);
    if (const auto* number = std::get_if<double>(&value)) return sqlite3_bind_double(statement, position, *number);
    if (const auto* text = std::get_if<std::string>(&value))
        return sqlite3_bind_text64(statement, position, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    if (const auto* blob = std::get_if<Blob>(&value)) {
        if (blob->bytes.empty()) return sqlite3_bind_zeroblob(statement, position, 0); // a null pointer would be NULL
        return sqlite3_bind_blob64(statement, position, blob->bytes.data(), blob->bytes.size(), SQLITE_STATIC);
    }
    return sqlite3_bind_null(statement, position);
}

Value column_value(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return static_cast<int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
        return Blob{bytes == nullptr
                        ? std::string()
                        : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column)))};
    }
    default:
        return Null{};
    }
}

// Gives the statement back to the cache ready for the next use, whatever happened.
struct ResetAfterUse {
    sqlite3_stmt* statement;
    ~ResetAfterUse() {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
};

} // namespace

void SqliteClose::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}
void SqliteFinalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

std::string sqlite_path(const Options& options) {
    return options.url.substr(std::string_view("sqlite:").size());
}

SqliteConnection::SqliteConnection(const Options& options, Role role)
    : m_path(sqlite_path(options)),
      m_role(role),
      m_wait(options.wait),
      m_statement_timeout(options.statement_timeout) {}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const Options& options, Role role) {
    std::unique_ptr<SqliteConnection> connection(new SqliteConnection(options, role));
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(connection->m_path.c_str(), &handle, flags, nullptr);
    connection->m_handle.reset(handle); // also a failed open makes a handle
    if (code != SQLITE_OK) return connection->fail(code, "open");
    // SQLite quietly opens for reading what it may not write.
    if (sqlite3_db_readonly(handle, "main") == 1)
        return sqlite_error(nullptr, SQLITE_READONLY, connection->m_path, "open");
    TRY(connection->configure());
    return connection;
}

Result<> SqliteConnection::configure() {
    sqlite3* handle = m_handle.get();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr); // "name" is never a string, as in PostgreSQL
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    const auto wait_ms = std::chrono::duration_cast<std::chrono::milliseconds>(m_wait).count();
    sqlite3_busy_timeout(handle, static_cast<int>(std::min<int64_t>(wait_ms, 3'600'000)));
    sqlite3_progress_handler(handle, steps_between_looks, is_past_deadline, this);

    const auto mode = TRY(run_plain("PRAGMA journal_mode = WAL")).rows;
    if (mode.empty() || mode.front().text(0) != "wal")
        return unavailable(m_path +
                           " is on a file system that cannot share memory between processes: use a local disk");
    TRY(run_plain("PRAGMA synchronous = FULL")); // what is acknowledged survives a power cut
    TRY(run_plain("PRAGMA foreign_keys = ON"));
    TRY(run_plain("PRAGMA case_sensitive_like = ON")); // as in PostgreSQL
    TRY(run_plain("PRAGMA cell_size_check = ON"));
    TRY(run_plain("PRAGMA temp_store = MEMORY"));
    TRY(run_plain("PRAGMA journal_size_limit = 16777216"));
    // No mapped file: an error of the disk would be a SIGBUS, and the page cache is enough for a small database.
    TRY(run_plain("PRAGMA mmap_size = 0"));
    TRY(run_plain(m_role == Role::writer ? "PRAGMA cache_size = -2048" : "PRAGMA cache_size = -1024"));
    if (m_role == Role::reader) TRY(run_plain("PRAGMA query_only = ON"));
    return {};
}

int SqliteConnection::is_past_deadline(void* self) {
    const auto* connection = static_cast<const SqliteConnection*>(self);
    return connection->m_deadline != Duration::max() && connection->m_clock.steady() > connection->m_deadline ? 1 : 0;
}

Error SqliteConnection::fail(int code, std::string_view sql) {
    if (m_role == Role::reader && code == SQLITE_READONLY) return write_in_query(sql);
    const int primary = code & 0xff;
    m_may_run_again = code == SQLITE_BUSY_SNAPSHOT || code == SQLITE_BUSY_RECOVERY;
    // A new connection reads the file afresh.
    m_usable = m_usable && primary != SQLITE_IOERR && primary != SQLITE_CORRUPT && primary != SQLITE_NOTADB &&
               primary != SQLITE_CANTOPEN && primary != SQLITE_READONLY;
    return sqlite_error(m_handle.get(), code, m_path, sql);
}

Result<SqliteConnection::Prepared> SqliteConnection::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(m_handle.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    Prepared prepared(statement);
    if (code != SQLITE_OK) return fail(code, sql);
    CHECK_OR_ABORT(statement != nullptr);
    return prepared;
}

Result<SqliteConnection::Prepared*> SqliteConnection::prepare_cached(std::string_view sql) {
    const std::string key(sql);
    if (Prepared* found = m_cache.find(key)) return found;
    const Statement statement = TRY(translate(sql, Engine::sqlite));
    auto prepared = TRY(prepare(statement.text));
    m_cache.insert(key, std::move(prepared)); // what leaves is finalized
    return m_cache.find(key);
}

Result<StatementResult> SqliteConnection::run_checked(std::string_view sql, std::span<const Value> values) {
    m_deadline = m_clock.steady() + m_statement_timeout;
    sqlite3_stmt* statement = TRY(prepare_cached(sql))->get();
    const ResetAfterUse reset{statement};
    if (static_cast<size_t>(sqlite3_bind_parameter_count(statement)) != values.size())
        return internal("a database statement has another number of placeholders than values", std::string(sql));
    for (size_t i = 0; i < values.size(); ++i) {
        const int code = bind(statement, static_cast<int>(i + 1), values[i]);
        if (code != SQLITE_OK) return fail(code, sql);
    }
    return step_all(statement, sql);
}

Result<StatementResult> SqliteConnection::run_plain(const std::string& sql) {
    m_deadline = Duration::max();
    const auto prepared = TRY(prepare(sql));
    return step_all(prepared.get(), sql);
}

Result<StatementResult> SqliteConnection::step_all(sqlite3_stmt* statement, std::string_view sql) {
    const int64_t changes_before = sqlite3_total_changes64(m_handle.get());
    std::vector<Value> values;
    size_t bytes = 0;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const int columns = sqlite3_column_count(statement); // now: the first step may have prepared it again
        for (int column = 0; column < columns; ++column) {
            bytes += sizeof(Value) + static_cast<size_t>(sqlite3_column_bytes(statement, column));
            values.push_back(column_value(statement, column));
        }
        if (bytes > largest_result) return result_too_large(sql);
    }
    if (code != SQLITE_DONE) return fail(code, sql);
    // sqlite3_changes keeps the number of the last INSERT, UPDATE or DELETE over other statements.
    const bool changed = sqlite3_total_changes64(m_handle.get()) != changes_before;
    return StatementResult{Rows(static_cast<size_t>(sqlite3_column_count(statement)), std::move(values)),
                           changed ? sqlite3_changes64(m_handle.get()) : 0};
}

Result<> SqliteConnection::begin() {
    // A writer takes the lock immediately: a transaction that reads first cannot upgrade after another one wrote.
    TRY(run(m_role == Role::writer ? "BEGIN IMMEDIATE" : "BEGIN", {}));
    return {};
}

Result<> SqliteConnection::commit() {
    TRY(run("COMMIT", {}));
    return {};
}

void SqliteConnection::rollback() {
    if (sqlite3_get_autocommit(m_handle.get()) != 0) return; // some failures roll back by themselves
    const bool may_run_again = m_may_run_again;
    if (!run("ROLLBACK", {}).ok()) m_usable = false;
    m_may_run_again = may_run_again;
}

Result<std::unique_ptr<Connection>> connect_sqlite(const Options& options, Role role) {
    return std::unique_ptr<Connection>(TRY(SqliteConnection::open(options, role)));
}

} // namespace hone::sql
