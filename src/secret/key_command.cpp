#include "base/file.h"
#include "secret/master_keys.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace hone::secret {

namespace {

constexpr size_t largest_output = 4096;
constexpr auto patience = std::chrono::seconds(30);

// Reads to the end of the pipe, to the limit or to the deadline.
Result<std::string> read_output(int descriptor) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::string output;
    output.reserve(largest_output + 1); // no reallocation leaves a copy of the key behind
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return unavailable("master_key_command took more than 30 s");
        pollfd waiting{descriptor, POLLIN, 0};
        if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
        char piece[512];
        const ssize_t count = ::read(descriptor, piece, sizeof piece);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("read what master_key_command prints", errno);
        if (count == 0) return output;
        if (output.size() + static_cast<size_t>(count) > largest_output)
            return too_large("master_key_command prints more than 4 KiB");
        output.append(piece, static_cast<size_t>(count));
        explicit_bzero(piece, sizeof piece);
    }
}

} // namespace

Result<std::string> run_key_command(const std::string& command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe", errno);
    const Fd reading(ends[0]);
    Fd writing(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
    // A group of its own, so that a command that hangs is ended with everything it started.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    std::string line = command;
    char shell[] = "/bin/sh";
    char flag[] = "-c";
    char* const arguments[] = {shell, flag, line.data(), nullptr};
    pid_t process = 0;
    const int failed = posix_spawn(&process, shell, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) return system_error("start master_key_command", failed);
    writing.reset();
    auto output = read_output(reading.get());
    if (!output.ok()) ::kill(-process, SIGKILL);
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (!output.ok()) return output;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        crypto::wipe(output.value());
        return unavailable("master_key_command failed" + (WIFEXITED(status)
                                                              ? " with exit code " + std::to_string(WEXITSTATUS(status))
                                                              : std::string(" by a signal")));
    }
    return output;
}

} // namespace hone::secret
