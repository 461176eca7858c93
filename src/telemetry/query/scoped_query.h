// What all queries of spans share: the scope as conditions with bound values, and what they can be grouped by.
// For span_store.cpp and span_series.cpp.
#pragma once

#include "telemetry/query/span_store.h"

#include <optional>
#include <string>
#include <string_view>

namespace hone::telemetry {

constexpr std::string_view all_tokens =
    "(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens)";

// A query with project, time and filter bound; the caller adds what it selects.
struct ScopedQuery {
    ClickHouseQuery query{""};
    std::string where;
};
Result<ScopedQuery> scope_query(const Scope& scope);

struct Grouping {
    std::string expression;
    bool has_few_values = false; // a column of names with many repetitions
};
// By a filter field or attributes["key"]; nothing when spans cannot be grouped by it.
std::optional<Grouping> grouping_of(const std::string& field, ClickHouseQuery& query);

} // namespace hone::telemetry
