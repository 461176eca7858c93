// kill -9 at random moments while a child writes to the control-plane database: it opens again, is sound, and every
// acknowledged transaction is there as a whole.
#include "base/file.h"
#include "base/testing.h"
#include "sql/testing.h"

#include <csignal>
#include <doctest/doctest.h>
#include <poll.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sql;
using namespace hone::sql::testing;

namespace {

// Each transaction writes two rows and moves the total, so that half a transaction would show.
Result<int64_t> add_pair(Database& database) {
    return database.write([](Transaction& transaction) -> Result<int64_t> {
        const Rows rows = TRY(transaction.query("UPDATE total SET n = n + 1 RETURNING n"));
        const int64_t n = rows.front().integer(0);
        TRY(transaction.execute("INSERT INTO entry (id, side, body) VALUES (?, 0, ?)", n, std::string(3000, 'a')));
        TRY(transaction.execute("INSERT INTO entry (id, side, body) VALUES (?, 1, ?)", n, std::string(3000, 'b')));
        if (n > 50)
            TRY(transaction.execute("DELETE FROM entry WHERE id = ?", n - 50)); // pages are freed and used again
        return n;
    });
}

// The child: writes until it is killed, and says each number after its commit.
[[noreturn]] void write_until_killed(const std::string& url, int acknowledge) {
    const auto database = Database::open({.url = url});
    if (!database.ok()) ::_exit(2);
    for (;;) {
        const auto n = add_pair(*database.value());
        if (!n.ok() || ::write(acknowledge, &n.value(), sizeof(int64_t)) != sizeof(int64_t)) ::_exit(3);
    }
}

struct Outcome {
    int64_t acknowledged = 0;
    int status = 0;
};

// Lets the child acknowledge a few, then kills it somewhere within the next ones.
Outcome run_and_kill(const std::string& url, std::minstd_rand& random) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const Fd from_child(ends[0]);
    Fd to_parent(ends[1]);
    const int child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) write_until_killed(url, to_parent.get());
    to_parent.reset();

    Outcome outcome;
    const auto wanted = static_cast<int>(random() % 12);
    for (int i = 0; i < wanted; ++i)
        REQUIRE(::read(from_child.get(), &outcome.acknowledged, sizeof(int64_t)) == sizeof(int64_t));
    ::usleep(static_cast<useconds_t>(random() % 5000)); // not to wait for something: to hit any moment of a transaction
    ::kill(child, SIGKILL);
    ::waitpid(child, &outcome.status, 0);
    while (::read(from_child.get(), &outcome.acknowledged, sizeof(int64_t)) == sizeof(int64_t)) {
    } // what it said until then
    return outcome;
}

} // namespace

TEST_CASE("forty kills: the database opens, is sound, and has everything that was acknowledged") {
    const TemporaryDirectory directory;
    const std::string url = "sqlite:" + directory.path() + "/hone.db";
    {
        const auto database = Database::open({.url = url}).value();
        REQUIRE(database->execute("CREATE TABLE total (n BIGINT NOT NULL)").ok());
        REQUIRE(database->execute("INSERT INTO total (n) VALUES (0)").ok());
        REQUIRE(
            database->execute("CREATE TABLE entry (id BIGINT, side BIGINT, body TEXT, PRIMARY KEY (id, side))").ok());
    }
    std::minstd_rand random(test_seed());
    int64_t acknowledged = 0;
    for (int round = 0; round < 40; ++round) {
        INFO("round ", round);
        const Outcome outcome = run_and_kill(url, random);
        REQUIRE(WIFSIGNALED(outcome.status));
        acknowledged = std::max(acknowledged, outcome.acknowledged);

        const auto database = Database::open({.url = url});
        REQUIRE_MESSAGE(database.ok(), database.error().message, database.error().trail);
        REQUIRE(database.value()->check_integrity().ok());
        const Rows rows =
            database.value()
                ->query("SELECT (SELECT n FROM total), COUNT(*), COALESCE(MAX(id), 0), COALESCE(MIN(id), 0) FROM entry")
                .value();
        const int64_t total = rows.front().integer(0);
        CHECK(total >= acknowledged);
        CHECK(total <= acknowledged + 1); // at most the one that was committed but not yet said
        CHECK(rows.front().integer(1) == 2 * std::min<int64_t>(total, 50));
        CHECK(rows.front().integer(2) == total);
        CHECK(rows.front().integer(3) == std::max<int64_t>(total > 0 ? 1 : 0, total - 49));
        acknowledged = total;
    }
    CHECK(acknowledged > 40);
}
