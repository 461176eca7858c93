// Example requests of runs.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example runs_examples[] = {
    {"GET /v1/runs", "space={space}"},
    {"POST /v1/runs", "space={space}",
     R"({"project":"{project}","prompt":"look","settings":{"harness":"command","command":["/bin/cat"]}})"},
    {"GET /v1/runs/{run}"},
    {"GET /v1/runs/{run}/manifest"},
    {"GET /v1/runs/{run}/events"},
    {"GET /v1/runs/{run}/events/{seq}"},
    {"GET /v1/runs/{run}/egress"},
    {"POST /v1/runs/{run}/messages", "", R"({"text":"and then?"})"},
    {.route = "POST /v1/runs/{run}/interrupt", .allowed = 409}, // nothing runs here
    {"POST /v1/runs/{run}/cancel"},
    {"POST /v1/runs/{run}/rerun", "", "{}"},
    {"POST /v1/runs/{ended run}/fork", "", R"({"prompt":"another way"})"},
};

} // namespace hone::api::testing
