// Example requests of egress.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example egress_examples[] = {
    {"GET /v1/broker/explain", "space={space}&url=https%3A%2F%2Fapi.github.com%2Frepos%2Fa%2Fb&skill={skill}"},
};

} // namespace hone::api::testing
