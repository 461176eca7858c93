// Example requests of phoenix_dataset_files.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_dataset_files_examples[] = {
    {"POST /v1/datasets/upload", "space={space}",
     R"({"action":"create","name":"dataset {unique}","inputs":[{"q":"hi"}]})"},
    {.route = "POST /v1/datasets/import", .query = "space={space}&name=d-{unique}", .allowed = 422},
    {"GET /v1/datasets/{dataset}/csv", "space={space}"},
    {"GET /v1/datasets/{dataset}/jsonl", "space={space}"},
    {"GET /v1/datasets/{dataset}/jsonl/openai_ft", "space={space}"},
    {"GET /v1/datasets/{dataset}/jsonl/openai_evals", "space={space}"},
};

} // namespace hone::api::testing
