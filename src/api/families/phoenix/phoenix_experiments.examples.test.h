// Example requests of phoenix_experiments.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_experiments_examples[] = {
    {"GET /v1/experiments/compare", "base={experiment}&other={same_experiment}"},
    {"GET /v1/datasets/{dataset}/experiments", "space={space}"},
    {"POST /v1/datasets/{dataset}/experiments", "space={space}", R"({"name":"first","project_name":"ignored"})"},
    {"GET /v1/experiments/{experiment}"},
    {"PATCH /v1/experiments/{experiment}", "", R"({"name":"second"})"},
    {.route = "DELETE /v1/experiments/{experiment}", .allowed = 204},
    {"GET /v1/experiments/{experiment}/tags"},
    {"POST /v1/experiments/{experiment}/tags", "", R"({"name":"baseline"})"},
    {.route = "DELETE /v1/experiments/{experiment}/tags/{experiment_tag}", .allowed = 204},
};

} // namespace hone::api::testing
