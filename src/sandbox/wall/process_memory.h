// What a process and all its descendants use, for machines without a cgroup that could tell. Any thread.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace hone::sandbox {

struct TreeUse {
    int64_t memory_bytes = 0; // proportional set size, summed
    int64_t tasks = 0;        // processes and threads
};
// Processes that end meanwhile are left out.
TreeUse process_tree_use(pid_t root);

} // namespace hone::sandbox
