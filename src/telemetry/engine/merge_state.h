// How the engine's parts of spans and their merges are, for metrics: every insert makes a part, merges make few of
// many. Blocking; any thread.
#pragma once

#include "telemetry/engine/clickhouse.h"

#include <string>

namespace hone::telemetry {

struct MergeState {
    int64_t parts = 0;            // that queries read
    int64_t unmerged_parts = 0;   // of these, as they were inserted
    int64_t most_parts_a_day = 0; // of these, in the day that has the most
    int64_t merges = 0;           // that run
    int64_t replaced_bytes = 0;   // on disk, of parts that merges have replaced
    int64_t merging_bytes = 0;    // that running merges of all tables will still write, at most
    // How long the oldest part that was never merged has waited for others of its day, since the engine started.
    double oldest_unmerged_seconds = 0;
};

Result<MergeState> read_merge_state(ClickHouse& engine);

constexpr int64_t many_parts_a_day = 300;
constexpr double long_unmerged_seconds = 7200; // a day without new spans is merged after an hour

// What to do when merges are behind, for `hone doctor` and `hone check`; empty: they are not.
std::string merge_advice(int64_t most_parts_a_day, double oldest_unmerged_seconds);

} // namespace hone::telemetry
