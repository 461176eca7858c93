// Outside agents: MCP clients that people let in by OAuth 2.1 (authorization code with PKCE, RFC 7636), after they
// registered themselves (RFC 7591). What a person grants is a personal key with scopes, in one space, for the MCP
// endpoint alone; it lives an hour and is renewed with a refresh token that works once. Thread-safe.
#pragma once

#include "access/access.h"

namespace hone::identity {

struct AgentClientTag {
    static constexpr std::string_view kind = "client";
};
struct AgentGrantTag {
    static constexpr std::string_view kind = "grant";
};
using AgentClientId = Id<AgentClientTag>;
using AgentGrantId = Id<AgentGrantTag>;

// What the browser was sent with, from the client: nothing of it is trusted.
struct AuthorizationRequest {
    std::string client_id;
    std::string redirect_uri;
    std::string response_type;
    std::string code_challenge;
    std::string code_challenge_method;
    json::Defaulted<std::string> scope;
    json::Defaulted<std::string> state;
    json::Defaulted<std::string> resource;
    static constexpr Pack fields{
        Field{"client_id", &AuthorizationRequest::client_id, ""},
        Field{"redirect_uri", &AuthorizationRequest::redirect_uri, "One of the client's, exactly."},
        Field{"response_type", &AuthorizationRequest::response_type, "code"},
        Field{"code_challenge", &AuthorizationRequest::code_challenge, "PKCE."},
        Field{"code_challenge_method", &AuthorizationRequest::code_challenge_method, "S256"},
        Field{"scope", &AuthorizationRequest::scope, "read if not given; or names of permissions, with spaces."},
        Field{"state", &AuthorizationRequest::state, "Returned to the client."},
        Field{"resource", &AuthorizationRequest::resource, "Address of the MCP endpoint (RFC 8707)."},
    };
};

// What a person sees before the decision.
struct ConsentView {
    std::string client_name;
    std::string redirect_host;
    std::vector<std::string> scopes;
    static constexpr Pack fields{
        Field{"client_name", &ConsentView::client_name, "As the client calls itself, unchecked."},
        Field{"redirect_host", &ConsentView::redirect_host, "Where the browser goes afterwards."},
        Field{"scopes", &ConsentView::scopes, ""},
    };
};

struct AgentGrant {
    AgentGrantId id;
    std::string client_name;
    access::SpaceId space_id;
    std::vector<std::string> scopes;
    Time created_at{};
    std::optional<Time> refreshed_at;
    static constexpr Pack fields{
        Field{"id", &AgentGrant::id, ""},
        Field{"client_name", &AgentGrant::client_name, "As the client calls itself."},
        Field{"space_id", &AgentGrant::space_id, ""},
        Field{"scopes", &AgentGrant::scopes, ""},
        Field{"created_at", &AgentGrant::created_at, ""},
        Field{"refreshed_at", &AgentGrant::refreshed_at, "When it last renewed its token."},
    };
};

// A response of the token and registration endpoints, whose errors have forms of their own.
struct OAuthResponse {
    int status = 200;
    json::Object body{};
};

// Parameters of a form, as sent.
using FormFields = std::map<std::string, std::string>;

class Agents {
public:
    Agents(sql::Database& database, const Clock& clock, access::Access& access, std::string public_url)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_public_url(std::move(public_url)) {}

    // not_found without the setting public_url: the metadata needs addresses.
    Result<json::Object> authorization_server() const; // RFC 8414
    Result<json::Object> protected_resource() const;   // RFC 9728
    std::string resource_metadata_url() const;         // empty without public_url

    Result<OAuthResponse> register_client(const access::Caller& guest, const json::Value& metadata);
    // The person in front of the browser. Errors are for that person: an unknown client or address is never redirected
    // to.
    Result<ConsentView> describe(const access::Caller& caller, const AuthorizationRequest& request) const;
    // Where the browser goes then.
    Result<std::string> decide(const access::Caller& caller, const std::string& space_name,
                               const AuthorizationRequest& request, bool allow);
    Result<OAuthResponse> token(const access::Caller& guest, const FormFields& form);
    Result<> revoke_token(const access::Caller& guest, const FormFields& form);
    // The caller behind a token, at the MCP endpoint.
    Result<access::Caller> authenticate(std::string_view token, std::string peer, std::string request_id) const;

    Result<std::vector<AgentGrant>> grants(const access::Caller& caller) const;
    Result<> remove_grant(const access::Caller& caller, const AgentGrantId& id);
    Result<int64_t> sweep();

private:
    struct Client;
    struct Checked;
    struct Grant;
    Result<Client> find_client(const std::string& id) const;
    Result<Checked> check(const AuthorizationRequest& request) const;
    Result<OAuthResponse> exchange(const access::Caller& guest, const FormFields& form);
    Result<OAuthResponse> refresh(const access::Caller& guest, const FormFields& form);
    Result<OAuthResponse> issue(sql::Transaction& transaction, const Grant& grant) const;
    Result<Grant> grant_of(sql::Transaction& transaction, const std::string& id) const;
    Result<> end_grant(sql::Transaction& transaction, const access::Caller& caller, const Grant& grant,
                       std::string_view why) const;
    std::string endpoint() const { return m_public_url + "/mcp"; }

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const std::string m_public_url;
};

} // namespace hone::identity
