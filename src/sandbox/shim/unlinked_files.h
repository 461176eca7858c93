// Files that have no name any more but still take space on a disk, because a process holds them. One thread.
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace hone::sandbox {

struct UnlinkedUse {
    int64_t bytes = 0;
    // False: a process cannot be inspected, there are too many descriptors, or some were sent to a socket and cannot be
    // read from its queue.
    bool complete = true;
};

enum class Inspection {
    listed, // what the process list shows: not the descriptors of processes that are not dumpable, nor queues of
            // sockets
    taken,  // copies of all descriptors: in a process of its own, with the right to trace those of the sandbox
};

// Of the descendants of `root`, which is hone-init and holds none. Files on `memory_devices` (tmpfs, memory files) take
// no disk and do not count.
UnlinkedUse unlinked_use(pid_t root, const std::vector<dev_t>& memory_devices, Inspection inspection);

} // namespace hone::sandbox
