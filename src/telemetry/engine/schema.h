// The engine's tables: created when absent, migrated when older. The columns of spans are declared in span_row.cpp.
// The same statements run on a ClickHouse cluster.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <span>
#include <string>
#include <string_view>

namespace hone::telemetry {

// One writer, at start. Idempotent.
Result<> create_schema(ClickHouse& engine);

// With clickhouse_cluster: that it has one shard, and that the tables are replicated. unavailable: with the reason.
Result<> check_cluster(ClickHouse& engine);
Result<> check_replicated(ClickHouse& engine);
// The tables and views, in the order in which they are made.
std::span<const std::string_view> schema_names();
// The condition of the constraint `arrives_in_time` that tables of spans have on a server elsewhere.
std::string_view arrival_condition();
// The setting by which a table that is not replicated keeps tokens of inserts.
inline constexpr std::string_view token_window = "non_replicated_deduplication_window = 1000";

// The definition of the index of a column of texts: "INDEX input_words …".
std::string text_index(const std::string& column, bool is_embedded);

} // namespace hone::telemetry
