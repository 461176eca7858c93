// Keeps the processes of a sandbox from running while something is measured that they could move out of the way: by the
// freezer of its cgroup, else with SIGSTOP. They run again when the object goes. A process that is inside a system call
// finishes that one call, and no other. One thread.
#pragma once

#include "sandbox/wall/cgroup.h"

#include <sys/types.h>
#include <vector>

namespace hone::sandbox {

class Stillness {
public:
    // `root` is hone-init, which does nothing by itself: with signals only its descendants are stopped. Both references
    // outlive the object.
    Stillness(const Cgroup& group, pid_t root);
    ~Stillness();
    Stillness(const Stillness&) = delete;
    Stillness& operator=(const Stillness&) = delete;
    // False: some process still runs, or ran again meanwhile.
    bool holds() const;

private:
    bool stop_descendants();

    const Cgroup& m_group;
    const pid_t m_root;
    bool m_by_group = false;
    bool m_all_stopped = false;
    std::vector<pid_t> m_stopped; // by this object, parents before their children
};

} // namespace hone::sandbox
