// The spans of one trace as a tree with a bar for each on a shared time axis, for a terminal. Copes with missing
// parents, with circles and with 50,000 spans. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::cli {

struct WaterfallSpan {
    std::string id;
    std::string parent_id;
    std::string name;
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
};

struct WaterfallRow {
    size_t span = 0; // place in what was given
    size_t depth = 0;
    std::string branch; // "│  ├─ "; "" for a root
    size_t hidden = 0;  // spans below that the depth leaves out
};

struct Waterfall {
    std::vector<WaterfallRow> rows; // each span once, parents before children, children by start
    int64_t start_ns = 0;
    int64_t end_ns = 0;
};

// Spans deeper than `depth` are left out; roots have depth 0.
Waterfall arrange(const std::vector<WaterfallSpan>& spans, size_t depth);

// A bar of exactly `width` columns, blanks included; the shortest span still shows.
std::string waterfall_bar(const Waterfall& waterfall, const WaterfallSpan& span, size_t width);

} // namespace hone::cli
