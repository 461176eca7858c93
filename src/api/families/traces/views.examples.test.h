// Example requests of views.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example views_examples[] = {
    {"GET /v1/projects/{project}/views"},
    {"PUT /v1/projects/{project}/views/{view}", "", R"({"query":"range=24h"})"},
    {.route = "DELETE /v1/projects/{project}/views/{view}", .allowed = 204},
};

} // namespace hone::api::testing
