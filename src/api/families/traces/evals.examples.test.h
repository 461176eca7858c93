// Example requests of evals.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example evals_examples[] = {
    {.route = "POST /v1/projects/{project}/evals",
     .body = R"({"data":[{"target_id":"00f067aa0ba902b7","name":"correct","label":"yes"}]})",
     .allowed = 503},
    {.route = "GET /v1/projects/{project}/evals", .allowed = 503},
    {.route = "GET /v1/projects/{project}/eval_names", .allowed = 503},
    {.route = "GET /v1/projects/{project}/eval_history", .allowed = 503},
};

} // namespace hone::api::testing
