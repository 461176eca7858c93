// What the runs of a replay prove: verdicts by majority, counts, the outcome. Pure functions; any thread.
#pragma once

#include "review/branch/replay.h"

#include <span>

namespace hone::signal {

// Of the repetitions of one example: how many passed and failed.
review::ReplayVerdict majority(int64_t passed, int64_t failed, int64_t repetitions);

// Fills in the counts, the test and the outcome from `replay.result.examples`.
void conclude(review::BranchReplay& replay);

} // namespace hone::signal
