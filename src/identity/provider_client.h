// The requests to an OpenID provider: its metadata, its keys, the exchange of a code, the claims of a person. Every
// request goes to an address that was resolved and checked for it, follows no redirect, and is bounded in time and
// size. Metadata and keys are cached. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "identity/id_token.h"
#include "net/client/client.h"

namespace hone::identity {

struct OutgoingOptions {
    bool allow_private = false; // providers may be on private networks and on this machine; plain HTTP on loopback only
    std::string ca_file{};      // PEM; empty: the system's store
    std::string proxy{};        // http://[user:password@]host:port; empty: none
    std::vector<std::string> without_proxy{};
    Duration timeout = std::chrono::seconds(5); // of one request
};

// What a provider publishes about itself (OpenID Connect Discovery).
struct Metadata {
    std::string issuer;
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string jwks_uri;
    std::string userinfo_endpoint;    // empty: none
    std::string end_session_endpoint; // empty: none
    bool sends_issuer = false;        // RFC 9207: the `iss` parameter of responses
    bool basic_authentication = true; // else the secret goes into the body
};

struct Exchange {
    std::string code;
    std::string redirect_uri;
    std::string verifier;
    std::string client_id;
    std::string client_secret; // empty: a public client
};
struct Tokens {
    std::string id_token;
    std::string access_token;
};

class ProviderClient {
public:
    ProviderClient(const Clock& clock, OutgoingOptions options);

    Result<Metadata> metadata(const std::string& issuer);
    Result<Tokens> exchange(const Metadata& metadata, const Exchange& exchange);
    // Verifies the signature. A token that names an unknown key makes the keys be fetched again, at most every 30 s.
    Result<> verify(const Metadata& metadata, const SignedToken& token);
    // The claims of the person behind an access token.
    Result<json::Object> userinfo(const Metadata& metadata, const std::string& access_token);

    // For a check by an owner: fetches both now. `server_time` is the provider's Date header.
    struct Report {
        Metadata metadata;
        size_t keys = 0;
        std::string server_date;
    };
    Result<Report> check(const std::string& issuer);
    // Forgets what is cached about an issuer.
    void forget(const std::string& issuer);

private:
    struct CachedMetadata {
        Metadata metadata;
        Duration until{};
    };
    struct CachedKeys {
        KeySet keys;
        Duration until{};
        std::optional<Duration> refetched_at{}; // because of an unknown key
    };
    Result<std::string> checked_address(const std::string& url) const;
    Result<net::ClientResponse> send(net::ClientRequest request);
    Result<json::Object> fetch_object(net::ClientRequest request, std::string_view what);
    Result<KeySet> fetch_keys(const std::string& uri, bool because_unknown);

    const Clock& m_clock;
    const OutgoingOptions m_options;
    net::HttpClient m_client;
    Mutex m_mutex;
    std::map<std::string, CachedMetadata> m_metadata GUARDED_BY(m_mutex);
    std::map<std::string, CachedKeys> m_keys GUARDED_BY(m_mutex);
};

// An issuer as it must be written: an https address without query and fragment; http only for loopback addresses.
Result<> check_issuer(const std::string& issuer);

} // namespace hone::identity
