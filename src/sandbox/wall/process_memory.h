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

} // namespace hone::sandbox
