// Example requests of logs.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example logs_examples[] = {
    {.route = "GET /v1/projects/{project}/logs", .allowed = 503},
    {.route = "GET /v1/projects/{project}/metrics", .allowed = 503},
    {.route = "GET /v1/projects/{project}/metrics/series", .query = "metric=gen_ai.client.token.usage", .allowed = 503},
};

} // namespace hone::api::testing
