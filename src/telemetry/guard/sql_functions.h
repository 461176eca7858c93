// The functions that SQL of people may call. Pure; any thread.
#pragma once

#include <string_view>

namespace hone::telemetry {

// In any case, and for aggregates with suffixes: countIf, sumArrayIf, avgOrNull.
bool is_known_function(std::string_view name);

} // namespace hone::telemetry
