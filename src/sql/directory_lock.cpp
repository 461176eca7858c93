#include "sql/directory_lock.h"

#include "base/text.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace hone::sql {

namespace {
Error held_by_another(const std::string& directory, const std::string& path) {
    const auto content = read_file(path, 64);
    const auto pid = content.ok() ? parse_integer(trim(content.value())) : Result<int64_t>(invalid("unreadable"));
    return busy("another hone serve (" + (pid.ok() ? "pid " + std::to_string(pid.value()) : "pid unknown") + ") uses " +
                directory);
}

// The process that wrote its pid has ended, and another process holds the lock.
bool is_left_behind(const std::string& path) {
    const auto content = read_file(path, 64);
    const auto pid = content.ok() ? parse_integer(trim(content.value())) : Result<int64_t>(invalid("unreadable"));
    return pid.ok() && pid.value() > 0 && ::kill(static_cast<pid_t>(pid.value()), 0) != 0 && errno == ESRCH;
}
} // namespace

Result<DirectoryLock> DirectoryLock::acquire(const std::string& directory) {
    const std::string path = directory + "/lock";
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.is_open()) return system_error("open " + path, errno);
    // A server that was killed while it started a program leaves a copy of its lock with it, for a moment.
    for (int tries = 0; ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
        if (errno != EWOULDBLOCK) return system_error("lock " + path, errno);
        if (tries == 100 || !is_left_behind(path)) return held_by_another(directory, path);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    // The file stays when we end: removing it would let two processes lock two different files of the same name.
    if (::ftruncate(file.get(), 0) != 0) return system_error("write " + path, errno);
    TRY(write_all(file.get(), std::to_string(::getpid()) + "\n"));
    return DirectoryLock(std::move(file));
}

} // namespace hone::sql
