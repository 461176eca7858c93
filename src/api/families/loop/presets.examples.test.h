// Example requests of presets.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example presets_examples[] = {
    {"GET /v1/presets", "space={space}"},
    {"POST /v1/presets", "space={space}",
     R"({"name":"preset {unique}","settings":{"harness":"command","command":["/bin/cat"]}})"},
    {"GET /v1/presets/{preset}", "space={space}"},
    {"PATCH /v1/presets/{preset}", "space={space}", R"({"description":"changed"})"},
    {.route = "DELETE /v1/presets/{preset}", .query = "space={space}", .allowed = 204},
    {"GET /v1/presets/{preset}/versions", "space={space}"},
    {"GET /v1/harnesses"},
    {"GET /v1/providers", "space={space}"},
    {"GET /v1/harness_installations"},
    // Nothing can be isolated here.
    {.route = "POST /v1/harness_installations", .body = R"({"harness":"codex"})", .allowed = 503},
    {.route = "DELETE /v1/harness_installations/{harness}", .allowed = 404},
};

} // namespace hone::api::testing
