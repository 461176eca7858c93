#include "cli/terminal/amount.h"

#include "cli/terminal/display.h"
#include "cli/terminal/sparkline.h"
#include "cli/terminal/waterfall.h"

#include <cstdint>
#include <doctest/doctest.h>

using namespace hone::cli;

TEST_CASE("durations are as short as they are clear") {
    CHECK(duration_text(0) == "0 ms");
    CHECK(duration_text(850) == "850 ns");
    CHECK(duration_text(85'000) == "85 µs");
    CHECK(duration_text(3'400'000) == "3.4 ms");
    CHECK(duration_text(340'000'000) == "340 ms");
    CHECK(duration_text(1'234'000'000) == "1.2 s");
    CHECK(duration_text(200'000'000'000) == "3 min 20 s");
    CHECK(duration_text(7'500'000'000'000) == "2 h 5 min");
    CHECK(duration_text(-340'000'000) == "-340 ms");
    CHECK(duration_text(INT64_MIN).starts_with("-"));
}

TEST_CASE("counts and money are as short as they are clear") {
    CHECK(count_text(999) == "999");
    CHECK(count_text(12'437) == "12.4k");
    CHECK(count_text(999'499) == "999k");
    CHECK(count_text(999'999) == "1M");
    CHECK(count_text(3'100'000) == "3.1M");
    CHECK(money_text(0) == "$0");
    CHECK(money_text(42) == "$0.000042");
    CHECK(money_text(31'200) == "$0.0312");
    CHECK(money_text(12'400'000) == "$12.40");
    CHECK(share_text(0.125) == "12.5 %");
    CHECK(decimal_text(0.2) == "0.2");
    CHECK(decimal_text(792925153.0615029) == "792925153.0615029");
    CHECK(decimal_text(-3) == "-3");
    CHECK(decimal_text(0) == "0");
    CHECK(decimal_text(1.5e-20) == "1.5e-20");
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(999) == "999 B");
    CHECK(bytes_text(1500) == "1.5 KB");
    CHECK(bytes_text(2'000'000'000) == "2.0 GB");
}

TEST_CASE("a sparkline has one column per number and a blank where there is none") {
    CHECK(sparkline({}).empty());
    CHECK(sparkline({0.0, 4.0, std::nullopt, 8.0}) == "▁▅ █");
    CHECK(sparkline({0.0, 0.0}) == "▁▁");
    CHECK(sparkline({-5.0, 1.0}) == "▁█");
}

TEST_CASE("spans of a trace stand under their parents, by start") {
    const std::vector<WaterfallSpan> spans{{"b", "a", "second", 50, 20},
                                           {"a", "", "root", 0, 100},
                                           {"c", "a", "first", 10, 30},
                                           {"d", "c", "leaf", 12, 1},
                                           {"e", "gone", "orphan", 99, 1}};
    const Waterfall waterfall = arrange(spans, SIZE_MAX);
    CHECK(waterfall.start_ns == 0);
    CHECK(waterfall.end_ns == 100);
    std::string drawing;
    for (const auto& row : waterfall.rows) drawing += row.branch + spans[row.span].name + "\n";
    CHECK(drawing == "root\n├─ first\n│  └─ leaf\n└─ second\norphan\n");
    CHECK(waterfall_bar(waterfall, spans[1], 10) == "━━━━━━━━━━");
    CHECK(waterfall_bar(waterfall, spans[0], 10) == "     ━━   ");
    CHECK(waterfall_bar(waterfall, spans[4], 10) == "         ━");
    CHECK(display_width(waterfall_bar(waterfall, spans[3], 10)) == 10);
}

TEST_CASE("spans below the requested depth are counted, not shown") {
    const std::vector<WaterfallSpan> spans{
        {"a", "", "root", 0, 9}, {"b", "a", "one", 1, 1}, {"c", "b", "two", 2, 1}, {"d", "c", "three", 3, 1}};
    const Waterfall waterfall = arrange(spans, 1);
    REQUIRE(waterfall.rows.size() == 2);
    CHECK(waterfall.rows[0].hidden == 0);
    CHECK(waterfall.rows[1].hidden == 2);
}

TEST_CASE("circles of parents and a chain of 50,000 spans are drawn, each span once") {
    const Waterfall circle = arrange({{"a", "b", "a", 0, 1}, {"b", "a", "b", 1, 1}, {"c", "c", "c", 2, 1}}, SIZE_MAX);
    CHECK(circle.rows.size() == 3);
    std::vector<WaterfallSpan> chain;
    for (int i = 0; i < 50'000; ++i)
        chain.push_back({std::to_string(i), i == 0 ? "" : std::to_string(i - 1), "n", i, 1});
    const Waterfall waterfall = arrange(chain, SIZE_MAX);
    REQUIRE(waterfall.rows.size() == 50'000);
    CHECK(waterfall.rows.back().depth == 49'999);
    CHECK(display_width(waterfall.rows.back().branch) < 60);
}
