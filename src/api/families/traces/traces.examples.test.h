// Example requests of traces.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example traces_examples[] = {
    // These tests have no span engine: callers who may read get 503.
    {.route = "POST /v1/traces", .query = "space={space}", .body = R"({"resourceSpans":[]})"},
    {.route = "GET /v1/projects/{project}/trace_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/span_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/session_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces/{trace}/skeleton", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces/{trace}/outline", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces/{trace}/spans/{span}", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/traces/{trace}", .allowed = 503},
    {.route = "POST /v1/projects/{project}/delete_spans", .body = R"({"filter":"status = error"})", .allowed = 503},
};

} // namespace hone::api::testing
