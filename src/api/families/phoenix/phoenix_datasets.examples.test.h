// Example requests of phoenix_datasets.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_datasets_examples[] = {
    {"GET /v1/datasets", "space={space}"},
    {"GET /v1/datasets/{dataset}", "space={space}"},
    {"PATCH /v1/datasets/{dataset}", "space={space}", R"({"description":"changed"})"},
    {.route = "DELETE /v1/datasets/{dataset}", .query = "space={space}", .allowed = 204},
    {"GET /v1/datasets/{dataset}/versions", "space={space}"},
    {"GET /v1/datasets/{dataset}/examples", "space={space}"},
    {"GET /v1/datasets/{dataset}/diff", "space={space}"},
    {"POST /v1/datasets/{dataset}/restore", "space={space}", R"({"version_id":"1"})"},
};

} // namespace hone::api::testing
