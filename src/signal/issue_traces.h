// Which traces belong to an issue. Reads the database and the span store; blocks. Any thread.
#pragma once

#include "signal/issues.h"
#include "telemetry/spans.h"

namespace hone::signal {

// At most `limit` ids, newest first: the issue's examples, then the traces that its detector finds. The filter of an
// issue alone can match traces without the fault: "tool calls of this name", of which only some traces loop.
Result<std::vector<std::string>> traces_of_issue(telemetry::Spans& spans, const Issues& issues, const Issue& issue,
                                                 size_t limit, net::Cancel* cancel = nullptr);

} // namespace hone::signal
