// Example requests of proposals.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example proposals_examples[] = {
    {"GET /v1/datasets/{dataset}/proposals"},
    {"POST /v1/datasets/{dataset}/proposals/accept", "", R"({"ids":["{proposal}"]})"},
    {"POST /v1/datasets/{dataset}/proposals/reject", "", R"({"ids":["{proposal}"]})"},
};

} // namespace hone::api::testing
