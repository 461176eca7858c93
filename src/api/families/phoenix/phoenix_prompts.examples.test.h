// Example requests of phoenix_prompts.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example phoenix_prompts_examples[] = {
    {"GET /v1/prompts", "space={space}"},
    {"POST /v1/prompts", "space={space}",
     R"({"prompt":{"name":"greet-{unique}"},"version":{"model_provider":"OPENAI","model_name":"gpt-x","template_type":"CHAT","template_format":"MUSTACHE","template":{"type":"chat","messages":[]},"invocation_parameters":{"type":"openai","openai":{}}}})"},
    {"PATCH /v1/prompts/{prompt}", "space={space}", R"({"description":"changed"})"},
    {.route = "DELETE /v1/prompts/{prompt}", .query = "space={space}", .allowed = 204},
    {"GET /v1/prompts/{prompt}/versions", "space={space}"},
    {"GET /v1/prompts/{prompt}/latest", "space={space}"},
    {"GET /v1/prompts/{prompt}/tags/{prompt_tag}", "space={space}"},
    {"GET /v1/prompt_versions/{prompt_version}"},
    {"GET /v1/prompt_versions/{prompt_version}/tags"},
    {.route = "POST /v1/prompt_versions/{prompt_version}/tags", .body = R"({"name":"production"})", .allowed = 204},
    {.route = "DELETE /v1/prompt_versions/{prompt_version}/tags/{prompt_tag}", .allowed = 204},
};

} // namespace hone::api::testing
