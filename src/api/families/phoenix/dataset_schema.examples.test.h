// Example requests of dataset_schema.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example dataset_schema_examples[] = {
    {"GET /v1/datasets/{dataset}/schema", "space={space}"},
    {"PUT /v1/datasets/{dataset}/schema", "space={space}", R"({"schema":{"input":{"type":"object"}}})"},
};

} // namespace hone::api::testing
