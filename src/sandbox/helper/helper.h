// Walls around a helper on a machine that makes no namespaces: a process of the server's own user that can open nothing
// but what it is given, reaches no other process and no network, and leaves neither its process group nor its session.
// For the server's own programs on hostile data (git), never for commands of workers. What holds: docs/sandbox.md.
#pragma once

#include "sandbox/helper/helper_filter.h"
#include "sandbox/provider/spec.h"
#include "sandbox/wall/access_rules.h"

#include <string>
#include <sys/types.h>

namespace hone::sandbox {

// Whether this kernel, and this process, can have such helpers; the error explains.
Result<> helpers_possible();

// Ends what a keeper of helpers that was killed left: the processes of its session. It must have ended.
void end_helpers(pid_t session);

// Errno of making the namespaces of a sandbox, tried in a child; 0: they can be made.
int namespaces_refused();

// What every helper may read and execute of the machine: git, a shell, the tools of scripts, their libraries.
FolderRules helper_rules();

// In a new process with one thread, permanently. Descriptors that the helper must not have are closed on exec by the
// caller. With a network of `handed_over` returns the descriptor for the process outside (HandOver), which must have it
// before `lock_helper`; otherwise a closed one.
Result<Fd> wall_in_helper(const FolderRules& rules, const Limits& limits, HelperFilter::Network network);
// The last step, just before the program is executed.
Result<> lock_helper(const HelperFilter& filter);

} // namespace hone::sandbox
