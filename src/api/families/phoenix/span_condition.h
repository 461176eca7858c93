// Conditions of Phoenix' span queries, which are Python expressions such as
//   span_kind == 'LLM' and latency_ms > 1000 and 'refund' in input.value and evals['correct'].label is None
// as a filter of ours (telemetry/query/filter.h). Nothing is executed. Pure, bounded, fuzzed; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace hone::api {

// Errors say the column and what is not understood.
Result<std::string> filter_of_condition(std::string_view condition);

} // namespace hone::api
