// Example requests of spaces.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example spaces_examples[] = {
    {"GET /v1/spaces"},
    {"POST /v1/spaces", "", R"({"name":"space {unique}","description":"made by a test"})"},
    {"GET /v1/spaces/{space}"},
    {"PATCH /v1/spaces/{space}", "", R"({"description":"changed"})"},
    // Without the right confirmation the space stays: 400 for callers who may delete it.
    {.route = "DELETE /v1/spaces/{space}", .query = "confirm=something", .allowed = 400},
    {"GET /v1/spaces/{space}/members"},
    {"PATCH /v1/spaces/{space}/members/{user}", "", R"({"role":"viewer"})"},
    {.route = "DELETE /v1/spaces/{space}/members/{user}", .also = access::Permission::member_manage},
    {"GET /v1/spaces/{space}/invites"},
    {"POST /v1/spaces/{space}/invites", "", R"({"email":"{unique}@example.com","role":"viewer"})"},
    {"DELETE /v1/spaces/{space}/invites/{invite}"},
    {"GET /v1/users"},
    {"PATCH /v1/users/{user}", "", R"({"name":"Renamed"})"},
};

} // namespace hone::api::testing
