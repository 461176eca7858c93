// Example requests of texts.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example texts_examples[] = {
    // These tests have no span engine: callers who may read get 503.
    {.route = "GET /v1/projects/{project}/trace_texts",
     .query = "trace_id=4bf92f3577b34da6a3ce929d0e0e4736",
     .allowed = 503},
    {.route = "GET /v1/projects/{project}/span_texts", .query = "span_id=a3ce929d0e0e4736", .allowed = 503},
};

} // namespace hone::api::testing
