// What the commands that run without a server (check, restore, harness, serve) share: their flags, the environment, and
// how they report a failure, as the client commands do (docs/cli.md): in words, or as one JSON document with --json.
#pragma once

#include "base/result.h"
#include "config/config.h"
#include "telemetry/engine/clickhouse.h"

#include <optional>
#include <string>

namespace hone::server {

bool wants_json(int argc, char** argv);
bool wants_help(int argc, char** argv);
// None: the variable is not set.
std::optional<std::string> environment(const std::string& name);
// Prints to standard error; the exit code: 2 when the command line is wrong, else 1.
int report_failure(const Error& error, bool as_json);

// How commands of this machine reach the ClickHouse of the settings.
telemetry::ClickHouseOptions clickhouse_options(const config::Config& config);

} // namespace hone::server
