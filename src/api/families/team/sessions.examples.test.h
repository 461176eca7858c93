// Example requests of sessions.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example sessions_examples[] = {
    {"POST /v1/login", "", R"({"email":"admin@localhost","password":"correct horse battery"})"},
    {.route = "POST /v1/logout", .people_only = true},
    {"GET /v1/me"},
    {.route = "PATCH /v1/me", .body = R"({"name":"Ada Lovelace"})", .people_only = true},
    {.route = "POST /v1/me/password",
     .body = R"({"current_password":"correct horse battery","new_password":"a new long password"})",
     .people_only = true},
    {.route = "GET /v1/me/sessions", .people_only = true},
    {.route = "DELETE /v1/me/sessions/{login}", .people_only = true},
    {"POST /v1/password_resets", "", R"({"email":"{unique}@example.com"})"},
    {"GET /v1/password_resets/{reset}"},
    {"POST /v1/password_resets/{reset}", "", R"({"password":"correct horse battery"})"},
    {"POST /v1/users/{user}/password_reset"},
    {"GET /v1/invites/{token}"},
    {"POST /v1/invites/{token}/accept", "", R"({"name":"New Person","password":"correct horse battery"})"},
};

} // namespace hone::api::testing
