// Example requests of pull_requests.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example pull_requests_examples[] = {
    {"GET /v1/pull_requests", "space={space}"},
    {"GET /v1/pull_requests/{pull_request}"},
    {"POST /v1/pull_requests/{pull_request}/sync"},
    {"GET /v1/pull_requests/{pull_request}/events"},
    // No forge can be reached in these tests.
    {.route = "GET /v1/pull_requests/{pull_request}/comments", .allowed = 503},
    {.route = "GET /v1/pull_requests/{pull_request}/checks/{check}/log", .allowed = 503},
    {.route = "POST /v1/pull_requests/{pull_request}/send_checks", .allowed = 409},
    {.route = "POST /v1/pull_requests/{pull_request}/take_over", .allowed = 409},
    {"POST /v1/pull_requests/{pull_request}/cancel"},
    {"POST /v1/pull_requests/{pull_request}/abandon"},
};

} // namespace hone::api::testing
