// What keeps projects apart in the engine's access control (ADR 0015), made and verified: before queries of people
// (project_views.h), for `hone doctor` and `hone clickhouse check`. Blocks, any thread. Defined in project_views.cpp.
#pragma once

#include "base/result.h"
#include "telemetry/engine/clickhouse.h"

#include <string>
#include <string_view>

namespace hone::telemetry {

// A table of `hone` gets the policy that all of them have. The embedded engine has it from its configuration.
std::string create_policy_sql(std::string_view table);
Result<> create_policies(ClickHouse& engine);

// `CREATE … VIEW` in the database of a project: its rows, and only while that database is the current one.
std::string create_view_sql(const std::string& database, const std::string& view, const std::string& project,
                            const std::string& columns, const std::string& source);

// That the reader sees nothing but the views of projects. unavailable: with the reason.
Result<> verify_reader(ClickHouse& engine, const std::string& project, const std::string& database);
// That each table has the policy, and no other one that would show more. False: it cannot be read which policies there
// are, and no rows are there that they could hide. unavailable: with the reason.
Result<bool> verify_policies(ClickHouse& engine);

} // namespace hone::telemetry
