// Which space and which project a command means. One thread.
#pragma once

#include "cli/context.h"
#include "cli/remote.h"

#include <string>

namespace hone::cli {

// --space as a query, for routes that take it.
Query space_query(const Context& context);
// --space, else the space of the API key.
Result<std::string> current_space(const Context& context);
// PROJECT as a path segment. A name together with --space is looked up, since only some routes take a space.
Result<std::string> wanted_project(const Context& context);

} // namespace hone::cli
