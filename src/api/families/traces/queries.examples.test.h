// Example requests of queries.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example queries_examples[] = {
    {.route = "GET /v1/projects/{project}/series", .allowed = 503},
    {.route = "GET /v1/projects/{project}/facets", .allowed = 503},
    {.route = "GET /v1/projects/{project}/attribute_keys", .allowed = 503},
    {"GET /v1/filter_fields"},
    {.route = "POST /v1/sql", .body = R"({"project":"{project}","sql":"SELECT 1"})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/ledger"},
    {.route = "GET /v1/projects/{project}/compare", .allowed = 503},
    {.route = "GET /v1/projects/{project}/search", .query = "text=refund", .allowed = 503},
    {.route = "GET /v1/span_backlog", .not_for_runs = true},
};

} // namespace hone::api::testing
