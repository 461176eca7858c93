// Files that the program brings along: what workers find in their sandboxes.

#pragma once

#include <string>

namespace hone::server {

// Beside the program, where a package puts it, or in the source tree; empty when it is nowhere.
std::string beside_program(const std::string& name);

} // namespace hone::server
