// Starts the first process of a sandbox: the shim's side of the clone. See enter.h for the other side.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/enter.h"

#include <optional>
#include <vector>

namespace hone::sandbox {

struct LaunchPlan {
    Ground ground;
    unsigned host_uid = 0;
};

// A live pid 1, or what will become one.
struct Launched {
    pid_t pid = 0;
    Fd process;         // pidfd
    Fd control;         // the socket to the child, later hone-init
    Fd scratch;         // the file system with all that may be written
    Fd mount_namespace; // held so that it is removed after the end was reported
    std::vector<Fd> listeners;
};

// Clones into new namespaces, maps ids, enters the groups and lays the ground. The child then waits for its claim.
Result<Launched> launch(const LaunchPlan& plan, const Cgroup& cgroup);
// Until the ground is laid, or why not.
Result<> await_waiting(Launched& launched);
// Sends what it is for. `volume` is the detached mount of the thread's image in root mode: the first of claim.others.
Result<> admit(Launched& launched, MountMaker maker, const Claim& claim, Fd volume);
// Until hone-init runs, or why not.
Result<> await_ready(Launched& launched);
// Ends it and waits for its end.
void abandon(Launched& launched);

} // namespace hone::sandbox
