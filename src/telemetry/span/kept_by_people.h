// How much people's evals keep beyond the retention of a project.
#pragma once

#include <cstdint>

namespace hone::telemetry {

// Of each kind (spans, traces, chat sessions) the last so many that people evaluated keep their traces.
constexpr int64_t most_kept_by_people = 100'000;

} // namespace hone::telemetry
