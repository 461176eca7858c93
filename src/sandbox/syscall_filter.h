// The seccomp filters of a sandbox: default deny, native ABI only. Built once per spawner (0.5 ms), then only loaded.
#pragma once

#include "base/result.h"

#include <linux/filter.h>
#include <vector>

namespace hone::sandbox {

class SyscallFilter {
public:
    enum class Ptrace { refused, allowed };
    static Result<SyscallFilter> build(Ptrace ptrace);

    // Loads it into this process for good; no_new_privs must be set. Errno or 0.
    int load() const;

private:
    using Program = std::vector<sock_filter>;
    // The first knows which calls are allowed, the second refuses single arguments of allowed ones: libseccomp cannot
    // say "all but these values" in one program. The kernel takes the stricter answer.
    Program m_allowed;
    Program m_arguments;
};

// Whether this kernel loads filters at all.
bool kernel_has_seccomp();

} // namespace hone::sandbox
