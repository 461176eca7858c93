// Example requests of monitors.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example monitors_examples[] = {
    {"GET /v1/monitors", "space={space}"},
    {"POST /v1/monitors", "space={space}",
     R"({"name":"monitor {unique}","project":"{project}","settings":{"metric":"error_rate",)"
     R"("condition":{"type":"threshold","threshold":0.1}}})"},
    {"GET /v1/monitors/{monitor}"},
    {"PATCH /v1/monitors/{monitor}", "", R"({"description":"changed"})"},
    {.route = "DELETE /v1/monitors/{monitor}", .allowed = 204},
    {"GET /v1/monitors/{monitor}/history"},
    {"GET /v1/monitors/{monitor}/chart"},
    {"POST /v1/monitors/{monitor}/mute", "", R"({"seconds":60,"reason":"deploy"})"},
    {"POST /v1/monitors/{monitor}/unmute"},
    {"POST /v1/monitors/{monitor}/evaluate"},
    // Nothing stores spans in these tests.
    {.route = "POST /v1/monitor_preview",
     .query = "space={space}",
     .body = R"({"project":"{project}","settings":{"metric":"count","condition":{"type":"absence"}}})",
     .allowed = 503},
};

} // namespace hone::api::testing
