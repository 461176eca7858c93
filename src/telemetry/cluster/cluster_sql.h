// Definitions for a cluster of ClickHouse servers: the same statements as for one server, on all of them, with
// replicated tables. Pure functions, any thread.
#pragma once

#include <string>

namespace hone::telemetry {

// A statement of ours that creates, alters or drops a database, table, view or row policy. Without a cluster it is
// unchanged.
std::string on_cluster(const std::string& statement, const std::string& cluster);

} // namespace hone::telemetry
