// Example requests of replays.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example replays_examples[] = {
    // No replay was started.
    {.route = "GET /v1/reviews/{branch}/replay", .allowed = 404},
    // The preset of the branch names no command.
    {.route = "POST /v1/reviews/{branch}/replay", .body = "{}", .not_for_runs = true, .allowed = 400},
    {.route = "POST /v1/reviews/{branch}/replay/stop", .not_for_runs = true, .allowed = 404},
};

} // namespace hone::api::testing
