// The turns of a session as text, for a fork that begins after one of them: harnesses keep one conversation each, so
// the fork's worker reads the earlier turns instead of resuming them. Pure functions; bounded.
#pragma once

#include "run/run.h"

#include <span>
#include <string>

namespace hone::run {

// Where a fork begins.
struct EarlierTurns {
    std::string words; // what precedes the first prompt of the fork
    size_t left_out = 0;
};

constexpr size_t longest_earlier_turns = 60'000; // bytes of all entries

// Messages, tool calls and their results of the turns 1 to `turn`. Long ones are cut; when all together are too long,
// the oldest results are left out first, then the oldest entries after the first prompt.
EarlierTurns describe_turns(std::span<const RunEvent> events, int64_t turn);

} // namespace hone::run
