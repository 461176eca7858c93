// Takes away from the engine process what it does not need: every file but its own directory (Landlock), networks,
// new programs, other processes (seccomp). Called once, before threads start. What cannot be applied is named.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace hone::telemetry {

struct Confinement {
    bool files = false;        // Landlock is on
    bool system_calls = false; // seccomp is on
};

Result<Confinement> confine_engine(const std::string& directory, const std::vector<std::string>& readable);

} // namespace hone::telemetry
