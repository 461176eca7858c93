// Example requests of destinations.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example destinations_examples[] = {
    {"GET /v1/destinations", "space={space}"},
    {"POST /v1/destinations", "space={space}",
     R"({"name":"destination {unique}","type":"webhook","url":"https://hooks.example.com/x"})"},
    {"GET /v1/destinations/{destination}"},
    {"PATCH /v1/destinations/{destination}", "", R"({"enabled":false})"},
    {.route = "DELETE /v1/destinations/{destination}", .allowed = 204},
    {"POST /v1/destinations/{destination}/test"},
    {"GET /v1/destinations/{destination}/deliveries"},
};

} // namespace hone::api::testing
