// Example requests of mcp.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example mcp_examples[] = {
    {"POST /mcp", "", R"({"jsonrpc":"2.0","id":1,"method":"ping"})"},
    {.route = "GET /mcp", .allowed = 405},
    {.route = "DELETE /mcp", .allowed = 204},
};

} // namespace hone::api::testing
