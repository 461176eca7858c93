// Example requests of evaluators.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example evaluators_examples[] = {
    {"GET /v1/evaluators", "space={space}"},
    {"POST /v1/evaluators", "space={space}",
     R"({"name":"rule {unique}","project":"{project}","condition":"status = error"})"},
    {.route = "POST /v1/evaluator_preview",
     .query = "space={space}",
     .body = R"({"name":"rule","project":"{project}","condition":"status = error"})",
     .allowed = 503},
    {"GET /v1/evaluators/{evaluator}"},
    {"GET /v1/evaluators/{evaluator}/versions"},
    // It is a rule, which has no code to run.
    {.route = "POST /v1/evaluators/{evaluator}/test", .body = R"({"documents":[{}]})", .allowed = 400},
    {"GET /v1/evaluator_builtins"},
    // It is a rule, which is not remote.
    {.route = "POST /v1/evaluators/{evaluator}/signing_secret", .allowed = 400},
    {"PATCH /v1/evaluators/{evaluator}", "", R"({"enabled":false})"},
    {.route = "DELETE /v1/evaluators/{evaluator}", .allowed = 204},
};

} // namespace hone::api::testing
