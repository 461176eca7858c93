// Example requests of transfer.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example transfer_examples[] = {
    {.route = "GET /v1/projects/{project}/export", .allowed = 503},
    {.route = "POST /v1/projects/{project}/exports", .allowed = 503},
    {"GET /v1/projects/{project}/exports"},
    {.route = "GET /v1/projects/{project}/exports/{export}/content", .allowed = 404},
    {.route = "DELETE /v1/projects/{project}/exports/{export}", .allowed = 404},
    {.route = "POST /v1/projects/{project}/import", .body = "{}", .allowed = 400},
};

} // namespace hone::api::testing
