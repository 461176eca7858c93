#include "telemetry/engine/recent_spans.h"

#include <doctest/doctest.h>

using namespace hone::telemetry;

namespace {

constexpr int64_t recent_second = 1'000'000'000;

SpanRowHead recent_row(std::string_view project, int64_t second) {
    SpanRowHead head;
    head.project = project;
    head.start_ns = second * recent_second + 5;
    return head;
}

} // namespace

TEST_CASE("the time that holds the newest spans of a project is known to the second") {
    RecentSpans recent;
    std::vector<SpanRowHead> rows;
    for (int64_t second = 100; second < 200; ++second)
        for (int i = 0; i < 10; ++i) rows.push_back(recent_row("dense", second));
    rows.push_back(recent_row("sparse", 150));
    recent.add(rows);
    CHECK(recent.start_of_newest("dense", INT64_MAX, 10) == 199 * recent_second);
    CHECK(recent.start_of_newest("dense", INT64_MAX, 11) == 198 * recent_second);
    CHECK(recent.start_of_newest("dense", 150 * recent_second, 20) == 148 * recent_second);
    CHECK(!recent.start_of_newest("dense", INT64_MAX, 1001));
    CHECK(recent.start_of_newest("sparse", INT64_MAX, 1) == 150 * recent_second);
    CHECK(!recent.start_of_newest("other", INT64_MAX, 1));
}

TEST_CASE("what is known of the newest spans takes bounded memory, and a project is as dense before it") {
    RecentSpans recent;
    std::vector<SpanRowHead> rows;
    for (int64_t second = 0; second < 5000; ++second) rows.push_back(recent_row("long", second));
    recent.add(rows);
    CHECK(recent.start_of_newest("long", INT64_MAX, 1000) == 4000 * recent_second);
    CHECK(recent.start_of_newest("long", INT64_MAX, 1001) == 3998 * recent_second);
    CHECK(recent.start_of_newest("long", 2000 * recent_second, 500) == 1499 * recent_second);
    CHECK(!recent.start_of_newest("long", INT64_MAX, 6000)); // before the first second of all
    CHECK(!recent.start_of_newest("long", 0, 1));
    CHECK(!recent.start_of_newest("long", INT64_MAX, INT64_MAX));
}
