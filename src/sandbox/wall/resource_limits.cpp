#include "sandbox/wall/resource_limits.h"

#include <algorithm>
#include <cerrno>
#include <sys/resource.h>

namespace hone::sandbox {

Result<> set_resource_limits(const Limits& limits, LimitKeeper limits_by, int64_t most_tasks) {
    const auto set = [](auto resource, int64_t wanted) -> Result<> {
        rlimit now{};
        if (::getrlimit(resource, &now) != 0) return system_error("read a resource limit", errno);
        const rlim_t value = std::min(now.rlim_max, static_cast<rlim_t>(wanted)); // raising needs a capability
        const rlimit next{value, value};
        if (::setrlimit(resource, &next) != 0) return system_error("set a resource limit", errno);
        return {};
    };
    TRY(set(RLIMIT_CORE, 0));
    TRY(set(RLIMIT_MSGQUEUE, 0));
    TRY(set(RLIMIT_MEMLOCK, 8 << 20));
    TRY(set(RLIMIT_SIGPENDING, std::max(int64_t{1024}, *limits.pids)));
    TRY(set(RLIMIT_NOFILE, *limits.open_files));
    TRY(set(RLIMIT_NPROC, most_tasks));
    if (limits_by == LimitKeeper::rlimit) {
#ifndef __SANITIZE_ADDRESS__ // its shadow of the memory counts as data, and no process with it would start
        // The watchdog measures what is used; this only bounds what comes between two measurements. Runtimes reserve
        // far more than they use.
        TRY(set(RLIMIT_DATA, std::max(int64_t{1} << 30, 2 * *limits.memory_bytes)));
#endif
        TRY(set(RLIMIT_FSIZE, *limits.disk_bytes));
    }
    return {};
}

} // namespace hone::sandbox
