// Example requests of server.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example server_examples[] = {
    {"GET /v1/server"}, {"GET /v1/licenses"}, {"GET /v1/storage/spaces"}, {"GET /v1/backup"}, {"GET /openapi.json"},
};

} // namespace hone::api::testing
