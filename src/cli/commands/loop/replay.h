// Replays of fixes: `hone review replay …`.
#pragma once

#include "cli/table/command.h"

namespace hone::cli {

std::vector<Command> replay_commands();

} // namespace hone::cli
