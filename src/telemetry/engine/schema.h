// The engine's tables: created when absent, migrated when older. The columns of spans are declared in span_row.cpp.
// The same statements run on a ClickHouse cluster.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

namespace hone::telemetry {

// One writer, at start. Idempotent.
Result<> create_schema(ClickHouse& engine);

} // namespace hone::telemetry
