// The route table.
#pragma once

#include "api/route.h"

#include <span>

namespace hone::api {

// Of one area each, in <area>_routes.cpp: files of their own, because each row instantiates its whole handling.
std::span<const Route> access_routes();
std::span<const Route> trace_routes();
std::span<const Route> phoenix_routes();
std::span<const Route> run_routes();
std::span<const Route> skill_routes();
std::span<const Route> automation_routes();
std::span<const Route> monitor_routes();
std::span<const Route> signal_routes();
std::span<const Route> forge_routes();
std::span<const Route> review_routes();
// All of them.
std::span<const Route> routes();

// docs/openapi.json, GET /openapi.json
json::Value openapi(std::string_view version);
// web/src/api_types.ts
std::string typescript_types();
// docs/permissions.md
std::string permissions_markdown();

} // namespace hone::api
