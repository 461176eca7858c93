// Example requests of records.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example records_examples[] = {
    {.route = "POST /v1/logs", .query = "space={space}", .body = R"({"resourceLogs":[]})"},
    {.route = "POST /v1/metrics", .query = "space={space}", .body = R"({"resourceMetrics":[]})"},
};

} // namespace hone::api::testing
