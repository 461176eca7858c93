// Example requests of dataset_sources.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example dataset_sources_examples[] = {
    {.route = "POST /v1/datasets/from_spans",
     .query = "space={space}",
     .body = R"({"project":"{project}","name":"dataset {unique}"})",
     .allowed = 503},
    {.route = "POST /v1/datasets/from_chat_session",
     .query = "space={space}",
     .body = R"({"project":"{project}","name":"dataset {unique}","session":"visit"})",
     .allowed = 503},
    {.route = "POST /v1/issues/{issue}/dataset", .body = R"({"name":"dataset {unique}"})", .allowed = 503},
};

} // namespace hone::api::testing
