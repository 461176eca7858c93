// The repositories of a run: opened for the run by forge/, cloned inside the sandbox from the gateway, so that neither
// the forge's address nor a credential is ever needed there. On the worker's thread.
#pragma once

#include "run/worker/live_run.h"

namespace hone::run {

// Waits for the sandbox's first command, then clones each repository of the settings and writes the manifest.
Result<> clone_repos(LiveRun& run);

} // namespace hone::run
