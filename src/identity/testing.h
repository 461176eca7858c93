// For tests of sign-ins: an OpenID provider on loopback that follows a script and the clock of the test, and a world in
// which people sign in through it. Not part of the product. One thread, but for the provider's own.
#pragma once

#include "access/testing.h"
#include "identity/identity.h"
#include "net/testing/raw_client.h"

#include <algorithm>
#include <openssl/evp.h>

namespace hone::identity::testing {

using access::testing::must, access::testing::outcome, access::testing::World;

// An Ed25519 key: its public half as a JWK, and signatures with it.
class SigningKey {
public:
    explicit SigningKey(std::string id) : m_id(std::move(id)), m_key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")) {
        REQUIRE(m_key.get() != nullptr);
    }
    json::Object jwk() const {
        unsigned char bytes[32];
        size_t size = sizeof bytes;
        REQUIRE(EVP_PKEY_get_raw_public_key(m_key.get(), bytes, &size) == 1);
        const std::string x = to_base64url(std::string_view(reinterpret_cast<const char*>(bytes), size));
        return {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", x}, {"kid", m_id}, {"use", "sig"}};
    }
    // A whole token. No assertion: the provider's threads call it.
    std::string sign(const json::Object& claims, const std::string& type = "JWT") const {
        const json::Object header{{"alg", "EdDSA"}, {"kid", m_id}, {"typ", type}};
        const std::string text = to_base64url(json::print(header)) + "." + to_base64url(json::print(claims));
        const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
        unsigned char bytes[64];
        size_t size = sizeof bytes;
        EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, m_key.get());
        EVP_DigestSign(context.get(), bytes, &size, reinterpret_cast<const unsigned char*>(text.data()), text.size());
        return text + "." + to_base64url(std::string_view(reinterpret_cast<const char*>(bytes), size));
    }

private:
    struct Free {
        void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    };
    std::string m_id;
    std::unique_ptr<EVP_PKEY, Free> m_key;
};

struct DirectoryEntry {
    std::string subject = "1234";
    std::string email = "ada@example.com";
    std::vector<std::string> groups{};
};

class ScriptedProvider {
public:
    explicit ScriptedProvider(const Clock& clock) : m_clock(clock), m_key(std::make_shared<SigningKey>("key-1")) {
        publish(*m_key);
        m_handler.on_handle = [this](net::Request&& request) { return respond(request); };
        m_server = net::testing::start_server(m_handler);
    }
    std::string issuer() const { return "http://" + m_server->addresses()[0]; }

    // The person signs in at the provider: what its redirect brings to the callback.
    SignOnResponse authorize(const std::string& location, const DirectoryEntry& person) {
        const std::lock_guard lock(m_mutex);
        const std::string code = "code-" + std::to_string(m_codes.size());
        Code& made = m_codes[code];
        made.person = person;
        SignOnResponse response;
        response.code = code;
        for (const auto& [name, value] : must(net::parse_query(location.substr(location.find('?') + 1)))) {
            if (name == "nonce") made.nonce = value;
            if (name == "code_challenge") made.challenge = value;
            if (name == "state") response.state = value;
        }
        return response;
    }
    std::string logout_token(const std::string& subject, const std::string& id) const {
        const json::Object events{{"http://schemas.openid.net/event/backchannel-logout", json::Object()}};
        const std::lock_guard lock(m_mutex);
        return m_key->sign({{"iss", issuer()},
                            {"aud", "hone"},
                            {"sub", subject},
                            {"iat", seconds()},
                            {"exp", seconds() + 120},
                            {"jti", id},
                            {"events", events}},
                           "logout+jwt");
    }
    // A token of the key in use.
    std::string token() const {
        const std::lock_guard lock(m_mutex);
        return m_key->sign({{"sub", "1234"}});
    }
    // Its only key from now on.
    void rotate(const std::string& id) {
        const std::lock_guard lock(m_mutex);
        m_key = std::make_shared<SigningKey>(id);
        publish(*m_key);
    }
    void set_cache_control(const std::string& header) {
        const std::lock_guard lock(m_mutex);
        m_cache_control = header;
    }
    // Requests for a code wait until so many are there.
    void gather(int requests) {
        const std::lock_guard lock(m_mutex);
        m_awaited = requests;
        m_waiting = 0;
    }
    int key_requests() const {
        const std::lock_guard lock(m_mutex);
        return m_key_requests;
    }

private:
    struct Code {
        DirectoryEntry person;
        std::string nonce;
        std::string challenge;
    };
    int64_t seconds() const { return to_ns(m_clock.now()) / 1'000'000'000; }
    void publish(const SigningKey& key) { m_published = json::print(json::Object{{"keys", json::Array{key.jwk()}}}); }

    net::Response respond(const net::Request& request) {
        std::unique_lock lock(m_mutex);
        if (request.path == "/.well-known/openid-configuration")
            return net::json_response(200, json::print(json::Object{{"issuer", issuer()},
                                                                    {"authorization_endpoint", issuer() + "/authorize"},
                                                                    {"token_endpoint", issuer() + "/token"},
                                                                    {"jwks_uri", issuer() + "/jwks"}}));
        if (request.path == "/jwks") {
            ++m_key_requests;
            net::Response response = net::json_response(200, m_published);
            if (!m_cache_control.empty()) response.set_header("Cache-Control", m_cache_control);
            return response;
        }
        if (++m_waiting >= m_awaited) m_gathered.notify_all();
        m_gathered.wait_for(lock, std::chrono::seconds(30), [this] { return m_waiting >= m_awaited; });
        return exchange(request.body);
    }

    net::Response exchange(const std::string& body) const {
        std::string code, verifier;
        const auto form = net::parse_query(body);
        if (!form.ok()) return net::json_response(400, R"({"error":"invalid_request"})");
        for (const auto& [name, value] : form.value()) {
            if (name == "code") code = value;
            if (name == "code_verifier") verifier = value;
        }
        crypto::Sha256 hasher;
        hasher.add(verifier);
        const auto found = m_codes.find(code);
        if (found == m_codes.end() || found->second.challenge != to_base64url(hasher.finish()))
            return net::json_response(400, R"({"error":"invalid_grant"})");
        const DirectoryEntry& person = found->second.person;
        json::Array groups;
        for (const std::string& group : person.groups) groups.emplace_back(group);
        const std::string token = m_key->sign({{"iss", issuer()},
                                               {"aud", "hone"},
                                               {"sub", person.subject},
                                               {"nonce", found->second.nonce},
                                               {"iat", seconds()},
                                               {"exp", seconds() + 300},
                                               {"email", person.email},
                                               {"email_verified", true},
                                               {"groups", std::move(groups)}});
        return net::json_response(200, json::print(json::Object{{"id_token", token}, {"access_token", "access"}}));
    }

    const Clock& m_clock;
    mutable std::mutex m_mutex;
    std::condition_variable m_gathered;
    std::shared_ptr<SigningKey> m_key;
    std::string m_published;
    std::string m_cache_control;
    std::map<std::string, Code> m_codes;
    int m_awaited = 0, m_waiting = 0, m_key_requests = 0;
    net::testing::LambdaHandler m_handler;
    std::unique_ptr<net::Server> m_server; // last: its threads use the rest
};

inline OutgoingOptions to_this_machine() {
    OutgoingOptions options;
    options.allow_private = true;
    options.timeout = std::chrono::seconds(60);
    return options;
}

// A world whose people sign in through a scripted provider.
struct SignOnWorld {
    explicit SignOnWorld(World& given) : world(given), provider(given.clock) {
        for (const char* table : {"identity_providers", "identity_groups", "identities", "sign_ons", "group_members",
                                  "used_logout_tokens", "kept_secrets", "data_keys"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        secret::MasterKeyOptions options;
        options.file = folder.path() + "/master.key";
        options.create_file = true;
        keys = must(secret::MasterKeys::open(std::move(options)));
        vault.emplace(world.database, world.clock, world.access.audit, *keys);
        must(vault->start());
        identities.emplace(world.database, world.clock, world.access, *vault,
                           IdentityOptions{to_this_machine(), "https://hone.example.com", std::chrono::hours(12)});
        NewProvider wanted;
        wanted.name = "company";
        wanted.issuer = provider.issuer();
        wanted.client_id = "hone";
        must(identities->providers.create(world.admin, wanted));
    }
    SignOn& sign_on() { return identities->sign_on; }

    // A browser that came back from the provider.
    struct Returned {
        std::string browser;
        SignOnResponse response;
    };
    Returned at_provider(const SignOnStart& start, const DirectoryEntry& person = {}) {
        return {start.browser, provider.authorize(start.location, person)};
    }
    Returned begin(const DirectoryEntry& person = {}, const std::string& peer = "192.0.2.1") {
        return at_provider(must(sign_on().start(World::guest(peer), "company", "/")), person);
    }
    Result<SignOnDone> finish(const Returned& returned) {
        return sign_on().finish(World::guest(), "company", returned.browser, returned.response, "test");
    }
    Result<SignOnDone> sign_in(const DirectoryEntry& person = {}) { return finish(begin(person)); }

    World& world;
    ScriptedProvider provider;
    sql::testing::TemporaryDirectory folder;
    std::unique_ptr<secret::MasterKeys> keys;
    std::optional<secret::Vault> vault;
    std::optional<Identities> identities;
};

template <class Test>
void for_each_sign_on_world(Test test) {
    access::testing::for_each_world([&](World& world) {
        SignOnWorld people(world);
        test(people);
    });
}

// The outcomes of the same work on two threads that start together, in the order of the text.
template <class Work>
std::vector<std::string> twice_in_parallel(Work work) {
    std::vector<std::string> outcomes(2);
    std::atomic<int> ready = 0;
    {
        std::vector<std::jthread> threads;
        for (size_t i = 0; i < outcomes.size(); ++i)
            threads.emplace_back([&, i] {
                ++ready;
                while (ready < 2) std::this_thread::yield();
                outcomes[i] = work(i);
            });
    }
    std::sort(outcomes.begin(), outcomes.end());
    return outcomes;
}

} // namespace hone::identity::testing
