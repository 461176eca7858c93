// Example requests of space_policies.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example space_policies_examples[] = {
    {.route = "GET /v1/spaces/{space}/policy"},
    {.route = "PUT /v1/spaces/{space}/policy", .body = R"({"open_network":false,"hosts":["*.example.com"]})"},
};

} // namespace hone::api::testing
