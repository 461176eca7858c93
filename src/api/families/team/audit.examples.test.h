// Example requests of audit.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example audit_examples[] = {
    {"GET /v1/audit", "space={space}"},
    {"GET /v1/audit/export", "space={space}"},
    {"GET /v1/audit/verify"},
};

} // namespace hone::api::testing
