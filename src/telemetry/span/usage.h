// Token counts as instrumentations report them, made into buckets that never overlap. Pure.
#pragma once

#include "telemetry/span/span.h"

#include <optional>

namespace hone::telemetry {

// The counts of a span. Most conventions count cached tokens inside `input` and reasoning inside `output`; some do not.
struct ReportedUsage {
    std::optional<int64_t> input;
    std::optional<int64_t> output;
    std::optional<int64_t> cache_read;
    std::optional<int64_t> cache_write;
    std::optional<int64_t> reasoning;
    std::optional<int64_t> total;
    bool separate = false; // the convention reports buckets that do not overlap
};

// The total, when reported, decides whether caches and reasoning lie inside or beside; else the convention does.
// Numbers that contradict each other are taken as buckets beside each other. Negative numbers count as zero.
Tokens to_buckets(const ReportedUsage& usage);

} // namespace hone::telemetry
