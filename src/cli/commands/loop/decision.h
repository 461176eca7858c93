// Approve, reject, request changes: one implementation for `hone artifact` and `hone review`. An approval names the
// content that it approves, by digest or by the revision of a branch.
#pragma once

#include "cli/table/command.h"

namespace hone::cli {

// "artifact approve", "artifact reject" and "artifact request-changes" for the group `artifact`.
std::vector<Command> decision_commands(std::string_view group);

} // namespace hone::cli
