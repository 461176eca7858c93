// Example requests of calibrations.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example calibrations_examples[] = {
    {"GET /v1/evaluators/{evaluator}/calibrations"},
    // The evaluator of these tests is a rule.
    {.route = "POST /v1/evaluators/{evaluator}/calibrations",
     .body = R"({"project":"{project}","config":"correct"})",
     .not_for_runs = true,
     .allowed = 400},
    {.route = "GET /v1/evaluators/{evaluator}/calibrations/{calibration}", .allowed = 404},
    {.route = "GET /v1/evaluators/{evaluator}/calibrations/{calibration}/items", .allowed = 404},
    {.route = "DELETE /v1/evaluators/{evaluator}/calibrations/{calibration}", .allowed = 404},
    {.route = "GET /v1/evaluators/{evaluator}/corrected_rate", .query = "project={project}", .allowed = 404},
};

} // namespace hone::api::testing
