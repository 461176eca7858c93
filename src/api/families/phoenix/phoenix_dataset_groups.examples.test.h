// Example requests of phoenix_dataset_groups.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_dataset_groups_examples[] = {
    {"GET /v1/datasets/{dataset}/splits", "space={space}"},
    {.route = "POST /v1/datasets/{dataset}/splits",
     .query = "space={space}",
     .body = R"({"name":"split {unique}"})",
     .allowed = 201},
    {"PATCH /v1/datasets/{dataset}/splits/{split}", "space={space}", R"({"description":"changed"})"},
    {.route = "DELETE /v1/datasets/{dataset}/splits/{split}", .query = "space={space}", .allowed = 204},
    {"GET /v1/dataset_labels", "space={space}"},
    {.route = "POST /v1/dataset_labels",
     .query = "space={space}",
     .body = R"({"name":"label {unique}","color":"#00ff00"})",
     .allowed = 201},
    {"GET /v1/dataset_labels/{label}"},
    {"PATCH /v1/dataset_labels/{label}", "", R"({"color":"#ff0000"})"},
    {.route = "DELETE /v1/dataset_labels/{label}", .allowed = 204},
    {"GET /v1/datasets/{dataset}/labels", "space={space}"},
    {"PUT /v1/datasets/{dataset}/labels", "space={space}", R"({"dataset_label_ids":[]})"},
    {"PUT /v1/datasets/{dataset}/labels/{label}", "space={space}"},
    {.route = "DELETE /v1/datasets/{dataset}/labels/{used_label}", .query = "space={space}", .allowed = 204},
};

} // namespace hone::api::testing
