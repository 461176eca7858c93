// Example requests of langsmith.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example langsmith_examples[] = {
    {.route = "GET /api/v1/info"},
    {.route = "POST /api/v1/runs/multipart",
     .query = "space={space}",
     .body = "--b\r\nContent-Disposition: form-data; name=\"attachment.1.a\"\r\n\r\nx\r\n--b--\r\n",
     .allowed = 400}, // the tests send JSON
    {.route = "POST /api/v1/runs/batch", .query = "space={space}", .body = R"({"post":[]})", .allowed = 202},
    {.route = "POST /api/v1/runs", .query = "space={space}", .body = R"({"id":"not a UUID"})", .allowed = 202},
    {.route = "PATCH /api/v1/runs/{trace}", .query = "space={space}", .body = R"({})", .allowed = 202},
    {.route = "GET /api/v1/sessions", .query = "space={space}&name=shop"},
    // These tests have no span engine: callers who may write get 503.
    {.route = "POST /api/v1/feedback",
     .query = "space={space}",
     .body = R"({"key":"good","run_id":"01a1e3de-85bb-7000-8000-02025a391419"})",
     .allowed = 503},
};

} // namespace hone::api::testing
