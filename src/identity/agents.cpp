#include "identity/agents.h"

#include "access/accounts/agent_keys.h"
#include "access/names.h"
#include "crypto/crypto.h"
#include "identity/guest_limits.h"
#include "net/http/url.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr Duration code_time = std::chrono::minutes(1);
constexpr Duration access_time = std::chrono::hours(1);
constexpr Duration refresh_time = std::chrono::hours(24 * 30);
constexpr Duration unused_client_time = std::chrono::hours(24);
constexpr size_t most_redirect_uris = 5;
constexpr int64_t most_grants = 50; // of a person

std::string hash_text(std::string_view token) {
    return to_hex(crypto::hash(token));
}

OAuthResponse oauth_error(std::string_view code, std::string_view description, int status = 400) {
    return {status, {{"error", code}, {"error_description", description}}};
}

Error agents_are_off() {
    return {Code::not_found, "outside agents cannot be let in: the setting public_url is empty", {}};
}

bool is_loopback(const net::Url& url) {
    return url.host == "127.0.0.1" || url.host == "::1" || url.host == "localhost";
}

// https, or http to the person's own machine. Other schemes could run as a script in our own page.
Result<net::Url> checked_redirect(const std::string& text) {
    if (text.empty() || text.size() > 500 || !is_printable_ascii(text) || text.find_first_of("#\\ \"<>") != text.npos)
        return invalid("a redirect_uri is an address of at most 500 characters, without a fragment");
    if (!text.starts_with("https://") && !text.starts_with("http://"))
        return invalid("a redirect_uri begins with https://, or with http:// for a loopback address");
    net::Url url = TRY(net::parse_url(text));
    if (!url.user_info.empty() || !url.unix_path.empty()) return invalid("a redirect_uri has no user");
    if (!url.tls && !is_loopback(url)) return invalid("a redirect_uri with http must be a loopback address");
    return url;
}

// Exactly one that was registered; of a loopback address the port may differ (RFC 8252, 7.3).
bool is_registered(const std::vector<std::string>& registered, const std::string& wanted) {
    if (std::find(registered.begin(), registered.end(), wanted) != registered.end()) return true;
    const auto url = checked_redirect(wanted);
    if (!url.ok() || url.value().tls || !is_loopback(url.value())) return false;
    return std::any_of(registered.begin(), registered.end(), [&](const std::string& each) {
        const auto known = checked_redirect(each);
        return known.ok() && !known.value().tls && known.value().host == url.value().host &&
               known.value().target == url.value().target;
    });
}

// Like those of a key, but not `all`: what an agent gets is named.
Result<std::vector<std::string>> checked_scopes(std::string_view text) {
    std::vector<std::string> scopes;
    for (const std::string_view part : split(text, ' '))
        if (!part.empty() && std::find(scopes.begin(), scopes.end(), part) == scopes.end()) scopes.emplace_back(part);
    if (scopes.empty()) scopes = {"read"};
    for (const std::string& scope : scopes)
        if (scope == "all") return invalid("scope: an agent cannot get `all`; name the permissions");
    TRY(access::scope_of(scopes));
    return scopes;
}

std::string scope_text(const std::vector<std::string>& scopes) {
    std::string text;
    for (const std::string& scope : scopes) text += (text.empty() ? "" : " ") + scope;
    return text;
}

std::vector<std::string> scope_list(std::string_view text) {
    std::vector<std::string> scopes;
    for (const std::string_view part : split(text, ' ')) scopes.emplace_back(part);
    return scopes;
}

std::string with_query(const std::string& address, const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string text = address;
    char mark = text.find('?') == text.npos ? '?' : '&';
    for (const auto& [name, value] : pairs) {
        text += mark + name + "=" + percent_encode(value);
        mark = '&';
    }
    return text;
}

bool is_verifier(std::string_view text) {
    return text.size() >= 43 && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '.' || c == '_' || c == '~';
           });
}

std::string challenge_of(std::string_view verifier) {
    crypto::Sha256 hasher;
    hasher.add(verifier);
    return to_base64url(hasher.finish());
}

std::string field_of(const FormFields& form, const std::string& name) {
    const auto found = form.find(name);
    return found != form.end() ? found->second : "";
}

Result<std::vector<std::string>> redirect_uris_in(const json::Value& metadata) {
    const json::Value* list = metadata.is_object() ? metadata.get_object().if_contains("redirect_uris") : nullptr;
    if (list == nullptr || !list->is_array() || list->get_array().empty() ||
        list->get_array().size() > most_redirect_uris)
        return invalid("redirect_uris must have one to " + std::to_string(most_redirect_uris) + " addresses");
    std::vector<std::string> uris;
    for (const json::Value& each : list->get_array()) {
        if (!each.is_string()) return invalid("redirect_uris must be texts");
        uris.emplace_back(each.get_string());
        TRY(checked_redirect(uris.back()));
    }
    return uris;
}

// Deletes the oldest unused clients of this address, so that one more is within its limit. Returns how many.
Result<int64_t> make_room_of_peer(sql::Transaction& transaction, const std::string& peer) {
    return transaction.execute(
        "DELETE FROM agent_clients WHERE peer = ? AND granted_at IS NULL AND id NOT IN (SELECT id FROM agent_clients "
        "WHERE peer = ? AND granted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT ?)",
        peer, peer, most_unused_clients_of_peer - 1);
}

// At the limit of the server, deletes the oldest unused client of the network that registered most.
Result<> make_room_on_server(sql::Transaction& transaction) {
    const auto count = TRY(transaction.query("SELECT COUNT(*) FROM agent_clients WHERE granted_at IS NULL"));
    if (count.front().integer(0) < most_unused_clients) return {};
    const std::string network(network_of_peer);
    TRY(transaction.execute(
        "DELETE FROM agent_clients WHERE id IN (SELECT id FROM agent_clients WHERE granted_at IS NULL AND " + network +
        " = (SELECT network FROM (SELECT " + network +
        " AS network, COUNT(*) AS registered FROM agent_clients WHERE granted_at IS NULL GROUP BY 1 ORDER BY "
        "registered DESC, MIN(created_at) LIMIT 1) AS largest) ORDER BY created_at, id LIMIT 1)"));
    return {};
}

} // namespace

struct Agents::Client {
    AgentClientId id;
    std::string name;
    std::vector<std::string> redirect_uris;
    std::string peer;
    Time created_at{};
};

struct Agents::Checked {
    Client client;
    std::string redirect_host;
    std::vector<std::string> scopes;
};

struct Agents::Grant {
    AgentGrantId id;
    std::string client_id;
    std::string client_name;
    access::UserId user;
    access::SpaceId space;
    std::vector<std::string> scopes;
};

std::string Agents::resource_metadata_url() const {
    return m_public_url.empty() ? "" : m_public_url + "/.well-known/oauth-protected-resource/mcp";
}

Result<json::Object> Agents::authorization_server() const {
    if (m_public_url.empty()) return agents_are_off();
    json::Array scopes{"read"};
    for (const std::string& name : access::permissions_of(access::Role::owner).names()) scopes.emplace_back(name);
    return json::Object{{"issuer", m_public_url},
                        {"authorization_endpoint", m_public_url + "/authorize"},
                        {"token_endpoint", m_public_url + "/oauth/token"},
                        {"registration_endpoint", m_public_url + "/oauth/register"},
                        {"revocation_endpoint", m_public_url + "/oauth/revoke"},
                        {"scopes_supported", std::move(scopes)},
                        {"response_types_supported", json::Array{"code"}},
                        {"response_modes_supported", json::Array{"query"}},
                        {"grant_types_supported", json::Array{"authorization_code", "refresh_token"}},
                        {"token_endpoint_auth_methods_supported", json::Array{"none"}},
                        {"revocation_endpoint_auth_methods_supported", json::Array{"none"}},
                        {"code_challenge_methods_supported", json::Array{"S256"}},
                        {"authorization_response_iss_parameter_supported", true}};
}

Result<json::Object> Agents::protected_resource() const {
    if (m_public_url.empty()) return agents_are_off();
    return json::Object{{"resource", endpoint()},
                        {"resource_name", "Hone"},
                        {"authorization_servers", json::Array{m_public_url}},
                        {"scopes_supported", json::Array{"read"}},
                        {"bearer_methods_supported", json::Array{"header"}}};
}

Result<OAuthResponse> Agents::register_client(const access::Caller& guest, const json::Value& metadata) {
    if (m_public_url.empty()) return agents_are_off();
    const auto uris = redirect_uris_in(metadata);
    if (!uris.ok()) return oauth_error("invalid_redirect_uri", uris.error().message);
    const json::Value* named = metadata.get_object().if_contains("client_name");
    const std::string wanted = named != nullptr && named->is_string() ? std::string(named->get_string()) : "";
    const auto name = access::checked_name("client_name", wanted.empty() ? "An agent" : wanted);
    if (!name.ok()) return oauth_error("invalid_client_metadata", name.error().message);
    const Time now = m_clock.now();
    const auto id = make_id<AgentClientTag>(m_clock);
    json::Array listed;
    for (const std::string& uri : uris.value()) listed.emplace_back(uri);
    const std::string peer = access::peer_group(guest.peer);
    // Not in the audit log, which a flood would fill: the entry of a grant has what was registered.
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t deleted = TRY(make_room_of_peer(transaction, peer));
        if (deleted == 0) TRY(make_room_on_server(transaction));
        TRY(transaction.execute("INSERT INTO agent_clients (id, name, redirect_uris, peer, created_at) VALUES "
                                "(?,?,?,?,?)",
                                id, name.value(), json::print(listed), peer, now));
        return {};
    }));
    return OAuthResponse{201,
                         {{"client_id", id.text()},
                          {"client_id_issued_at", to_ns(now) / 1'000'000'000},
                          {"client_name", name.value()},
                          {"redirect_uris", std::move(listed)},
                          {"grant_types", json::Array{"authorization_code", "refresh_token"}},
                          {"response_types", json::Array{"code"}},
                          {"token_endpoint_auth_method", "none"}}};
}

Result<Agents::Client> Agents::find_client(const std::string& id) const {
    const auto rows =
        TRY(m_database.query("SELECT id, name, redirect_uris, peer, created_at FROM agent_clients WHERE id = ?", id));
    if (rows.empty()) return not_found("agent " + std::string(truncate_utf8(id, 60)));
    const sql::Row row = rows.front();
    Client client{row.id<AgentClientTag>(0), row.text(1), {}, row.text(3), row.time(4)};
    const auto uris = TRY(json::parse(rows.front().text(2)));
    for (const json::Value& each : uris.as_array()) client.redirect_uris.emplace_back(each.as_string());
    return client;
}

Result<Agents::Checked> Agents::check(const AuthorizationRequest& request) const {
    if (m_public_url.empty()) return agents_are_off();
    Checked checked{TRY(find_client(request.client_id)), "", {}};
    if (!is_registered(checked.client.redirect_uris, request.redirect_uri))
        return invalid("the agent did not register this redirect_uri; nothing is sent there");
    checked.redirect_host = TRY(checked_redirect(request.redirect_uri)).host;
    if (request.response_type != "code") return invalid("response_type must be code");
    if (request.code_challenge_method != "S256") return invalid("code_challenge_method must be S256");
    if (request.code_challenge.size() != 43 || !from_base64url(request.code_challenge).ok())
        return invalid("code_challenge must be a SHA-256 in base64url");
    if (request.state.value.size() > 1000) return invalid("state must be at most 1,000 characters long");
    const std::string& resource = request.resource.value;
    if (!resource.empty() && resource != endpoint() && resource != m_public_url && resource != m_public_url + "/")
        return invalid("resource must be " + endpoint());
    checked.scopes = TRY(checked_scopes(request.scope.value));
    return checked;
}

Result<ConsentView> Agents::describe(const access::Caller& caller, const AuthorizationRequest& request) const {
    TRY(caller.require_user());
    Checked checked = TRY(check(request));
    return ConsentView{checked.client.name, checked.redirect_host, std::move(checked.scopes)};
}

Result<std::string> Agents::decide(const access::Caller& caller, const std::string& space_name,
                                   const AuthorizationRequest& request, bool allow) {
    TRY(caller.require_user());
    const Checked checked = TRY(check(request));
    std::vector<std::pair<std::string, std::string>> reply;
    if (!request.state.value.empty()) reply.emplace_back("state", request.state.value);
    reply.emplace_back("iss", m_public_url);
    if (!allow) {
        reply.emplace_back("error", "access_denied");
        return with_query(request.redirect_uri, reply);
    }
    const access::SpaceId space = TRY(m_access.spaces.choose(caller, space_name));
    TRY(caller.require(access::Permission::key_create, space));
    const std::string code = crypto::random_token();
    const Time now = m_clock.now();
    json::Array redirect_uris;
    for (const std::string& uri : checked.client.redirect_uris) redirect_uris.emplace_back(uri);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM agent_grants WHERE user_id = ?", caller.user));
        if (count.front().integer(0) >= most_grants)
            return conflict("you let in " + std::to_string(most_grants) + " agents; remove one under Account first");
        // From here on it is used. A flood of registrations may have deleted it since it was read.
        const int64_t found =
            TRY(transaction.execute("UPDATE agent_clients SET granted_at = ? WHERE id = ?", now, checked.client.id));
        if (found == 0) return not_found("agent " + checked.client.id.text());
        const auto grant = make_id<AgentGrantTag>(m_clock);
        TRY(transaction.execute(
            "INSERT INTO agent_grants (id, client_id, user_id, space_id, scopes, created_at) VALUES "
            "(?,?,?,?,?,?)",
            grant, checked.client.id, caller.user, space, scope_text(checked.scopes), now));
        TRY(transaction.execute("INSERT INTO agent_codes (code_hash, grant_id, client_id, redirect_uri, challenge, "
                                "expires_at) VALUES (?,?,?,?,?,?)",
                                hash_text(code), grant, checked.client.id, request.redirect_uri, request.code_challenge,
                                now + code_time));
        return m_access.audit.record(transaction, caller,
                                     {"agent_grant_create",
                                      space,
                                      grant.text(),
                                      {{"client", checked.client.id.text()},
                                       {"client_name", checked.client.name},
                                       {"registered_by", checked.client.peer},
                                       {"registered_at", to_text(checked.client.created_at)},
                                       {"redirect_uris", redirect_uris},
                                       {"redirect_host", checked.redirect_host},
                                       {"scopes", scope_text(checked.scopes)}}});
    }));
    reply.emplace_back("code", code);
    return with_query(request.redirect_uri, reply);
}

Result<Agents::Grant> Agents::grant_of(sql::Transaction& transaction, const std::string& id) const {
    const auto rows = TRY(transaction.query("SELECT g.id, g.client_id, c.name, g.user_id, g.space_id, g.scopes FROM "
                                            "agent_grants g JOIN agent_clients c ON c.id = g.client_id WHERE g.id = ?",
                                            id));
    if (rows.empty()) return not_found("grant " + std::string(truncate_utf8(id, 60)));
    const sql::Row row = rows.front();
    return Grant{
        row.id<AgentGrantTag>(0), row.text(1), row.text(2), row.id<access::UserTag>(3), row.id<access::SpaceTag>(4),
        scope_list(row.text(5))};
}

Result<OAuthResponse> Agents::issue(sql::Transaction& transaction, const Grant& grant) const {
    const Time now = m_clock.now();
    const auto token = access::create_agent_key(
        transaction, m_clock,
        {grant.id.text(), grant.client_name, grant.space, grant.user, grant.scopes, now, now + access_time});
    if (!token.ok() && token.error().code == Code::unauthorized)
        return oauth_error("invalid_grant", token.error().message);
    if (!token.ok()) return token.error();
    const std::string refresh = crypto::random_token();
    TRY(transaction.execute("INSERT INTO agent_refresh_tokens (token_hash, grant_id, expires_at) VALUES (?,?,?)",
                            hash_text(refresh), grant.id, now + refresh_time));
    TRY(transaction.execute("UPDATE agent_grants SET refreshed_at = ? WHERE id = ?", now, grant.id));
    return OAuthResponse{200,
                         {{"access_token", token.value()},
                          {"token_type", "Bearer"},
                          {"expires_in", std::chrono::duration_cast<std::chrono::seconds>(access_time).count()},
                          {"refresh_token", refresh},
                          {"scope", scope_text(grant.scopes)}}};
}

Result<> Agents::end_grant(sql::Transaction& transaction, const access::Caller& caller, const Grant& grant,
                           std::string_view why) const {
    TRY(access::end_agent_key(transaction, grant.id.text()));
    TRY(transaction.execute("DELETE FROM agent_grants WHERE id = ?", grant.id));
    return m_access.audit.record(transaction, caller,
                                 {"agent_grant_end",
                                  grant.space,
                                  grant.id.text(),
                                  {{"client_name", grant.client_name}, {"user", grant.user.text()}, {"why", why}}});
}

Result<OAuthResponse> Agents::token(const access::Caller& guest, const FormFields& form) {
    if (m_public_url.empty()) return agents_are_off();
    if (field_of(form, "client_id").empty()) return oauth_error("invalid_client", "client_id is missing", 401);
    const std::string resource = field_of(form, "resource");
    if (!resource.empty() && resource != endpoint() && resource != m_public_url && resource != m_public_url + "/")
        return oauth_error("invalid_target", "resource must be " + endpoint());
    const std::string kind = field_of(form, "grant_type");
    if (kind == "authorization_code") return exchange(guest, form);
    if (kind == "refresh_token") return refresh(guest, form);
    return oauth_error("unsupported_grant_type", "grant_type must be authorization_code or refresh_token");
}

Result<OAuthResponse> Agents::exchange(const access::Caller& guest, const FormFields& form) {
    const std::string verifier = field_of(form, "code_verifier");
    const std::string code_hash = hash_text(field_of(form, "code"));
    return m_database.write([&](sql::Transaction& transaction) -> Result<OAuthResponse> {
        const OAuthResponse refused = oauth_error("invalid_grant", "the code is unknown, was used, or has expired");
        const auto rows = TRY(transaction.query("SELECT grant_id, client_id, redirect_uri, challenge, used_at, "
                                                "expires_at FROM agent_codes WHERE code_hash = ?",
                                                code_hash));
        if (rows.empty()) return refused;
        const sql::Row row = rows.front();
        const Grant grant = TRY(grant_of(transaction, row.text(0)));
        // Used twice: one of the two was a thief, so both lose.
        if (!row.is_null(4)) {
            TRY(end_grant(transaction, guest, grant, "its code was used twice"));
            return refused;
        }
        const bool fits = row.text(1) == field_of(form, "client_id") && row.text(2) == field_of(form, "redirect_uri") &&
                          m_clock.now() < row.time(5) && is_verifier(verifier) &&
                          crypto::equal(challenge_of(verifier), row.text(3));
        if (!fits) {
            TRY(end_grant(transaction, guest, grant, "its code was sent with a wrong client, address or verifier"));
            return refused;
        }
        TRY(transaction.execute("UPDATE agent_codes SET used_at = ? WHERE code_hash = ?", m_clock.now(), code_hash));
        return issue(transaction, grant);
    });
}

Result<OAuthResponse> Agents::refresh(const access::Caller& guest, const FormFields& form) {
    const std::string token_hash = hash_text(field_of(form, "refresh_token"));
    return m_database.write([&](sql::Transaction& transaction) -> Result<OAuthResponse> {
        const OAuthResponse refused =
            oauth_error("invalid_grant", "the refresh token is unknown, was used, or has expired");
        const auto rows = TRY(transaction.query(
            "SELECT grant_id, used_at, expires_at FROM agent_refresh_tokens WHERE token_hash = ?", token_hash));
        if (rows.empty()) return refused;
        const sql::Row row = rows.front();
        const Grant grant = TRY(grant_of(transaction, row.text(0)));
        if (grant.client_id != field_of(form, "client_id")) return refused;
        if (!row.is_null(1)) {
            TRY(end_grant(transaction, guest, grant, "a refresh token was used twice"));
            return refused;
        }
        if (m_clock.now() >= row.time(2)) return refused;
        if (const std::string wanted = field_of(form, "scope"); !wanted.empty())
            for (const std::string& scope : scope_list(wanted))
                if (std::find(grant.scopes.begin(), grant.scopes.end(), scope) == grant.scopes.end())
                    return oauth_error("invalid_scope", "scope must not have more than the grant");
        TRY(transaction.execute("UPDATE agent_refresh_tokens SET used_at = ? WHERE token_hash = ?", m_clock.now(),
                                token_hash));
        return issue(transaction, grant);
    });
}

Result<> Agents::revoke_token(const access::Caller& guest, const FormFields& form) {
    const std::string token = field_of(form, "token");
    const auto agent = access::authenticate_agent(m_database, m_clock, token, guest.peer, guest.request_id);
    const std::string grant_id = agent.ok() ? agent.value().grant : "";
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows =
            TRY(transaction.query("SELECT grant_id FROM agent_refresh_tokens WHERE token_hash = ?", hash_text(token)));
        const std::string id = rows.empty() ? grant_id : rows.front().text(0);
        if (id.empty()) return {}; // unknown is as good as revoked (RFC 7009, 2.2)
        const Grant grant = TRY(grant_of(transaction, id));
        if (const std::string client = field_of(form, "client_id"); !client.empty() && client != grant.client_id)
            return {};
        return end_grant(transaction, guest, grant, "the agent revoked its token");
    });
}

Result<access::Caller> Agents::authenticate(std::string_view token, std::string peer, std::string request_id) const {
    auto agent = TRY(access::authenticate_agent(m_database, m_clock, token, std::move(peer), std::move(request_id)));
    return std::move(agent.caller);
}

Result<std::vector<AgentGrant>> Agents::grants(const access::Caller& caller) const {
    TRY(caller.require_user());
    const auto rows = TRY(m_database.query("SELECT g.id, c.name, g.space_id, g.scopes, g.created_at, g.refreshed_at "
                                           "FROM agent_grants g JOIN agent_clients "
                                           "c ON c.id = g.client_id WHERE g.user_id = ? ORDER BY g.id DESC",
                                           caller.user));
    std::vector<AgentGrant> all;
    for (const auto& row : rows)
        all.push_back({row.id<AgentGrantTag>(0), row.text(1), row.id<access::SpaceTag>(2), scope_list(row.text(3)),
                       row.time(4), row.optional_time(5)});
    return all;
}

Result<> Agents::remove_grant(const access::Caller& caller, const AgentGrantId& id) {
    TRY(caller.require_user());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const Grant grant = TRY(grant_of(transaction, id.text()));
        if (grant.user != caller.user) return not_found("grant " + id.text());
        return end_grant(transaction, caller, grant, "its person ended it");
    });
}

Result<int64_t> Agents::sweep() {
    const Time now = m_clock.now();
    TRY(m_database.execute("DELETE FROM agent_codes WHERE expires_at <= ?", now));
    TRY(m_database.execute("DELETE FROM agent_refresh_tokens WHERE expires_at <= ?", now));
    // A grant without a code and without a refresh token cannot become a token any more.
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto dead = TRY(transaction.query(
            "SELECT id FROM agent_grants WHERE created_at < ? AND id NOT IN (SELECT grant_id FROM agent_codes) AND id "
            "NOT IN (SELECT grant_id FROM agent_refresh_tokens) LIMIT 1000",
            now - code_time));
        for (const auto& row : dead) {
            TRY(access::end_agent_key(transaction, row.text(0)));
            TRY(transaction.execute("DELETE FROM agent_grants WHERE id = ?", row.text(0)));
        }
        return {};
    }));
    return m_database.execute("DELETE FROM agent_clients WHERE created_at < ? AND id NOT IN (SELECT client_id FROM "
                              "agent_grants)",
                              now - unused_client_time);
}

} // namespace hone::identity
