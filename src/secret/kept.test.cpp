// Secrets of things that are not skills: they come out where they belong, survive rotations, and are not in the file.
#include "access/testing.h"
#include "secret/vault.h"

using namespace hone;
using namespace hone::secret;
using access::testing::must;
using access::testing::outcome;
using access::testing::World;

TEST_CASE("a kept secret comes out for its owner in its space, also after its keys were rotated") {
    access::testing::for_each_world([](World& world) {
        for (const char* table : {"kept_secrets", "secrets", "data_keys"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        sql::testing::TemporaryDirectory directory;
        MasterKeyOptions options;
        options.file = directory.path() + "/master.key";
        options.create_file = true;
        auto keys = must(MasterKeys::open(std::move(options)));
        Vault vault(world.database, world.clock, world.access.audit, *keys);
        must(vault.start());
        const Scope here{world.space};
        const Scope elsewhere{world.add_space("elsewhere")};
        const auto keep = [&](const std::string& owner, const std::string& value) {
            must(world.database.write([&](sql::Transaction& transaction) -> Result<> {
                return vault.keep(transaction, here, owner, "url", SecretBytes(std::string_view(value)));
            }));
        };
        const auto shown = [&](const Scope& scope, const std::string& owner) -> std::string {
            const auto value = vault.reveal(scope, owner, "url", "test");
            return value.ok() ? std::string(value.value().reveal()) : code_name(value.error().code);
        };
        for (int i = 0; i < 120; ++i)
            keep("dest_" + std::to_string(i), "https://hooks.example.com/" + std::to_string(i));
        keep("dest_7", "https://hooks.example.com/new");
        CHECK(shown(here, "dest_7") == "https://hooks.example.com/new");
        CHECK(shown(here, "dest_8") == "https://hooks.example.com/8");
        CHECK(shown(elsewhere, "dest_8") == "not_found");
        CHECK(world.count("data_keys WHERE version = 1") == 1);

        CHECK(must(vault.rotate_data(world.admin, here)).secrets == 120);
        CHECK(world.count("data_keys WHERE version = 1") == 0);
        must(vault.rotate_master(world.admin));
        CHECK(shown(here, "dest_7") == "https://hooks.example.com/new");
        CHECK(shown(here, "dest_119") == "https://hooks.example.com/119");
        CHECK(must(vault.key_state(world.admin)).secrets == 120);

        // A row that was moved to another owner is worth nothing.
        must(world.database.execute("UPDATE kept_secrets SET owner_id = 'dest_x' WHERE owner_id = 'dest_9'"));
        CHECK(shown(here, "dest_x") != "https://hooks.example.com/9");
        must(world.database.write(
            [&](sql::Transaction& transaction) -> Result<> { return vault.forget(transaction, "dest_8"); }));
        CHECK(shown(here, "dest_8") == "not_found");
    });
}
