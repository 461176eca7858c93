// Example requests of phoenix_annotations.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_annotations_examples[] = {
    {.route = "POST /v1/span_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/trace_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/session_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/document_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/span_notes",
     .query = "space={space}",
     .body = R"({"data":{"span_id":"00f067aa0ba902b7","note":"look"}})",
     .allowed = 503},
    {.route = "POST /v1/trace_notes",
     .query = "space={space}",
     .body = R"({"data":{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","note":"look"}})",
     .allowed = 503},
    {.route = "POST /v1/session_notes",
     .query = "space={space}",
     .body = R"({"data":{"session_id":"chat-1","note":"look"}})",
     .allowed = 503},
    {.route = "GET /v1/projects/{project}/span_annotations", .query = "span_ids=00f067aa0ba902b7", .allowed = 503},
    {.route = "GET /v1/projects/{project}/trace_annotations", .query = "identifier=mine", .allowed = 503},
    {.route = "GET /v1/projects/{project}/session_annotations", .query = "session_ids=chat-1", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/span_annotations", .query = "delete_all=true", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/trace_annotations", .query = "delete_all=true", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/session_annotations", .query = "delete_all=true", .allowed = 503},
    {"GET /arize_phoenix_version"},
};

} // namespace hone::api::testing
