#include "access/names.h"
#include "access/testing.h"

#include <set>
#include <thread>

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

TEST_CASE("the permission table is complete, documented and in the order of the enum") {
    std::set<std::string_view> names;
    size_t position = 0;
    for (const auto& row : permission_table()) {
        CHECK(static_cast<size_t>(row.permission) == position++);
        CHECK(row.doc.ends_with('.'));
        CHECK(name_of(row.permission).find('_') != std::string_view::npos);
        CHECK(names.insert(name_of(row.permission)).second);
        CHECK(row.installation == installation_permissions().has(row.permission));
    }
    CHECK(names.size() == enum_names(Permission{}).size());
}

TEST_CASE("each role holds all that the one before holds, and none holds a permission of the installation") {
    PermissionSet before;
    for (const auto& role : enum_names(Role{})) {
        CHECK(permissions_of(role.value).contains(before));
        CHECK((permissions_of(role.value) & installation_permissions()).empty());
        CHECK(role_doc(role.value).ends_with('.'));
        before = permissions_of(role.value);
    }
    CHECK((before | installation_permissions()).names().size() == permission_table().size());
    CHECK(permissions_of(Role::owner).contains(reading_permissions()));
}

TEST_CASE("guests and callers without a role may nothing") {
    const SpaceId space("space_x");
    Caller nobody;
    nobody.kind = CallerKind::user;
    nobody.scope = permissions_of(Role::owner) | installation_permissions();
    for (const auto& row : permission_table()) {
        CHECK(outcome(World::guest().require(row.permission, space)) == "unauthorized");
        CHECK(outcome(World::guest().require(row.permission)) == "unauthorized");
        CHECK(outcome(nobody.require(row.permission, space)) == "not_found");
        CHECK(outcome(nobody.require(row.permission)) == "forbidden");
        CHECK_FALSE(nobody.may_anywhere(row.permission));
        CHECK_FALSE(World::guest().may_anywhere(row.permission));
    }
}

TEST_CASE("names are one line of visible text") {
    for (const std::string& good : {std::string("a"), std::string("  padded\n"), std::string("Grüße 🙂"),
                                    std::string("👩\u200d💻"), std::string(100, 'x'), std::string("%_\\'\"")})
        CHECK(outcome(checked_name("name", good)) == "ok");
    CHECK(must(checked_name("name", " a b ")) == "a b");
    for (const std::string& bad :
         {std::string(), std::string("  \t\n"), std::string(101, 'x'), std::string("a\nb"), std::string("a\0b", 3),
          std::string("a\x7f"), std::string("\xff"), std::string("\xc3"), std::string("a\u0085b"),
          std::string("\u200b"), std::string("a\u202eb"), std::string("a\u2028b"),
          std::string("\ufeff"
                      "a"),
          std::string("a\u2066b")})
        CHECK(outcome(checked_name("name", bad)) == "invalid");
    CHECK(outcome(checked_description("two\nlines\tof text")) == "ok");
    CHECK(outcome(checked_description("")) == "ok");
    CHECK(outcome(checked_description(std::string(2001, 'x'))) == "invalid");
    CHECK(outcome(checked_description(std::string("a\0", 2))) == "invalid");
}

TEST_CASE("e-mail addresses have one @ and no character that means something elsewhere") {
    CHECK(must(checked_email(" Ada@Example.COM ")) == "ada@example.com");
    for (const char* good : {"admin@localhost", "a+b@x.y", "ünïcode@exämple.org", "o'hara@example.com"})
        CHECK(outcome(checked_email(good)) == "ok");
    for (const std::string& bad :
         {std::string(), std::string("ada"), std::string("@x"), std::string("ada@"), std::string("a@b@c"),
          std::string("a b@c"), std::string("<a@b>"), std::string("a@b,c@d"), std::string("a\0@b", 4),
          std::string("a@b\r\nBcc: c"), std::string("\xff@b"), std::string(250, 'a') + "@b.de"})
        CHECK(outcome(checked_email(bad)) == "invalid");
}

TEST_CASE("passwords are 10 to 1000 bytes") {
    CHECK(outcome(check_password(std::string(9, 'x'))) == "invalid");
    CHECK(outcome(check_password(std::string(10, 'x'))) == "ok");
    CHECK(outcome(check_password(std::string(1000, 'x'))) == "ok");
    CHECK(outcome(check_password(std::string(1001, 'x'))) == "invalid");
}

TEST_CASE("the first start happens once and makes one admin who must change a generated password") {
    for_each_empty_database([](sql::Database& database) {
        crypto::start();
        const SystemClock clock;
        Access access(database, clock, World::cheap_policy());
        CHECK(outcome(access.first_start(std::string(1001, 'x'))) == "invalid");
        const auto none = must(database.query("SELECT id FROM users"));
        CHECK(none.empty());
        const auto first = must(access.first_start({}));
        REQUIRE(first);
        CHECK(first->generated);
        CHECK(first->password.size() >= 20);
        CHECK_FALSE(must(access.first_start("short"))); // no longer looked at
        auto login = must(access.logins.login(World::guest(), first->email, first->password, "t"));
        CHECK(login.caller.installation_owner);
        CHECK(access.logins.must_change_password(login.caller));
        must(access.logins.change_password(login.caller, first->password, good_password));
        CHECK_FALSE(access.logins.must_change_password(login.caller));
    });
}

TEST_CASE("two servers that start first at the same moment make one admin") {
    for (int round = 0; round < 3; ++round)
        for_each_empty_database([](sql::Database& database) {
            crypto::start();
            const SystemClock clock;
            Access access(database, clock, World::cheap_policy());
            std::optional<Result<std::optional<FirstStart>>> made[2];
            {
                std::jthread one([&] { made[0] = access.first_start(good_password); });
                std::jthread two([&] { made[1] = access.first_start(good_password); });
            }
            CHECK(must(*made[0]).has_value() != must(*made[1]).has_value());
            const auto counts = must(database.query(
                "SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM spaces), (SELECT COUNT(*) "
                "FROM members), (SELECT COUNT(*) FROM audit_entries) + (SELECT COUNT(*) FROM audit_inbox)"));
            for (size_t i = 0; i < 4; ++i) CHECK(counts.front().integer(i) == 1);
        });
}
