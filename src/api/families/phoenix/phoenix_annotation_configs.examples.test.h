// Example requests of phoenix_annotation_configs.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_annotation_configs_examples[] = {
    {"GET /v1/annotation_configs", "space={space}"},
    {"POST /v1/annotation_configs", "space={space}",
     R"({"name":"tone {unique}","type":"CATEGORICAL","optimization_direction":"MAXIMIZE","values":[{"label":"kind","score":1}]})"},
    {"GET /v1/annotation_configs/{annotation_config}", "space={space}"},
    {"PUT /v1/annotation_configs/{annotation_config}", "space={space}",
     R"({"name":"tone {unique}","type":"FREEFORM"})"},
    {"DELETE /v1/annotation_configs/{annotation_config}", "space={space}"},
    {"GET /v1/projects/{project}/annotation_configs", "space={space}"},
    {"PUT /v1/projects/{project}/annotation_configs", "space={space}", R"({"annotation_config_ids":[]})"},
    {"PUT /v1/projects/{project}/annotation_configs/{annotation_config}", "space={space}"},
    {.route = "DELETE /v1/projects/{project}/annotation_configs/{annotation_config}",
     .query = "space={space}",
     .allowed = 204},
};

} // namespace hone::api::testing
