// Example requests of repos.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example repos_examples[] = {
    {"GET /v1/repos", "space={space}"},
    {"POST /v1/repos", "space={space}", R"({"url":"https://git.example.com/team/{unique}"})"},
    {"GET /v1/repos/{repo}"},
    {"PATCH /v1/repos/{repo}", "", R"({"default_ref":"main"})"},
    {.route = "DELETE /v1/repos/{repo}", .allowed = 204},
    // Nothing can be isolated in these tests: there are no mirrors.
    {.route = "POST /v1/repos/{repo}/fetch", .allowed = 503},
    {.route = "POST /v1/repos/{repo}/check", .allowed = 503},
    {.route = "GET /v1/repos/{repo}/refs", .allowed = 503},
    {"GET /v1/repos/{repo}/branches"},
    {"POST /v1/repos/{repo}/hook"},
    {.route = "POST /v1/repos/{repo}/issues", .body = R"({"title":"Refunds are counted twice"})", .allowed = 503},
    // Nobody here signs.
    {.route = "POST /v1/forge_hooks/{repo}", .body = "{}", .allowed = 403},
};

} // namespace hone::api::testing
