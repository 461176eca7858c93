// SQL as the metric of a monitor: one number for a window, from a SELECT over the project's spans. Text in, number out;
// the query itself runs behind the guard of telemetry. Pure; any thread.
#pragma once

#include "base/time.h"
#include "json/json.h"

#include <optional>
#include <string>

namespace hone::monitor {

constexpr size_t longest_monitor_sql = 10'000;
// Of one evaluation.
constexpr Duration sql_deadline = std::chrono::seconds(10);
constexpr size_t sql_memory = 256 << 20;

// It has {{window.from}} and {{window.to}}, and no other variable.
Result<> check_sql(const std::string& sql);
// The variables replaced by nanoseconds since 1970, as the columns of times have them.
std::string sql_for_window(const std::string& sql, Time from, Time to);
// The value of one row with one column, in the engine's JSON format. Nothing for no row and for NULL.
Result<std::optional<double>> number_in_result(std::string_view json_result);

} // namespace hone::monitor
