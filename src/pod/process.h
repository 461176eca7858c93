// A process of a pod's sandbox: started under the same filter and the same rules for files as in a sandbox of a
// machine. One thread: forks.
#pragma once

#include "base/file.h"
#include "sandbox/provider/spec.h"
#include "sandbox/wall/syscall_filter.h"

#include <functional>
#include <map>
#include <string>

namespace hone::pod {

class Walls {
public:
    // Errors: a kernel without Landlock or without filters; for tier gvisor, any other kernel than gVisor, which alone
    // may have no Landlock: it has no kernel of the node behind it that a file could be reached through.
    static Result<Walls> build(const sandbox::SandboxSpec& spec);
    // In a new process, permanently.
    Result<> enter() const;

private:
    sandbox::SyscallFilter m_filter;
    bool m_is_gvisor = false;
    int m_landlock = 0;
    sandbox::Limits m_limits;
};

constexpr size_t most_outcome_bytes = 1000;

struct Started {
    pid_t pid = 0;
    Fd outcome;  // why it was not executed, in at most so many bytes; its end: it was
    Fd terminal; // master, of a command with one
};
// `stdio` are its descriptors; with a terminal they are not used.
Result<Started> start_command(const sandbox::Command& command, const std::map<std::string, std::string>& environment,
                              Fd (&stdio)[3], const Walls& walls);
// A copy of this process that does one thing with one end of a pair of sockets, and exits. `walls` null: outside them.
struct Helper {
    pid_t pid = 0;
    Fd socket;
};
Result<Helper> start_helper(const std::function<void(int socket)>& work, const Walls* walls);

} // namespace hone::pod
