// The system call filter of helpers without namespaces: default deny, far narrower than that of a sandbox, because no
// namespace stands behind it. A process under it cannot reach another process of its user in any way (signals, limits,
// priorities, owners of descriptors), leaves neither its process group nor its session, changes no mode, owner or time
// of a file, and makes no socket. `helper.h` has what is built with it.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <linux/filter.h>
#include <vector>

namespace hone::sandbox {

class HelperFilter {
public:
    enum class Network {
        none,
        handed_over, // socket() of TCP is served from outside: needs HandOver in the same process
    };
    static HelperFilter build(Network network);

    // Loads it into this process permanently; no_new_privs must be set. Errno or 0.
    int load() const;
    const std::vector<sock_filter>& program() const { return m_program; }

private:
    std::vector<sock_filter> m_program;
};

// Connections for a process that can make none. Inside, `prepare` makes each socket() wait; outside, the owner of the
// returned descriptor gives it a socket that is connected already. The process names no address: connect() does
// nothing.
class HandOver {
public:
    // Inside, before HelperFilter::load; no_new_privs must be set. The descriptor is for the process outside.
    static Result<Fd> prepare();
    // Outside, when the descriptor is readable: calls `connect` for a connected socket and gives it to the process that
    // waits. What fails is an error for that process only.
    static void serve(const Fd& notices, const std::function<Result<Fd>()>& connect);
};

} // namespace hone::sandbox
