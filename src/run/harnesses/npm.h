// npm, as a program that installs packages and reads versions: with few variables of this process, without code of the
// packages. Any thread; `run_npm` blocks.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::run {

struct InstallWatch;

// The variables of this process that npm gets: registry, proxy and authorities.
std::vector<std::string> npm_environment(const std::string& home);

// Runs npm to its end in `directory`; its output goes to `log`. Its exit code, 127 when it is not installed. conflict:
// it was cancelled, and ended with everything that it started.
Result<int> run_npm(const std::vector<std::string>& argv, const std::string& directory, const std::string& log,
                    const InstallWatch& watch);

// Whether npm's output names a registry that cannot be reached.
bool names_network_failure(std::string_view output);

} // namespace hone::run
