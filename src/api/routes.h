// The route table.
#pragma once

#include "api/route.h"

#include <span>

namespace hone::api {

std::span<const Route> routes();

// docs/openapi.json, GET /openapi.json
json::Value openapi(std::string_view version);
// web/src/api_types.ts
std::string typescript_types();
// docs/permissions.md
std::string permissions_markdown();

} // namespace hone::api
