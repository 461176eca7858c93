// Example requests of reviews.cpp, one per route.
#pragma once

#include "api/core/example.test.h"

namespace hone::api::testing {

inline constexpr Example reviews_examples[] = {
    {"GET /v1/reviews", "space={space}"},
    {"GET /v1/review_counts", "space={space}"},
    {"GET /v1/reviews/{artifact}"},
    {"GET /v1/reviews/{branch}/diff"},
    {"GET /v1/reviews/{branch}/diff/file", "path=a.py"},
    // Nothing is isolated in these tests, so git cannot run.
    {.route = "GET /v1/reviews/{branch}/interdiff", .query = "from=1", .allowed = 503},
    {"GET /v1/reviews/{branch}/patch"},
    {"GET /v1/reviews/{artifact}/comments"},
    {"POST /v1/reviews/{branch}/comments", "", R"({"path":"a.py","line":1,"body":"why?"})"},
    {"PATCH /v1/reviews/{branch}/comments/{comment}", "", R"({"resolved":true})"},
    {"GET /v1/reviews/{branch}/viewed"},
    {"PUT /v1/reviews/{branch}/viewed", "", R"({"path":"a.py","viewed":true})"},
    {.route = "POST /v1/reviews/{branch}/approve",
     .body = R"({"comment":"good","revision":1})",
     .no_service_keys = true},
    {"POST /v1/reviews/{artifact}/reject", "", "{}"},
    {"POST /v1/reviews/{branch}/request_changes", "", R"({"comment":"another way"})"},
};

} // namespace hone::api::testing
