// Example requests of roles.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example roles_examples[] = {
    {"GET /v1/spaces/{space}/roles"},
    {"POST /v1/spaces/{space}/roles", "", R"({"name":"role {unique}","permissions":["space_read"]})"},
    {"GET /v1/spaces/{space}/roles/{role}"},
    {"PATCH /v1/spaces/{space}/roles/{role}", "", R"({"description":"changed"})"},
    {"DELETE /v1/spaces/{space}/roles/{role}"},
};

} // namespace hone::api::testing
