// What the engine process may not do, tried in a child that was confined like it.
#include "telemetry/engine/engine_confinement.h"

#include "base/file.h"
#include "telemetry/temporary_directory.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone::telemetry::testing {

namespace {

// The exit code of a child that does this.
template <class Action>
int in_child(Action action) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(action());
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// As on a kernel that does not have it.
void take_landlock_away() {
    const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    (void)::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
    (void)::seccomp_load(filter);
    ::seccomp_release(filter);
}

} // namespace

TEST_CASE("an engine that cannot be confined does not start, unless the owner allowed it") {
    const TemporaryDirectory directory;
    const ConfinementOptions strict{directory.path(), {}, false};
    CHECK(in_child([&] { return confine_engine(strict).ok() ? 0 : 1; }) == 0);
    CHECK(in_child([&] {
              take_landlock_away();
              const auto done = confine_engine(strict);
              return !done.ok() && done.error().message.find("engine_unconfined") != std::string::npos ? 0 : 1;
          }) == 0);
    CHECK(in_child([&] {
              take_landlock_away();
              const auto done = confine_engine({directory.path(), {}, true});
              return done.ok() && !done.value().files && done.value().system_calls ? 0 : 1;
          }) == 0);
}

TEST_CASE("a confined engine reaches no other file, network, program, mount or process") {
    const TemporaryDirectory directory;
    REQUIRE(write_file(directory / "own", "x").ok());
    const int outcome = in_child([&] {
        if (!confine_engine({directory.path(), {}, false}).ok()) return 100;
        const std::string own = directory / "own";
        char* arguments[] = {nullptr};
        if (::open(own.c_str(), O_RDWR | O_CLOEXEC) < 0) return 101;
        if (::open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0) return 1;
        if (::socket(AF_INET, SOCK_STREAM, 0) >= 0 || ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return 2;
        if (::execve("/bin/true", arguments, arguments) == 0) return 3;
        if (::syscall(SYS_io_uring_setup, 1, nullptr) >= 0 || errno != ENOSYS) return 4;
        if (::syscall(SYS_open_tree, AT_FDCWD, "/", 1) >= 0 || errno != ENOSYS) return 5;
        if (::syscall(SYS_fsopen, "tmpfs", 0) >= 0 || errno != ENOSYS) return 6;
        if (::syscall(SYS_move_mount, -1, "", -1, "", 0) == 0 || errno != ENOSYS) return 7;
        if (::syscall(SYS_mount, "a", "b", "c", 0, nullptr) == 0 || errno != ENOSYS) return 8;
        if (::syscall(SYS_ptrace, 0, 0, 0, 0) == 0 || errno != ENOSYS) return 9;
        if (::syscall(SYS_kill, ::getppid(), 0) == 0) return 10;
        if (::syscall(SYS_unshare, 0x10000000) == 0 || errno != ENOSYS) return 11;
        if (::syscall(SYS_prlimit64, ::getppid(), 7, nullptr, nullptr) == 0) return 12;
        if (::syscall(SYS_pidfd_open, ::getppid(), 0) >= 0 || errno != ENOSYS) return 13;
        if (::syscall(SYS_clone, 0x10000000 | 17, nullptr, nullptr, nullptr, nullptr) >= 0) return 14;
        if (::syscall(SYS_bpf, 0, nullptr, 0) >= 0 || errno != ENOSYS) return 15;
        return 0;
    });
    CHECK(outcome == 0);
}

} // namespace hone::telemetry::testing
