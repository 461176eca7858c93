#include "telemetry/engine_confinement.h"

#include "base/file.h"
#include "base/log.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr uint64_t read_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t write_access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                  LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr uint64_t other_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                  LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                  LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr uint64_t refer_access = 1ULL << 13;    // since ABI 2: renames between directories
constexpr uint64_t truncate_access = 1ULL << 14; // since ABI 3

Result<> allow(int rules, const std::string& path, uint64_t access) {
    const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place.is_open()) return errno == ENOENT ? Result<>() : Result<>(system_error("open " + path, errno));
    struct stat info {};
    if (::fstat(place.get(), &info) != 0) return system_error("stat " + path, errno);
    if (!S_ISDIR(info.st_mode)) access &= LANDLOCK_ACCESS_FS_READ_FILE; // the rest is for directories only
    landlock_path_beneath_attr rule{};
    rule.allowed_access = access;
    rule.parent_fd = place.get();
    if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        return system_error("landlock rule for " + path, errno);
    return {};
}

Result<bool> confine_files(const std::string& directory, const std::vector<std::string>& readable) {
    const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return false;
    const uint64_t more = (abi >= 2 ? refer_access : 0) | (abi >= 3 ? truncate_access : 0);
    landlock_ruleset_attr ruleset{};
    ruleset.handled_access_fs = read_access | write_access | other_access | more;
    const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0)));
    if (!rules.is_open()) return system_error("landlock", errno);
    TRY(allow(rules.get(), directory, read_access | write_access | more));
    for (const std::string& path : readable) TRY(allow(rules.get(), path, read_access));
    if (::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) return system_error("landlock", errno);
    return true;
}

// Denied with EPERM, so that the engine reports an error instead of dying.
constexpr int denied[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(socketpair),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
};

Result<> confine_system_calls() {
    const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return internal("seccomp cannot be set up");
    int failed = 0;
    for (const int call : denied) failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 0);
    // Threads by clone are fine, processes and namespaces are not. clone3's flags cannot be seen: glibc falls back.
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    failed |= ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 0x00010000, 0));
    if (failed == 0) failed = ::seccomp_load(filter);
    ::seccomp_release(filter);
    if (failed != 0) return internal("seccomp refused the filter");
    return {};
}

} // namespace

Result<Confinement> confine_engine(const std::string& directory, const std::vector<std::string>& readable) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return system_error("no_new_privs", errno);
    Confinement confinement;
    confinement.files = TRY(confine_files(directory, readable));
    if (!confinement.files) log(Level::warning, "this kernel has no Landlock: the engine can read other files");
    TRY(confine_system_calls());
    confinement.system_calls = true;
    return confinement;
}

} // namespace hone::telemetry
