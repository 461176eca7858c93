// `hone skill export`: writes the pack of agent_pack.h into a project's folder.
#pragma once

#include "cli/table/command.h"

namespace hone::cli {

Command skill_export_command();

} // namespace hone::cli
