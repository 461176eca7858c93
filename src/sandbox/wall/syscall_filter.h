// The seccomp filter of a sandbox: default deny, native ABI only. A spawner builds it once; a command, which
// starts one sandbox, while that is set up.
#pragma once

#include <linux/filter.h>
#include <span>
#include <string_view>
#include <vector>

namespace hone::sandbox {

class SyscallFilter {
public:
    enum class Ptrace { refused, allowed };
    static SyscallFilter build(Ptrace ptrace);

    // Loads it into this process permanently; no_new_privs must be set. Errno or 0.
    int load() const;

    // As bytes, for another process.
    std::string_view bytes() const;
    static SyscallFilter of_bytes(std::string_view bytes);

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
