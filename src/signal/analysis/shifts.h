// Numbers of spans (durations, tokens, costs) compared between two groups of spans of the same name: histograms made by
// the engine, tested here. Shared by the detectors of latency, tokens and versions. One thread.
#pragma once

#include "signal/analysis/statistics.h"
#include "signal/analysis/survey.h"

namespace hone::signal {

struct Compared {
    std::string name;
    Histogram before;
    Histogram after;
};

// For each of the most frequent names: the histogram of `expression` over the spans of `condition`, apart for those
// where `is_after` holds and where `is_before` does.
Result<std::vector<Compared>> compare_names(Survey& survey, std::string_view expression, std::string_view condition,
                                            std::string_view is_before, std::string_view is_after,
                                            const Survey::Bind& bind = {});

// Enough spans on both sides, and clearly greater: not by chance, by at least this factor and this much.
bool is_clearly_greater(const Shift& shift, const Compared& compared, double factor, double least_difference);

inline constexpr std::string_view all_tokens =
    "(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens)";

} // namespace hone::signal
