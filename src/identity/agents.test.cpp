// Codes and refresh tokens of outside agents on both engines: each works once, also for two requests at the same time.
#include "identity/guest_limits.h"
#include "identity/testing.h"

namespace hone::identity {

namespace {

using std::chrono::hours, std::chrono::milliseconds, std::chrono::minutes;
using testing::must, testing::outcome, testing::World;

const std::string agent_verifier(43, 'v');
const std::string agent_address = "http://127.0.0.1/callback";

// An agent that is registered, and the person who lets it in.
struct AgentWorld {
    explicit AgentWorld(World& given)
        : world((clean(given), given)),
          agents(given.database, given.clock, given.access, "https://hone.example.com") {
        client = add();
    }
    std::string add(const std::string& peer = "192.0.2.1") {
        const json::Object metadata{{"redirect_uris", json::Array{agent_address}}, {"client_name", "Agent"}};
        const OAuthResponse made = must(agents.register_client(World::guest(peer), metadata));
        REQUIRE(made.status == 201);
        return std::string(made.body.at("client_id").as_string());
    }
    bool has(const std::string& id) { return world.count("agent_clients WHERE id = '" + id + "'") == 1; }
    // Unused clients of as many addresses of one IPv6 /48, the first ones a minute ago.
    void fill(int64_t count) {
        must(world.database.execute(
            "INSERT INTO agent_clients (id, name, redirect_uris, peer, created_at) WITH RECURSIVE numbers(n) AS "
            "(SELECT CAST(? AS BIGINT) UNION ALL SELECT n - 1 FROM numbers WHERE n > 1) SELECT 'filled ' || "
            "CAST(n AS TEXT), '', '[]', '20010db80001' || CAST(n AS TEXT) || '/64', CAST(? AS BIGINT) + n FROM numbers",
            count, world.clock.now() - minutes(1)));
    }
    static void clean(World& world) {
        for (const char* table : {"agent_refresh_tokens", "agent_codes", "agent_grants", "agent_clients"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
    }
    AuthorizationRequest request_of(const std::string& id) const {
        crypto::Sha256 hasher;
        hasher.add(agent_verifier);
        AuthorizationRequest request;
        request.client_id = id;
        request.redirect_uri = agent_address;
        request.response_type = "code";
        request.code_challenge = to_base64url(hasher.finish());
        request.code_challenge_method = "S256";
        return request;
    }
    std::string code() {
        const std::string back = must(agents.decide(world.admin, "default", request_of(client), true));
        return back.substr(back.find("&code=") + 6);
    }
    OAuthResponse send(FormFields form) {
        form.emplace("client_id", client);
        // For threads: no assertion here.
        auto response = agents.token(World::guest(), form);
        return response.ok() ? std::move(response).value() : OAuthResponse{500, {{"error", response.error().message}}};
    }
    OAuthResponse exchange(const std::string& sent_code) {
        return send({{"grant_type", "authorization_code"},
                     {"code", sent_code},
                     {"redirect_uri", agent_address},
                     {"code_verifier", agent_verifier}});
    }
    OAuthResponse refresh(const std::string& token) {
        return send({{"grant_type", "refresh_token"}, {"refresh_token", token}});
    }
    std::string reads_with(const OAuthResponse& tokens) {
        return outcome(agents.authenticate(text(tokens, "access_token"), "192.0.2.3", "req-3"));
    }
    static std::string text(const OAuthResponse& response, std::string_view name) {
        const json::Value* value = response.body.if_contains(name);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
    }
    // "200", or the error.
    static std::string result_of(const OAuthResponse& response) {
        return response.status == 200 ? "200" : text(response, "error");
    }

    World& world;
    Agents agents;
    std::string client;
};

template <class Test>
void for_each_agent_world(Test test) {
    access::testing::for_each_world([&](World& world) {
        AgentWorld made(world);
        test(made);
    });
}

// Sends the same request on two threads: one gets tokens, the other is refused and ends the grant of both.
template <class Send>
void check_race(AgentWorld& world, Send send) {
    OAuthResponse responses[2];
    const auto outcomes = testing::twice_in_parallel([&](size_t i) {
        responses[i] = send();
        return AgentWorld::result_of(responses[i]);
    });
    CHECK(outcomes == std::vector<std::string>{"200", "invalid_grant"});
    const OAuthResponse& won = responses[responses[0].status == 200 ? 0 : 1];
    CHECK(world.reads_with(won) == "unauthorized");
    CHECK(AgentWorld::result_of(world.refresh(AgentWorld::text(won, "refresh_token"))) == "invalid_grant");
    CHECK(world.world.count("agent_grants") == 0);
}

} // namespace

TEST_CASE("a code that two requests send at the same time gives tokens once, and then ends the grant") {
    for_each_agent_world([](AgentWorld& world) {
        for (int round = 0; round < 10; ++round) {
            const std::string code = world.code();
            check_race(world, [&] { return world.exchange(code); });
        }
        CHECK(world.world.count("audit_entries WHERE action = 'agent_grant_end'") == 10);
    });
}

TEST_CASE("a refresh token that two requests send at the same time gives tokens once, and then ends the grant") {
    for_each_agent_world([](AgentWorld& world) {
        for (int round = 0; round < 10; ++round) {
            const OAuthResponse first = world.exchange(world.code());
            REQUIRE(AgentWorld::result_of(first) == "200");
            CHECK(world.reads_with(first) == "ok");
            const std::string token = AgentWorld::text(first, "refresh_token");
            check_race(world, [&] { return world.refresh(token); });
            CHECK(world.reads_with(first) == "unauthorized");
        }
        CHECK(world.world.count("audit_entries WHERE action = 'agent_grant_end'") == 10);
    });
}

TEST_CASE("a code is valid for a minute, a token for an hour, a refresh token for 30 days") {
    for_each_agent_world([](AgentWorld& world) {
        FakeClock& clock = world.world.clock;
        const std::string late = world.code();
        clock.advance(std::chrono::seconds(61));
        CHECK(AgentWorld::result_of(world.exchange(late)) == "invalid_grant");
        const std::string code = world.code();
        clock.advance(std::chrono::seconds(59));
        const OAuthResponse first = world.exchange(code);
        REQUIRE(AgentWorld::result_of(first) == "200");
        clock.advance(std::chrono::minutes(59));
        CHECK(world.reads_with(first) == "ok");
        clock.advance(std::chrono::minutes(2));
        CHECK(world.reads_with(first) == "unauthorized");
        const OAuthResponse second = world.refresh(AgentWorld::text(first, "refresh_token"));
        REQUIRE(AgentWorld::result_of(second) == "200");
        CHECK(world.reads_with(second) == "ok");
        clock.advance(std::chrono::hours(24 * 30) + std::chrono::seconds(1));
        CHECK(AgentWorld::result_of(world.refresh(AgentWorld::text(second, "refresh_token"))) == "invalid_grant");
    });
}

TEST_CASE("a flood of registrations from one address deletes its own oldest ones that no person let in") {
    for_each_agent_world([](AgentWorld& world) {
        const std::string used = world.add("2001:db8:1:2::1");
        must(world.agents.decide(world.world.admin, "default", world.request_of(used), true));
        std::vector<std::string> flood;
        for (int i = 0; i < most_unused_clients_of_peer + 50; ++i) {
            world.world.clock.advance(milliseconds(1));
            // Of an IPv6 network of a customer any address.
            flood.push_back(world.add("2001:db8:1:2::" + std::to_string(i)));
        }
        CHECK(world.world.count("agent_clients") == most_unused_clients_of_peer + 2);
        CHECK(world.has(used));
        CHECK(world.has(world.client)); // of another address
        CHECK(!world.has(flood.at(49)));
        CHECK(world.has(flood.at(50)));
        const auto decide = [&](const std::string& id) {
            return outcome(world.agents.decide(world.world.admin, "default", world.request_of(id), true));
        };
        CHECK(decide(flood.front()) == "not_found");
        CHECK(decide(flood.back()) == "ok");
        CHECK(decide(world.client) == "ok");
        // What a person let in does not count: the next one deletes none.
        world.add("2001:db8:1:2::1");
        CHECK(world.has(flood.at(50)));
        // The audit log has grants, with what was registered, and no registrations.
        const auto entries = must(world.world.access.audit.list(world.world.admin, world.world.space,
                                                                {{}, "agent_grant_create"}, {10, {}}))
                                 .data;
        REQUIRE(entries.size() == 3);
        CHECK(entries.front().details.at("redirect_uris") == json::Value(json::Array{agent_address}));
        CHECK(entries.front().details.at("registered_by") == "192.0.2.1");
        CHECK(world.world.count("audit_entries WHERE action LIKE 'agent_client%'") == 0);
    });
}

TEST_CASE("at the limit of the server the oldest unused agent of the largest network is deleted") {
    for_each_agent_world([](AgentWorld& world) {
        const std::string early = world.add("192.0.2.7");
        const std::string used = world.add("2001:db8:1:1::1");
        must(world.agents.decide(world.world.admin, "default", world.request_of(used), true));
        world.world.clock.advance(minutes(5));
        world.fill(most_unused_clients - 2);
        const std::string unused = "agent_clients WHERE granted_at IS NULL";
        CHECK(world.world.count(unused) == most_unused_clients);
        const std::string late = world.add("2001:db8:2:2::1");
        for (int i = 0; i < 20; ++i) world.add("2001:db8:1:" + std::to_string(1000 + i) + "::1");
        CHECK(world.world.count(unused) == most_unused_clients);
        CHECK(!world.has("filled 21"));
        CHECK(world.has("filled 22"));
        for (const std::string& kept : {world.client, early, used, late}) CHECK(world.has(kept));
    });
}

TEST_CASE("codes, tokens, grants and agents that have expired are deleted, others stay") {
    for_each_agent_world([](AgentWorld& world) {
        FakeClock& clock = world.world.clock;
        world.code(); // never exchanged
        const OAuthResponse kept = world.exchange(world.code());
        REQUIRE(AgentWorld::result_of(kept) == "200");
        clock.advance(std::chrono::minutes(2));
        must(world.agents.sweep());
        CHECK(world.world.count("agent_codes") == 0);
        CHECK(world.world.count("agent_grants") == 1);
        CHECK(world.world.count("agent_refresh_tokens") == 1);
        CHECK(world.reads_with(kept) == "ok");
        world.add();
        clock.advance(hours(25));
        must(world.agents.sweep());
        CHECK(world.world.count("agent_clients") == 1); // the one with a grant
        clock.advance(std::chrono::hours(24 * 30));
        must(world.agents.sweep());
        for (const char* table : {"agent_refresh_tokens", "agent_grants", "agent_clients"})
            CHECK(world.world.count(table) == 0);
        CHECK(world.world.count("api_keys") == 0);
    });
}

} // namespace hone::identity
