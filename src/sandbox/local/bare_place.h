// For tests only: a place in which no namespace can be made, as in a restricted pod or a locked-down host.
#pragma once

#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sandbox {

constexpr unsigned user_of_bare_place = 54321;

inline bool write_text(const char* path, const std::string& text) {
    const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file.is_open() && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A user namespace of an ordinary user that allows no further one, without any capability in it.
inline bool enter_bare_place() {
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(user_of_bare_place, user_of_bare_place, user_of_bare_place) != 0 ||
         ::setresuid(user_of_bare_place, user_of_bare_place, user_of_bare_place) != 0))
        return false;
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // or the maps belong to root
    const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER) != 0 || !write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/gid_map", group + " " + group + " 1") ||
        !write_text("/proc/self/uid_map", user + " " + user + " 1") ||
        !write_text("/proc/sys/user/max_user_namespaces", "0"))
        return false;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    return ::syscall(SYS_capset, &header, none) == 0;
}

// Runs `act` there, in a process of its own, with a folder that belongs to its user. What it returns is what went
// wrong; empty: nothing.
inline std::string in_bare_place(const std::function<std::string(const std::string& folder)>& act) {
    Folder folder;
    if (::geteuid() == 0 && ::chown(folder.path.c_str(), user_of_bare_place, user_of_bare_place) != 0)
        return "the folder could not be given away";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGPIPE, SIG_IGN);
        const std::string wrong = enter_bare_place() ? act(folder.path) : "the place could not be entered";
        (void)!::write(ends[1], wrong.data(), wrong.size());
        ::_exit(wrong.empty() ? 0 : 1);
    }
    ::close(ends[1]);
    const Fd reader(ends[0]);
    std::string wrong;
    char piece[4096];
    for (ssize_t got; (got = ::read(reader.get(), piece, sizeof piece)) > 0;)
        wrong.append(piece, static_cast<size_t>(got));
    int status = 0;
    ::waitpid(child, &status, 0);
    if (wrong.empty() && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) wrong = "the process in it crashed";
    return wrong;
}

} // namespace hone::sandbox
