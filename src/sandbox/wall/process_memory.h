// What a process and all its descendants use, for machines without a cgroup that counts it. Any thread.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace hone::sandbox {

struct TreeUse {
    int64_t memory_bytes = 0; // proportional set size, summed
    int64_t tasks = 0;        // processes and threads
};
// Processes that end meanwhile are left out.
TreeUse process_tree_use(pid_t root);

// Parents before their children.
std::vector<pid_t> process_descendants(pid_t root);

// Files that have no name any more but still take space on a disk, because a process holds them.
struct UnlinkedUse {
    int64_t bytes = 0;
    // False: a process cannot be inspected (it is not dumpable), there are too many descriptors, or a socket holds some
    // that were sent and not received: it cannot be seen which.
    bool complete = true;
};
// Of the descendants of `root`, which is hone-init and holds none. Files on `memory_devices` (tmpfs, memory files) take
// no disk and do not count.
UnlinkedUse unlinked_use(pid_t root, const std::vector<dev_t>& memory_devices);

} // namespace hone::sandbox
