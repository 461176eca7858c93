// A link that sets a new password: works once, for an hour, for its user only, and reveals nothing.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;
using std::chrono::minutes;

namespace {

const std::string new_password = "a wholly new password";

std::string complete(World& world, const std::string& token, const std::string& password = new_password) {
    return outcome(world.access.password_resets.complete(World::guest(), token, password, "test"));
}

} // namespace

TEST_CASE("a link sets the password once, ends every login and every other link") {
    for_each_world([](World& world) {
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const auto cookie =
            must(world.access.logins.login(World::guest(), "bob@example.com", good_password, "test")).token;
        const PasswordReset first = must(world.access.password_resets.create(world.admin, bob.user));
        const PasswordReset second = must(world.access.password_resets.create(world.admin, bob.user));
        CHECK(must(world.access.password_resets.email_of(first.token)) == "bob@example.com");
        CHECK(complete(world, first.token, "short") == "invalid");
        CHECK(complete(world, first.token) == "ok");
        CHECK(complete(world, first.token) == "not_found");  // used
        CHECK(complete(world, second.token) == "not_found"); // ended with it
        CHECK(outcome(world.access.logins.authenticate(cookie, "", "")) == "unauthorized");
        CHECK(outcome(world.access.logins.login(World::guest(), "bob@example.com", good_password, "t")) ==
              "unauthorized");
        CHECK(outcome(world.access.logins.login(World::guest(), "bob@example.com", new_password, "t")) == "ok");
    });
}

TEST_CASE("a link expires after an hour, and a made-up or cut one is refused") {
    for_each_world([](World& world) {
        const PasswordReset reset = must(world.access.password_resets.create(world.admin, world.admin.user));
        CHECK(complete(world, reset.token.substr(1)) == "not_found");
        CHECK(complete(world, std::string(43, 'A')) == "not_found");
        CHECK(complete(world, "") == "not_found");
        world.clock.advance(minutes(60));
        CHECK(outcome(world.access.password_resets.email_of(reset.token)) == "not_found");
        CHECK(complete(world, reset.token) == "not_found");
        must(world.access.logins.sweep());
        CHECK(world.count("password_resets") == 0);
    });
}

TEST_CASE("the database and the audit log hold no token") {
    for_each_world([](World& world) {
        const PasswordReset reset = must(world.access.password_resets.create(world.admin, world.admin.user));
        const auto stored = must(world.database.query("SELECT token_hash FROM password_resets"));
        CHECK(stored.front().text(0) != reset.token);
        for (const auto& row : must(world.database.query("SELECT target, details FROM audit_entries"))) {
            CHECK(row.text(0).find(reset.token) == std::string::npos);
            CHECK(row.text(1).find(reset.token) == std::string::npos);
        }
    });
}

TEST_CASE("only unlimited credentials of an installation owner make links for others") {
    for_each_world([](World& world) {
        const Caller bob = world.join(world.space, "bob@example.com", Role::owner);
        CHECK(outcome(world.access.password_resets.create(bob, world.admin.user)) == "forbidden");
        CHECK(outcome(world.access.password_resets.create(World::guest(), bob.user)) == "unauthorized");
        const auto key = must(
            world.access.keys.create(world.admin, world.space, {.name = "limited", .scopes = {"user_manage", "read"}}));
        CHECK(outcome(world.access.password_resets.create(world.with_key(*key.key), bob.user)) == "forbidden");
        const auto whole = must(world.access.keys.create(world.admin, world.space, {.name = "whole"}));
        CHECK(outcome(world.access.password_resets.create(world.with_key(*whole.key), bob.user)) == "ok");
        must(world.access.users.update(world.admin, bob.user, {.disabled = true}));
        CHECK(outcome(world.access.password_resets.create(world.admin, bob.user)) == "conflict");
    });
}

TEST_CASE("a link of a user who is disabled meanwhile does not work") {
    for_each_world([](World& world) {
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const PasswordReset reset = must(world.access.password_resets.create(world.admin, bob.user));
        must(world.access.users.update(world.admin, bob.user, {.disabled = true}));
        CHECK(complete(world, reset.token) == "not_found");
    });
}

TEST_CASE("a reset by mail sends a link to existing accounts only, and is limited per account and address") {
    for_each_world([](World& world) {
        auto& resets = world.access.password_resets;
        CHECK_FALSE(must(resets.request(World::guest("203.0.113.1"), "nobody@example.com")).has_value());
        CHECK(outcome(resets.request(World::guest("203.0.113.1"), "no address")) == "invalid");
        int made = 0;
        for (int i = 0; i < 6; ++i)
            made += must(resets.request(World::guest("203.0.113." + std::to_string(10 + i)), "admin@localhost"))
                        .has_value();
        CHECK(made == 3);
        std::string last = "ok";
        int asked = 0;
        while (last == "ok" && asked < 100) {
            last = outcome(resets.request(World::guest("203.0.113.200"), "u" + std::to_string(asked) + "@example.com"));
            ++asked;
        }
        CHECK(last == "busy");
        CHECK(asked == 21);
    });
}

TEST_CASE("a temporary password must be changed, and ends locks and logins") {
    for_each_world([](World& world) {
        for (int i = 0; i < 6; ++i)
            (void)world.access.logins.login(World::guest("198.51.100.7"), "admin@localhost", "wrong password", "t");
        const std::string temporary = must(world.access.password_resets.set_temporary("Admin@localhost"));
        const auto login =
            must(world.access.logins.login(World::guest("198.51.100.7"), "admin@localhost", temporary, "test"));
        CHECK(world.access.logins.must_change_password(login.caller));
        CHECK(world.count("login_sessions") == 1);
        CHECK(outcome(world.access.password_resets.set_temporary("nobody@example.com")) == "not_found");
    });
}
