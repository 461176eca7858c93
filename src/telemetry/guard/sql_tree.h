// The engine's tree of a query (EXPLAIN QUERY TREE), checked by allow lists: kinds of nodes, functions, tables. Pure,
// fuzzed; any thread.
#pragma once

#include "telemetry/guard/sql_text.h"

#include <optional>
#include <string_view>

namespace hone::telemetry {

// As written: nothing of the query has been looked up or computed yet.
std::optional<Refusal> check_written_tree(std::string_view tree);
// As resolved in the database of a project: what every name, star and alias stands for.
std::optional<Refusal> check_resolved_tree(std::string_view tree, std::string_view database);

} // namespace hone::telemetry
