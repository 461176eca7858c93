// The keeper of one sandbox: owns its pid 1, its output spools, its limits and its end, and outlives the server. A fork
// of the spawner with one thread and one loop. Talks by protocol.h over the channel it was born with and over shim.sock
// in the sandbox's folder.
#pragma once

#include "sandbox/image/store.h"
#include "sandbox/wall/cgroup.h"
#include "sandbox/wall/channel.h"
#include "sandbox/wall/syscall_filter.h"

#include <functional>

namespace hone::sandbox {

// What the machine offers, found out once by the spawner.
struct Machine {
    CgroupHost cgroups;
    bool as_root = false;
    int landlock_version = 0;
    std::vector<std::string> masks;
    std::string gvisor_program; // empty: not available
    Fd init_program;
    std::optional<SyscallFilter> filter; // of many sandboxes; none: each shim builds it
};

// Whether this machine can do what the spec requires.
Result<> check_policy(const Machine& machine, const SandboxSpec& spec);

struct ShimStart {
    const Machine* machine = nullptr;
    const Store* store = nullptr;
    std::optional<SandboxSpec> spec; // none: a slot, which waits for its claim
    Journal journal;
    Tier tier = Tier::ns;
    bool is_helper = false; // without namespaces
    unsigned host_uid = 0;
    Fd lock;
    Fd lifeline; // of a slot: closed when the spawner has ended
    Channel creator;
    std::function<void()> at_the_end; // what is left to do when everything of this sandbox is gone
};

// The rest of the life of this process.
[[noreturn]] void run_shim(ShimStart start_info);

} // namespace hone::sandbox
