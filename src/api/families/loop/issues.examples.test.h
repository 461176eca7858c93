// Example requests of issues.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example issues_examples[] = {
    {"GET /v1/projects/{project}/signal"},
    {"PUT /v1/projects/{project}/signal", "", R"({"enabled":true,"consent":true})"},
    {.route = "POST /v1/projects/{project}/signal/scan", .allowed = 503},
    {.route = "POST /v1/projects/{project}/signal/read", .allowed = 409},
    {"GET /v1/projects/{project}/signal/scans"},
    {"GET /v1/projects/{project}/issue_volume"},
    {"GET /v1/issues", "space={space}"},
    {"POST /v1/issues", "", R"({"project":"{project}","title":"it fails {unique}","explanation":"often"})"},
    {"GET /v1/issues/{issue}"},
    {"PATCH /v1/issues/{issue}", "", R"({"status":"resolved","reason":"fixed"})"},
    {"POST /v1/issues/{issue}/merge", "", R"({"issue":"{other_issue}"})"},
    {.route = "POST /v1/issues/{issue}/split", .body = R"({"fingerprint":"{fingerprint}"})", .allowed = 409},
    {"GET /v1/issues/{issue}/comments"},
    {"POST /v1/issues/{issue}/comments", "", R"({"text":"known"})"},
    {"GET /v1/issues/{issue}/history"},
    {"GET /v1/issues/{issue}/volume"},
    {"POST /v1/issues/{issue}/investigate"},
    {.route = "POST /v1/issues/{issue}/fix", .allowed = 409},
    {.route = "POST /v1/issues/{issue}/monitor", .allowed = 503},
    {.route = "POST /v1/issues/{issue}/evaluator", .allowed = 409},
    {"GET /v1/issues/{issue}/forge_issue"},
    {"POST /v1/issues/{issue}/forge_issue", "", R"({"url":"https://forge.example/shop/issues/7"})"},
    {.route = "DELETE /v1/issues/{issue}/forge_issue", .allowed = 409},
};

} // namespace hone::api::testing
