#include "identity/identity.h"

#include "access/testing.h"

namespace hone::identity {

namespace {

using access::testing::must, access::testing::outcome, access::testing::World;

// Two people of one provider, and the groups of a sign-in without the provider itself.
struct Directory {
    explicit Directory(World& given) : world(given) {
        for (const char* table : {"identity_providers", "identity_groups", "identities", "kept_secrets", "data_keys"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        secret::MasterKeyOptions options;
        options.file = folder.path() + "/master.key";
        options.create_file = true;
        keys = must(secret::MasterKeys::open(std::move(options)));
        vault.emplace(world.database, world.clock, world.access.audit, *keys);
        must(vault->start());
        identities.emplace(world.database, world.clock, world.access, *vault);
        ada = add_person("ada@example.com", "1");
        bob = add_person("bob@example.com", "2");
    }
    access::UserId add_person(const std::string& email, const std::string& subject) {
        const access::UserId user = world.join(world.space, email, access::Role::viewer).user;
        must(world.database.execute("INSERT INTO identities (issuer, subject, provider, user_id, email, created_at, "
                                    "last_login_at) VALUES (?,?,?,?,?,?,?)",
                                    issuer, subject, "company", user, email, world.clock.now(), world.clock.now()));
        return user;
    }
    void sign_in(const std::string& subject, const std::vector<std::string>& groups) {
        must(world.database.write([&](sql::Transaction& transaction) {
            return identities->groups.record(transaction, "company", issuer, subject, groups);
        }));
    }
    std::vector<Group> listed(const GroupFilter& filter = {}) {
        return must(identities->groups.list(world.admin, filter, {})).data;
    }
    // "engineers 2, leads 1"
    std::string summary(const GroupFilter& filter = {}) {
        std::string text;
        for (const Group& group : listed(filter))
            text += (text.empty() ? "" : ", ") + group.name + " " + std::to_string(group.people);
        return text;
    }

    static constexpr const char* issuer = "https://id.example.com";
    World& world;
    sql::testing::TemporaryDirectory folder;
    std::unique_ptr<secret::MasterKeys> keys;
    std::optional<secret::Vault> vault;
    std::optional<Identities> identities;
    access::UserId ada, bob;
};

template <class Test>
void for_each_directory(Test test) {
    access::testing::for_each_world([&](World& world) {
        Directory directory(world);
        test(directory);
    });
}

} // namespace

TEST_CASE("groups follow the last sign-in of each person") {
    for_each_directory([](Directory& directory) {
        CHECK(directory.summary() == "");
        directory.sign_in("1", {"engineers", "leads"});
        directory.sign_in("2", {"engineers", "engineers"});
        CHECK(directory.summary() == "engineers 2, leads 1");
        CHECK(directory.listed().front().emails == std::vector<std::string>{"ada@example.com", "bob@example.com"});
        CHECK(directory.listed().front().last_login_at == directory.world.clock.now());
        CHECK(directory.summary({.user = directory.bob}) == "engineers 1");
        CHECK(directory.listed({.user = directory.bob}).front().emails == std::vector<std::string>{"bob@example.com"});
        directory.sign_in("1", {"leads"});
        CHECK(directory.summary() == "engineers 1, leads 1");
        directory.sign_in("1", {});
        CHECK(directory.summary() == "engineers 1");
        CHECK(directory.summary({.provider = "another"}) == "");
    });
}

TEST_CASE("a group that only a mapping names is listed with its roles and without people") {
    for_each_directory([](Directory& directory) {
        const auto other = directory.world.add_space("other");
        const auto admin = directory.world.again(directory.world.admin);
        NewProvider wanted;
        wanted.name = "company";
        wanted.issuer = Directory::issuer;
        wanted.client_id = "hone";
        wanted.mappings = std::vector<GroupMapping>{{"engineers", "default", access::Role::member},
                                                    {"engineers", "other", access::Role::viewer},
                                                    {"enginers", "default", access::Role::admin},
                                                    {"*", "default", access::Role::viewer}};
        must(directory.identities->providers.create(admin, wanted));
        directory.sign_in("1", {"engineers", "staff"});
        CHECK(directory.summary() == "engineers 1, enginers 0, staff 1");
        const auto groups = directory.listed();
        REQUIRE(groups.at(0).roles.size() == 2);
        CHECK(groups.at(0).roles.at(0).space_name == "default");
        CHECK(groups.at(0).roles.at(0).role == access::Role::member);
        CHECK(groups.at(0).roles.at(1).space_id == other.text());
        CHECK(groups.at(0).roles.at(1).space_name == "other");
        CHECK(groups.at(1).last_login_at == std::nullopt);
        CHECK(groups.at(2).roles.empty());
        CHECK(directory.summary({.user = directory.ada}) == "engineers 1, staff 1");
        must(directory.world.access.spaces.remove(admin, other, "other"));
        CHECK(directory.listed().front().roles.at(1).space_name == "");
        must(directory.identities->providers.remove(admin, "company"));
        CHECK(directory.summary() == "");
        CHECK(directory.world.count("identity_groups") == 0);
    });
}

TEST_CASE("groups are listed in pages, in the order of their names") {
    for_each_directory([](Directory& directory) {
        const std::string shared(100, 'x');
        const std::vector<std::string> names{"/ops/b", "Admins", "a", shared + "1", shared + "2", "ä"};
        directory.sign_in("1", names);
        std::vector<std::string> seen;
        access::PageRequest page;
        page.limit = 1;
        do {
            const auto part = must(directory.identities->groups.list(directory.world.admin, {}, page));
            REQUIRE(part.data.size() == 1);
            seen.push_back(part.data.front().name);
            page.cursor = part.next_cursor;
        } while (page.cursor);
        // Names that are equal in their first 60 bytes have any order.
        REQUIRE(seen.size() == 6);
        if (seen[3] > seen[4]) std::swap(seen[3], seen[4]);
        CHECK(seen == names);
    });
}

TEST_CASE("names that no page could show are not stored") {
    for_each_directory([](Directory& directory) {
        directory.sign_in("1", {"", "a\nb", std::string("a\0b", 3), "\xff", std::string(256, 'y'), "kept"});
        CHECK(directory.summary() == "kept 1");
    });
}

TEST_CASE("only owners of the installation list groups") {
    for_each_directory([](Directory& directory) {
        const auto viewer = directory.world.login("ada@example.com");
        CHECK(outcome(directory.identities->groups.list(viewer, {}, {})) == "forbidden");
        CHECK(outcome(directory.identities->groups.list(World::guest(), {}, {})) == "unauthorized");
    });
}

} // namespace hone::identity
