// simdjson is loaded when the first JSON is parsed, not with every `hone` command: with it comes the shared libstdc++,
// whose loading takes as long as the rest of a short command.
#pragma once

#include "base/result.h"

namespace hone::otlp {

// Call once before the first use of simdjson; an error names the missing package. Any thread.
Result<> load_simdjson();

} // namespace hone::otlp
