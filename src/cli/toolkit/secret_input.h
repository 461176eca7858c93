// A secret as a person gives it: never on the command line, where other users of the machine could read it.
#pragma once

#include "cli/remote/context.h"

namespace hone::cli {

// Prompts without an echo, or reads a line of standard input.
Result<std::string> read_secret(const Context& context, const std::string& name);

} // namespace hone::cli
