// Runs a trusted program of the host to its end: mkfs, tar, runsc. Not for anything a worker made. Any thread.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace hone::sandbox {

// With an empty environment, no input and no output but the last of stderr, which is in the error. Exit 0 or an error.
Result<> run_program(const std::vector<std::string>& argv);

// The directory of this executable holds hone-init, or ../libexec/hone does. Code::not_found with both places named.
Result<std::string> find_init_program();

} // namespace hone::sandbox
