// Example requests of experiment_tasks.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example experiment_tasks_examples[] = {
    {"POST /v1/experiments/{experiment}/start", "", R"({"task":{"kind":"command","command":"cat"}})"},
    {"GET /v1/experiments/{started_experiment}/task"},
    {"POST /v1/experiments/{started_experiment}/stop"},
    {"POST /v1/experiments/{stopped_experiment}/resume"},
    {"GET /v1/experiments/{started_experiment}/replays", "not_replayed=true"},
};

} // namespace hone::api::testing
