// The engine's tables of log records and metrics: created when they are absent.
#pragma once

#include "telemetry/engine/clickhouse.h"

namespace hone::telemetry {

// One writer, at start. Idempotent.
Result<> create_record_tables(ClickHouse& engine);

} // namespace hone::telemetry
