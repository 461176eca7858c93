// Wrong passwords: responses do not reveal which accounts exist, guessing is slow, and the user always gets in.
#include "access/testing.h"

#include <atomic>
#include <thread>

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

TEST_CASE("an unknown, a disabled and a known account give the same response to a wrong password") {
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

TEST_CASE("too many wrong passwords lock the account for the address, each time for longer, up to a maximum") {
    for_each_world([](World& world) {
        const std::string email = "admin@localhost", attacker = "198.51.100.7";
        for (int i = 0; i < 5; ++i) CHECK(try_login(world, email, wrong_password, attacker) == "unauthorized");
        CHECK(try_login(world, email, good_password, attacker) == "busy");
        CHECK(try_login(world, email, good_password, "192.0.2.77") == "ok"); // not elsewhere
        world.clock.advance(minutes(5) - seconds(1));
        CHECK(try_login(world, email, good_password, attacker) == "busy");
        world.clock.advance(seconds(1));
        Duration before = minutes(5);
        for (int i = 0; i < 7; ++i) { // wrong again right after each lock
            CHECK(try_login(world, email, wrong_password, attacker) == "unauthorized");
            const Duration locked = must(world.access.logins.locked_for(World::guest(attacker), email));
            CHECK(locked <= longest);
            CHECK(locked >= before);
            CHECK((locked > before || locked == longest));
            before = locked;
            world.clock.advance(locked);
        }
        CHECK(before == longest);
        CHECK(try_login(world, email, good_password, attacker) == "ok");
        for (int i = 0; i < 4; ++i) CHECK(try_login(world, email, wrong_password, attacker) == "unauthorized");
        CHECK(try_login(world, email, good_password, attacker) == "ok"); // a success resets the count
    });
}

TEST_CASE("an attacker at other addresses never locks the user out where the user logs in from") {
    for_each_world([](World& world) {
        // The victim logged in from 192.0.2.1 (World does that). The attacker has many addresses and days.
        int64_t guesses = 0;
        for (int day = 0; day < 3; ++day) {
            for (int host = 0; host < 120; ++host)
                for (int i = 0; i < 6; ++i)
                    guesses += try_login(world, "admin@localhost", wrong_password,
                                         "198.51.100." + std::to_string(host)) == "unauthorized";
            CHECK(try_login(world, "admin@localhost", good_password, "192.0.2.1") == "ok");
            CHECK(try_login(world, "admin@localhost", good_password, "203.0.113.9") == "busy"); // a new address waits
            world.clock.advance(hours(8));
        }
        // What the attacker gained: a few dozen guesses, not 2160.
        CHECK(guesses <= 60);
        CHECK(guesses >= 50);
    });
}

TEST_CASE("the lock at the address of the user is short, and it does not grow") {
    for_each_world([](World& world) {
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < 5; ++i) try_login(world, "admin@localhost", wrong_password);
            CHECK(try_login(world, "admin@localhost", good_password) == "busy");
            world.clock.advance(minutes(5));
        }
        CHECK(try_login(world, "admin@localhost", good_password) == "ok");
    });
}

TEST_CASE("a network of IPv6 addresses counts as one address") {
    CHECK(peer_group("2001:db8:1:2:3:4:5:6") == peer_group("2001:db8:1:2:ffff::1"));
    CHECK(peer_group("2001:db8:1:2::1") != peer_group("2001:db8:1:3::1"));
    CHECK(peer_group("::ffff:192.0.2.1") == "192.0.2.1");
    CHECK(peer_group("192.0.2.1") == "192.0.2.1");
    CHECK(peer_group("") == "");
    for_each_world([](World& world) {
        int64_t guesses = 0;
        for (int i = 0; i < 30; ++i)
            guesses += try_login(world, "admin@localhost", wrong_password, "2001:db8::" + std::to_string(i + 1)) ==
                       "unauthorized";
        CHECK(guesses == 5);
    });
}

TEST_CASE("parallel guesses do not exceed the limit") {
    for_each_world([](World& world) {
        std::atomic<int> guesses = 0, refused = 0;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 16; ++i)
                threads.emplace_back([&] {
                    const auto result = world.access.logins.login(World::guest("198.51.100.7"), "admin@localhost",
                                                                  wrong_password, "test");
                    if (result.ok()) return;
                    if (result.error().code == Code::unauthorized) ++guesses;
                    if (result.error().code == Code::busy) ++refused;
                });
        }
        CHECK(guesses == 5);
        CHECK(refused == 11);
    });
}

TEST_CASE("the right password of one account does not unlock the address for guesses at others") {
    for_each_world([](World& world) {
        world.join(world.space, "mallory@example.com", Role::viewer);
        const std::string peer = "198.51.100.7";
        for (int i = 0; i < 49; ++i)
            CHECK(try_login(world, "user" + std::to_string(i) + "@example.com", wrong_password, peer) ==
                  "unauthorized");
        CHECK(try_login(world, "mallory@example.com", good_password, peer) == "ok");
        CHECK(try_login(world, "user49@example.com", wrong_password, peer) == "unauthorized");
        CHECK(try_login(world, "mallory@example.com", good_password, peer) ==
              "ok"); // known for mallory, not for others
        CHECK(try_login(world, "user50@example.com", wrong_password, peer) == "busy");
    });
}

TEST_CASE("failures are forgotten after a day, and the sweep removes them") {
    for_each_world([](World& world) {
        for (int i = 0; i < 4; ++i) try_login(world, "nobody@example.com", wrong_password);
        CHECK(world.count("login_failures") == 3); // account, address, account at the address
        must(world.access.logins.sweep());
        CHECK(world.count("login_failures") == 3);
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

TEST_CASE("a clock that is set back locks no account for longer than the maximum") {
    for (const Duration back : {Duration(seconds(30)), Duration(hours(1)), Duration(hours(24 * 400))}) {
        for_each_world([&](World& world) {
            lock_out(world, "admin@localhost");
            world.clock.jump(-back);
            CHECK(time_locked(world, "admin@localhost") <= longest);
        });
    }
}
