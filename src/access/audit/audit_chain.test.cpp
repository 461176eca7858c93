// The hash chain: whatever is done to the log behind our back is noticed, at the right entry.
#include "access/testing.h"

#include <thread>

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

namespace {

// Entries of every kind of actor, with and without a space.
int64_t fill(World& world) {
    Caller person = world.admin;
    person.peer = "198.51.100.7";
    for (int i = 0; i < 2; ++i) {
        must(world.access.audit.record(Caller::system(), {"machine_act", {}, "target", {{"n", i}}}));
        must(world.access.audit.record(World::guest(), {"guest_act", world.space, "ada@example.com"}));
        must(world.access.audit.record(person, {"person_act", world.space, "target", {{"text", "ä \" \\"}}}));
        world.clock.advance(std::chrono::seconds(1));
    }
    return world.count("audit_entries");
}

AuditVerification verify(World& world) {
    return must(world.access.audit.verify(Caller::system()));
}

// What an attacker with the database and our sources would write.
std::string rehash(World& world, int64_t seq) {
    const auto entry = must(world.access.audit.entries_after(Caller::system(), {}, seq - 1, 1)).front();
    const auto rows = must(world.database.query("SELECT details FROM audit_entries WHERE seq = ?", seq));
    return audit_hash(entry, rows.front().text(0));
}

} // namespace

TEST_CASE("an untouched audit log verifies, also an empty one") {
    for_each_empty_database([](sql::Database& database) {
        FakeClock clock(from_ns(1));
        const AuditLog audit(database, clock);
        const auto empty = must(audit.verify(Caller::system()));
        CHECK(empty.ok);
        CHECK(empty.entries == 0);
        World world(database);
        const int64_t count = fill(world);
        const auto full = verify(world);
        CHECK(full.ok);
        CHECK(full.entries == count);
        CHECK(full.head_hash.size() == 64);
        CHECK_FALSE(full.first_bad_seq);
        CHECK(outcome(world.access.audit.verify(world.admin)) == "ok");
        CHECK(outcome(world.access.audit.verify(World::guest())) == "unauthorized");
        const Caller owner = world.join(world.space, "owner@example.com", Role::owner);
        CHECK(outcome(world.access.audit.verify(owner)) == "forbidden");
    });
}

TEST_CASE("a log longer than one batch of the verification verifies, and a late edit is found") {
    for_each_empty_database([](sql::Database& database) {
        World world(database);
        must(database.write([&](sql::Transaction& transaction) -> Result<> {
            for (int i = 0; i < 2100; ++i)
                TRY(world.access.audit.record(transaction, Caller::system(), {"machine_act", {}, "target"}));
            return {};
        }));
        const auto whole = verify(world);
        CHECK(whole.ok);
        CHECK(whole.entries == world.count("audit_entries"));
        must(database.execute("UPDATE audit_entries SET target = 'other' WHERE seq = 2050"));
        CHECK(verify(world).first_bad_seq == 2050);
    });
}

TEST_CASE("an edit of any column of any entry is detected at that entry") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        const std::pair<std::string, std::vector<sql::Value>> edits[] = {
            {"time", {int64_t{0}, int64_t{1}}},
            {"space_id", {"", sql::Null{}, "space_other"}},
            {"actor_kind", {"", "bogus", "guest", "user", "key", "system"}},
            {"actor_id", {"", "user_other"}},
            {"actor_name", {"", "other"}},
            {"action", {"", "other"}},
            {"target", {"", "other"}},
            {"details", {"", "{ }", "null", "{\"n\":7}"}},
            {"peer", {"", "other"}},
            {"request_id", {"", "other"}},
            {"prev_hash", {"", "0000"}},
            {"hash", {"", "0000"}},
        };
        for (int64_t seq = 1; seq <= count; ++seq)
            for (const auto& edit : edits) {
                const auto& [column, values] = edit;
                const auto kept =
                    must(world.database.query("SELECT " + column + " FROM audit_entries WHERE seq = ?", seq));
                const sql::Value before = kept.front().value(0);
                for (const auto& value : values) {
                    if (value == before) continue;
                    INFO("entry ", seq, " column ", edit.first);
                    must(world.database.execute("UPDATE audit_entries SET " + column + " = ? WHERE seq = ?", value,
                                                seq));
                    const auto verification = verify(world);
                    CHECK_FALSE(verification.ok);
                    CHECK(verification.first_bad_seq == seq);
                }
                must(world.database.execute("UPDATE audit_entries SET " + column + " = ? WHERE seq = ?", before, seq));
            }
        CHECK(verify(world).ok);
    });
}

TEST_CASE("an edit with a recomputed hash is detected where the chain breaks") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        const auto edit = [&](int64_t seq) {
            must(world.database.execute("UPDATE audit_entries SET target = 'other' WHERE seq = ?", seq));
            must(world.database.execute("UPDATE audit_entries SET hash = ? WHERE seq = ?", rehash(world, seq), seq));
        };
        edit(count);
        CHECK(verify(world).first_bad_seq == count);
        edit(2);
        CHECK(verify(world).first_bad_seq == 3);
    });
}

TEST_CASE("a deleted entry is detected") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        for (const int64_t seq : {count - 1, int64_t{4}, int64_t{1}}) {
            must(world.database.execute("DELETE FROM audit_entries WHERE seq = ?", seq));
            const auto verification = verify(world);
            CHECK_FALSE(verification.ok);
            CHECK(verification.first_bad_seq == seq);
        }
    });
}

TEST_CASE("a cut end is detected, and a cut head shows in the head hash that was noted") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        const std::string noted = verify(world).head_hash;
        must(world.database.execute("DELETE FROM audit_entries WHERE seq > ?", count - 2));
        CHECK(verify(world).first_bad_seq == count - 1);

        must(world.database.execute(
            "UPDATE audit_head SET seq = ?, hash = (SELECT hash FROM audit_entries WHERE seq = ?)", count - 2,
            count - 2));
        CHECK(verify(world).head_hash != noted);

        must(world.database.execute("DELETE FROM audit_entries"));
        CHECK(verify(world).first_bad_seq == 1);
    });
}

TEST_CASE("swapped entries are detected at the first of them") {
    for_each_world([](World& world) {
        fill(world);
        must(world.database.execute("UPDATE audit_entries SET seq = 999 WHERE seq = 3"));
        must(world.database.execute("UPDATE audit_entries SET seq = 3 WHERE seq = 5"));
        must(world.database.execute("UPDATE audit_entries SET seq = 5 WHERE seq = 999"));
        CHECK(verify(world).first_bad_seq == 3);
    });
}

TEST_CASE("entries slipped in before the first or after the last are detected") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        const auto slip_in = [&](int64_t seq) {
            must(world.database.execute("INSERT INTO audit_entries (seq, time, space_id, actor_kind, actor_id, "
                                        "actor_name, action, target, details, "
                                        "peer, request_id, prev_hash, hash) SELECT CAST(? AS BIGINT), time, space_id, "
                                        "actor_kind, actor_id, actor_name, action, target, "
                                        "details, peer, request_id, hash, hash FROM audit_entries WHERE seq = ?",
                                        seq, count));
            must(world.database.execute("UPDATE audit_entries SET hash = ? WHERE seq = ?", rehash(world, seq), seq));
        };
        for (const int64_t seq : {int64_t{0}, int64_t{-7}, count + 1}) {
            slip_in(seq);
            const auto verification = verify(world);
            CHECK_FALSE(verification.ok);
            CHECK(verification.first_bad_seq == seq);
            must(world.database.execute("DELETE FROM audit_entries WHERE seq = ?", seq));
        }
        CHECK(verify(world).ok);
    });
}

TEST_CASE("an edited or missing head is detected, and nothing can be chained without it") {
    for_each_world([](World& world) {
        const int64_t count = fill(world);
        must(world.database.execute("UPDATE audit_head SET hash = 'x'"));
        CHECK(verify(world).first_bad_seq == count);
        must(world.database.execute("UPDATE audit_head SET seq = 0, hash = ''"));
        CHECK(verify(world).first_bad_seq == 1);
        must(world.database.execute("DELETE FROM audit_head"));
        CHECK_FALSE(verify(world).ok);
        if (world.database.engine() == sql::Engine::postgres) { // changes continue, the log reports it
            must(world.access.audit.record(Caller::system(), {"machine_act", {}, ""}));
            CHECK(outcome(world.access.audit.verify(Caller::system())) == "corrupt");
            CHECK(outcome(world.access.audit.list(world.admin, {}, {}, {})) == "corrupt");
            return;
        }
        CHECK(outcome(world.access.audit.record(Caller::system(), {"machine_act", {}, ""})) == "corrupt");
        CHECK(outcome(world.access.projects.create(world.admin, world.space, "p", "", false, {})) == "corrupt");
        CHECK(world.count("projects") == 0);
    });
}

TEST_CASE("on PostgreSQL entries wait in the inbox until they are chained, in the order of their time") {
    sql::testing::FreshDatabase fresh(sql::Engine::postgres, sql::testing::Schema::migrated);
    World world(fresh.database());
    must(seal_audit_log(world.database));
    const int64_t before = world.count("audit_entries");
    for (int i = 0; i < 1203; ++i)
        must(world.access.audit.record(Caller::system(), {"machine_act", {}, std::to_string(i)}));
    CHECK(world.count("audit_inbox") == 1203);
    CHECK(must(seal_audit_log(world.database)) == 1203);
    CHECK(must(seal_audit_log(world.database)) == 0);
    CHECK(world.count("audit_inbox") == 0);
    int64_t expected = 0;
    for (int64_t seq = before; expected < 1203;)
        for (const AuditEntry& entry : must(world.access.audit.entries_after(Caller::system(), {}, seq, 1000))) {
            CHECK(entry.target == std::to_string(expected++));
            seq = entry.seq;
        }
    CHECK(verify(world).ok);
    // What is rolled back was never there.
    CHECK(outcome(world.database.write([&](sql::Transaction& transaction) -> Result<> {
              TRY(world.access.audit.record(transaction, Caller::system(), {"machine_act", {}, "never"}));
              return conflict("no");
          })) == "conflict");
    CHECK(must(seal_audit_log(world.database)) == 0);
    // A list contains what was recorded a moment ago.
    must(world.access.audit.record(Caller::system(), {"machine_act", {}, "now"}));
    CHECK(must(world.access.audit.list(Caller::system(), {}, {}, {})).data.front().target == "now");
}

TEST_CASE("appends of eight threads leave no gap, and verifying meanwhile finds nothing wrong") {
    for_each_world([](World& world) {
        const int64_t before = world.count("audit_entries");
        std::atomic<int> failed{0}, finished{0}, verified_bad{0};
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 8; ++t)
                threads.emplace_back([&, t] {
                    for (int i = 0; i < 12; ++i)
                        if (!world.access.audit.record(Caller::system(), {"machine_act", {}, std::to_string(t)}).ok())
                            ++failed;
                    ++finished;
                });
            while (finished < 8) {
                const auto verification = world.access.audit.verify(Caller::system());
                if (!verification.ok() || !verification.value().ok) ++verified_bad;
            }
        }
        CHECK(failed == 0);
        CHECK(verified_bad == 0);
        const auto verification = verify(world);
        CHECK(verification.ok);
        CHECK(verification.entries == before + 8 * 12);
    });
}

TEST_CASE("a change that fails leaves no entry, and an entry that fails leaves no change") {
    for_each_world([](World& world) {
        const int64_t before = world.count("audit_entries");
        const auto failing = world.database.write([&](sql::Transaction& transaction) -> Result<> {
            TRY(world.access.audit.record(transaction, world.admin, {"machine_act", world.space, "x"}));
            return conflict("the change did not work out");
        });
        CHECK(outcome(failing) == "conflict");
        world.add_project(world.admin, world.space, "taken");
        CHECK(outcome(world.access.projects.create(world.admin, world.space, "taken", "", false, {})) == "conflict");
        CHECK(world.count("audit_entries") == before + 1);
        CHECK(verify(world).ok);

        Caller broken = world.admin;
        broken.request_id = "\xff"; // cannot be stored
        CHECK_FALSE(world.access.projects.create(broken, world.space, "other", "", false, {}).ok());
        CHECK(world.count("projects") == 1);
        CHECK(verify(world).ok);
    });
}
