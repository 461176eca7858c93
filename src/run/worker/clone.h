// The repositories of a run: opened for the run by forge/, cloned inside the sandbox from the gateway, so that neither
// the forge's address nor a credential is ever needed there. On the worker's thread.
#pragma once

#include "forge/supply.h"
#include "run/worker/live_run.h"

namespace hone::run {

// Fetches the repositories of the settings and opens them for the run; before there is a sandbox.
Result<std::vector<forge::Supplied>> supply_repos(LiveRun& run);
// Waits for the sandbox's first command, then clones each repository, adds what its setup made, and writes the
// manifest.
Result<> clone_repos(LiveRun& run, const std::vector<forge::Supplied>& supplied);

} // namespace hone::run
