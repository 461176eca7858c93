// What people's evals keep of a project beyond its retention. Blocking; any thread.
#pragma once

#include "telemetry/engine/clickhouse.h"
#include "telemetry/span/kept_by_people.h"

#include <string>

namespace hone::telemetry {

// Spans, traces and chat sessions of the project that people evaluated.
Result<int64_t> count_evaluated_by_people(ClickHouse& engine, const std::string& project);

} // namespace hone::telemetry
