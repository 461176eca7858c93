// Example requests of notices.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example notices_examples[] = {
    {"GET /v1/notices", "space={space}"},
    {"GET /v1/notices/unread", "space={space}"},
    {"POST /v1/notices/read", "space={space}", "{}"},
};

} // namespace hone::api::testing
