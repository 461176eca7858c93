// The engine's tables: created when absent, migrated when older. The columns of spans are declared in span_row.cpp.
// The same statements run on a ClickHouse cluster.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <string>

namespace hone::telemetry {

// One writer, at start. Idempotent.
Result<> create_schema(ClickHouse& engine);

// The definition of the index of a column of texts: "INDEX input_words …".
std::string text_index(const std::string& column, bool is_embedded);

} // namespace hone::telemetry
