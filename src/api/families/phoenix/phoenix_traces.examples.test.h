// Example requests of phoenix_traces.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_traces_examples[] = {
    {.route = "GET /v1/projects/{project}/traces", .allowed = 503},
    {.route = "GET /v1/projects/{project}/sessions", .allowed = 503},
    {.route = "GET /v1/sessions/{session}", .query = "space={space}", .allowed = 503},
    {.route = "DELETE /v1/sessions/{session}", .query = "space={space}", .allowed = 503},
    {.route = "POST /v1/sessions/delete",
     .query = "space={space}",
     .body = R"({"session_identifiers":["chat-1"]})",
     .allowed = 503},
    {.route = "DELETE /v1/traces/{trace}", .query = "space={space}", .allowed = 503},
    {.route = "DELETE /v1/spans/{span}", .query = "space={space}", .allowed = 503},
};

} // namespace hone::api::testing
