// The way into a sandbox: what the first process of the new namespaces does between the clone and becoming hone-init.
// It lays the ground (identity, scratch, the plain root), waits for a claim that describes what this sandbox is for,
// finishes the root, drops everything, and locks the doors behind itself. Runs in a forked, single-threaded child of
// the shim; any failure is reported and ends it: there is no weaker way in.
#pragma once

#include "base/result.h"
#include "sandbox/provider/spec.h"
#include "sandbox/wall/syscall_filter.h"
#include "sandbox/wall/tree_mount.h"

#include <string>
#include <vector>

namespace hone::sandbox {

constexpr unsigned inside_uid = 1000;
constexpr int broker_ports[] = {3128, 3129};

// Which side makes the mount descriptors.
enum class MountMaker { shim, child };

// What is known before the sandbox is requested.
struct Ground {
    MountMaker maker = MountMaker::child;
    // The plain root: none, or its lower directories (topmost first) and what is mounted on it.
    std::vector<TreeMount> lowers;
    std::vector<TreeMount> others;
    std::vector<std::string> masks; // below /proc
    LimitKeeper limits_by = LimitKeeper::rlimit;
    int landlock_version = 0;
    const SyscallFilter* filter = nullptr; // null: the shim sends it after the claim
    int init_program = -1;                 // hone-init in a sealed memory file
};

// What the creator of the sandbox decides. Travels as JSON to the waiting child.
struct Claim {
    // In this order: the lower directories of a root of its own (topmost first; none: the ground's root is used), the
    // captured upper directory if any, then what is mounted on the root, the thread volume first.
    std::vector<TreeMount> lowers;
    std::vector<TreeMount> capture; // none or one: holds `upper` and `work`
    std::vector<TreeMount> others;
    Limits limits;
    NetworkMode network = NetworkMode::none;
    bool allow_ptrace = false;
    bool keep_home = false;
    static constexpr Pack fields{
        Field{"lowers", &Claim::lowers, "Lower directories of the root."},
        Field{"capture", &Claim::capture, "Upper directory."},
        Field{"others", &Claim::others, "Further mounts."},
        Field{"limits", &Claim::limits, "What it may use."},
        Field{"network", &Claim::network, "Network mode."},
        Field{"allow_ptrace", &Claim::allow_ptrace, "Whether processes inside may debug each other."},
        Field{"keep_home", &Claim::keep_home, "Whether the home is in the thread volume."},
    };
};

// Never returns. `control` is the socket to the shim; `entrances` lead into the groups of this sandbox. The shim sends
// the start message and the ground's mounts, receives "waiting", sends the claim with its mounts, and the filter if the
// ground has none, and receives "made" with the scratch directory, the mount namespace and the listeners; later the
// socket belongs to hone-init.
[[noreturn]] void enter_sandbox(const Ground& ground, const std::vector<Fd>& entrances, int control);

// Limits that the kernel keeps without groups, taken over by everything that this process starts. `most_tasks`: of its
// user, as far as the kernel counts them together: per user namespace.
Result<> set_resource_limits(const Limits& limits, LimitKeeper limits_by, int64_t most_tasks);

// What to hide in /proc, as far as this kernel has it.
std::vector<std::string> masked_proc_entries();

} // namespace hone::sandbox
