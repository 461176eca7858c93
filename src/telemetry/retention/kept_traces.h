// What people's evals keep of a project beyond its retention. Blocking; any thread.
#pragma once

#include "telemetry/engine/clickhouse.h"

#include <string>
#include <string_view>

namespace hone::telemetry {

// Of each kind (spans, traces, chat sessions) the last so many that people evaluated keep their traces.
constexpr int64_t most_kept_by_people = 100'000;

// Of evals: those that keep their target. A person who only wants to keep a trace writes `keep` with the label yes, and
// no to release it.
constexpr std::string_view keeping_eval = "kind = 'human' AND NOT (name = 'keep' AND label = 'no')";

// Spans, traces and chat sessions of the project that people evaluated.
Result<int64_t> count_evaluated_by_people(ClickHouse& engine, const std::string& project);

} // namespace hone::telemetry
