#include "sql/sqlite_error.h"

#include "sql/connection.h"

#include <cerrno>
#include <sqlite3.h>

namespace hone::sql {

namespace {

Error constraint_error(int code, std::string trail) {
    switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        return already_exists(std::move(trail));
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return broken_reference(std::move(trail));
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_NOTNULL:
        return broken_rule(std::move(trail));
    default:
        return internal("the database refused a statement", std::move(trail));
    }
}

Error disk_full(const std::string& path, std::string trail) {
    return {Code::unavailable, "the disk of " + path + " is full: free some space, then try again", std::move(trail)};
}
Error read_only(const std::string& path, std::string trail) {
    return {Code::unavailable, path + " cannot be written: make its directory writable for this user, then try again",
            std::move(trail)};
}

} // namespace

Error sqlite_error(sqlite3* handle, int code, const std::string& path, std::string_view sql) {
    std::string trail = std::string(handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code)) + " (" +
                        std::to_string(code) + ") in: " + std::string(sql.substr(0, 500));
    const int system_code = handle != nullptr ? sqlite3_system_errno(handle) : 0;
    switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
        return constraint_error(code, std::move(trail));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {Code::busy, path + " is locked by another process", std::move(trail)};
    case SQLITE_INTERRUPT:
        return took_too_long(std::move(trail));
    case SQLITE_FULL:
        return disk_full(path, std::move(trail));
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return read_only(path, std::move(trail));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return {Code::corrupt, path + " is damaged: restore a backup with hone restore", std::move(trail)};
    case SQLITE_TOOBIG:
        return {Code::too_large, "a value is too large for the database", std::move(trail)};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        if (system_code == ENOSPC || system_code == EDQUOT) return disk_full(path, std::move(trail));
        if (system_code == EROFS || system_code == EACCES || system_code == EPERM)
            return read_only(path, std::move(trail));
        return {Code::unavailable, path + " cannot be read or written: check the disk and the kernel's log",
                std::move(trail)};
    default:
        return internal("the database refused a statement", std::move(trail));
    }
}

} // namespace hone::sql
