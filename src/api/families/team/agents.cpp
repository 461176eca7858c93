// Outside agents: OAuth for MCP clients. The addresses below /oauth and /.well-known are those of the RFCs, with their
// forms of requests and errors.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "identity/identity.h"
#include "net/http/url.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct AgentRequest {
    static constexpr bool is_query = true;
    std::optional<std::string> client_id, redirect_uri, response_type, code_challenge, code_challenge_method, scope,
        state, resource;
    static constexpr Pack fields{
        Field{"client_id", &AgentRequest::client_id, ""},
        Field{"redirect_uri", &AgentRequest::redirect_uri, ""},
        Field{"response_type", &AgentRequest::response_type, ""},
        Field{"code_challenge", &AgentRequest::code_challenge, ""},
        Field{"code_challenge_method", &AgentRequest::code_challenge_method, ""},
        Field{"scope", &AgentRequest::scope, ""},
        Field{"state", &AgentRequest::state, ""},
        Field{"resource", &AgentRequest::resource, ""},
    };
    identity::AuthorizationRequest whole() const {
        identity::AuthorizationRequest request;
        request.client_id = client_id.value_or("");
        request.redirect_uri = redirect_uri.value_or("");
        request.response_type = response_type.value_or("");
        request.code_challenge = code_challenge.value_or("");
        request.code_challenge_method = code_challenge_method.value_or("");
        request.scope.value = scope.value_or("");
        request.state.value = state.value_or("");
        request.resource.value = resource.value_or("");
        return request;
    }
};

struct DecideAgent {
    identity::AuthorizationRequest request;
    std::string space;
    bool allow = false;
    static constexpr Pack fields{
        Field{"request", &DecideAgent::request, "As the agent sent the browser here."},
        Field{"space", &DecideAgent::space, "Id or name of the space that the agent can use."},
        Field{"allow", &DecideAgent::allow, "false: the agent gets the error access_denied."},
    };
};

struct AgentDecision {
    std::string redirect_to;
    static constexpr Pack fields{
        Field{"redirect_to", &AgentDecision::redirect_to, "Where the browser goes now."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

net::Response oauth_response(identity::OAuthResponse made) {
    net::Response response = net::json_response(made.status, json::print(std::move(made.body)));
    response.set_header("Cache-Control", "no-store");
    if (made.status == 401) response.set_header("WWW-Authenticate", "Bearer realm=\"hone\"");
    return response;
}

// A parameter that comes twice is an error (RFC 6749, 3.1): which one counts must not depend on who reads.
Result<identity::FormFields> form_of(std::string_view body) {
    identity::FormFields form;
    for (auto& [name, value] : TRY(net::parse_query(body)))
        if (!form.emplace(name, std::move(value)).second) return invalid("the parameter " + name + " comes twice");
    return form;
}

net::Response malformed(const Error& error) {
    return oauth_response({400, {{"error", "invalid_request"}, {"error_description", error.message}}});
}

} // namespace

Result<net::Response> get_authorization_server(const Call& call) {
    return net::json_response(200, json::print(TRY(call.services.identities.agents.authorization_server())));
}

Result<net::Response> get_protected_resource(const Call& call) {
    return net::json_response(200, json::print(TRY(call.services.identities.agents.protected_resource())));
}

Result<net::Response> register_agent(const Call& call, const RawBody& body) {
    const auto metadata = json::parse(body.bytes);
    if (!metadata.ok())
        return oauth_response({400, {{"error", "invalid_client_metadata"}, {"error_description", "not JSON"}}});
    return oauth_response(TRY(call.services.identities.agents.register_client(call.caller, metadata.value())));
}

Result<net::Response> give_agent_token(const Call& call, const RawBody& body) {
    const auto form = form_of(body.bytes);
    if (!form.ok()) return malformed(form.error());
    return oauth_response(TRY(call.services.identities.agents.token(call.caller, form.value())));
}

Result<net::Response> revoke_agent_token(const Call& call, const RawBody& body) {
    const auto form = form_of(body.bytes);
    if (!form.ok()) return malformed(form.error());
    if (!form.value().contains("token")) return malformed(invalid("the parameter token is missing"));
    TRY(call.services.identities.agents.revoke_token(call.caller, form.value()));
    return net::json_response(200, "{}");
}

Result<One<identity::ConsentView>> describe_agent_request(const Call& call, const AgentRequest& query) {
    return One<identity::ConsentView>{TRY(call.services.identities.agents.describe(call.caller, query.whole()))};
}

Result<One<AgentDecision>> decide_agent_request(const Call& call, const DecideAgent& body) {
    return One<AgentDecision>{
        {TRY(call.services.identities.agents.decide(call.caller, body.space, body.request, body.allow))}};
}

Result<List<identity::AgentGrant>> list_agent_grants(const Call& call) {
    return List<identity::AgentGrant>{TRY(call.services.identities.agents.grants(call.caller)), {}};
}

Result<Nothing> end_agent_grant(const Call& call) {
    const auto id = TRY(id_in_path<identity::AgentGrantTag>(call, "grant"));
    TRY(call.services.identities.agents.remove_grant(call.caller, id));
    return Nothing{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t oauth_body_limit = 16 << 10;

const Route agents_table[] = {
    route<get_authorization_server>("GET", "/.well-known/oauth-authorization-server", guest,
                                    "Metadata of the authorization server for outside agents (RFC 8414).")
        .raw("application/json"),
    route<get_protected_resource>("GET", "/.well-known/oauth-protected-resource", guest,
                                  "Metadata of the MCP endpoint (RFC 9728).")
        .raw("application/json"),
    route<get_protected_resource>("GET", "/.well-known/oauth-protected-resource/mcp", guest,
                                  "The same, at the address that clients derive from /mcp.")
        .raw("application/json"),
    route<register_agent>("POST", "/oauth/register", guest, "Register an outside agent (RFC 7591).")
        .takes("application/json")
        .raw("application/json")
        .with_body_limit(oauth_body_limit)
        .fails_as(ErrorForm::oauth)
        .responds(201),
    route<give_agent_token>("POST", "/oauth/token", guest,
                            "Exchange a code with its PKCE verifier, or a refresh token, for tokens.")
        .takes("application/x-www-form-urlencoded")
        .raw("application/json")
        .with_body_limit(oauth_body_limit)
        .fails_as(ErrorForm::oauth),
    route<revoke_agent_token>("POST", "/oauth/revoke", guest, "End the grant of a token (RFC 7009).")
        .takes("application/x-www-form-urlencoded")
        .raw("application/json")
        .with_body_limit(oauth_body_limit)
        .fails_as(ErrorForm::oauth),
    route<describe_agent_request>("GET", "/v1/agent_request", login,
                                  "What an outside agent requests, for the page on which a person decides."),
    route<decide_agent_request>("POST", "/v1/agent_request", login, "Let an outside agent in, or deny it.").secret(),
    route<list_agent_grants>("GET", "/v1/me/agents", login, "Outside agents that the caller let in."),
    route<end_agent_grant>("DELETE", "/v1/me/agents/{grant}", login, "End the access of an outside agent."),
};

} // namespace

std::span<const Route> agents_routes() {
    return agents_table;
}

} // namespace hone::api
