// System calls and constants that glibc 2.36 and the headers of Debian 12 do not name yet. Thin, no policy.
#pragma once

#include "base/file.h"

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace hone::sandbox::kernel {

// As fork, with namespaces; `pidfd` receives a descriptor of the child.
inline pid_t clone_into_namespaces(uint64_t flags, int& pidfd, int cgroup_descriptor) {
    clone_args arguments{};
    arguments.flags = flags | CLONE_PIDFD;
    arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
    arguments.exit_signal = SIGCHLD;
    if (cgroup_descriptor >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<uint64_t>(cgroup_descriptor);
    }
    return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

// The header of glibc 2.36 declares it without C linkage.
inline int signal_process(int pidfd, int signal) {
    return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// A descriptor of a process, or of one of its threads that is not the first (Linux 6.9).
inline Fd open_process(pid_t pid, bool is_thread) {
    return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, is_thread ? O_EXCL : 0)));
}

// A copy of a descriptor of another process, which the caller has the right to trace.
inline Fd take_descriptor(int process, int number) {
    return Fd(static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0)));
}

// Opens below `directory` without following any link, and without leaving it.
inline Fd open_beneath(int directory, const char* path, uint64_t flags, uint64_t mode = 0) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return Fd(static_cast<int>(syscall(SYS_openat2, directory, path, &how, sizeof how)));
}

constexpr uint64_t mount_attr_nosymfollow = 0x00200000;
constexpr uint64_t mount_attr_idmap = 0x00100000;

// struct mount_attr as the kernel has it.
inline int set_mount_attributes(int descriptor, uint64_t set, int user_namespace, bool recursive) {
    mount_attr attributes{};
    attributes.attr_set = set;
    if (user_namespace >= 0) {
        attributes.attr_set |= mount_attr_idmap;
        attributes.userns_fd = static_cast<uint64_t>(user_namespace);
    }
    return mount_setattr(descriptor, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0u), &attributes,
                         sizeof attributes);
}

// Landlock beyond the headers' version.
constexpr uint64_t landlock_fs_refer = 1ull << 13;
constexpr uint64_t landlock_fs_truncate = 1ull << 14;
constexpr uint64_t landlock_fs_ioctl_device = 1ull << 15;
constexpr uint64_t landlock_net_bind_tcp = 1ull << 0;
constexpr uint64_t landlock_net_connect_tcp = 1ull << 1;
constexpr uint64_t landlock_scope_abstract_unix_socket = 1ull << 0;
constexpr uint64_t landlock_scope_signal = 1ull << 1;

struct LandlockRuleset {
    uint64_t handled_access_fs = 0;
    uint64_t handled_access_net = 0;
    uint64_t scoped = 0;
};

} // namespace hone::sandbox::kernel
