// Example requests of tail.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example tail_examples[] = {
    {.route = "GET /v1/projects/{project}/tail"},
};

} // namespace hone::api::testing
