// Example requests of corrections.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example corrections_examples[] = {
    {.route = "PUT /v1/experiment_runs/{experiment_run}/corrections",
     .body = R"({"name":"correct","label":"pass","score":1,"explanation":"it is right"})",
     .no_service_keys = true,
     .not_for_runs = true},
};

} // namespace hone::api::testing
