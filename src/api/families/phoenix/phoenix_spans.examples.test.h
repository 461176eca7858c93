// Example requests of phoenix_spans.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_spans_examples[] = {
    {.route = "GET /v1/projects/{project}/spans", .allowed = 503},
    {.route = "POST /v1/projects/{project}/spans", .body = R"({"data":[]})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/spans/otlpv1", .allowed = 503},
};

} // namespace hone::api::testing
