#include "identity/identity.h"

#include "access/testing.h"

namespace hone::identity {

namespace {

using access::testing::good_password, access::testing::must, access::testing::outcome, access::testing::World;

struct Desk {
    explicit Desk(World& given) : world(given), keys(make_keys(folder.path())) {
        for (const char* table : {"identity_providers", "sign_ons", "identity_groups", "identities", "group_members",
                                  "second_factors", "recovery_codes", "kept_secrets", "data_keys"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        vault.emplace(world.database, world.clock, world.access.audit, *keys);
        must(vault->start());
        identities.emplace(world.database, world.clock, world.access, *vault);
    }
    static std::unique_ptr<secret::MasterKeys> make_keys(const std::string& directory) {
        secret::MasterKeyOptions options;
        options.file = directory + "/master.key";
        options.create_file = true;
        return must(secret::MasterKeys::open(std::move(options)));
    }
    // The secret behind the key that a person types into the app.
    std::string enrol(const access::Caller& caller, std::vector<std::string>* codes = nullptr) {
        auto& factors = identities->second_factors;
        must(factors.begin(caller, good_password));
        std::string secret(must(vault->reveal({}, "second_factor:" + caller.user.text(), "totp", "test")).reveal());
        auto made = must(factors.confirm(caller, code_now(secret)));
        if (codes != nullptr) *codes = made.codes;
        return secret;
    }
    std::string code_now(const std::string& secret, int64_t steps = 0) {
        return one_time_code(secret, to_ns(world.clock.now()) / 30'000'000'000 + steps);
    }
    std::string login(const std::string& code) {
        return outcome(world.access.logins.login(World::guest(), "admin@localhost", good_password, "test", code));
    }

    World& world;
    sql::testing::TemporaryDirectory folder;
    std::unique_ptr<secret::MasterKeys> keys;
    std::optional<secret::Vault> vault;
    std::optional<Identities> identities;
};

template <class Test>
void for_each_desk(Test test) {
    access::testing::for_each_world([&](World& world) {
        Desk desk(world);
        test(desk);
    });
}

} // namespace

TEST_CASE("codes are those of RFC 6238") {
    const std::string secret = "12345678901234567890";
    const std::pair<int64_t, const char*> vectors[] = {{59, "287082"},         {1111111109, "081804"},
                                                       {1111111111, "050471"}, {1234567890, "005924"},
                                                       {2000000000, "279037"}, {20000000000, "353130"}};
    for (const auto& [seconds, code] : vectors) CHECK(one_time_code(secret, seconds / 30) == code);
    CHECK(to_base32(secret) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    CHECK(to_base32("") == "");
    CHECK(to_base32("f") == "MY");
    CHECK(to_base32("foobar") == "MZXW6YTBOI");
}

TEST_CASE("a code works once, in its own time step and the ones beside it") {
    for_each_desk([](Desk& desk) {
        const std::string secret = desk.enrol(desk.world.admin);
        CHECK(desk.login("") == "unauthorized");
        CHECK(desk.login(desk.code_now(secret)) == "unauthorized"); // it confirmed the enrolment
        CHECK(desk.login(desk.code_now(secret, 1)) == "ok");
        CHECK(desk.login(desk.code_now(secret, 1)) == "unauthorized");
        desk.world.clock.advance(std::chrono::minutes(5));
        CHECK(desk.login(desk.code_now(secret, 2)) == "unauthorized");
        CHECK(desk.login(desk.code_now(secret, -2)) == "unauthorized");
        CHECK(desk.login(desk.code_now(secret)) == "ok");
        CHECK(desk.login(desk.code_now(secret, -1)) == "unauthorized"); // older than the last one
    });
}

TEST_CASE("wrong codes are throttled like wrong passwords") {
    for_each_desk([](Desk& desk) {
        desk.enrol(desk.world.admin);
        std::vector<std::string> outcomes;
        for (int i = 0; i < 7; ++i) outcomes.push_back(desk.login("no code"));
        CHECK(outcomes.front() == "unauthorized");
        CHECK(outcomes.back() == "busy");
    });
}

TEST_CASE("recovery codes work once and only for their account") {
    for_each_desk([](Desk& desk) {
        std::vector<std::string> codes, others;
        desk.enrol(desk.world.admin, &codes);
        const auto ada = desk.world.join(desk.world.space, "ada@example.com", access::Role::member);
        desk.enrol(ada, &others);
        REQUIRE(codes.size() == 10);
        CHECK(desk.login(others[0]) == "unauthorized");
        CHECK(desk.login(codes[0]) == "ok");
        CHECK(desk.login(codes[0]) == "unauthorized");
        CHECK(must(desk.identities->second_factors.state(desk.world.admin)).recovery_codes == 9);
        // An owner resets a lost one; a member cannot.
        CHECK(outcome(desk.identities->second_factors.reset(ada, desk.world.admin.user)) == "forbidden");
        must(desk.identities->second_factors.reset(desk.world.admin, ada.user));
        CHECK(must(desk.identities->second_factors.has(ada.user)) == false);
        CHECK(desk.world.count("recovery_codes WHERE user_id = '" + ada.user.text() + "'") == 0);
    });
}

TEST_CASE("return addresses are paths of this server") {
    for (const char* good : {"/", "/s/default", "/s/default?q=1&x=%20", "/account#a"})
        CHECK(safe_return_path(good) == good);
    for (const char* bad : {"", "s/default", "//evil.example", "/\\evil.example", "https://evil.example", "/v1/logout",
                            "/a\nb", "/a\tb", "/caf\xc3\xa9", "javascript:alert(1)", "/mcp", "/api/v1/x"})
        CHECK(safe_return_path(bad) == "/");
    CHECK(safe_return_path("/" + std::string(3000, 'a')) == "/");
}

TEST_CASE("providers are for owners with everything, and keep their secret to themselves") {
    for_each_desk([](Desk& desk) {
        auto& providers = desk.identities->providers;
        NewProvider wanted{"company", {}, "https://id.example.com", "hone", "very secret"};
        const auto ada = desk.world.join(desk.world.space, "ada@example.com", access::Role::owner);
        CHECK(outcome(providers.create(ada, wanted)) == "forbidden");
        wanted.mappings = {{"engineers", "default", access::Role::member}};
        const Provider made = must(providers.create(desk.world.admin, wanted));
        CHECK(made.has_client_secret);
        CHECK(made.mappings.front().space == desk.world.space.text());
        CHECK(json::write(made).find("very secret") == std::string::npos);
        CHECK(must(providers.client_secret(made)) == "very secret");
        CHECK(outcome(providers.create(desk.world.admin, wanted)) == "conflict");
        CHECK(outcome(providers.update(desk.world.admin, "company", {.issuer = "https://other.example"})) == "invalid");
        must(providers.update(desk.world.admin, "company",
                              {.issuer = "https://other.example", .client_secret = std::optional<std::string>()}));
        CHECK_FALSE(must(providers.find(desk.world.admin, "company")).has_client_secret);
        must(providers.remove(desk.world.admin, "company"));
        CHECK(outcome(providers.find(desk.world.admin, "company")) == "not_found");
        CHECK(desk.world.count("kept_secrets") == 0);
    });
}

} // namespace hone::identity
