// Commands about evaluators; `hone issue evaluator` makes one too. Any thread.
#pragma once

#include "cli/table/command.h"

namespace hone::cli {

std::vector<Command> evaluator_commands();

} // namespace hone::cli
