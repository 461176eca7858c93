#include "sandbox/syscall_filter.h"

#include "base/file.h"
#include "sandbox/channel.h"

#include <cerrno>
#include <linux/seccomp.h>
#include <memory>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// What programs need. Everything absent answers ENOSYS, as an older kernel would, so that libraries fall back.
constexpr const char* allowed_calls[] = {
    "accept",
    "accept4",
    "access",
    "alarm",
    "arch_prctl",
    "bind",
    "brk",
    "capget",
    "cachestat",
    "chdir",
    "chmod",
    "chown",
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "close",
    "close_range",
    "connect",
    "copy_file_range",
    "creat",
    "dup",
    "dup2",
    "dup3",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "eventfd",
    "eventfd2",
    "execve",
    "execveat",
    "exit",
    "exit_group",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fallocate",
    "fchdir",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "fcntl",
    "fdatasync",
    "fgetxattr",
    "flistxattr",
    "flock",
    "fork",
    "fremovexattr",
    "fsetxattr",
    "fstat",
    "fstatfs",
    "fsync",
    "ftruncate",
    "futex",
    "futex_requeue",
    "futex_wait",
    "futex_waitv",
    "futex_wake",
    "futimesat",
    "get_robust_list",
    "get_thread_area",
    "getcpu",
    "getcwd",
    "getdents",
    "getdents64",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getitimer",
    "getpeername",
    "getpgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getrandom",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getrusage",
    "getsid",
    "getsockname",
    "getsockopt",
    "gettid",
    "gettimeofday",
    "getuid",
    "getxattr",
    "inotify_add_watch",
    "inotify_init",
    "inotify_init1",
    "inotify_rm_watch",
    "ioctl",
    "ioprio_get",
    "ioprio_set",
    "kill",
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
    "lchown",
    "lgetxattr",
    "link",
    "linkat",
    "listen",
    "listxattr",
    "llistxattr",
    "lremovexattr",
    "lseek",
    "lsetxattr",
    "lstat",
    "madvise",
    "map_shadow_stack",
    "membarrier",
    "memfd_create",
    "mincore",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "mlock",
    "mlock2",
    "mlockall",
    "mmap",
    "mprotect",
    "mremap",
    "mseal",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "msync",
    "munlock",
    "munlockall",
    "munmap",
    "name_to_handle_at",
    "nanosleep",
    "newfstatat",
    "open",
    "openat",
    "openat2",
    "pause",
    "pidfd_open",
    "pidfd_send_signal",
    "pipe",
    "pipe2",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    "poll",
    "ppoll",
    "prctl",
    "pread64",
    "preadv",
    "preadv2",
    "prlimit64",
    "pselect6",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readahead",
    "readlink",
    "readlinkat",
    "readv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "removexattr",
    "rename",
    "renameat",
    "renameat2",
    "restart_syscall",
    "rmdir",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigqueueinfo",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "rt_tgsigqueueinfo",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_getaffinity",
    "sched_getattr",
    "sched_getparam",
    "sched_getscheduler",
    "sched_rr_get_interval",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "sched_yield",
    "seccomp",
    "select",
    "semctl",
    "semget",
    "semop",
    "semtimedop",
    "sendfile",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "set_robust_list",
    "set_thread_area",
    "set_tid_address",
    "setfsgid",
    "setfsuid",
    "setgid",
    "setgroups",
    "setitimer",
    "setpgid",
    "setpriority",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "setrlimit",
    "setsid",
    "setsockopt",
    "setuid",
    "setxattr",
    "shmat",
    "shmctl",
    "shmdt",
    "shmget",
    "shutdown",
    "sigaltstack",
    "signalfd",
    "signalfd4",
    "splice",
    "stat",
    "statfs",
    "statx",
    "symlink",
    "symlinkat",
    "sync",
    "sync_file_range",
    "syncfs",
    "sysinfo",
    "tee",
    "tgkill",
    "time",
    "timer_create",
    "timer_delete",
    "timer_getoverrun",
    "timer_gettime",
    "timer_settime",
    "timerfd_create",
    "timerfd_gettime",
    "timerfd_settime",
    "times",
    "tkill",
    "truncate",
    "umask",
    "uname",
    "unlink",
    "unlinkat",
    "utime",
    "utimensat",
    "utimes",
    "vfork",
    "vmsplice",
    "wait4",
    "waitid",
    "write",
    "writev",
};

// Known and refused: these answer EPERM, so that a log says "not permitted" and not "no such call".
constexpr const char* refused_calls[] = {
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "fanotify_init",
    "fanotify_mark",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "get_mempolicy",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mbind",
    "migrate_pages",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pidfd_getfd",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "set_mempolicy",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "sysfs",
    "syslog",
    "umount2",
    "uselib",
    "userfaultfd",
    "ustat",
    "vhangup",
};

constexpr uint64_t namespace_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

struct Release {
    void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

class Builder {
public:
    explicit Builder(uint32_t default_action) : m_context(seccomp_init(default_action)) {
        if (m_context == nullptr) m_failed = -ENOMEM;
        // A call through another ABI (int 0x80, x32) never gets as far as the list.
        note(seccomp_attr_set(m_context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
        note(seccomp_attr_set(m_context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
    }

    void add(uint32_t action, const char* name) {
        const int number = seccomp_syscall_resolve_name(name);
        // libseccomp 2.5 does not know the newest names; those stay refused by default.
        if (number != __NR_SCMP_ERROR && number >= 0) note(seccomp_rule_add_exact(m_context.get(), action, number, 0));
    }

    template <class... Comparisons>
    void add(uint32_t action, const char* name, Comparisons... comparisons) {
        const scmp_arg_cmp list[] = {comparisons...};
        note(seccomp_rule_add_exact_array(m_context.get(), action, seccomp_syscall_resolve_name(name),
                                          sizeof...(comparisons), list));
    }

    Result<std::vector<sock_filter>> finish() {
        const Fd file(::memfd_create("hone-filter", MFD_CLOEXEC));
        if (m_failed == 0) note(seccomp_export_bpf(m_context.get(), file.get()));
        struct stat status {};
        if (m_failed != 0) return system_error("build syscall filter", -m_failed);
        if (::fstat(file.get(), &status) != 0) return system_error("build syscall filter", errno);
        std::vector<sock_filter> program(static_cast<size_t>(status.st_size) / sizeof(sock_filter));
        if (::pread(file.get(), program.data(), static_cast<size_t>(status.st_size), 0) != status.st_size)
            return system_error("build syscall filter", errno);
        return program;
    }

private:
    void note(int outcome) {
        if (outcome < 0 && m_failed == 0) m_failed = outcome;
    }
    Context m_context;
    int m_failed = 0;
};

void allow_sockets(Builder& builder) {
    const uint32_t no_family = SCMP_ACT_ERRNO(EAFNOSUPPORT);
    const uint32_t no_protocol = SCMP_ACT_ERRNO(EPROTONOSUPPORT);
    builder.add(SCMP_ACT_ALLOW, "socket", SCMP_A0_64(SCMP_CMP_EQ, AF_UNIX));
    // Only TCP and UDP: no MPTCP, SCTP, DCCP, ICMP, which would be more kernel to attack for no use without a route.
    for (const uint64_t family : {uint64_t{AF_INET}, uint64_t{AF_INET6}}) {
        for (const uint64_t protocol : {uint64_t{0}, uint64_t{IPPROTO_TCP}, uint64_t{IPPROTO_UDP}})
            builder.add(SCMP_ACT_ALLOW, "socket", SCMP_A0_64(SCMP_CMP_EQ, family), SCMP_A2_64(SCMP_CMP_EQ, protocol));
        builder.add(no_protocol, "socket", SCMP_A0_64(SCMP_CMP_EQ, family),
                    SCMP_A2_64(SCMP_CMP_GT, uint64_t{IPPROTO_UDP}));
    }
    // Routing netlink only: getifaddrs needs it.
    builder.add(SCMP_ACT_ALLOW, "socket", SCMP_A0_64(SCMP_CMP_EQ, uint64_t{AF_NETLINK}),
                SCMP_A2_64(SCMP_CMP_EQ, uint64_t{0}));
    builder.add(no_protocol, "socket", SCMP_A0_64(SCMP_CMP_EQ, uint64_t{AF_NETLINK}),
                SCMP_A2_64(SCMP_CMP_GT, uint64_t{0}));
    for (uint64_t family = 0; family < 64; ++family)
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
            builder.add(no_family, "socket", SCMP_A0_64(SCMP_CMP_EQ, family));
    builder.add(no_family, "socket", SCMP_A0_64(SCMP_CMP_GE, uint64_t{64}));
    builder.add(SCMP_ACT_ALLOW, "socketpair", SCMP_A0_64(SCMP_CMP_EQ, uint64_t{AF_UNIX}));
}

void allow_processes(Builder& builder, SyscallFilter::Ptrace ptrace) {
    for (const char* call : {"clone", "unshare"}) {
        builder.add(SCMP_ACT_ALLOW, call, SCMP_A0_64(SCMP_CMP_MASKED_EQ, namespace_flags, uint64_t{0}));
        for (uint64_t flag = 1; flag != 0; flag <<= 1)
            if (namespace_flags & flag)
                builder.add(SCMP_ACT_ERRNO(EPERM), call, SCMP_A0_64(SCMP_CMP_MASKED_EQ, flag, flag));
    }
    // clone3 is in no list: its flags lie behind a pointer that a filter cannot read, and glibc falls back to clone.
    builder.add(ptrace == SyscallFilter::Ptrace::allowed ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "ptrace");
    // Linux, 32-bit Linux, and the query; nothing that turns off address randomisation.
    for (const uint64_t personality : {uint64_t{0}, uint64_t{8}, uint64_t{0xffffffff}})
        builder.add(SCMP_ACT_ALLOW, "personality", SCMP_A0_64(SCMP_CMP_EQ, personality));
}

} // namespace

Result<SyscallFilter> SyscallFilter::build(Ptrace ptrace) {
    SyscallFilter filter;
    Builder allowed(SCMP_ACT_ERRNO(ENOSYS));
    for (const char* call : allowed_calls) allowed.add(SCMP_ACT_ALLOW, call);
    for (const char* call : refused_calls) allowed.add(SCMP_ACT_ERRNO(EPERM), call);
    allow_sockets(allowed);
    allow_processes(allowed, ptrace);
    filter.m_allowed = TRY(allowed.finish());

    Builder arguments(SCMP_ACT_ALLOW);
    // The kernel reads 32 bits of the request; so does this.
    for (const uint64_t request : {uint64_t{TIOCSTI}, uint64_t{TIOCLINUX}, uint64_t{TIOCCONS}, uint64_t{TIOCSETD}})
        arguments.add(SCMP_ACT_ERRNO(EPERM), "ioctl", SCMP_A1_64(SCMP_CMP_MASKED_EQ, uint64_t{0xffffffff}, request));
    filter.m_arguments = TRY(arguments.finish());
    return filter;
}

int SyscallFilter::load() const {
    for (const Program* program : {&m_arguments, &m_allowed}) {
        const sock_fprog wrapped{static_cast<unsigned short>(program->size()),
                                 const_cast<sock_filter*>(program->data())};
        if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &wrapped) != 0) return errno;
    }
    return 0;
}

bool kernel_has_seccomp() {
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

} // namespace hone::sandbox
