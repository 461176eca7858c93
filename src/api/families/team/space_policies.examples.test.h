// Example requests of space_policies.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example space_policies_examples[] = {
    {.route = "GET /v1/spaces/{space}/policy"},
    {.route = "PUT /v1/spaces/{space}/policy", .body = R"({"open_network":false,"hosts":["*.example.com"]})"},
    {.route = "GET /v1/spaces/{space}/managed-consent"},
    {.route = "POST /v1/spaces/{space}/managed-consent", .body = R"({"base_url":"https://api.anthropic.com"})"},
    {.route = "POST /v1/spaces/{space}/managed-consent/withdraw",
     .body = R"({"base_url":"https://other.example.com"})",
     .allowed = 404}, // there is no consent
};

} // namespace hone::api::testing
