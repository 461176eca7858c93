// The engine's tables: made when absent, brought forward when older. The same statements run on a ClickHouse cluster.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <span>
#include <string_view>

namespace hone::telemetry {

struct Column {
    std::string_view name;
    std::string_view type;
    std::string_view codec;
    std::string_view doc; // shown to people who write SQL
};

// In the order of span_row.cpp.
std::span<const Column> span_columns();

// One writer, at start. Idempotent.
Result<> create_schema(ClickHouse& engine);

} // namespace hone::telemetry
