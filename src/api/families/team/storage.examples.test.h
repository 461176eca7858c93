// Example requests of storage.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example storage_examples[] = {
    {"GET /v1/storage"},
    {"GET /v1/storage/collections"},
    {"POST /v1/storage/collect"},
};

} // namespace hone::api::testing
