// How commands that work without a server (check, restore, harness, serve) say that they failed: as the client commands
// do (docs/cli.md), in words, or as one JSON document when --json stands in the command line. Any thread.
#pragma once

#include "base/result.h"

namespace hone::server {

bool wants_json(int argc, char** argv);
// Prints to standard error; the exit code: 2 when the command line is wrong, else 1.
int report_failure(const Error& error, bool as_json);

} // namespace hone::server
