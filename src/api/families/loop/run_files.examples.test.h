// Example requests of run_files.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example run_files_examples[] = {
    // The tests have no stream of a body.
    {.route = "POST /v1/uploads", .query = "space={space}&path=data.csv", .body = "a,b", .allowed = 400},
    {.route = "POST /v1/runs/{run}/files", .body = R"({"uploads":["upload_none"]})", .allowed = 404},
    {.route = "GET /v1/runs/{run}/files", .allowed = 503}, // nothing is isolated here
    {.route = "GET /v1/runs/{run}/files/content", .query = "path=a", .allowed = 503},
    {.route = "GET /v1/runs/{run}/files/archive", .allowed = 503},
};

} // namespace hone::api::testing
