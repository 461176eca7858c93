// Example requests of evaluate_rows.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example evaluate_rows_examples[] = {
    {"GET /v1/datasets/{dataset}/example_rows", "space={space}"},
    {"GET /v1/datasets/{dataset}/experiment_rows", "space={space}"},
    {"GET /v1/experiments/{experiment}/summary"},
    {"GET /v1/experiments/{experiment}/run_rows"},
    {"GET /v1/prompts/{prompt}/version_rows", "space={space}"},
    {"GET /v1/prompts/{prompt}/tag_history", "space={space}"},
    {"GET /v1/prompts/{prompt}/used_by", "space={space}"},
    {.route = "GET /v1/prompts/{prompt}/traces", .query = "space={space}", .allowed = 503},
};

} // namespace hone::api::testing
