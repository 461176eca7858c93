// Files that the program brings along: what workers find in their sandboxes.

#pragma once

#include <string>

namespace hone::server {

// In the program's own folder, where the build and the installation put it; empty when it is not there. Nowhere else: a
// folder above may be one that every user can write to.
std::string beside_program(const std::string& name);

} // namespace hone::server
