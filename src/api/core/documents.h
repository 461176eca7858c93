// Documents that are made from the route table; `hone print` prints them. Any thread.
#pragma once

#include "json/json.h"

#include <string>
#include <string_view>

namespace hone::api {

// docs/openapi.json, GET /openapi.json
json::Value openapi(std::string_view version);
// web/src/api_types.ts
std::string typescript_types();
// docs/permissions.md
std::string permissions_markdown();

} // namespace hone::api
