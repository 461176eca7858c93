// Example requests of doctor.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example doctor_examples[] = {
    {.route = "GET /v1/projects/{project}/trace_diagnosis", .allowed = 503},
};

} // namespace hone::api::testing
