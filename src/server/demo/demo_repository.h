// The demo's repository: a small application with the planted fault, in DIR/repos, and a run of the playbook
// `propose_fix` on it, whose branch then waits for a review. Approving it puts the branch into that repository.
#pragma once

#include "forge/mirrors.h"
#include "run/runs.h"

namespace hone::server {

// Once per data directory: what an interrupted demo made stays.
Result<run::Run> propose_demo_fix(const forge::Git& git, run::Runs& runs, const Clock& clock,
                                  const access::SpaceId& space, const std::string& project,
                                  const std::string& data_directory);

} // namespace hone::server
