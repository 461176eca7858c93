// Which recorded traces a replay of a fix runs: the newest distinct ones of the issue that can be run again, and
// passing ones of the same entry point. Reads spans; blocks.
#pragma once

#include "evaluate/datasets/dataset.h"
#include "review/branch/replay.h"
#include "signal/issues.h"
#include "telemetry/spans.h"

#include <set>

namespace hone::signal {

struct ChosenTraces {
    struct One {
        review::ReplaySet set = review::ReplaySet::evidence;
        evaluate::NewExample example;
        int64_t tool_results = 0;
    };
    std::vector<One> examples{}; // evidence first
    std::vector<review::NotReplayed> not_replayed{};
};

Result<ChosenTraces> choose_traces(telemetry::Spans& spans, const Issues& issues,
                                   const review::ReplaySettings& settings, const Issue& issue);

} // namespace hone::signal
