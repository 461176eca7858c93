// The `hone` command line: finds the command, parses its arguments, runs it. Client commands speak only the public HTTP
// API; those that need this machine's own parts (serve, check, …) are only described. One thread.
#pragma once

#include "base/time.h"
#include "cli/table/command.h"
#include "cli/terminal/console.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

// The whole program; returns its exit code. See exit_code.h.
int run(int argc, char** argv);

// A client command in given surroundings; `arguments` are the words after the program's name.
struct World {
    int in = 0;
    int out = 1;
    int err = 2;
    Environment environment;
    const Clock* clock = nullptr;
};
int run_client(const std::vector<std::string>& arguments, std::span<const LocalCommand> local, const World& world);

} // namespace hone::cli
