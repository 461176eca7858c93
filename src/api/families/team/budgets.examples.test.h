// Example requests of budgets.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example budgets_examples[] = {
    {.route = "GET /v1/spaces/{space}/budget"},
    {.route = "PUT /v1/spaces/{space}/budget", .body = R"({"tokens_per_day":5,"soft_percent":80})"},
    {.route = "GET /v1/model_usage", .query = "space={space}&group_by=model"},
};

} // namespace hone::api::testing
