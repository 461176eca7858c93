// Two windows of time side by side: did errors, latency, tokens or cost change, and where? Built on SpanStore::series.
// Thread-safe, blocking.
#pragma once

#include "telemetry/query/span_store.h"

#include <span>

namespace hone::telemetry {

struct Window {
    int64_t from_ns = 0; // inclusive
    int64_t to_ns = 0;   // exclusive
};

struct CompareWindows {
    Scope scope; // its times are not used
    Window baseline;
    Window current;
    std::string group_by; // as in Series; empty: only the whole
    size_t groups = 20;   // the largest ones
};

// One value per metric of compared_metrics(); not a number where there is none.
struct Change {
    std::string group;
    std::vector<double> baseline;
    std::vector<double> current;
};

struct Comparison {
    Change all;
    std::vector<Change> groups; // the largest first
    bool is_cut = false;        // there are more groups
};

std::span<const Metric> compared_metrics();
Result<Comparison> compare(SpanStore& store, const CompareWindows& request);

} // namespace hone::telemetry
