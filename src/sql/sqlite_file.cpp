// The SQLite file as a whole: made, recognised, checked, copied.
#include "base/file.h"
#include "base/log.h"
#include "sql/sqlite_connection.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace hone::sql {

namespace {

constexpr int64_t application_id = 0x486f6e65; // "Hone" in the header of the file

Error cannot_create(const std::string& path, int error_number) {
    Error error = system_error("create " + path, error_number);
    if (error_number == EROFS) error.message += ": make the data directory writable";
    if (error_number == ENOSPC || error_number == EDQUOT) error.message += ": free some space";
    return error;
}

Result<> sync_parent(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    const Fd directory(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.get()) != 0) return system_error("sync " + parent, errno);
    return {};
}

// SQLite would create it readable for all users. Only when absent: closing a descriptor of a file that SQLite has open
// drops SQLite's locks.
Result<> create_if_absent(const std::string& path) {
    if (file_exists(path)) return {};
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open() && errno != EEXIST) return cannot_create(path, errno);
    return sync_parent(path);
}

Result<> recognise(SqliteConnection& connection, const std::string& path) {
    const Rows id = TRY(connection.run_plain("PRAGMA application_id")).rows;
    if (id.front().integer(0) == application_id) return {};
    const Rows tables = TRY(connection.run_plain("SELECT COUNT(*) FROM sqlite_schema")).rows;
    if (id.front().integer(0) != 0 || tables.front().integer(0) != 0)
        return conflict(path + " is an SQLite database of another program");
    TRY(connection.run_plain("PRAGMA application_id = " + std::to_string(application_id)));
    return {};
}

// The first complaint of an integrity pragma, or none.
Result<> expect_sound(const Rows& rows, const std::string& path) {
    if (rows.size() == 1 && rows.front().text(0) == "ok") return {};
    return Error{Code::corrupt, path + " is damaged: restore a backup with hone restore",
                 rows.empty() ? "no result" : rows.front().text(0)};
}

} // namespace

Result<> prepare_sqlite_file(const Options& options) {
    const std::string path = sqlite_path(options);
    if (path.empty()) return invalid("the database \"sqlite:\" needs a path");
    TRY(create_if_absent(path));
    auto connection = TRY(SqliteConnection::open(options, Role::writer));
    TRY(recognise(*connection, path));
    // SQLite 3.40 cannot be stopped inside this check, so its time is bounded by the size.
    const Rows pages = TRY(connection->run_plain("PRAGMA page_count")).rows;
    const Rows page_size = TRY(connection->run_plain("PRAGMA page_size")).rows;
    const int64_t bytes = pages.front().integer(0) * page_size.front().integer(0);
    if (bytes > options.check_up_to_bytes) {
        log(Level::info, "large database opened without a check of its pages", {{"path", path}, {"bytes", bytes}});
        return {};
    }
    const Rows complaints = TRY(connection->run_plain("PRAGMA quick_check(1)")).rows;
    return expect_sound(complaints, path);
}

Result<> check_sqlite(const Options& options) {
    const std::string path = sqlite_path(options);
    auto connection = TRY(SqliteConnection::open(options, Role::reader));
    const Rows pages = TRY(connection->run_plain("PRAGMA integrity_check(1)")).rows;
    TRY(expect_sound(pages, path));
    const Rows orphans = TRY(connection->run_plain("PRAGMA foreign_key_check")).rows;
    if (orphans.empty()) return {};
    return Error{Code::corrupt, path + " is damaged: restore a backup with hone restore",
                 "a row of " + orphans.front().text(0) + " refers to a missing row of " + orphans.front().text(2)};
}

Result<> backup_sqlite(const Options& options, const std::string& path) {
    if (file_exists(path)) return conflict(path + " exists already");
    const std::string beside = path + ".new";
    if (::unlink(beside.c_str()) != 0 && errno != ENOENT) return cannot_create(beside, errno);
    Fd file(::open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)); // empty: VACUUM INTO accepts it
    if (!file.is_open()) return cannot_create(beside, errno);

    auto copy = [&]() -> Result<> {
        auto connection = TRY(SqliteConnection::open(options, Role::writer));
        std::string quoted;
        for (const char c : beside) quoted += c == '\'' ? "''" : std::string(1, c);
        TRY(connection->run_plain("VACUUM INTO '" + quoted + "'"));
        if (::fsync(file.get()) != 0) return system_error("sync " + beside, errno);
        if (::rename(beside.c_str(), path.c_str()) != 0) return system_error("rename to " + path, errno);
        return sync_parent(path);
    };
    auto outcome = copy();
    if (outcome.ok()) return outcome;
    ::unlink(beside.c_str());
    if (outcome.error().code != Code::unavailable) return outcome;
    // The engine's advice names the database, but it is the copy that could not be written.
    return Error{Code::unavailable, "the backup " + path + " could not be written: its disk is full or read-only",
                 outcome.error().trail};
}

} // namespace hone::sql
