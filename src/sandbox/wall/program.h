// Runs a trusted program of the host to its end: mkfs, tar, runsc. Not for anything a worker made. Any thread.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace hone::sandbox {

// With an empty environment, no input and no output but the last of stderr, which is in the error. Exit 0 or an error.
Result<> run_program(const std::vector<std::string>& argv);

// hone-init beside this executable; a test program finds it one folder above. Code::not_found names the folder.
Result<std::string> find_init_program();
// Another program that is installed beside this one.
Result<std::string> find_beside(const std::string& name);

} // namespace hone::sandbox
