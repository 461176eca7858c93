// Example requests of sign_on.cpp, one per route. Providers of the tests cannot be reached: `public_url` is not set.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example sign_on_examples[] = {
    {"GET /v1/login_options"},
    {.route = "GET /v1/login/{provider}/start", .allowed = 503},
    {.route = "GET /v1/login/{provider}/callback", .query = "code=a&state=b&session_state=c", .allowed = 400},
    {.route = "POST /v1/login/{provider}/logout", .body = "logout_token=a", .allowed = 503},
    {.route = "GET /v1/me/sign_on/{provider}/start", .people_only = true, .allowed = 503},
    {.route = "GET /v1/me/identities", .people_only = true},
    {.route = "DELETE /v1/me/identities",
     .query = "issuer=https://id.example.com&subject=1",
     .people_only = true,
     .allowed = 404},
    {.route = "GET /v1/me/second_factor", .people_only = true},
    {.route = "POST /v1/me/second_factor",
     .body = R"({"password":"not the password"})",
     .people_only = true,
     .allowed = 403},
    {.route = "POST /v1/me/second_factor/confirm", .body = R"({"code":"wrong"})", .people_only = true, .allowed = 403},
    {.route = "POST /v1/me/second_factor/remove",
     .body = R"({"password":"correct horse battery","code":"1"})",
     .people_only = true,
     .allowed = 404},
    {.route = "DELETE /v1/users/{user}/second_factor", .allowed = 404},
    {"GET /v1/login_sessions"},
    {"DELETE /v1/login_sessions/{login}"},
    {"DELETE /v1/users/{user}/login_sessions"},
    {"GET /v1/identity_providers"},
    {"POST /v1/identity_providers", "",
     R"({"name":"{unique}","issuer":"https://id.example.com","client_id":"hone","client_secret":"secret"})"},
    {"GET /v1/identity_providers/{provider}"},
    {"PATCH /v1/identity_providers/{provider}", "", R"({"title":"Company"})"},
    {"DELETE /v1/identity_providers/{provider}"},
    {"POST /v1/identity_providers/{provider}/check"},
    {"GET /v1/groups"},
};

} // namespace hone::api::testing
