// Example requests of automations.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example automations_examples[] = {
    {"GET /v1/automations", "space={space}"},
    {"POST /v1/automations", "space={space}",
     R"({"name":"automation {unique}","project":"{project}","preset":"{preset}","prompt":"look",)"
     R"("trigger":{"type":"cron","schedule":"@daily"}})"},
    {"GET /v1/automations/{automation}"},
    {"PATCH /v1/automations/{automation}", "", R"({"description":"changed"})"},
    {.route = "DELETE /v1/automations/{automation}", .allowed = 204},
    {"POST /v1/automations/{automation}/run"},
    {"POST /v1/automations/{automation}/pause", "", R"({"reason":"holidays"})"},
    {"POST /v1/automations/{automation}/resume"},
    {"POST /v1/automations/{hook}/rotate_secret"},
    {"GET /v1/automations/{automation}/slots"},
    {"GET /v1/automations/{automation}/firings"},
    {"POST /v1/automation_preview", "", R"({"project":"{project}","trigger":{"type":"cron","schedule":"@daily"}})"},
    {"GET /v1/prompt_variables"},
    // Nobody signs here.
    {.route = "POST /v1/hooks/{hook}", .body = R"({"anything":1})", .allowed = 401},
    {"GET /v1/scheduler"},
};

} // namespace hone::api::testing
