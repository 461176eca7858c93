// Commands about issues; those about Signal itself are in signal.cpp. Any thread.
#pragma once

#include "cli/table/command.h"

namespace hone::cli {

std::vector<Command> issue_commands();

} // namespace hone::cli
