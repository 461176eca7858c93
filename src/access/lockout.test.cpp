// Wrong passwords: nobody learns who exists, guessing gets slow, and the right person always gets back in.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

const std::string wrong_password = "not the password";
constexpr Duration longest = minutes(5) * 24;

std::string try_login(World& world, const std::string& email, const std::string& password,
                      const std::string& peer = "192.0.2.1") {
    return outcome(world.access.logins.login(World::guest(peer), email, password, "test"));
}

void lock_out(World& world, const std::string& email) {
    for (int i = 0; i < 5; ++i) CHECK(try_login(world, email, wrong_password) == "unauthorized");
}

// How long it takes until the right password is taken again, in steps of a minute.
Duration time_locked(World& world, const std::string& email, const std::string& peer = "192.0.2.1") {
    const Duration start = world.clock.steady();
    while (try_login(world, email, good_password, peer) == "busy") {
        REQUIRE(world.clock.steady() - start < hours(48));
        world.clock.advance(minutes(1));
    }
    return world.clock.steady() - start;
}

} // namespace

TEST_CASE("the right password opens a session, in any spelling of the address") {
    for_each_world([](World& world) {
        CHECK(try_login(world, "admin@localhost", good_password) == "ok");
        CHECK(try_login(world, "  Admin@LOCALHOST ", good_password) == "ok");
        for (const std::string wrong : {"", "correct horse batter", "Correct horse battery", "correct horse battery "})
            CHECK(try_login(world, "admin@localhost", wrong) == "unauthorized");
        CHECK(try_login(world, "admin@localhost", good_password) == "ok");
    });
}

TEST_CASE("an unknown, a disabled and a known account answer a wrong password alike") {
    for_each_world([](World& world) {
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        must(world.access.users.update(world.admin, bob.user, {.disabled = true}));
        const auto message = [&](const std::string& email, const std::string& password) {
            const auto result = world.access.logins.login(World::guest("192.0.2.9"), email, password, "test");
            REQUIRE_FALSE(result.ok());
            return std::string(code_name(result.error().code)) + result.error().message + result.error().trail;
        };
        for (int i = 0; i < 7; ++i) { // the lock-out included
            const std::string known = message("admin@localhost", wrong_password);
            CHECK(message("nobody@example.com", wrong_password) == known);
            CHECK(message("bob@example.com", good_password) == known); // disabled
        }
        for (const std::string& odd : {std::string("a\0b@x", 5), std::string("\xff@x"), std::string("no address"),
                                       std::string(300, 'a') + "@x", std::string()})
            CHECK(try_login(world, odd, wrong_password, "192.0.2.10") == "unauthorized");
        CHECK(try_login(world, "admin@localhost", std::string(5000, 'x'), "192.0.2.11") != "ok");
    });
}

TEST_CASE("too many wrong passwords lock the account, each time for longer, up to a maximum, and it ends") {
    for_each_world([](World& world) {
        const std::string email = "admin@localhost";
        lock_out(world, email);
        CHECK(try_login(world, email, good_password) == "busy");
        CHECK(try_login(world, email, good_password, "192.0.2.77") == "busy"); // from elsewhere too
        world.clock.advance(minutes(5) - seconds(1));
        CHECK(try_login(world, email, good_password) == "busy");
        world.clock.advance(seconds(1));
        Duration before = minutes(5);
        for (int i = 0; i < 7; ++i) { // wrong again right after each lock
            CHECK(try_login(world, email, wrong_password) == "unauthorized");
            const auto rows = must(
                world.database.query("SELECT locked_until FROM login_failures WHERE subject = ?", "email:" + email));
            const Duration locked = rows.front().time(0) - world.clock.now();
            CHECK(locked <= longest);
            CHECK(locked >= before);
            CHECK((locked > before || locked == longest));
            before = locked;
            world.clock.advance(locked);
        }
        CHECK(before == longest);
        CHECK(try_login(world, email, good_password) == "ok");
        for (int i = 0; i < 4; ++i) CHECK(try_login(world, email, wrong_password) == "unauthorized");
        CHECK(try_login(world, email, good_password) == "ok"); // a success starts the count anew
    });
}

TEST_CASE("failures are forgotten after a day, and the sweep removes them") {
    for_each_world([](World& world) {
        for (int i = 0; i < 4; ++i) try_login(world, "nobody@example.com", wrong_password);
        CHECK(world.count("login_failures") == 2); // account and address
        must(world.access.logins.sweep());
        CHECK(world.count("login_failures") == 2);
        world.clock.advance(hours(25));
        CHECK(try_login(world, "nobody@example.com", wrong_password) == "unauthorized");
        CHECK(try_login(world, "nobody@example.com", wrong_password) == "unauthorized");
        world.clock.advance(hours(25));
        must(world.access.logins.sweep());
        CHECK(world.count("login_failures") == 0);
    });
}

TEST_CASE("an address that tries many accounts is locked, others are not") {
    for_each_world([](World& world) {
        for (int i = 0; i < 50; ++i)
            CHECK(try_login(world, "user" + std::to_string(i) + "@example.com", wrong_password, "203.0.113.5") ==
                  "unauthorized");
        CHECK(try_login(world, "admin@localhost", good_password, "203.0.113.5") == "busy");
        CHECK(try_login(world, "admin@localhost", good_password, "203.0.113.6") == "ok");
        CHECK(time_locked(world, "admin@localhost", "203.0.113.5") <= minutes(5));
    });
}

TEST_CASE("a clock that goes back locks nobody out for longer than the maximum") {
    for (const Duration back : {Duration(seconds(30)), Duration(hours(1)), Duration(hours(24 * 400))}) {
        for_each_world([&](World& world) {
            lock_out(world, "admin@localhost");
            world.clock.jump(-back);
            CHECK(time_locked(world, "admin@localhost") <= longest);
        });
    }
}
