// Example requests of run_records.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example run_records_examples[] = {
    {"GET /v1/runs/export", "space={space}"},
    {"PATCH /v1/runs/{run}", "", R"({"title":"renamed"})"},
    {.route = "DELETE /v1/runs/{ended run}", .allowed = 204},
    {"PATCH /v1/artifacts/{artifact}", "", R"({"kept":true})"},
    {.route = "DELETE /v1/artifacts/{artifact}", .allowed = 204},
};

} // namespace hone::api::testing
