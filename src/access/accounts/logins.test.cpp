// Cookie sessions: how they begin, what they show, and all the ways they end.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

Login log_in(World& world, const std::string& email = "admin@localhost") {
    return must(world.access.logins.login(World::guest(), email, good_password, "Firefox"));
}

std::string use_login(World& world, const std::string& token) {
    return outcome(world.access.logins.authenticate(token, "192.0.2.3", "req"));
}

Time last_seen(World& world, const Caller& caller) {
    const auto rows =
        must(world.database.query("SELECT last_seen_at FROM login_sessions WHERE id = ?", caller.login_session));
    return rows.front().time(0);
}

} // namespace

TEST_CASE("a session carries the person, their roles and a token against forged requests") {
    for_each_world([](World& world) {
        const SpaceId other = world.add_space("other");
        world.join(world.space, "ada@example.com", Role::member);
        const Invite invite = must(world.access.invites.create(world.admin, other, "ada@example.com", Role::viewer));
        must(world.access.invites.accept(World::guest(), World::token_of(invite), {}, good_password, "t"));
        const Login login = log_in(world, "ada@example.com");
        const Caller caller = must(world.access.logins.authenticate(login.token, "192.0.2.3", "req-9"));
        CHECK(caller.kind == CallerKind::user);
        CHECK(caller.name == "ada@example.com");
        CHECK(caller.roles == std::map<SpaceId, HeldRole>{{world.space, Role::member}, {other, Role::viewer}});
        CHECK(caller.permissions_in(other) == permissions_of(Role::viewer));
        CHECK(caller.permissions_of_installation().empty());
        CHECK(caller.peer == "192.0.2.3");
        CHECK(caller.request_id == "req-9");
        CHECK(caller.csrf_token.size() == 43);
        CHECK(caller.csrf_token != log_in(world, "ada@example.com").caller.csrf_token);
        CHECK(must(world.access.users.find(caller.user)).last_login_at == world.clock.now());
    });
}

TEST_CASE("unknown and malformed tokens are refused") {
    for_each_world([](World& world) {
        const std::string token = log_in(world).token;
        std::string flipped = token;
        flipped[0] = flipped[0] == 'A' ? 'B' : 'A';
        for (const std::string& bad :
             {std::string(), flipped, token + "A", token.substr(1), std::string(43, '\0'), std::string(1 << 20, 'x')})
            CHECK(use_login(world, bad) == "unauthorized");
        CHECK(use_login(world, token) == "ok");
    });
}

TEST_CASE("a session ends when it expires, and a clock set back does not revive it") {
    for_each_world([](World& world) {
        const Duration lifetime = world.access.logins.session_lifetime();
        const Login login = log_in(world);
        world.clock.advance(lifetime - seconds(1));
        CHECK(use_login(world, login.token) == "ok");
        world.clock.advance(seconds(1));
        CHECK(use_login(world, login.token) == "unauthorized");
        world.clock.jump(-minutes(10));
        CHECK(use_login(world, login.token) == "unauthorized");

        // Made while the clock was a year ahead: would otherwise be good for a year and more.
        world.clock.jump(hours(24 * 365));
        const Login ahead = log_in(world);
        world.clock.jump(-hours(24 * 365));
        CHECK(use_login(world, ahead.token) == "unauthorized");
        world.clock.jump(hours(24 * 365));
        CHECK(use_login(world, ahead.token) == "unauthorized");

        // A small correction of the clock ends nothing.
        const Login fresh = log_in(world);
        world.clock.jump(-minutes(2));
        CHECK(use_login(world, fresh.token) == "ok");
    });
}

TEST_CASE("logging out ends this session only") {
    for_each_world([](World& world) {
        const Login first = log_in(world), second = log_in(world);
        must(world.access.logins.logout(first.caller));
        CHECK(use_login(world, first.token) == "unauthorized");
        CHECK(use_login(world, second.token) == "ok");
        CHECK(outcome(world.access.logins.logout(World::guest())) == "unauthorized");
    });
}

TEST_CASE("people see and end their own sessions, not those of others") {
    for_each_world([](World& world) {
        world.join(world.space, "ada@example.com", Role::owner);
        const Login ada = log_in(world, "ada@example.com"), admin = log_in(world);
        const auto sessions = must(world.access.logins.sessions(ada.caller));
        REQUIRE(sessions.size() == 2); // the one that accepted the invite
        int current = 0;
        for (const auto& session : sessions) current += session.current ? 1 : 0;
        CHECK(current == 1);
        CHECK(outcome(world.access.logins.end_session(ada.caller, admin.caller.login_session)) == "not_found");
        CHECK(use_login(world, admin.token) == "ok");
        must(world.access.logins.end_session(ada.caller, ada.caller.login_session));
        CHECK(use_login(world, ada.token) == "unauthorized");
        CHECK(outcome(world.access.logins.sessions(World::guest())) == "unauthorized");
    });
}

TEST_CASE("a stolen session cannot guess the current password at leisure") {
    for_each_world([](World& world) {
        const Login login = log_in(world);
        std::string last;
        for (int i = 0; i < 20 && last != "busy"; ++i)
            last =
                outcome(world.access.logins.change_password(login.caller, "wrong password", "another good password"));
        CHECK(last == "busy");
    });
}

TEST_CASE("changing the password needs the current one and ends the other sessions") {
    for_each_world([](World& world) {
        auto& logins = world.access.logins;
        const Login mine = log_in(world), other = log_in(world);
        CHECK(outcome(logins.change_password(mine.caller, "wrong password", "another good password")) == "forbidden");
        CHECK(outcome(logins.change_password(mine.caller, good_password, "short")) == "invalid");
        CHECK(outcome(logins.change_password(mine.caller, good_password, good_password)) == "invalid");
        CHECK(use_login(world, other.token) == "ok");
        must(logins.change_password(mine.caller, good_password, "another good password"));
        CHECK(use_login(world, mine.token) == "ok");
        CHECK(use_login(world, other.token) == "unauthorized");
        CHECK(outcome(world.access.logins.login(World::guest(), "admin@localhost", good_password, "")) ==
              "unauthorized");
        CHECK(outcome(world.access.logins.login(World::guest(), "admin@localhost", "another good password", "")) ==
              "ok");
    });
}

TEST_CASE("a disabled user loses access immediately and regains it only by logging in again") {
    for_each_world([](World& world) {
        const Caller ada = world.join(world.space, "ada@example.com", Role::owner);
        const Login login = log_in(world, "ada@example.com");
        must(world.access.users.update(world.admin, ada.user, {.disabled = true}));
        CHECK(use_login(world, login.token) == "unauthorized");
        CHECK(outcome(world.access.logins.login(World::guest(), "ada@example.com", good_password, "")) ==
              "unauthorized");
        must(world.access.users.update(world.admin, ada.user, {.disabled = false}));
        CHECK(use_login(world, login.token) == "unauthorized");
        CHECK(use_login(world, log_in(world, "ada@example.com").token) == "ok");
    });
}

TEST_CASE("when a session was last seen is written at most once a minute, whatever the clock does") {
    for_each_world([](World& world) {
        const Login login = log_in(world);
        const Time start = world.clock.now();
        world.clock.advance(seconds(60));
        CHECK(use_login(world, login.token) == "ok");
        CHECK(last_seen(world, login.caller) == start);
        world.clock.advance(seconds(1));
        CHECK(use_login(world, login.token) == "ok");
        CHECK(last_seen(world, login.caller) == start + seconds(61));
        world.clock.jump(-seconds(50));
        CHECK(use_login(world, login.token) == "ok");
        CHECK(last_seen(world, login.caller) == world.clock.now());
    });
}

TEST_CASE("the sweep deletes what is over and nothing else") {
    for_each_world([](World& world) {
        must(world.access.logins.logout(world.admin));
        const Login old = log_in(world);
        world.clock.advance(hours(24));
        const Login young = log_in(world);
        CHECK(must(world.access.logins.sweep()) == 0);
        world.clock.advance(world.access.logins.session_lifetime() - hours(24));
        CHECK(must(world.access.logins.sweep()) == 1);
        CHECK(world.count("login_sessions") == 1);
        CHECK(use_login(world, young.token) == "ok");
    });
}

TEST_CASE("a password hashed at another cost is hashed again at the next login") {
    for_each_world([](World& world) {
        const std::string costly = must(crypto::hash_password(good_password, crypto::PasswordCost::interactive));
        must(world.database.execute("UPDATE users SET password_hash = ?", costly));
        log_in(world);
        const auto rows = must(world.database.query("SELECT password_hash FROM users"));
        CHECK(rows.front().text(0) != costly);
        CHECK(crypto::verify_password(rows.front().text(0), good_password));
    });
}

TEST_CASE("an address that all users share is found") {
    for_each_world([](World& world) {
        const auto shared = [&] { return must(shared_peer(world.database)); };
        must(world.database.execute("DELETE FROM known_peers"));
        CHECK_FALSE(shared());
        must(world.access.logins.open_session(World::guest("10.0.0.7"), world.admin.user, ""));
        CHECK_FALSE(shared()); // one user is everywhere at one address
        const Caller other = world.join(world.space, "other@example.com", Role::member);
        must(world.database.execute("DELETE FROM known_peers WHERE user_id = ?", other.user));
        must(world.access.logins.open_session(World::guest("10.0.0.7"), other.user, ""));
        REQUIRE(shared());
        CHECK(shared()->peer == "10.0.0.7");
        CHECK(shared()->users == 2);
        must(world.access.logins.open_session(World::guest("192.0.2.1"), other.user, ""));
        CHECK_FALSE(shared());
    });
}
