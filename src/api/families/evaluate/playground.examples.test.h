// Example requests of playground.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example playground_examples[] = {
    // The API's own tests have no gateway.
    {"POST /v1/playground/run", "space={space}", R"({"prompt":"greeting"})", access::Permission::dataset_read, 403,
     false, false, false, 503},
    {"POST /v1/playground/estimate", "space={space}", R"({"call":{"prompt":"greeting"}})",
     access::Permission::dataset_read, 403, false, false, false, 503},
    {.route = "POST /v1/model_lists",
     .query = "space={space}",
     .body = R"({"variables":{"PROTOCOL":"openai"}})",
     .also = access::Permission::skill_write,
     .allowed = 503},
    {"GET /v1/protected_prompt_tags", "space={space}"},
    {"POST /v1/protected_prompt_tags", "space={space}", R"({"name":"tag-{unique}"})"},
    {"DELETE /v1/protected_prompt_tags/{protected_tag}", "space={space}"},
};

} // namespace hone::api::testing
