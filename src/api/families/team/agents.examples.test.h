// Example requests of agents.cpp, one per route. `public_url` is not set in these tests: metadata is not found.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example agents_examples[] = {
    {.route = "GET /.well-known/oauth-authorization-server", .allowed = 404},
    {.route = "GET /.well-known/oauth-protected-resource", .allowed = 404},
    {.route = "GET /.well-known/oauth-protected-resource/mcp", .allowed = 404},
    {.route = "POST /oauth/register", .body = R"({"redirect_uris":["http://127.0.0.1/x"]})", .allowed = 404},
    {.route = "POST /oauth/token", .body = "grant_type=refresh_token", .allowed = 404},
    {.route = "POST /oauth/revoke", .body = "token=none"},
    {.route = "GET /v1/agent_request", .query = "client_id=none", .people_only = true, .allowed = 404},
    {.route = "POST /v1/agent_request",
     .body =
         R"({"request":{"client_id":"none","redirect_uri":"https://x","response_type":"code","code_challenge":"x","code_challenge_method":"S256"},"space":"{space}","allow":true})",
     .people_only = true,
     .allowed = 404},
    {.route = "GET /v1/me/agents", .people_only = true},
    {.route = "DELETE /v1/me/agents/{grant}", .people_only = true, .allowed = 404},
};

} // namespace hone::api::testing
