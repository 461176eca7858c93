// Example requests of eval_tasks.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example eval_tasks_examples[] = {
    {"GET /v1/eval_tasks", "space={space}"},
    {"POST /v1/eval_tasks", "space={space}",
     R"({"project":"{project}","evaluator":"{code_evaluator}","target":"trace"})"},
    {"GET /v1/eval_tasks/{eval_task}"},
    {"PATCH /v1/eval_tasks/{eval_task}", "", R"({"enabled":false})"},
    {.route = "DELETE /v1/eval_tasks/{eval_task}", .allowed = 204},
    {"GET /v1/eval_tasks/{eval_task}/jobs", "state=failed"},
    {"POST /v1/eval_tasks/{eval_task}/retry", "", R"({"reason":"provider"})"},
    {"GET /v1/eval_tasks/{eval_task}/funnel", "hours=2"},
    {.route = "POST /v1/eval_tasks/{eval_task}/estimate", .body = R"({"from":"2026-01-01T00:00:00Z"})", .allowed = 503},
    {"GET /v1/eval_tasks/{eval_task}/backfills"},
    {.route = "POST /v1/eval_tasks/{eval_task}/backfills",
     .body = R"({"from":"2026-01-01T00:00:00Z"})",
     .allowed = 503},
    {.route = "POST /v1/eval_tasks/{eval_task}/backfills/{eval_backfill}/cancel", .allowed = 404},
};

} // namespace hone::api::testing
