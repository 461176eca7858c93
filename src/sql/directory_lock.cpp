#include "sql/directory_lock.h"

#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace hone::sql {

namespace {
Error held_by_another(const std::string& directory, const std::string& path) {
    const auto content = read_file(path, 64);
    const auto pid = content.ok() ? parse_integer(trim(content.value())) : Result<int64_t>(invalid("unreadable"));
    return busy("another hone serve (" + (pid.ok() ? "pid " + std::to_string(pid.value()) : "pid unknown") + ") uses " +
                directory);
}
} // namespace

Result<DirectoryLock> DirectoryLock::acquire(const std::string& directory) {
    const std::string path = directory + "/lock";
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!file.is_open()) return system_error("open " + path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return held_by_another(directory, path);
        return system_error("lock " + path, errno);
    }
    // The file stays when we end: removing it would let two processes lock two different files of the same name.
    if (::ftruncate(file.get(), 0) != 0) return system_error("write " + path, errno);
    TRY(write_all(file.get(), std::to_string(::getpid()) + "\n"));
    return DirectoryLock(std::move(file));
}

} // namespace hone::sql
