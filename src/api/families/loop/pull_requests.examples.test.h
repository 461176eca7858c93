// Example requests of pull_requests.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example pull_requests_examples[] = {
    {"GET /v1/pull_requests", "space={space}"},
    {"GET /v1/pull_requests/{pull_request}"},
    {"POST /v1/pull_requests/{pull_request}/sync"},
};

} // namespace hone::api::testing
