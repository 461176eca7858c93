// Example requests of queues.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

// There is no span store here, so queues have no items.
inline constexpr Example queues_examples[] = {
    {"GET /v1/annotation_queues", "space={space}"},
    {"POST /v1/annotation_queues", "space={space}",
     R"({"name":"tickets {unique}","project":"{project}","configs":["{annotation_config}"]})"},
    {"GET /v1/annotation_queues/{queue}"},
    {"PATCH /v1/annotation_queues/{queue}", "", R"({"reviewers_per_item":3})"},
    {.route = "DELETE /v1/annotation_queues/{queue}", .allowed = 204},
    {"GET /v1/annotation_queues/{queue}/items"},
    {.route = "POST /v1/annotation_queues/{queue}/items", .body = R"({"target_ids":["{trace}"]})", .allowed = 503},
    {.route = "POST /v1/annotation_queues/{queue}/fill", .body = "{}", .allowed = 503},
    {.route = "POST /v1/annotation_queues/{queue}/next", .no_service_keys = true, .not_for_runs = true},
    {.route = "POST /v1/annotation_queues/{queue}/undo", .no_service_keys = true, .not_for_runs = true, .allowed = 404},
    {"GET /v1/annotation_queues/{queue}/agreement"},
    {.route = "GET /v1/annotation_queues/{queue}/items/{queue_item}", .allowed = 404},
    {.route = "POST /v1/annotation_queues/{queue}/items/{queue_item}/evals",
     .body = R"({"evals":[{"config":"x","label":"y"}]})",
     .no_service_keys = true,
     .not_for_runs = true,
     .allowed = 400},
    {.route = "POST /v1/annotation_queues/{queue}/items/{queue_item}/skip",
     .body = "{}",
     .no_service_keys = true,
     .not_for_runs = true,
     .allowed = 404},
};

} // namespace hone::api::testing
