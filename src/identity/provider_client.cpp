#include "identity/provider_client.h"

#include "base/log.h"
#include "net/client/address_range.h"
#include "net/http/url.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr size_t largest_response = 1 << 20;
constexpr Duration metadata_lifetime = std::chrono::hours(1);
constexpr Duration keys_lifetime = std::chrono::minutes(1);
constexpr Duration longest_keys_lifetime = std::chrono::minutes(5);
constexpr Duration refetch_pause = std::chrono::seconds(30);
constexpr size_t most_cached = 100;
constexpr std::string_view loopback_range = "loopback address"; // as refused_range calls it

net::ClientOptions client_options_of(const OutgoingOptions& options) {
    net::ClientOptions made;
    made.ca_file = options.ca_file;
    made.proxy = options.proxy;
    made.no_proxy = options.without_proxy;
    made.connect_timeout = options.timeout;
    made.idle_timeout = options.timeout;
    made.idle_connections = 0; // each request connects to an address that was checked for it
    return made;
}

std::string member(const json::Object& object, std::string_view name) {
    const json::Value* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// How long a response may be reused, by its Cache-Control header.
Duration cache_lifetime(std::string_view header) {
    Duration lifetime = keys_lifetime;
    for (const std::string_view part : split(header, ',')) {
        const std::string directive = lowercase_ascii(trim(part));
        if (directive == "no-store" || directive == "no-cache") return Duration(0);
        if (!directive.starts_with("max-age=")) continue;
        const auto seconds = parse_integer(std::string_view(directive).substr(8));
        if (seconds.ok())
            lifetime = std::chrono::seconds(std::clamp<int64_t>(
                seconds.value(), 0, std::chrono::floor<std::chrono::seconds>(longest_keys_lifetime).count()));
    }
    return lifetime;
}

Result<> check_endpoint(const std::string& url, std::string_view what, bool needs_tls) {
    const auto parsed = net::parse_url(url);
    if (!parsed.ok() || (needs_tls && !parsed.value().tls) || !parsed.value().unix_path.empty() ||
        !parsed.value().user_info.empty() || url.find('#') != std::string::npos)
        return unavailable("the provider's metadata has no usable " + std::string(what));
    return {};
}

Result<Metadata> metadata_of(const json::Object& document, const std::string& issuer) {
    Metadata made;
    made.issuer = member(document, "issuer");
    if (made.issuer != issuer)
        return unavailable(
            "the provider calls itself " + std::string(truncate_utf8(made.issuer, 200)) +
            ", which is not the configured issuer; both must be equal, with or without a slash at the end");
    const bool tls = issuer.starts_with("https://"); // then everything else is too
    made.authorization_endpoint = member(document, "authorization_endpoint");
    made.token_endpoint = member(document, "token_endpoint");
    made.jwks_uri = member(document, "jwks_uri");
    TRY(check_endpoint(made.authorization_endpoint, "authorization_endpoint", tls));
    TRY(check_endpoint(made.token_endpoint, "token_endpoint", tls));
    TRY(check_endpoint(made.jwks_uri, "jwks_uri", tls));
    made.userinfo_endpoint = member(document, "userinfo_endpoint");
    if (!made.userinfo_endpoint.empty()) TRY(check_endpoint(made.userinfo_endpoint, "userinfo_endpoint", tls));
    made.end_session_endpoint = member(document, "end_session_endpoint");
    if (!made.end_session_endpoint.empty()) TRY(check_endpoint(made.end_session_endpoint, "end_session_endpoint", tls));
    const json::Value* sends = document.if_contains("authorization_response_iss_parameter_supported");
    made.sends_issuer = sends != nullptr && sends->is_bool() && sends->get_bool();
    const auto methods = texts_of(document.if_contains("token_endpoint_auth_methods_supported"));
    const auto offers = [&](const char* method) {
        return std::find(methods.begin(), methods.end(), method) != methods.end();
    };
    made.basic_authentication = methods.empty() || offers("client_secret_basic") || !offers("client_secret_post");
    return made;
}

// The text of an `error` member, if it looks like one: it is shown to people.
std::string error_word(const json::Object& object) {
    const std::string word = member(object, "error");
    const bool plain =
        !word.empty() && word.size() <= 60 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == word.npos;
    return plain ? word : "an unnamed error";
}

} // namespace

Result<> check_issuer(const std::string& issuer) {
    const auto url = net::parse_url(issuer);
    if (issuer.size() > 500 || !url.ok() || !url.value().unix_path.empty() || !url.value().user_info.empty() ||
        issuer.find_first_of("?# ") != std::string::npos)
        return invalid("issuer must be an address like https://id.example.com, as the provider writes it");
    return {};
}

ProviderClient::ProviderClient(const Clock& clock, OutgoingOptions options)
    : m_clock(clock),
      m_options(std::move(options)),
      m_client(client_options_of(m_options)) {}

// The address to dial, resolved once and checked. Empty: the proxy resolves the name.
Result<std::string> ProviderClient::checked_address(const std::string& url) const {
    const net::Url parsed = TRY(net::parse_url(url));
    const auto endpoints = TRY(net::resolve(parsed.host, parsed.port));
    if (endpoints.empty()) return unavailable(parsed.host + " has no address");
    const auto reach = m_options.allow_private ? net::Reach::also_private : net::Reach::public_only;
    for (const net::Endpoint& endpoint : endpoints) {
        auto why = net::refused_range(endpoint, reach);
        if (!why && !m_options.allow_private && net::is_own_address(endpoint)) why = "address of this machine";
        if (why)
            return forbidden(parsed.host + " is at a " + std::string(*why) +
                             (m_options.allow_private ? ", to which Hone never connects"
                                                      : ", which is refused unless sign_on_private_addresses is true"));
        if (!parsed.tls && net::refused_range(endpoint, net::Reach::public_only).value_or("") != loopback_range)
            return forbidden("the address of a provider must begin with https://");
    }
    return endpoints.front().text;
}

Result<net::ClientResponse> ProviderClient::send(net::ClientRequest request) {
    const net::Url url = TRY(net::parse_url(request.url));
    const bool direct =
        m_options.proxy.empty() ||
        std::any_of(m_options.without_proxy.begin(), m_options.without_proxy.end(), [&](const std::string& entry) {
            return entry == url.host || (entry.starts_with('.') && url.host.ends_with(entry));
        });
    if (direct)
        request.connect_to = TRY(checked_address(request.url));
    else if (!url.tls)
        return forbidden("the address of a provider must begin with https://");
    request.max_redirects = 0;
    request.max_response_bytes = largest_response;
    request.total_timeout = m_options.timeout;
    auto response = m_client.send(request);
    if (!response.ok())
        return unavailable("the provider " + url.host + " did not respond: " + response.error().message);
    return response;
}

Result<json::Object> ProviderClient::fetch_object(net::ClientRequest request, std::string_view what) {
    const net::ClientResponse response = TRY(send(std::move(request)));
    if (response.status != 200)
        return unavailable("the provider returned status " + std::to_string(response.status) + " for its " +
                           std::string(what));
    auto parsed = json::parse(response.body);
    if (!parsed.ok() || !parsed.value().is_object())
        return unavailable("the provider's " + std::string(what) + " is not a JSON object");
    return std::move(parsed).value().get_object();
}

Result<Metadata> ProviderClient::metadata(const std::string& issuer) {
    {
        const Lock lock(m_mutex);
        const auto cached = m_metadata.find(issuer);
        if (cached != m_metadata.end() && m_clock.steady() < cached->second.until) return cached->second.metadata;
    }
    net::ClientRequest request;
    request.url = issuer + (issuer.ends_with('/') ? "" : "/") + ".well-known/openid-configuration";
    request.headers = {{"Accept", "application/json"}};
    const Metadata fetched = TRY(metadata_of(TRY(fetch_object(std::move(request), "metadata")), issuer));
    const Lock lock(m_mutex);
    if (m_metadata.size() >= most_cached) m_metadata.clear();
    m_metadata[issuer] = {fetched, m_clock.steady() + metadata_lifetime};
    return fetched;
}

Result<KeySet> ProviderClient::fetch_keys(const std::string& uri, bool because_unknown) {
    {
        const Lock lock(m_mutex);
        const auto cached = m_keys.find(uri);
        if (cached != m_keys.end()) {
            const Duration now = m_clock.steady();
            if (!because_unknown && now < cached->second.until) return cached->second.keys;
            if (because_unknown) {
                // Tokens with invented key ids must not make this server flood the provider.
                if (cached->second.refetched_at && now < *cached->second.refetched_at + refetch_pause)
                    return cached->second.keys;
                cached->second.refetched_at = now;
            }
        }
    }
    net::ClientRequest request;
    request.url = uri;
    request.headers = {{"Accept", "application/json"}};
    const net::ClientResponse response = TRY(send(std::move(request)));
    if (response.status != 200)
        return unavailable("the provider returned status " + std::to_string(response.status) + " for its keys");
    const KeySet fetched = TRY(parse_key_set(response.body));
    const Lock lock(m_mutex);
    if (m_keys.size() >= most_cached) m_keys.clear();
    CachedKeys& entry = m_keys[uri];
    entry.keys = fetched;
    entry.until = m_clock.steady() + cache_lifetime(response.header("Cache-Control"));
    return fetched;
}

Result<> ProviderClient::verify(const Metadata& metadata, const SignedToken& token) {
    Verification outcome = identity::verify(token, TRY(fetch_keys(metadata.jwks_uri, false)));
    if (outcome == Verification::no_key) outcome = identity::verify(token, TRY(fetch_keys(metadata.jwks_uri, true)));
    if (outcome == Verification::valid) return {};
    return unauthorized(outcome == Verification::no_key
                            ? "the provider's token is not accepted: the provider has no key that could have signed it"
                            : "the provider's token is not accepted: its signature is wrong");
}

Result<Tokens> ProviderClient::exchange(const Metadata& metadata, const Exchange& exchange) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = metadata.token_endpoint;
    request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
    request.body = "grant_type=authorization_code&code=" + percent_encode(exchange.code) +
                   "&redirect_uri=" + percent_encode(exchange.redirect_uri) +
                   "&code_verifier=" + percent_encode(exchange.verifier);
    if (!exchange.client_secret.empty() && metadata.basic_authentication)
        request.headers.push_back({"Authorization", "Basic " + to_base64(percent_encode(exchange.client_id) + ":" +
                                                                         percent_encode(exchange.client_secret))});
    else
        request.body += "&client_id=" + percent_encode(exchange.client_id);
    if (!exchange.client_secret.empty() && !metadata.basic_authentication)
        request.body += "&client_secret=" + percent_encode(exchange.client_secret);
    const net::ClientResponse response = TRY(send(std::move(request)));
    const auto parsed = json::parse(response.body);
    const bool readable = parsed.ok() && parsed.value().is_object();
    if (response.status != 200)
        return unauthorized("the provider refused the code: " + (readable
                                                                     ? error_word(parsed.value().get_object())
                                                                     : "status " + std::to_string(response.status)));
    if (!readable) return unavailable("the provider's token response is not a JSON object");
    // Further members are ignored: several providers add some (RFC 6749, 5.1).
    const json::Object& members = parsed.value().get_object();
    Tokens tokens{member(members, "id_token"), member(members, "access_token")};
    if (tokens.id_token.empty()) return unauthorized("the provider sent no ID token; is `openid` among the scopes?");
    return tokens;
}

Result<json::Object> ProviderClient::userinfo(const Metadata& metadata, const std::string& access_token) {
    if (metadata.userinfo_endpoint.empty() || access_token.empty()) return json::Object();
    net::ClientRequest request;
    request.url = metadata.userinfo_endpoint;
    request.headers = {{"Accept", "application/json"}, {"Authorization", "Bearer " + access_token}};
    return fetch_object(std::move(request), "user info");
}

Result<ProviderClient::Report> ProviderClient::check(const std::string& issuer) {
    forget(issuer);
    Report report;
    report.metadata = TRY(metadata(issuer));
    net::ClientRequest request;
    request.url = report.metadata.jwks_uri;
    const net::ClientResponse response = TRY(send(std::move(request)));
    if (response.status != 200)
        return unavailable("the provider returned status " + std::to_string(response.status) + " for its keys");
    report.keys = TRY(parse_key_set(response.body)).keys.size();
    report.server_date = response.header("Date");
    return report;
}

void ProviderClient::forget(const std::string& issuer) {
    const Lock lock(m_mutex);
    const auto cached = m_metadata.find(issuer);
    if (cached == m_metadata.end()) return;
    m_keys.erase(cached->second.metadata.jwks_uri);
    m_metadata.erase(cached);
}

} // namespace hone::identity
