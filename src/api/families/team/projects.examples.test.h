// Example requests of projects.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example projects_examples[] = {
    {"GET /v1/projects", "space={space}"},
    {"POST /v1/projects", "space={space}", R"({"name":"project {unique}"})"},
    {"GET /v1/projects/{project}"},
    {"PUT /v1/projects/{project}", "", R"({"description":"changed"})"},
    {"PATCH /v1/projects/{project}", "", R"({"retention_days":7})"},
    {.route = "DELETE /v1/projects/{project}", .allowed = 204},
    {"GET /v1/projects/{project}/bindings"},
    {"PUT /v1/projects/{project}/bindings/{principal}", "", R"({"role":"viewer"})"},
    {"DELETE /v1/projects/{project}/bindings/{bound}"},
};

} // namespace hone::api::testing
