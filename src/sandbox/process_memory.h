// Memory of a process and all its descendants, for machines without a cgroup that could tell. Any thread.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace hone::sandbox {

// Proportional set size in bytes, summed. Processes that end meanwhile are left out.
int64_t process_tree_memory(pid_t root);

} // namespace hone::sandbox
