// Takes away from the engine process what it does not need: every file but its own directory (Landlock), and every
// system call but those that computing and reading and writing files take (seccomp). Called once, before threads start.
// Without both it is an error, unless the installation's owner allowed it.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace hone::telemetry {

struct ConfinementOptions {
    std::string directory;             // all of it may be read and written
    std::vector<std::string> readable; // files and directories
    bool may_fail = false;             // the owner allowed it: warn, and continue with what this kernel has
};

struct Confinement {
    bool files = false;        // Landlock is on
    bool system_calls = false; // seccomp is on
};

// Whether this kernel has Landlock.
bool can_confine_files();

Result<Confinement> confine_engine(const ConfinementOptions& options);

} // namespace hone::telemetry
