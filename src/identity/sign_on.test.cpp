// Sign-ins on both engines, through a provider that follows the clock of the test: times, races, limits, links and
// groups. The attacks on the protocol itself are in tests/e2e/sign_on_attacks.py.
#include "identity/testing.h"

namespace hone::identity {

namespace {

using std::chrono::minutes, std::chrono::seconds, std::chrono::milliseconds;
using testing::for_each_sign_on_world, testing::must, testing::outcome, testing::SignOnWorld,
    testing::twice_in_parallel, testing::World;

using Outcomes = std::vector<std::string>;

access::UserId user_of(const Result<SignOnDone>& done) {
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    REQUIRE(done.value().login.has_value());
    return done.value().login->caller.user;
}

// Sign-ins that began at as many addresses of one IPv6 /48, the first ones a minute ago.
void fill_with_sign_ons(SignOnWorld& people, int64_t count) {
    must(people.world.database.execute(
        "INSERT INTO sign_ons (state_hash, browser_hash, provider, nonce, verifier, return_to, link_user_id, "
        "expires_at, "
        "peer) WITH RECURSIVE numbers(n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n - 1 FROM numbers WHERE n > 1) "
        "SELECT 'filled ' || CAST(n AS TEXT), '', 'company', '', '', '/', '', CAST(? AS BIGINT) + n, '20010db80001' || "
        "CAST(n AS TEXT) || '/64' FROM numbers",
        count, people.world.clock.now() + sign_on_time - minutes(1)));
}

} // namespace

TEST_CASE("a sign-in can be finished for ten minutes, once") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto in_time = people.begin();
        people.world.clock.advance(minutes(9) + seconds(59));
        CHECK(outcome(people.finish(in_time)) == "ok");
        CHECK(outcome(people.finish(in_time)) == "forbidden");
        const auto late = people.begin();
        people.world.clock.advance(minutes(10) + seconds(1));
        CHECK(outcome(people.finish(late)) == "forbidden");
        CHECK(people.world.count("sign_ons") == 1);
        must(people.sign_on().sweep());
        CHECK(people.world.count("sign_ons") == 0);
    });
}

TEST_CASE("of two callbacks of one sign-in at the same time exactly one logs in") {
    for_each_sign_on_world([](SignOnWorld& people) {
        for (int round = 0; round < 10; ++round) {
            const int64_t logins = people.world.count("login_sessions");
            const auto returned = people.begin();
            const Outcomes outcomes = twice_in_parallel([&](size_t) { return outcome(people.finish(returned)); });
            CHECK(outcomes == Outcomes{"forbidden", "ok"});
            CHECK(people.world.count("login_sessions") == logins + 1);
        }
    });
}

TEST_CASE("two first sign-ins of one person at the same time make one account, and both log in") {
    for_each_sign_on_world([](SignOnWorld& people) {
        for (int round = 0; round < 10; ++round) {
            const std::string name = "person" + std::to_string(round);
            const testing::DirectoryEntry person{name, name + "@example.com", {}};
            const SignOnWorld::Returned returned[] = {people.begin(person), people.begin(person)};
            people.provider.gather(2); // both have no account when they exchange their codes
            CHECK(twice_in_parallel([&](size_t i) { return outcome(people.finish(returned[i])); }) ==
                  Outcomes{"ok", "ok"});
            CHECK(people.world.count("users WHERE email = '" + person.email + "'") == 1);
            CHECK(people.world.count("identities WHERE subject = '" + name + "'") == 1);
        }
        CHECK(people.world.count("audit_entries WHERE action = 'user_create'") == 10);
    });
}

TEST_CASE("a flood of sign-ins from one address deletes its own oldest ones, and no other address is refused") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto other = people.begin();
        std::vector<SignOnWorld::Returned> flood;
        for (int i = 0; i < most_begun_of_peer + 50; ++i) {
            people.world.clock.advance(milliseconds(1));
            // Of an IPv6 network of a customer any address.
            flood.push_back(people.begin({}, "2001:db8:1:2::" + std::to_string(i)));
        }
        CHECK(people.world.count("sign_ons") == most_begun_of_peer + 1);
        CHECK(outcome(people.finish(flood.front())) == "forbidden");
        CHECK(outcome(people.finish(flood.at(49))) == "forbidden");
        CHECK(outcome(people.finish(flood.at(50))) == "ok");
        CHECK(outcome(people.finish(flood.back())) == "ok");
        CHECK(outcome(people.finish(other)) == "ok");
    });
}

TEST_CASE("at the limit of the server the oldest sign-in of the largest network is deleted") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto early = people.begin({}, "192.0.2.7");
        people.world.clock.advance(minutes(1));
        fill_with_sign_ons(people, most_begun - 1);
        CHECK(people.world.count("sign_ons") == most_begun);
        const auto late = people.begin({}, "2001:db8:2:2::1");
        for (int i = 0; i < 20; ++i) people.begin({}, "2001:db8:1:" + std::to_string(1000 + i) + "::1");
        CHECK(people.world.count("sign_ons") == most_begun);
        CHECK(people.world.count("sign_ons WHERE state_hash = 'filled 21'") == 0);
        CHECK(people.world.count("sign_ons WHERE state_hash = 'filled 22'") == 1);
        CHECK(outcome(people.finish(early)) == "ok");
        CHECK(outcome(people.finish(late)) == "ok");
    });
}

TEST_CASE("a logout token works once, as long as it could be accepted") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto send = [&](const std::string& token) {
            return outcome(people.sign_on().end_logins(World::guest(), "company", token));
        };
        const auto logins = [&] { return people.world.count("login_sessions WHERE provider = 'company'"); };
        must(people.sign_in());
        const std::string token = people.provider.logout_token("1234", "id-1");
        CHECK(send(token) == "ok");
        CHECK(logins() == 0);
        must(people.sign_in());
        CHECK(send(token) == "unauthorized");
        CHECK(logins() == 1);
        CHECK(send(people.provider.logout_token("nowhere", "id-2")) == "ok");
        CHECK(send(people.provider.logout_token("1234", "id-2")) == "unauthorized"); // the id counts
        CHECK(send(people.provider.logout_token("1234", "id-3")) == "ok");
        CHECK(logins() == 0);
        people.world.clock.advance(longest_use);
        must(people.sign_on().sweep());
        CHECK(people.world.count("used_logout_tokens") == 0);
        CHECK(send(token) == "unauthorized"); // too old
    });
}

TEST_CASE("a logout token ends all logins of a person at the provider, however many there are, and no others") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const access::UserId user = user_of(people.sign_in());
        must(people.world.access.logins.open_session(World::guest(), user, "with a password"));
        must(people.sign_in({"5678", "bob@example.com", {}}));
        must(people.world.database.execute(
            "INSERT INTO login_sessions (id, user_id, token_hash, csrf_token, peer, user_agent, created_at, "
            "last_seen_at, expires_at, provider) WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM "
            "numbers WHERE n < 2500) SELECT 'filled ' || CAST(n AS TEXT), user_id, token_hash || CAST(n AS TEXT), "
            "csrf_token, peer, user_agent, created_at, last_seen_at, expires_at, provider FROM numbers, login_sessions "
            "WHERE user_id = ? AND provider = 'company'",
            user));
        const std::string its = "login_sessions WHERE user_id = '" + user.text() + "' AND provider = ";
        CHECK(people.world.count(its + "'company'") == 2501);
        CHECK(outcome(people.sign_on().end_logins(World::guest(), "company",
                                                  people.provider.logout_token("1234", "id-1"))) == "ok");
        CHECK(people.world.count(its + "'company'") == 0);
        CHECK(people.world.count(its + "''") == 1);
        CHECK(people.world.count("login_sessions WHERE provider = 'company'") == 1);
        CHECK(people.world.count("audit_entries WHERE action = 'login_sessions_end'") == 1);
    });
}

TEST_CASE("a user links and unlinks an identity, and an account without a password keeps its last one") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto ada = people.world.join(people.world.space, "ada@example.com", access::Role::viewer);
        const testing::DirectoryEntry at_work{"1", "ada@example.com", {}};
        CHECK(outcome(people.sign_in(at_work)) == "conflict"); // the address alone is not enough
        const auto start = must(people.sign_on().start_link(ada, "company"));
        CHECK_FALSE(must(people.finish(people.at_provider(start, at_work))).login.has_value());
        CHECK(must(people.sign_on().identities(ada)).size() == 1);
        CHECK(user_of(people.sign_in(at_work)) == ada.user);
        // The identity of another account is not taken from it.
        const auto bob = people.world.join(people.world.space, "bob@example.com", access::Role::viewer);
        const auto taking = must(people.sign_on().start_link(bob, "company"));
        CHECK(outcome(people.finish(people.at_provider(taking, at_work))) == "conflict");
        CHECK(outcome(people.sign_on().unlink(bob, people.provider.issuer(), "1")) == "not_found");
        must(people.sign_on().unlink(ada, people.provider.issuer(), "1"));
        CHECK(outcome(people.sign_in(at_work)) == "conflict");
        const testing::DirectoryEntry other{"2", "eve@example.com", {}};
        const auto eve = must(people.sign_in(other)).login->caller;
        CHECK(outcome(people.sign_on().unlink(eve, people.provider.issuer(), "2")) == "conflict");
        CHECK(user_of(people.sign_in(other)) == eve.user);
    });
}

TEST_CASE("roles follow the groups of each sign-in, and those that people gave stay") {
    for_each_sign_on_world([](SignOnWorld& people) {
        const auto other = people.world.add_space("other");
        const auto admin = people.world.again(people.world.admin);
        ProviderChange change;
        change.mappings = std::vector<GroupMapping>{{"engineers", "default", access::Role::member},
                                                    {"leads", "default", access::Role::admin},
                                                    {"engineers", "other", access::Role::viewer}};
        must(people.identities->providers.update(admin, "company", change));
        const auto roles_with = [&](const std::vector<std::string>& groups) {
            const access::Caller person = must(people.sign_in({"1", "ada@example.com", groups})).login->caller;
            std::string text;
            for (const auto& [space, held] : must(people.world.access.users.roles_of(person.user)))
                text += std::string(space == other ? "other " : "default ") + std::string(name_of(held.role)) + ";";
            return text;
        };
        CHECK(outcome(people.sign_in({"1", "ada@example.com", {"nothing"}})) == "forbidden");
        CHECK(people.world.count("users") == 1);
        const std::string both = roles_with({"engineers", "leads"});
        CHECK(both.find("default admin;") != both.npos);
        CHECK(both.find("other viewer;") != both.npos);
        CHECK(roles_with({"leads"}) == "default admin;");
        CHECK(outcome(people.sign_in({"1", "ada@example.com", {}})) == "forbidden");
        CHECK(people.world.count("group_members") == 0);
        CHECK(people.world.count("members") == 2); // of the owner
        const auto ada = must(people.world.access.users.find_by_email("ada@example.com"))->id;
        must(people.world.database.write([&](sql::Transaction& transaction) {
            return people.world.access.spaces.change_member(transaction, admin, other, ada, access::Role::member);
        }));
        const std::string kept = roles_with({"engineers"});
        CHECK(kept.find("other member;") != kept.npos);
        CHECK(roles_with({"leads"}).find("other member;") != std::string::npos);
    });
}

} // namespace hone::identity
