// Example requests of server.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example server_examples[] = {
    {"GET /v1/cluster/credential"},
    {.route = "PUT /v1/cluster/credential", .body = R"({"kubeconfig":"apiVersion: v1"})"},
    {.route = "DELETE /v1/cluster/credential", .allowed = 204},
    {"GET /v1/servers"},
    {"GET /v1/diagnosis"},
    {"GET /v1/capacity"},
    {"GET /v1/server"},
    {"GET /v1/licenses"},
    {"GET /v1/storage/spaces"},
    {"GET /v1/backup"},
    {"POST /v1/backups"},
    {"GET /v1/backups"},
    {"GET /openapi.json"},
};

} // namespace hone::api::testing
