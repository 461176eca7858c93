// The seccomp filter of a sandbox: default deny, native ABI only. Built once per spawner, then only loaded.
#pragma once

#include <linux/filter.h>
#include <span>
#include <vector>

namespace hone::sandbox {

class SyscallFilter {
public:
    enum class Ptrace { refused, allowed };
    static SyscallFilter build(Ptrace ptrace);

    // Loads it into this process permanently; no_new_privs must be set. Errno or 0.
    int load() const;

    const std::vector<sock_filter>& program() const { return m_program; }
    // The calls whose arguments are not checked, as libseccomp names them.
    static std::span<const char* const> allowed_names();
    static std::span<const char* const> refused_names();

private:
    std::vector<sock_filter> m_program;
};

// Whether this kernel loads filters at all.
bool kernel_has_seccomp();

} // namespace hone::sandbox
