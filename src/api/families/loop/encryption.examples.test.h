// Example requests of encryption.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example encryption_examples[] = {
    {"GET /v1/encryption"},
    {"POST /v1/encryption/rotate", "", R"({"what":"data"})"},
};

} // namespace hone::api::testing
