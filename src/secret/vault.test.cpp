// The vault on real databases: what goes in comes out only where it belongs, rotations lose nothing wherever they are
// killed, and no file holds a secret.
#include "secret/vault.h"
#include "access/testing.h"
#include "base/file.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::secret;
using access::testing::must;
using access::testing::outcome;
using access::testing::World;

namespace {

const std::string canary = "canary-9f3a7c51e2d84b60-token";

// The rows that secrets hang on, without the skill layer above.
void add_skill(sql::Database& database, const Scope& scope, const std::string& id) {
    must(database.execute("INSERT INTO skills (id, scope, space_id, name, type, description, version, setup, "
                          "created_by, created_at, updated_at) VALUES (?,?,?,?,'custom','',1,'{}','user_1',1,1)",
                          id, scope.text(), scope.space, id));
}

std::unique_ptr<MasterKeys> keys_in(const std::string& directory) {
    MasterKeyOptions options;
    options.file = directory + "/master.key";
    options.create_file = true;
    return must(MasterKeys::open(std::move(options)));
}

SecretInfo put(World& world, Vault& vault, const Scope& scope, const std::string& skill, const std::string& name,
               std::string_view value) {
    const SecretBytes bytes(value);
    return must(world.database.write([&](sql::Transaction& transaction) -> Result<SecretInfo> {
        return vault.set(transaction, world.admin, scope, skill, name, bytes);
    }));
}

std::string shown(const Result<SecretBytes>& opened) {
    return opened.ok() ? std::string(opened.value().reveal()) : code_name(opened.error().code);
}

// What skill/ answers, read from the table.
struct ShareTable final : SkillShares {
    Result<bool> is_shared(sql::Transaction& transaction, const std::string& skill_id,
                           const access::SpaceId& space) const override {
        const auto rows =
            TRY(transaction.query("SELECT 1 FROM skill_shares WHERE skill_id = ? AND space_id = ?", skill_id, space));
        return !rows.empty();
    }
};

// A world with a vault and a key file of its own.
struct Bank {
    explicit Bank(World& made)
        : world(made),
          keys(keys_in(directory.path())),
          vault(made.database, made.clock, made.access.audit, *keys) {
        for (const char* table : {"secrets", "data_keys", "skill_shares", "skills"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        must(vault.start());
        here = Scope{world.space};
        add_skill(world.database, here, "skl_a");
        add_skill(world.database, Scope{}, "skl_shared");
    }
    sql::testing::TemporaryDirectory directory;
    World& world;
    std::unique_ptr<MasterKeys> keys;
    Vault vault;
    Scope here;
};

} // namespace

TEST_CASE("a secret opens for its space only") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto other = world.add_space("other");
        const auto info = put(world, bank.vault, bank.here, "skl_a", "GH_TOKEN", canary);
        CHECK(shown(bank.vault.open(world.space, info.id.text(), "test")) == canary);
        CHECK(shown(bank.vault.open(other, info.id.text(), "test")) == "not_found");
        CHECK(shown(bank.vault.open(world.space, "sec_unknown", "test")) == "not_found");

        const auto shared = put(world, bank.vault, Scope{}, "skl_shared", "KEY", "value of all");
        CHECK(shown(bank.vault.open(other, shared.id.text(), "test")) == "not_found");
        must(world.database.execute("INSERT INTO skill_shares (skill_id, space_id, created_at) VALUES (?,?,1)",
                                    "skl_shared", other));
        // Without an answer about shares nothing of the installation opens.
        CHECK(shown(bank.vault.open(other, shared.id.text(), "test")) == "not_found");
        const ShareTable shares;
        bank.vault.set_shares(shares);
        CHECK(shown(bank.vault.open(other, shared.id.text(), "test")) == "value of all");
        CHECK(shown(bank.vault.open(world.space, shared.id.text(), "test")) == "not_found");
        bank.vault.remove_shares(shares);
        CHECK(shown(bank.vault.open(other, shared.id.text(), "test")) == "not_found");
    });
}

TEST_CASE("replacing keeps the id and forgets the old value, removing leaves nothing") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto first = put(world, bank.vault, bank.here, "skl_a", "KEY", "one");
        world.clock.advance(std::chrono::hours(1));
        const auto second = put(world, bank.vault, bank.here, "skl_a", "KEY", "two");
        CHECK(first.id == second.id);
        CHECK(second.set_at > first.set_at);
        CHECK(second.created_at == first.created_at);
        CHECK(shown(bank.vault.open(world.space, first.id.text(), "")) == "two");
        CHECK(must(bank.vault.of_skill("skl_a")).size() == 1);
        const auto remove = [&] {
            return must(world.database.write([&](sql::Transaction& transaction) -> Result<bool> {
                return bank.vault.remove(transaction, "skl_a", "KEY");
            }));
        };
        CHECK(remove());
        CHECK(!remove());
        CHECK(shown(bank.vault.open(world.space, first.id.text(), "")) == "not_found");
    });
}

TEST_CASE("empty and huge values are refused") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    World world(fresh.database());
    Bank bank(world);
    const auto set = [&](const std::string& value) {
        const SecretBytes bytes(value);
        return outcome(world.database.write([&](sql::Transaction& transaction) -> Result<SecretInfo> {
            return bank.vault.set(transaction, world.admin, bank.here, "skl_a", "KEY", bytes);
        }));
    };
    CHECK(set("") == "invalid");
    CHECK(set(std::string(largest_secret + 1, 'x')) == "too_large");
    CHECK(set(std::string(largest_secret, 'x')) == "ok");
}

TEST_CASE("a row that is moved to another name, skill or space does not open") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto other = world.add_space("other");
        add_skill(world.database, bank.here, "skl_b");
        const auto a = put(world, bank.vault, bank.here, "skl_a", "KEY", canary);
        const auto b = put(world, bank.vault, bank.here, "skl_b", "KEY", "b");
        // Somebody who can write the database gives their own skill the bytes of another.
        must(world.database.write([&](sql::Transaction& transaction) -> Result<int64_t> {
            const auto rows = TRY(transaction.query("SELECT sealed FROM secrets WHERE id = ?", a.id));
            return transaction.execute("UPDATE secrets SET sealed = ? WHERE id = ?", sql::Blob{rows.front().blob(0)},
                                       b.id);
        }));
        CHECK(shown(bank.vault.open(world.space, b.id.text(), "")) == "corrupt");
        must(world.database.execute("UPDATE secrets SET name = 'OTHER' WHERE id = ?", a.id));
        CHECK(shown(bank.vault.open(world.space, a.id.text(), "")) == "corrupt");
        must(world.database.execute("UPDATE secrets SET name = 'KEY', space_id = ? WHERE id = ?", other, a.id));
        // The row says another space, but its scope still names the data key; with both changed the key is missing.
        must(world.database.execute("UPDATE secrets SET scope = ? WHERE id = ?", other, a.id));
        CHECK(shown(bank.vault.open(other, a.id.text(), "")) == "corrupt");
    });
}

TEST_CASE("the time of the last use is stored in batches") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto info = put(world, bank.vault, bank.here, "skl_a", "KEY", "v");
        world.clock.advance(std::chrono::hours(5));
        must(bank.vault.open(world.space, info.id.text(), ""));
        CHECK(!must(bank.vault.of_skill("skl_a")).front().last_used_at);
        must(bank.vault.flush_used());
        CHECK(must(bank.vault.of_skill("skl_a")).front().last_used_at == world.clock.now());
        must(bank.vault.flush_used());
        // A new value was not used yet.
        put(world, bank.vault, bank.here, "skl_a", "KEY", "w");
        CHECK(!must(bank.vault.of_skill("skl_a")).front().last_used_at);
    });
}

TEST_CASE("rotation of data and master keys changes every row and no value") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        std::vector<SecretInfo> infos;
        for (int i = 0; i < 120; ++i)
            infos.push_back(
                put(world, bank.vault, bank.here, "skl_a", "KEY_" + std::to_string(i), "value " + std::to_string(i)));
        const auto all_open = [&] {
            for (size_t i = 0; i < infos.size(); ++i)
                if (shown(bank.vault.open(world.space, infos[i].id.text(), "")) != "value " + std::to_string(i))
                    return false;
            return true;
        };
        const auto data = must(bank.vault.rotate_data(world.admin, {}));
        CHECK(data.data_keys == 1);
        CHECK(data.secrets == 120);
        CHECK(world.count("data_keys") == 1);
        CHECK(world.count("secrets WHERE key_version = 2") == 120);
        CHECK(all_open());

        const std::string before = must(read_file(bank.directory.path() + "/master.key"));
        const std::string old_id = bank.keys->current_id();
        const auto master = must(bank.vault.rotate_master(world.admin));
        CHECK(master.data_keys == 1);
        CHECK(master.master_key != old_id);
        CHECK(must(read_file(bank.directory.path() + "/master.key")) != before);
        CHECK(!file_exists(bank.directory.path() + "/master.key.next"));
        CHECK(!bank.keys->has(old_id));
        CHECK(all_open());
        // A new process with the file of now opens everything too.
        const auto keys = keys_in(bank.directory.path());
        Vault vault(world.database, world.clock, world.access.audit, *keys);
        must(vault.start());
        CHECK(shown(vault.open(world.space, infos[7].id.text(), "")) == "value 7");
        const auto state = must(vault.key_state(world.admin));
        CHECK(state.secrets == 120);
        CHECK(state.source == "file");
        CHECK(world.count("audit_entries WHERE action IN ('master_key_rotate', 'data_key_rotate')") == 2);
    });
}

TEST_CASE("only installation owners rotate") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    World world(fresh.database());
    Bank bank(world);
    const auto owner = world.join(world.space, "owner@example.com", access::Role::owner);
    CHECK(outcome(bank.vault.rotate_master(owner)) == "forbidden");
    CHECK(outcome(bank.vault.rotate_data(owner, {})) == "forbidden");
    CHECK(outcome(bank.vault.key_state(owner)) == "forbidden");
}

// Rotates in a child that dies at the given step, as kill -9 would, and looks at what is left with a new process' eyes.
TEST_CASE("a rotation that is killed at any step loses nothing and is finished by the next start") {
    enum class What { master, data };
    for (const What what : {What::master, What::data})
        for (int step = 0; step < 12; ++step) {
            CAPTURE(static_cast<int>(what));
            CAPTURE(step);
            sql::testing::TemporaryDirectory directory;
            const std::string url = "sqlite:" + directory.path() + "/hone.db";
            std::vector<std::string> ids;
            access::SpaceId space;
            {
                auto database = must(sql::Database::open({.url = url}));
                must(sql::migrate(*database, SystemClock()));
                World world(*database);
                space = world.space;
                const auto keys = keys_in(directory.path());
                Vault vault(*database, world.clock, world.access.audit, *keys);
                must(vault.start());
                add_skill(*database, Scope{space}, "skl_a");
                for (int i = 0; i < 60; ++i)
                    ids.push_back(put(world, vault, Scope{space}, "skl_a", "K" + std::to_string(i), canary).id.text());
            }
            const pid_t child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                int reached = 0;
                const SystemClock clock;
                auto database = must(sql::Database::open({.url = url}));
                access::AuditLog audit(*database, clock);
                const auto keys = keys_in(directory.path());
                Vault vault(*database, clock, audit, *keys, [&](std::string_view) {
                    if (reached++ == step) ::_exit(9);
                });
                must(vault.start());
                access::Caller admin = access::Caller::system();
                admin.kind = access::CallerKind::user;
                admin.installation_owner = true;
                admin.scope = access::installation_permissions();
                const auto done = what == What::master ? vault.rotate_master(admin) : vault.rotate_data(admin, {});
                ::_exit(done.ok() ? 0 : 1);
            }
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            REQUIRE(WIFEXITED(status));
            // either: 9 is the end at the wanted step, 0 when there are no more steps
            REQUIRE((WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
            auto database = must(sql::Database::open({.url = url}));
            const SystemClock clock;
            access::AuditLog audit(*database, clock);
            const auto keys = keys_in(directory.path());
            Vault vault(*database, clock, audit, *keys);
            must(vault.start());
            for (const auto& id : ids) REQUIRE(shown(vault.open(space, id, "")) == canary);
            CHECK(!file_exists(directory.path() + "/master.key.next"));
            const auto left = must(database->query("SELECT COUNT(*) FROM data_keys"));
            CHECK(left.front().integer(0) == 1);
            if (WEXITSTATUS(status) == 0) { // there are no more steps
                CHECK(step > 0);
                break;
            }
            REQUIRE(step < 11);
        }
}

TEST_CASE("a wrong master key is noticed at the start, and the one before helps") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto info = put(world, bank.vault, bank.here, "skl_a", "KEY", canary);
        const std::string old_text = must(read_file(bank.directory.path() + "/master.key"));
        const auto fresh = [&](std::string_view old) {
            MasterKeyOptions options;
            options.value = crypto::key_text(crypto::random_secret(32));
            options.old_value = SecretBytes(old);
            return must(MasterKeys::open(std::move(options)));
        };
        const auto wrong = fresh("");
        Vault vault(world.database, world.clock, world.access.audit, *wrong);
        const auto refused = vault.start();
        REQUIRE(!refused.ok());
        CHECK(refused.error().message.find(bank.keys->current_id()) != std::string::npos);
        CHECK(refused.error().message.find("HONE_MASTER_KEY_OLD") != std::string::npos);

        const auto changed = fresh(old_text);
        Vault next(world.database, world.clock, world.access.audit, *changed);
        must(next.start());
        CHECK(shown(next.open(world.space, info.id.text(), "")) == canary);
        CHECK(!changed->has(bank.keys->current_id()));
        CHECK(outcome(next.rotate_master(world.admin)) == "conflict"); // the environment cannot be changed from inside
    });
}

TEST_CASE("a master key comes from a file, the environment or a command") {
    crypto::start();
    sql::testing::TemporaryDirectory directory;
    const std::string path = directory.path() + "/key";
    const auto open = [&](auto&& change) {
        MasterKeyOptions options;
        options.file = path;
        change(options);
        return MasterKeys::open(std::move(options));
    };
    CHECK(outcome(open([](auto&) {})) == "not_found");
    const auto made = must(open([](auto& options) { options.create_file = true; }));
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(must(open([](auto&) {}))->current_id() == made->current_id());
    const auto printed = must(open([&](auto& options) { options.command = "cat " + path; }));
    CHECK(printed->current_id() == made->current_id());
    CHECK(printed->source() == MasterKeySource::command);
    CHECK(outcome(open([](auto& options) { options.command = "exit 3"; })) == "unavailable");
    CHECK(outcome(open([](auto& options) { options.command = "echo hello"; })) == "corrupt");
    CHECK(outcome(open([](auto& options) { options.command = "head -c 9000 /dev/zero"; })) == "too_large");
    CHECK(outcome(open([&](auto& options) {
              options.command = "cat " + path;
              options.value = SecretBytes("x");
          })) == "invalid");
    ::chmod(path.c_str(), 0644);
    CHECK(outcome(open([](auto&) {})) == "forbidden");
}

TEST_CASE("a key that was put into the file, or that the command prints, is the next one") {
    access::testing::for_each_world([](World& world) {
        Bank bank(world);
        const auto info = put(world, bank.vault, bank.here, "skl_a", "KEY", canary);
        const SecretBytes mine = crypto::random_secret(32);
        must(write_file(bank.directory.path() + "/master.key", crypto::key_text(mine).reveal(), 0600));
        const auto done = must(bank.vault.rotate_master(world.admin));
        CHECK(done.master_key == master_key_id(mine));
        CHECK(shown(bank.vault.open(world.space, info.id.text(), "")) == canary);
        CHECK(must(read_file(bank.directory.path() + "/master.key")) == crypto::key_text(mine).reveal());
    });
}

TEST_CASE("no file of the data directory holds a secret in any disguise") {
    sql::testing::TemporaryDirectory directory;
    {
        auto database = must(sql::Database::open({.url = "sqlite:" + directory.path() + "/hone.db"}));
        must(sql::migrate(*database, SystemClock()));
        World world(*database);
        const auto keys = keys_in(directory.path());
        Vault vault(*database, world.clock, world.access.audit, *keys);
        must(vault.start());
        add_skill(*database, Scope{world.space}, "skl_a");
        const auto info = put(world, vault, Scope{world.space}, "skl_a", "GH_TOKEN", canary);
        must(vault.open(world.space, info.id.text(), "canary"));
        must(vault.rotate_data(world.admin, {}));
        must(vault.rotate_master(world.admin));
        must(database->backup_to(directory.path() + "/copy.db"));
        // The write-ahead log is there while the database is open.
        std::string reversed(canary.rbegin(), canary.rend());
        const std::string disguises[] = {
            canary, to_hex(canary), to_base64(canary), to_base64url(canary), percent_encode(canary), reversed};
        size_t files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
            if (!entry.is_regular_file()) continue;
            ++files;
            const std::string content = must(read_file(entry.path().string()));
            for (const auto& disguise : disguises) {
                INFO(entry.path().string(), " holds ", disguise);
                CHECK(content.find(disguise) == std::string::npos);
            }
        }
        CHECK(files >= 3);
    }
}
