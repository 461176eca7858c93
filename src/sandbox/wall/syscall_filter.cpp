#include "sandbox/wall/syscall_filter.h"

#include "sandbox/wall/filter_program.h"

#include <cerrno>
#include <cstring>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

// What programs need. Everything absent returns ENOSYS, as an older kernel would, so that libraries fall back.
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

// Known and refused: these return EPERM, so that a log shows "not permitted" and not "no such call".
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

constexpr uint32_t namespace_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

// Known to libseccomp: it does not know the newest names, and those stay refused by default.
void set_call(std::map<int, FilterBlock>& calls, const char* name, FilterBlock block) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number >= 0) calls[number] = std::move(block);
}

FilterBlock refuse_with(int error_number) {
    return return_action(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error_number));
}

void allow_sockets(std::map<int, FilterBlock>& calls) {
    const FilterBlock allow = return_action(SECCOMP_RET_ALLOW), no_protocol = refuse_with(EPROTONOSUPPORT);
    // Only TCP and UDP: no MPTCP, SCTP, DCCP, ICMP, which would be more kernel to attack for no use without a route.
    // With protocol 0 the type alone selects one: SOCK_SEQPACKET is SCTP, SOCK_DCCP is DCCP.
    const auto protocols = [&](int named) {
        const FilterBlock other = if_equal(2, static_cast<uint64_t>(named), allow, no_protocol);
        return if_equal(2, 0, allow, other);
    };
    constexpr uint32_t type_bits = 0xf; // SOCK_TYPE_MASK of the kernel; the rest are flags
    FilterBlock internet = refuse_with(ESOCKTNOSUPPORT);
    internet = if_low_masked(1, type_bits, SOCK_DGRAM, protocols(IPPROTO_UDP), internet);
    internet = if_low_masked(1, type_bits, SOCK_STREAM, protocols(IPPROTO_TCP), internet);
    // Routing netlink only: getifaddrs needs it.
    const FilterBlock netlink = if_equal(2, 0, allow, no_protocol);
    FilterBlock families = if_equal(0, AF_NETLINK, netlink, refuse_with(EAFNOSUPPORT));
    for (const int family : {AF_INET6, AF_INET})
        families = if_equal(0, static_cast<uint64_t>(family), internet, families);
    set_call(calls, "socket", if_equal(0, AF_UNIX, allow, families));
    set_call(calls, "socketpair", if_equal(0, AF_UNIX, allow, refuse_with(ENOSYS)));
}

void allow_processes(std::map<int, FilterBlock>& calls, SyscallFilter::Ptrace ptrace) {
    const FilterBlock allow = return_action(SECCOMP_RET_ALLOW);
    for (const char* call : {"clone", "unshare"})
        set_call(calls, call, if_any_bit(0, namespace_flags, refuse_with(EPERM), allow));
    // clone3 is in no list: its flags lie behind a pointer that a filter cannot read, and glibc falls back to clone.
    set_call(calls, "ptrace", ptrace == SyscallFilter::Ptrace::allowed ? allow : refuse_with(EPERM));
    // Linux, 32-bit Linux, and the query; nothing that turns off address randomisation.
    FilterBlock personality = refuse_with(ENOSYS);
    for (const uint64_t known : {uint64_t{0}, uint64_t{8}, uint64_t{0xffffffff}})
        personality = if_equal(0, known, allow, personality);
    set_call(calls, "personality", personality);
}

// The kernel reads 32 bits of the request; so does this.
void allow_requests(std::map<int, FilterBlock>& calls) {
    FilterBlock requests = return_action(SECCOMP_RET_ALLOW);
    for (const uint32_t request : {TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD})
        requests = if_low_equal(1, request, refuse_with(EPERM), requests);
    set_call(calls, "ioctl", requests);
}

} // namespace

std::span<const char* const> SyscallFilter::allowed_names() {
    return allowed_calls;
}

std::span<const char* const> SyscallFilter::refused_names() {
    return refused_calls;
}

SyscallFilter SyscallFilter::build(Ptrace ptrace) {
    std::map<int, FilterBlock> calls;
    for (const char* call : allowed_calls) set_call(calls, call, return_action(SECCOMP_RET_ALLOW));
    for (const char* call : refused_calls) set_call(calls, call, refuse_with(EPERM));
    allow_sockets(calls);
    allow_processes(calls, ptrace);
    allow_requests(calls);
    SyscallFilter filter;
    filter.m_program = assemble_filter(calls, refuse_with(ENOSYS));
    return filter;
}

std::string_view SyscallFilter::bytes() const {
    return {reinterpret_cast<const char*>(m_program.data()), m_program.size() * sizeof(sock_filter)};
}

SyscallFilter SyscallFilter::of_bytes(std::string_view bytes) {
    SyscallFilter filter;
    filter.m_program.resize(bytes.size() / sizeof(sock_filter));
    std::memcpy(filter.m_program.data(), bytes.data(), filter.m_program.size() * sizeof(sock_filter));
    return filter;
}

int SyscallFilter::load() const {
    const sock_fprog wrapped{static_cast<unsigned short>(m_program.size()), const_cast<sock_filter*>(m_program.data())};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &wrapped) == 0 ? 0 : errno;
}

bool kernel_has_seccomp() {
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

} // namespace hone::sandbox
