#include "sandbox/helper/helper_filter.h"

#include "sandbox/wall/filter_program.h"
#include "sandbox/wall/syscall_filter.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/prctl.h>
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

// What git, a shell and the usual tools need to read, write and compute. Everything absent returns ENOSYS.
constexpr const char* helper_calls[] = {
    "access",
    "alarm",
    "arch_prctl",
    "brk",
    "chdir",
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "close",
    "close_range",
    "copy_file_range",
    "creat",
    "dup",
    "dup2",
    "dup3",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "eventfd2",
    "execve",
    "exit",
    "exit_group",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fallocate",
    "fchdir",
    "fdatasync",
    "fork",
    "fstat",
    "fstatfs",
    "fsync",
    "ftruncate",
    "futex",
    "getcwd",
    "getdents",
    "getdents64",
    "getegid",
    "geteuid",
    "getgid",
    "getgroups",
    "getitimer",
    "getpeername",
    "getpgrp",
    "getpid",
    "getppid",
    "getrandom",
    "getresgid",
    "getresuid",
    "getrlimit",
    "getrusage",
    "getsockname",
    "getsockopt",
    "gettid",
    "gettimeofday",
    "getuid",
    "link",
    "linkat",
    "lseek",
    "lstat",
    "madvise",
    "membarrier",
    "mkdir",
    "mkdirat",
    "mmap",
    "mprotect",
    "mremap",
    "msync",
    "munmap",
    "nanosleep",
    "newfstatat",
    "open",
    "openat",
    "pause",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "pread64",
    "preadv",
    "pselect6",
    "pwrite64",
    "pwritev",
    "read",
    "readahead",
    "readlink",
    "readlinkat",
    "readv",
    "recvfrom",
    "rename",
    "renameat",
    "renameat2",
    "restart_syscall",
    "rmdir",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sched_getaffinity",
    "sched_yield",
    "select",
    "sendfile",
    "sendto",
    "set_robust_list",
    "set_tid_address",
    "setitimer",
    "setrlimit",
    "setsockopt",
    "shutdown",
    "sigaltstack",
    "splice",
    "stat",
    "statfs",
    "statx",
    "symlink",
    "symlinkat",
    "sysinfo",
    "time",
    "times",
    "umask",
    "uname",
    "unlink",
    "unlinkat",
    "vfork",
    "wait4",
    "waitid",
    "write",
    "writev",
};

// Beside those that no sandbox may call (SyscallFilter::refused_names): they return EPERM. Each reaches past the
// process: to others of the same user, to files that Landlock does not cover, out of the session.
constexpr const char* helper_refused_calls[] = {
    "accept",
    "accept4",
    "bind",
    "capset",
    "execveat",
    "fgetxattr",
    "flistxattr",
    "flock",
    "fremovexattr",
    "fsetxattr",
    "getxattr",
    "inotify_add_watch",
    "inotify_init",
    "inotify_init1",
    "ioprio_set",
    "kill",
    "landlock_create_ruleset",
    "lgetxattr",
    "listen",
    "listxattr",
    "llistxattr",
    "lremovexattr",
    "lsetxattr",
    "memfd_create",
    "memfd_secret",
    "mknod",
    "mknodat",
    "mq_notify",
    "mq_open",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "name_to_handle_at",
    "nfsservctl",
    "pidfd_open",
    "pidfd_send_signal",
    "ptrace",
    "recvmmsg",
    "recvmsg",
    "removexattr",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "seccomp",
    "semctl",
    "semget",
    "semop",
    "semtimedop",
    "sendmmsg",
    "sendmsg",
    "setfsgid",
    "setfsuid",
    "setgid",
    "setgroups",
    "setns",
    "setpgid",
    "setpriority",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "setsid",
    "setuid",
    "setxattr",
    "shmat",
    "shmctl",
    "shmget",
    "signalfd",
    "signalfd4",
    "sync",
    "syncfs",
    "tgkill",
    "timer_create",
    "timerfd_create",
    "tkill",
    "truncate",
    "unshare",
    "vmsplice",
};

// They do nothing and succeed. Landlock does not cover them, and the files of the server belong to the same user; yet
// programs take their failure for a fault of the disk. A new file keeps the mode that it was created with.
constexpr const char* pretended_calls[] = {
    "chmod",    "chown",     "fchmod", "fchmodat", "fchmodat2", "fchown",
    "fchownat", "futimesat", "lchown", "utime",    "utimensat", "utimes",
};

constexpr uint32_t refused_clone_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                         CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */ | CLONE_PARENT |
                                         CLONE_PTRACE | CLONE_UNTRACED;

using HelperCalls = std::map<int, FilterBlock>;

void set_helper_call(HelperCalls& calls, const char* name, FilterBlock block) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number >= 0) calls[number] = std::move(block);
}

FilterBlock helper_refusal(int error_number) {
    return return_action(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error_number));
}

const FilterBlock& helper_allow() {
    static const FilterBlock block = return_action(SECCOMP_RET_ALLOW);
    return block;
}

// The owner of a descriptor and its signal (F_SETOWN, F_SETSIG) would be a way to kill any process of the user; a lease
// on a file that is read only would stop those who write it.
void allow_descriptor_commands(HelperCalls& calls) {
    FilterBlock block = helper_refusal(EPERM);
    for (const uint32_t command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK, F_SETLKW,
                                   F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_SETPIPE_SZ, F_GETPIPE_SZ})
        block = if_low_equal(1, command, helper_allow(), block);
    block = if_low_equal(1, F_SETFL, if_any_bit(2, O_ASYNC, helper_refusal(EPERM), helper_allow()), block);
    set_helper_call(calls, "fcntl", block);
    FilterBlock requests = helper_refusal(ENOTTY);
    for (const uint32_t request : {uint32_t{TCGETS}, uint32_t{TIOCGWINSZ}, uint32_t{FIONREAD}, uint32_t{FIONBIO},
                                   uint32_t{FIOCLEX}, uint32_t{FIONCLEX}})
        requests = if_low_equal(1, request, helper_allow(), requests);
    set_helper_call(calls, "ioctl", requests);
}

void allow_helper_processes(HelperCalls& calls) {
    // clone3 is in no list: its flags lie behind a pointer that a filter cannot read, and glibc falls back to clone.
    set_helper_call(calls, "clone", if_any_bit(0, refused_clone_flags, helper_refusal(EPERM), helper_allow()));
    FilterBlock options = helper_refusal(EPERM);
    for (const uint32_t option : {uint32_t{PR_SET_NAME}, uint32_t{PR_GET_NAME}, uint32_t{PR_GET_DUMPABLE},
                                  uint32_t{0x53564d41} /* PR_SET_VMA */})
        options = if_low_equal(0, option, helper_allow(), options);
    set_helper_call(calls, "prctl", options);
    // Its own limits only: those of other processes of the user could be changed too.
    set_helper_call(calls, "prlimit64", if_equal(0, 0, helper_allow(), helper_refusal(EPERM)));
    set_helper_call(calls, "personality", if_equal(0, 0xffffffff, helper_allow(), helper_refusal(EPERM)));
}

void set_helper_sockets(HelperCalls& calls, HelperFilter::Network network) {
    // Streams have no address to send to; a datagram socket would reach any socket with a name.
    constexpr uint32_t type_bits = 0xf;
    const FilterBlock of_stream = if_low_masked(1, type_bits, SOCK_STREAM, helper_allow(), helper_refusal(EPERM));
    set_helper_call(calls, "socketpair", if_equal(0, AF_UNIX, of_stream, helper_refusal(EPERM)));
    if (network == HelperFilter::Network::none) {
        set_helper_call(calls, "socket", helper_refusal(EACCES));
        set_helper_call(calls, "connect", helper_refusal(EPERM));
        return;
    }
    // This filter allows it, and that of HandOver, which is stronger, makes it wait for the process outside.
    const FilterBlock other = helper_refusal(EAFNOSUPPORT);
    const FilterBlock tcp = if_equal(2, 0, helper_allow(), if_equal(2, IPPROTO_TCP, helper_allow(), other));
    set_helper_call(calls, "socket", if_equal(0, AF_INET, if_low_masked(1, type_bits, SOCK_STREAM, tcp, other), other));
    set_helper_call(calls, "connect", helper_refusal(0));
}

int load_helper_program(const std::vector<sock_filter>& program, unsigned flags) {
    const sock_fprog wrapped{static_cast<unsigned short>(program.size()), const_cast<sock_filter*>(program.data())};
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &wrapped));
}

} // namespace

HelperFilter HelperFilter::build(Network network) {
    HelperCalls calls;
    for (const char* call : helper_calls) set_helper_call(calls, call, helper_allow());
    for (const char* call : SyscallFilter::refused_names()) set_helper_call(calls, call, helper_refusal(EPERM));
    for (const char* call : helper_refused_calls) set_helper_call(calls, call, helper_refusal(EPERM));
    for (const char* call : pretended_calls) set_helper_call(calls, call, helper_refusal(0));
    allow_descriptor_commands(calls);
    allow_helper_processes(calls);
    set_helper_sockets(calls, network);
    HelperFilter filter;
    filter.m_program = assemble_filter(calls, helper_refusal(ENOSYS));
    return filter;
}

int HelperFilter::load() const {
    return load_helper_program(m_program, 0) == 0 ? 0 : errno;
}

Result<Fd> HandOver::prepare() {
    HelperCalls calls;
    set_helper_call(calls, "socket", return_action(SECCOMP_RET_USER_NOTIF));
    Fd notices(load_helper_program(assemble_filter(calls, helper_allow()), SECCOMP_FILTER_FLAG_NEW_LISTENER));
    // EBUSY: something around this process listens to its calls already.
    if (!notices.is_open()) return system_error("have sockets handed over", errno);
    return notices;
}

void HandOver::serve(const Fd& notices, const std::function<Result<Fd>()>& connect) {
    seccomp_notif notice{};
    if (::ioctl(notices.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return; // it ended meanwhile
    seccomp_notif_resp refused{};
    refused.id = notice.id;
    refused.error = -EACCES;
    // Other families and types are refused by the helper's own filter before they come here.
    if (notice.data.nr == SYS_socket && notice.data.args[0] == AF_INET) {
        const auto connected = connect();
        refused.error = -ECONNREFUSED;
        if (connected.ok()) {
            const auto type = static_cast<unsigned>(notice.data.args[1]);
            if ((type & SOCK_NONBLOCK) != 0) ::fcntl(connected.value().get(), F_SETFL, O_NONBLOCK);
            seccomp_notif_addfd given{};
            given.id = notice.id;
            given.flags = SECCOMP_ADDFD_FLAG_SEND;
            given.srcfd = static_cast<unsigned>(connected.value().get());
            given.newfd_flags = (type & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0;
            if (::ioctl(notices.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &given) >= 0) return;
        }
    }
    (void)!::ioctl(notices.get(), SECCOMP_IOCTL_NOTIF_SEND, &refused);
}

} // namespace hone::sandbox
