// Example requests of trace_settings.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example trace_settings_examples[] = {
    {.route = "GET /v1/projects/{project}/disk", .allowed = 503},
    {.route = "GET /v1/projects/{project}/trace_settings"},
    {.route = "PUT /v1/projects/{project}/trace_settings", .body = R"({"spans_per_day":5})"},
    {.route = "GET /v1/spaces/{space}/trace_settings"},
    {.route = "PUT /v1/spaces/{space}/trace_settings", .body = R"({"bytes_per_day":5})"},
};

} // namespace hone::api::testing
