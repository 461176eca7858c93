// Example requests of artifacts.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example artifacts_examples[] = {
    {"GET /v1/artifacts", "space={space}"},
    {"GET /v1/artifacts/{artifact}"},
    {"GET /v1/artifacts/{artifact}/content"},
    {"POST /v1/artifacts/{artifact}/review", "", R"({"decision":"rejected"})"},
};

} // namespace hone::api::testing
