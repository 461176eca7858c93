// Example requests of notices.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example notices_examples[] = {
    {"GET /v1/notices", "space={space}"},
    {"GET /v1/notices/unread", "space={space}"},
    {"GET /v1/notices/settings", "space={space}"},
    {"PUT /v1/notices/settings", "space={space}", R"({"kinds":["monitor_triggered"]})"},
    {.route = "POST /v1/notices/read", .query = "space={space}", .body = "{}", .not_for_runs = true},
};

} // namespace hone::api::testing
