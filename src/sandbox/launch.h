// Starts the first process of a sandbox: the shim's side of the clone. See enter.h for the other side.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/cgroup.h"
#include "sandbox/enter.h"

#include <optional>
#include <vector>

namespace hone::sandbox {

struct LaunchPlan {
    EnterPlan enter;
    unsigned host_uid = 0;
    bool as_root = false;
};

// A live pid 1.
struct Launched {
    pid_t pid = 0;
    Fd process; // pidfd
    Fd control; // the socket to hone-init
    Fd scratch; // the file system with all that may be written
    std::vector<Fd> listeners;
};

// `volume` is the detached mount of the thread's image in root mode; it gets the sandbox's id mapping.
Result<Launched> launch(const LaunchPlan& plan, const Cgroup& cgroup, Fd volume);

} // namespace hone::sandbox
