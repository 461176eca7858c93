// Example requests of skills.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example skills_examples[] = {
    {"GET /v1/skill_types"},
    {"GET /v1/skills", "space={space}"},
    {"POST /v1/skills", "space={space}",
     R"({"name":"skill {unique}","type":"github","secrets":{"GH_TOKEN":"ghp_example"}})"},
    {"GET /v1/skills/{skill}"},
    {"PATCH /v1/skills/{skill}", "", R"({"description":"changed"})"},
    // Without the right confirmation the skill stays: 400 for callers who may delete it.
    {.route = "DELETE /v1/skills/{skill}", .query = "confirm=something", .allowed = 400},
    {"GET /v1/skills/{skill}/versions"},
    {.route = "POST /v1/skills/{skill}/fetch", .allowed = 400},
    {"GET /v1/skills/{skill}/folder"},
    {"PUT /v1/skills/{custom_skill}/folder", "",
     R"({"files":[{"path":"SKILL.md","text":"---\nname: tidy\ndescription: Tidies.\n---\n"}]})"},
    {"PUT /v1/skills/{skill}/secrets/{secret_name}", "", R"({"value":"ghp_other"})"},
    {"DELETE /v1/skills/{skill}/secrets/{secret_name}"},
    {"PUT /v1/skills/{installation_skill}/shares/{space}"},
    {"DELETE /v1/skills/{shared_skill}/shares/{space}"},
    {"POST /v1/skill_env", "", R"({"skill":"{skill}","text":"GH_TOKEN=ghp_x"})"},
    {"GET /v1/secrets", "space={space}"},
    {"GET /v1/reach", "space={space}&skill={skill}"},
};

} // namespace hone::api::testing
