// Example requests of phoenix_span_queries.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_span_queries_examples[] = {
    {.route = "POST /v1/spans",
     .query = "space={space}&project_name={project}",
     .body = R"({"queries":[{"filter":{"condition":"span_kind == 'LLM'"}}],"limit":10})",
     .allowed = 503},
};

} // namespace hone::api::testing
