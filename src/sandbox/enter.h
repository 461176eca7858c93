// The way into a sandbox: what the first process of the new namespaces does between the clone and becoming hone-init.
// It builds the root, drops everything, and locks the doors behind itself. Runs in a forked, single-threaded child of
// the shim; any failure is reported and ends it: there is no weaker way in.
#pragma once

#include "base/result.h"
#include "sandbox/spec.h"
#include "sandbox/syscall_filter.h"
#include "sandbox/tree_mount.h"

#include <string>
#include <vector>

namespace hone::sandbox {

constexpr unsigned inside_uid = 1000;
constexpr int broker_ports[] = {3128, 3129};

// Which side makes the mount descriptors.
enum class MountMaker { shim, child };

struct EnterPlan {
    MountMaker maker = MountMaker::child;
    // In this order: the lower directories of the root (topmost first), the captured upper directory if any, the
    // thread volume if any, then the rest by target.
    std::vector<TreeMount> lowers;
    std::vector<TreeMount> capture; // none or one: holds `upper` and `work`
    std::vector<TreeMount> others;
    bool volume = false;            // others[0] is the thread volume, given by the shim in root mode
    std::vector<std::string> masks; // below /proc
    Limits limits;
    LimitKeeper limits_by = LimitKeeper::rlimit;
    NetworkMode network = NetworkMode::none;
    int landlock_version = 0;
    const SyscallFilter* filter = nullptr;
    int init_program = -1; // hone-init in a sealed memory file
};

// Never returns. `control` is the socket to the shim: it gives the word to go with the mounts it made, then gets the
// scratch directory and the listeners, and later belongs to hone-init.
[[noreturn]] void enter_sandbox(const EnterPlan& plan, int control);

// What to hide in /proc, as far as this kernel has it.
std::vector<std::string> masked_proc_entries();

} // namespace hone::sandbox
