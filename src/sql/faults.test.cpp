// What disks, servers and other processes do to us: clear errors, nothing half-written, and it goes on afterwards.
#include "sql/directory_lock.h"
#include "sql/private_mounts.test.h"
#include "sql/testing.h"

#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using namespace hone::sql;
using namespace hone::sql::testing;
using namespace std::chrono_literals;

namespace {

Result<> make_table(Database& database) {
    TRY(database.execute("CREATE TABLE item (id BIGINT PRIMARY KEY, body TEXT NOT NULL)"));
    return {};
}

Result<> insert(Database& database, int64_t id, size_t size = 1000) {
    TRY(database.execute("INSERT INTO item (id, body) VALUES (?, ?)", id, std::string(size, 'x')));
    return {};
}

Result<int64_t> count(Database& database) {
    const Rows rows = TRY(database.query("SELECT COUNT(*) FROM item"));
    return rows.front().integer(0);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// A file with rows in it, closed.
std::string make_file(const TemporaryDirectory& directory, int64_t rows = 200) {
    const std::string path = directory.path() + "/hone.db";
    const auto database = Database::open({.url = "sqlite:" + path}).value();
    REQUIRE(make_table(*database).ok());
    const auto filled = database->write([&](Transaction& transaction) -> Result<> {
        for (int64_t i = 0; i < rows; ++i)
            TRY(transaction.execute("INSERT INTO item (id, body) VALUES (?, ?)", i, std::string(1000, 'x')));
        return {};
    });
    REQUIRE(filled.ok());
    return path;
}

void overwrite(const std::string& path, int64_t offset, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << bytes;
    REQUIRE(file.good());
}

// One insert after the other until the disk is full, then room again.
std::string fill_the_disk(const std::string& directory) {
    mount_small_disk(directory, "1m");
    const std::string url = "sqlite:" + directory + "/hone.db";
    int64_t acknowledged = 0;
    {
        auto database = Database::open({.url = url});
        if (!database.ok()) return "open: " + database.error().message;
        if (!make_table(*database.value()).ok()) return "cannot make the table";
        Result<> outcome;
        while ((outcome = insert(*database.value(), acknowledged, 10'000)).ok()) ++acknowledged;
        if (outcome.error().code != Code::unavailable || !contains(outcome.error().message, "is full: free some space"))
            return "wrong error: " + outcome.error().message + " | " + outcome.error().trail;
        if (acknowledged < 10) return "full too early";
        const auto counted = count(*database.value());
        if (!counted.ok() || counted.value() != acknowledged) return "reading fails on a full disk";

        const auto copied = database.value()->backup_to(directory + "/backup");
        if (copied.ok() || copied.error().code != Code::unavailable) return "a backup onto a full disk";
        if (file_exists(directory + "/backup") || file_exists(directory + "/backup.new"))
            return "half a backup is left";

        resize_small_disk(directory, "8m");
        if (!insert(*database.value(), acknowledged).ok()) return "does not go on when there is room again";
    }
    const auto database = Database::open({.url = url});
    if (!database.ok()) return "does not open again: " + database.error().message;
    if (!database.value()->check_integrity().ok()) return "damaged";
    const auto counted = count(*database.value());
    return counted.ok() && counted.value() == acknowledged + 1 ? "" : "rows are missing";
}

// On a disk so full that not even the first page fits.
std::string open_on_full_disk(const std::string& directory) {
    mount_small_disk(directory, "64k");
    std::ofstream(directory + "/filler") << std::string(1 << 20, 'x');
    const auto database = Database::open({.url = "sqlite:" + directory + "/hone.db"});
    if (database.ok()) return "opened";
    if (database.error().code != Code::unavailable) return database.error().message + " | " + database.error().trail;
    std::filesystem::remove(directory + "/filler");
    resize_small_disk(directory, "8m");
    const auto later = Database::open({.url = "sqlite:" + directory + "/hone.db"});
    return later.ok() ? "" : "does not open when there is room: " + later.error().message + " | " + later.error().trail;
}

std::string open_read_only(const std::string& directory, const std::string& file) {
    make_read_only(directory);
    const auto database = Database::open({.url = "sqlite:" + directory + "/" + file});
    if (database.ok()) return "opened";
    if (database.error().code == Code::unavailable && contains(database.error().message, "writable")) return "";
    return database.error().message + " | " + database.error().trail;
}

} // namespace

TEST_CASE("a full disk: a clear error, nothing lost, and it continues when there is room") {
    const TemporaryDirectory directory;
    CHECK(in_private_mounts([&] { return fill_the_disk(directory.path()); }) == "");
}

TEST_CASE("a disk that is full from the start") {
    const TemporaryDirectory directory;
    CHECK(in_private_mounts([&] { return open_on_full_disk(directory.path()); }) == "");
}

TEST_CASE("a read-only directory: a clear error and an untouched file") {
    const TemporaryDirectory directory;
    const std::string path = make_file(directory);
    const std::string before = read_file(path).value();
    CHECK(in_private_mounts([&] { return open_read_only(directory.path(), "hone.db"); }) == "");
    CHECK(in_private_mounts([&] { return open_read_only(directory.path(), "new.db"); }) == "");
    CHECK(read_file(path).value() == before);
    CHECK(!file_exists(directory.path() + "/new.db"));
    const auto database = Database::open({.url = "sqlite:" + path}).value();
    CHECK(count(*database).value() == 200);
}

TEST_CASE("a missing directory is named") {
    const TemporaryDirectory directory;
    const Error error = Database::open({.url = "sqlite:" + directory.path() + "/absent/hone.db"}).error();
    CHECK(error.code == Code::not_found);
    CHECK(contains(error.message, directory.path() + "/absent/hone.db"));
}

TEST_CASE("a damaged file is recognised when it is opened") {
    const std::string advice = "is damaged: restore a backup with hone restore";
    SUBCASE("garbage inside") {
        const TemporaryDirectory directory;
        const std::string path = make_file(directory);
        overwrite(path, 3 * 4096, std::string(2 * 4096, '\x5a'));
        const Error error = Database::open({.url = "sqlite:" + path}).error();
        CHECK(error.code == Code::corrupt);
        CHECK(contains(error.message, advice));
    }
    SUBCASE("no database at all") {
        const TemporaryDirectory directory;
        const std::string path = directory.path() + "/hone.db";
        std::ofstream(path) << std::string(10'000, 'x');
        const Error error = Database::open({.url = "sqlite:" + path}).error();
        CHECK(error.code == Code::corrupt);
        CHECK(contains(error.message, advice));
    }
    SUBCASE("the end is missing") {
        const TemporaryDirectory directory;
        const std::string path = make_file(directory);
        REQUIRE(::truncate(path.c_str(), 10 * 4096) == 0);
        CHECK(Database::open({.url = "sqlite:" + path}).error().code == Code::corrupt);
    }
}

TEST_CASE("a large file opens without a check of its pages, the full check finds the damage") {
    const TemporaryDirectory directory;
    const std::string path = make_file(directory, 2000);
    overwrite(path, 400 * 4096, std::string(4096, '\x5a'));
    const auto database = Database::open({.url = "sqlite:" + path, .check_up_to_bytes = 1 << 20});
    REQUIRE(database.ok());
    CHECK(database.value()->check_integrity().error().code == Code::corrupt);
}

TEST_CASE("an SQLite file of another program is left alone") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/other.db";
    REQUIRE(std::system(("sqlite3 " + path + " 'CREATE TABLE theirs (a)'").c_str()) == 0);
    const Error error = Database::open({.url = "sqlite:" + path}).error();
    CHECK(error.code == Code::conflict);
    CHECK(contains(error.message, "another program"));
}

TEST_CASE("only the owner may read the file") {
    const TemporaryDirectory directory;
    const std::string path = make_file(directory);
    const auto database = Database::open({.url = "sqlite:" + path}).value();
    REQUIRE(insert(*database, 1000).ok());
    for (const char* suffix : {"", "-wal", "-shm"}) {
        struct stat status {};
        REQUIRE(::stat((path + suffix).c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
}

TEST_CASE("closing empties the write-ahead log") {
    const TemporaryDirectory directory;
    const std::string path = make_file(directory);
    CHECK(!file_exists(path + "-wal"));
}

TEST_CASE("a backup made while others write is complete and sound") {
    const TemporaryDirectory directory;
    const std::string path = make_file(directory);
    const std::string copy = directory.path() + "/it's a copy.db";
    {
        const auto database = Database::open({.url = "sqlite:" + path}).value();
        std::atomic<bool> done = false;
        int64_t written = 0;
        std::thread writer([&] {
            while (!done && insert(*database, 200 + written).ok()) ++written;
        });
        while (count(*database).value() == 200) std::this_thread::yield(); // the writer is under way
        const auto copied = database->backup_to(copy);
        done = true;
        writer.join();
        REQUIRE_MESSAGE(copied.ok(), copied.error().message, copied.error().trail);
        CHECK(database->backup_to(copy).error().code == Code::conflict);
        CHECK(count(*database).value() == 200 + written);
    }
    CHECK(!file_exists(copy + "-wal"));
    CHECK(!file_exists(copy + ".new"));
    const auto restored = Database::open({.url = "sqlite:" + copy}).value();
    CHECK(restored->check_integrity().ok());
    CHECK(count(*restored).value() > 200);
}

TEST_CASE("PostgreSQL that restarts is found again") {
    PostgresServer server;
    const auto database = Database::open({.url = server.url("postgres")}).value();
    REQUIRE(make_table(*database).ok());
    REQUIRE(insert(*database, 1).ok());
    REQUIRE(count(*database).value() == 1);

    server.stop();
    CHECK(count(*database).error().code == Code::unavailable);
    CHECK(insert(*database, 2).error().code == Code::unavailable);
    CHECK(Database::open({.url = server.url("postgres")}).error().code == Code::unavailable);

    server.start();
    CHECK(count(*database).value() == 1);
    CHECK(insert(*database, 2).ok());

    // Restarted between two calls: nobody notices.
    server.stop();
    server.start();
    CHECK(insert(*database, 3).ok());
    CHECK(count(*database).value() == 3);
    CHECK(database->backup_to("/nowhere").error().code == Code::invalid);
}

TEST_CASE("PostgreSQL that restarts inside a transaction: it is run again as a whole") {
    PostgresServer server;
    const auto database = Database::open({.url = server.url("postgres")}).value();
    REQUIRE(make_table(*database).ok());
    int runs = 0;
    const auto outcome = database->write([&](Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO item (id, body) VALUES (1, 'x')"));
        if (++runs == 1) {
            server.stop();
            server.start();
        }
        TRY(transaction.execute("INSERT INTO item (id, body) VALUES (2, 'y')"));
        return {};
    });
    CHECK(outcome.ok());
    CHECK(runs == 2);
    CHECK(count(*database).value() == 2);
}

TEST_CASE("PostgreSQL that disconnects at the commit: it is not retried, because it may have been done") {
    PostgresServer server;
    const auto database = Database::open({.url = server.url("postgres")}).value();
    REQUIRE(make_table(*database).ok());
    int runs = 0;
    const auto outcome = database->write([&](Transaction& transaction) -> Result<> {
        TRY(transaction.execute("INSERT INTO item (id, body) VALUES (1, 'x')"));
        ++runs;
        server.stop();
        server.start();
        return {};
    });
    CHECK(outcome.error().code == Code::unavailable);
    CHECK(contains(outcome.error().message, "look whether it was done"));
    CHECK(runs == 1);
    CHECK(count(*database).value() == 0);
}

TEST_CASE("a second server on a data directory is refused, until the first is gone") {
    const TemporaryDirectory directory;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const int first = ::fork();
    REQUIRE(first >= 0);
    if (first == 0) {
        const auto lock = DirectoryLock::acquire(directory.path());
        if (!lock.ok() || ::write(ends[1], "x", 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    const auto second = DirectoryLock::acquire(directory.path());
    CHECK(second.error().code == Code::busy);
    CHECK(second.error().message == "another hone serve (pid " + std::to_string(first) + ") uses " + directory.path());
    ::kill(first, SIGKILL);
    ::waitpid(first, nullptr, 0);
    CHECK(DirectoryLock::acquire(directory.path()).ok());
    ::close(ends[0]);
    ::close(ends[1]);
}
