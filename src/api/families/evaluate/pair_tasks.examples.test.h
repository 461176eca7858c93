// Example requests of pair_tasks.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example pair_tasks_examples[] = {
    // The evaluator of these tests is a rule.
    {.route = "POST /v1/pair_tasks",
     .body = R"({"base":"{experiment}","other":"{started_experiment}","evaluator":"{evaluator}"})",
     .allowed = 400},
    {"GET /v1/pair_tasks", "experiment={experiment}"},
    {.route = "GET /v1/pair_tasks/{pair_task}"},
    {.route = "POST /v1/pair_tasks/{pair_task}/stop"},
    {.route = "POST /v1/pair_tasks/{pair_task}/resume", .allowed = 409}, // it runs
    {.route = "DELETE /v1/pair_tasks/{pair_task}", .allowed = 204},
    {.route = "GET /v1/pair_tasks/{pair_task}/pairs", .query = "winner=base"},
    {.route = "POST /v1/pair_tasks/{pair_task}/labels",
     .body = R"({"example":"example_01J0000000000000000000000A","winner":"other"})",
     .allowed = 404},
};

} // namespace hone::api::testing
