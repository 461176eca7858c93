#include "sql/private_mounts.test.h"

#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::sql::testing {

namespace {

struct CannotMount {
    std::string why;
};

void must(int outcome, const std::string& what) {
    if (outcome != 0) throw CannotMount{what + ": " + std::strerror(errno)};
}

void write_to(const std::string& path, const std::string& content) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    must(file.is_open() && write_all(file.get(), content).ok() ? 0 : -1, "write " + path);
}

void enter_private_mounts() {
    const std::string user = std::to_string(::geteuid());
    const std::string group = std::to_string(::getegid());
    const bool is_root = ::geteuid() == 0;
    must(::unshare(CLONE_NEWNS | (is_root ? 0 : CLONE_NEWUSER)), "unshare");
    if (!is_root) {
        write_to("/proc/self/setgroups", "deny");
        write_to("/proc/self/uid_map", "0 " + user + " 1");
        write_to("/proc/self/gid_map", "0 " + group + " 1");
    }
    must(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
}

std::string run_in_child(const std::function<std::string()>& work) {
    try {
        enter_private_mounts();
        return work();
    } catch (const CannotMount& refused) {
        return "this test needs to mount file systems (root, or user namespaces): " + refused.why;
    }
}

} // namespace

std::string in_private_mounts(const std::function<std::string()>& work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "pipe failed";
    Fd from_child(ends[0]);
    Fd to_parent(ends[1]);
    const int child = ::fork();
    if (child < 0) return "fork failed";
    if (child == 0) {
        const std::string problem = run_in_child(work);
        const bool told = write_all(to_parent.get(), problem).ok();
        ::_exit(told && problem.empty() ? 0 : 1);
    }
    to_parent.reset();
    std::string problem;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(from_child.get(), buffer, sizeof buffer)) > 0)
        problem.append(buffer, static_cast<size_t>(count));
    int status = 0;
    ::waitpid(child, &status, 0);
    if (problem.empty() && status != 0) problem = "the child ended with status " + std::to_string(status);
    return problem;
}

void mount_small_disk(const std::string& directory, const std::string& size) {
    must(::mount("tmpfs", directory.c_str(), "tmpfs", 0, ("size=" + size).c_str()), "mount tmpfs");
}
void resize_small_disk(const std::string& directory, const std::string& size) {
    must(::mount("tmpfs", directory.c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()), "resize tmpfs");
}
void make_read_only(const std::string& directory) {
    must(::mount(directory.c_str(), directory.c_str(), nullptr, MS_BIND, nullptr), "bind mount");
    must(::mount(nullptr, directory.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), "remount read-only");
}

} // namespace hone::sql::testing
